"""``sibyl-tui sessions …``: list, show and tidy sessions."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from tui.cli import console
from tui.cli.program import Program
from tui.domain.journal.records import Import, Record, by_model
from tui.domain.journal.session import Session, SessionEntry, Status, versions_json
from tui.domain.text import (
    NAME_CHARACTERS,
    age,
    cell_width,
    cut_to_cells,
    make_visible,
    make_visible_line,
    pad_to_cells,
    plural,
)
from tui.domain.timestamps import parse_utc
from tui.domain.views.costs import usage_of
from tui.engine.library.conversation import live_conversation, whole_conversation
from tui.engine.library.exporting import as_markdown
from tui.engine.sessions.open_session import take_session
from tui.errors import ServerUnreachable, SessionNotFound, StorageError, StorageFull, UsageError
from tui.storage.protocol import EVERYWHERE, KEPT, SessionFilter, every_entry
from tui.storage.pruning import HookFailed, SetAside, run_archive_hook
from tui.storage.rescue import import_file

_ARCHIVED: frozenset[Status] = frozenset({"archived"})
_TRASHED: frozenset[Status] = frozenset({"trashed"})
_ASIDE = _ARCHIVED | _TRASHED
_JSON_FIELDS = (
    "id",
    "name",
    "label",
    "scope",
    "ordinal",
    "active",
    "project_path",
    "model",
    "created_at",
    "updated_at",
    "last_used_at",
    "closed_at",
    "message_count",
    "status",
    "imported_from",
)

_HEADINGS = ("#", "ID", "Name", "Last used", "Messages")
_NAME = _HEADINGS.index("Name")
_SHORTEST_NAME = 10
_GAP = "  "


def session_table(
    entries: Sequence[SessionEntry], now: datetime, *, numbered: bool, columns: int | None = None
) -> str:
    """Format headings and one line per session; ages as of ``now``.

    ``numbered`` from 1, if commands take these numbers. Names are cut to fit into ``columns``.
    """
    numbers = [str(number) if numbered else "-" for number in range(1, len(entries) + 1)]
    rows: list[Sequence[str]] = [_HEADINGS]
    for number, entry in zip(numbers, entries, strict=True):
        mark = f" ({entry.status})" if entry.status in _ASIDE else ""
        last_used = age(parse_utc(entry.last_used_at), now)
        count = str(entry.message_count)
        rows.append((number, entry.id, entry.label + mark, last_used, count))
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    if columns is not None:
        excess = max(0, sum(widths) + len(_GAP) * (len(widths) - 1) - columns)
        widths[_NAME] = max(_SHORTEST_NAME, widths[_NAME] - excess)
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (
        pad_to_cells(cut_to_cells(cell, width), width)
        for cell, width in zip(row, widths, strict=True)
    )
    return _GAP.join(cells).rstrip()


def run(chosen: Namespace) -> int:
    """Run the verb; 1 if it failed for one of several sessions."""
    program = Program.from_arguments(chosen)
    return _VERBS[chosen.command](program, chosen) or 0


def _list(program: Program, chosen: Namespace) -> None:
    statuses = chosen_statuses(chosen)
    entries = list(every_entry(program.store, SessionFilter(program.narrowed, statuses)))
    for words in program.store.obstacles() if statuses & _ASIDE else ():
        console.tell(words)
    if chosen.json:
        console.put_json([entry_json(entry) for entry in entries], 2)
    elif entries:
        console.put_line("Saved sessions:")
        numbered = statuses == KEPT
        now = program.clock().astimezone()
        columns = console.columns()
        console.put_line(session_table(entries, now, numbered=numbered, columns=columns))
    else:
        archived = program.store.count(SessionFilter(program.narrowed, _ARCHIVED))
        more = f" {archived} archived: sibyl-tui sessions list --archived"
        is_told = archived and not statuses >= _ARCHIVED
        console.put_line(f"No saved sessions.{more if is_told else ''}")


def chosen_statuses(chosen: Namespace) -> frozenset[Status]:
    """The sessions that ``--archived``, ``--trashed`` and ``--all`` choose."""
    if chosen.all:
        return EVERYWHERE
    archived = _ARCHIVED if chosen.archived else frozenset[Status]()
    trashed = _TRASHED if chosen.trashed else frozenset[Status]()
    return archived | trashed or KEPT


def _show(program: Program, chosen: Namespace) -> None:
    session_id = program.resolve(chosen.target)
    if not chosen.json:
        find = whole_conversation if chosen.all_messages else live_conversation
        found = find(program.store, program.store.entry(session_id))
        end = msgspec.structs.replace(found.end, imported=_ledger(program, found.end))
        found = msgspec.structs.replace(found, end=end)
        program.tell_condition(msgspec.structs.replace(end, damaged=found.damaged))
        for piece in as_markdown(found):
            # Also into a pipe: a pager passes escape sequences on.
            console.put(make_visible(piece))
        return
    session = program.store.journal(session_id).load()
    entry = program.store.entry(session_id)
    program.tell_condition(session)
    messages = session.all_messages if chosen.all_messages else session.loaded_messages
    # Each as in the journal, with the ids of its versions if it has others.
    told = [
        {**msgspec.to_builtins(each), **versions_json(session.versions, each.id)}
        for each in messages
    ]
    # The tokens of all requests by model, also for answers that are not shown.
    groups = by_model(program.store.journal(session_id).requests()).items()
    usages = [usage_of(model, requests) for model, requests in groups]
    usage = [
        {"model": each.model, "requests": each.requests, **msgspec.structs.asdict(each.usage)}
        for each in usages
    ]
    described = {**_session_json(entry, session), "usage": usage}
    console.put_json({"session": described, "messages": told}, 2)


def _ledger(program: Program, end: Session) -> Import | None:
    """The ledger of an imported session, also one that was continued since."""
    if end.imported or not end.header.imported_from:
        return end.imported
    ledgers = [each for each in program.store.journal(end.id).records() if isinstance(each, Import)]
    return ledgers[-1] if ledgers else None


def entry_json(entry: SessionEntry) -> dict[str, Any]:
    """A session as ``sessions list --json`` has it."""
    return {name: getattr(entry, name) for name in _JSON_FIELDS}


def _session_json(entry: SessionEntry, session: Session) -> dict[str, Any]:
    exact = msgspec.structs.replace(entry, message_count=session.message_count)
    return {
        **entry_json(exact),
        "todos": msgspec.to_builtins(session.todos),
        "settings": _without_type(session.settings),
        "summary": session.summary.text if session.summary else None,
        "prompt_count": session.prompt_count,
        "damaged": session.damaged,
        "imported": _without_type(session.imported) if session.imported else None,
    }


def _without_type(record: Record) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(record)
    return {name: value for name, value in fields.items() if name != "type"}


def _name(program: Program, chosen: Namespace) -> None:
    name = str(chosen.name)
    if not name.strip():
        raise UsageError("Usage: sibyl-tui sessions name TARGET NAME")
    if len(name) > NAME_CHARACTERS:
        raise UsageError(f"Name is longer than {NAME_CHARACTERS} characters.")
    session = take_session(program.store, program.resolve(chosen.target), program.clock)
    try:
        session.rename(name)
        asyncio.run(session.close())
    finally:
        session.abandon()
    for notice in session.take_notices():
        console.tell(notice)
    console.put_line(f'Renamed to "{make_visible_line(name)}"')


def _each(ids: Iterable[str], change: Callable[[str], None]) -> int:
    """Change one session after another; one that fails is named, and keeps no other from it."""
    failed = 0
    for session_id in ids:
        try:
            change(session_id)
        except (ServerUnreachable, StorageFull):
            raise
        except StorageError as error:
            console.tell(str(error))
            failed = 1
    return failed


def _archive(program: Program, chosen: Namespace) -> int:
    def archive(session_id: str) -> None:
        entry = program.store.entry(session_id)
        if entry.status == "archived":
            raise UsageError(f"Session {session_id} is already archived.")
        program.store.archive(session_id)
        console.put_line(f"Archived {_called(entry)}")
        if hook := program.settings.config.hooks.on_archive:
            try:
                run_archive_hook(hook, SetAside(entry.scope, (session_id,), "user"))
            except HookFailed as error:
                console.tell(str(error))

    return _each([program.resolve(target) for target in chosen.targets], archive)


def _restore(program: Program, chosen: Namespace) -> int:
    def restore(session_id: str) -> None:
        entry = program.store.entry(session_id)
        if entry.status in KEPT:
            raise UsageError(f"Session {session_id} is neither archived nor in the trash.")
        program.store.restore(session_id)
        console.put_line(f"Restored {_called(entry)}")

    wanted = SessionFilter(program.narrowed, _ASIDE)
    return _each([program.resolve(target, wanted) for target in chosen.targets], restore)


def _delete(program: Program, chosen: Namespace) -> int:
    for session_id in chosen.ids:
        # The target of a deletion is never guessed.
        if (meant := program.resolve(session_id)) != session_id:
            raise UsageError(f"Deleting takes the complete id: {meant}")
    if not chosen.yes and not console.is_terminal(sys.stdin):
        raise UsageError("sessions delete asks first. Without a terminal, add --yes.")

    def delete(session_id: str) -> None:
        entry = program.store.entry(session_id)
        if entry.status == "trashed":
            raise UsageError(f"Session {session_id} is already in the trash.")
        if not chosen.yes and not console.confirmed(f"Move {_called(entry)} to the trash? (y/n) "):
            console.tell("Nothing deleted.")
            return
        program.store.delete(session_id)
        console.put_line(f"Moved {_called(entry)} to the trash")

    return _each(chosen.ids, delete)


def _called(entry: SessionEntry) -> str:
    return f'"{make_visible_line(entry.label)}" ({entry.id})'


def _purge(program: Program, chosen: Namespace) -> int:
    wanted = SessionFilter(program.narrowed, _TRASHED)
    trashed = {entry.id: entry for entry in every_entry(program.store, wanted)}
    if missing := [session_id for session_id in chosen.ids if session_id not in trashed]:
        raise SessionNotFound(missing[0])
    entries = [trashed[session_id] for session_id in chosen.ids or trashed]
    if not chosen.yes:
        for entry in entries:
            console.put_line(f"{entry.id}  {entry.label}")
        console.put_line(
            f"Would purge {plural(len(entries), 'session')}. Add --yes to destroy them."
        )
        return 0
    purged: list[str] = []

    def purge(session_id: str) -> None:
        program.store.purge(session_id)
        purged.append(session_id)

    failed = _each((entry.id for entry in entries), purge)
    console.put_line(f"Purged {plural(len(purged), 'session')}.")
    return failed


def _import(program: Program, chosen: Namespace) -> None:
    done = import_file(program.store, Path(chosen.file), program.now())
    console.put_line(f"Imported session: {done.session_id} ({plural(done.messages, 'message')})")
    program.tell_damage(done.damaged, chosen.file)


_VERBS: Mapping[str, Callable[[Program, Namespace], int | None]] = {
    "sessions list": _list,
    "sessions show": _show,
    "sessions name": _name,
    "sessions archive": _archive,
    "sessions restore": _restore,
    "sessions delete": _delete,
    "sessions purge": _purge,
    "sessions import": _import,
}
