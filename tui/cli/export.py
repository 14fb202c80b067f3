"""``sibyl-tui sessions export``: Markdown or JSON Lines, to a pipe, a file or a folder."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tui.cli import console
from tui.cli.program import Program
from tui.cli.sessions import chosen_statuses, entry_json
from tui.domain.journal.records import VERSION
from tui.domain.journal.session import SessionEntry
from tui.domain.json_text import journal_json
from tui.domain.text import plural
from tui.domain.timestamps import beginning_of_day, format_utc
from tui.engine.library.conversation import (
    StoredConversation,
    live_conversation,
    whole_conversation,
)
from tui.engine.library.exporting import (
    ExportedSecrets,
    as_markdown,
    as_objects,
    markdown_with_pictures,
    write_pictures,
)
from tui.errors import OutputError, StorageError, UsageError
from tui.storage.disk import odd_values
from tui.storage.export_file import create, create_or_replace
from tui.storage.protocol import SessionFilter, every_entry

_Write = Callable[[StoredConversation], None]
_STANDARD_OUTPUT = (None, "-")


def run(chosen: Namespace) -> int:
    """Export; 1 if a session could not be read or its file was there already."""
    program = Program.from_arguments(chosen)
    wanted = _wanted(program, chosen)
    outcome = _Outcome(ExportedSecrets(chosen.mask_secrets))
    write = _destination(chosen, outcome.secrets)
    for listed in wanted:
        _export(program, chosen, listed, write, outcome)
    return outcome.tell(chosen)


class _Outcome(msgspec.Struct):
    """The sessions that were exported, and those that were not."""

    secrets: ExportedSecrets
    done: int = 0
    unreadable: int = 0
    existing: list[str] = msgspec.field(default_factory=list[str])

    def tell(self, chosen: Namespace) -> int:
        """Say what became of them, and give the exit code."""
        failed = bool(self.unreadable or self.existing)
        if not (self.done or failed):
            console.tell("No session to export.")
        elif self.done and chosen.output not in _STANDARD_OUTPUT:
            console.put_line(f"Exported {plural(self.done, 'session')} to {chosen.output}")
        if len(self.existing) == 1:
            console.tell(f"{self.existing[0]} already exists. Add --force to replace it.")
        elif self.existing:
            console.tell(f"{len(self.existing)} files already exist. Add --force to replace them.")
        if self.secrets.words:
            console.tell(self.secrets.words)
        return int(failed)


def _wanted(program: Program, chosen: Namespace) -> Iterator[SessionEntry]:
    """The sessions that are named; else those that ``sessions list`` lists."""
    since = format_utc(beginning_of_day(chosen.since)) if chosen.since is not None else ""
    if not chosen.targets:
        wanted = SessionFilter(program.narrowed, chosen_statuses(chosen))
        # Not only as far as the first older one: copied files are listed by the time of their copy.
        return (each for each in every_entry(program.store, wanted) if each.last_used_at >= since)
    if since or chosen.archived or chosen.trashed or chosen.all:
        raise UsageError("Name sessions, or choose them with options, not both.")
    ids = dict.fromkeys([program.resolve(target) for target in chosen.targets])
    return iter(program.store.entries(ids))


def _export(
    program: Program, chosen: Namespace, listed: SessionEntry, write: _Write, outcome: _Outcome
) -> None:
    find = whole_conversation if chosen.all_messages else live_conversation
    try:
        with odd_values(listed.id):
            found = find(program.store, listed)
            program.tell_condition(msgspec.structs.replace(found.end, damaged=found.damaged))
            write(found)
        outcome.done += 1
    except StorageError as error:
        console.tell(str(error))
        outcome.unreadable += 1
    except FileExistsError as error:
        outcome.existing.append(str(error.filename))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Cannot write {error.filename}: {error.strerror}.") from error


def _destination(chosen: Namespace, secrets: ExportedSecrets) -> _Write:
    """The way to write one session. Raises ``UsageError``."""
    is_one, is_json = len(chosen.targets) == 1, chosen.format == "jsonl"
    if chosen.output in _STANDARD_OUTPUT:
        if not (is_one or is_json):
            raise UsageError("Several sessions need a folder (--output FOLDER) or --format jsonl.")

        def put(found: StoredConversation) -> None:
            if is_json:
                for each in secrets.objects(_objects(found)):
                    console.put_json(each)
            else:
                for piece in secrets.texts(as_markdown(found)):
                    console.put(piece)

        return put
    path = Path(chosen.output)
    write = create_or_replace if chosen.force else create
    into_folder = not is_one or path.is_dir() or chosen.output.endswith(os.sep)

    def write_file(found: StoredConversation) -> None:
        place = path
        if into_folder:
            name = f"{found.listed.id}.{'jsonl' if is_json else 'md'}"
            place = _made(path) / "-".join(filter(None, [secrets.title(found), name]))
        if is_json:
            write(place, _json_lines(secrets, found, place))
        else:
            write(place, secrets.texts(markdown_with_pictures(found, place)))

    return write_file


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UsageError(f"{folder} is a file. Several sessions need a folder.") from error
    except OSError as error:
        raise OutputError(f"Cannot make the folder {folder}: {error.strerror}.") from error
    return folder


def _json_lines(secrets: ExportedSecrets, found: StoredConversation, path: Path) -> Iterator[str]:
    for each in secrets.objects(_objects(found)):
        write_pictures(found, each.get("content"), path)
        yield journal_json(each).decode() + "\n"


def _objects(found: StoredConversation) -> Iterator[dict[str, Any]]:
    """The first line of a journal with the details of a list, then the other lines."""
    header = found.end.header
    exact = msgspec.structs.replace(found.listed, message_count=found.end.message_count)
    yield {
        "type": "session",
        "version": VERSION,
        **entry_json(exact),
        "forked_from": header.forked_from,
        "imported_from": header.imported_from,
        "damaged": found.damaged,
    }
    yield from as_objects(found)
