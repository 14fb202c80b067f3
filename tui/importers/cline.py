"""Tasks of Cline, Roo Code and Kilo Code: what was sent, in Anthropic's form, and what was shown.

The newest Cline keeps one file of messages with times and models instead.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from tui.domain.journal.message import Role
from tui.importers import protocol as p
from tui.importers.contents import base64_size, blocks, placeholder, title
from tui.importers.formats import SPEAKERS, Format, Reading, Talk
from tui.importers.json_elements import records_or_rest
from tui.importers.json_lines import object_if_there, objects_in, whole_if_there
from tui.importers.json_paths import text_at, time_at, value_at
from tui.importers.message_blocks import Piece
from tui.importers.vscode import user_folders

API = "api_conversation_history.json"
_SCREEN = "ui_messages.json"
_FACTS = "history_item.json"
_NEWEST = ".messages.json"
_COMPACTED = ".compaction.json"
"""Ends the name of what the model is sent of a session that has become too long."""
_INJECTED = re.compile(r"<environment_details>.*?</environment_details>\s*", re.DOTALL)
_FOLDER = re.compile(
    r"<environment_details>.*?Current (?:Workspace|Working) Directory \((.+?)\) Files", re.DOTALL
)
_MODEL = re.compile(r"<environment_details>.*?# Current Mode.*?<model>(.+?)</model>", re.DOTALL)
_MARKS = re.compile(r"</?(?:task|feedback|user_message|user_input|answer)(?: mode=\"\w+\")?>\n?")


class Cline(Format):
    """Cline, its extension in editors and its command line."""

    program = kin = "cline"
    title = "Cline"
    revision = 3
    extension = "saoudrizwan.claude-dev"
    source_id = ("session_id",)
    name = ("task", "metadata.title")
    project = ("workspace", "cwdOnTaskInitialization", "cwd", "workspace_root")
    created = ("first", "started_at")
    updated = ("last", "ended_at")
    model = ("modelId", "model")
    roles = SPEAKERS
    message_id = ("id",)
    time = ("ts", "shown")
    said_by = ("modelInfo.id",)
    sent = ("metrics.inputTokens",)
    received = ("metrics.outputTokens",)
    without_words = "injected text"
    summary = ("isSummary", True)
    unnamed = "{name}"

    def find(self, places: p.Places) -> Iterator[p.Source]:
        folders = (
            path
            for folder in user_folders(places)
            for path in places.glob(folder, f"globalStorage/{self.extension}/tasks/*")
        )
        data = places.home / ".cline" / "data"
        own = self.program == "cline"
        for path in (*folders, *(places.glob(data, "tasks/*") if own else ())):
            if (path / API).is_file():
                yield p.Source.of(path, *self.parts(path))
        if own:
            yield from places.sources(data, f"sessions/*/*{_NEWEST}", parts=self.parts)

    def parts(self, path: Path) -> Iterable[Path]:
        if path.name.endswith(_NEWEST):
            return path, _beside(path)
        folder = path if path.is_dir() else path.parent
        return folder / API, folder / _SCREEN, folder / _FACTS

    def recognises(self, path: Path, head: bytes) -> bool:
        if path.name.endswith(_NEWEST):
            return b'"messages"' in head or b'"agent"' in head
        known = path.name == API or path.name.endswith(_COMPACTED) or (path / API).is_file()
        return known and _EXTENSIONS.isdisjoint({*path.parts} - {self.extension})

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path = source.path
        if path.name.endswith(_COMPACTED):
            ledger.skipped["duplicate"] += len(records_or_rest(path, "messages", ledger))
            return
        folder = path if path.is_dir() else path.parent
        yield _newest(path) if path.name.endswith(_NEWEST) else _task(folder)

    def through(self, record: p.Json, reading: Reading) -> str:
        """The last message that names a summary as its parent, else the one before it."""
        return reading.known.get(text_at(record, "condenseId"), reading.last)

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        said = super().said(record, name, reading)
        if said and (parent := text_at(record, "condenseParent")):
            reading.known[parent] = said[-1].id
        return said

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        for piece in super().pieces(record, whole, reading):
            yield _typed(piece) if isinstance(piece, str) and whole.role == "user" else piece

    def whole(self, record: p.Json, name: str, role: Role, reading: Reading) -> p.ForeignMessage:
        whole = super().whole(record, name, role, reading)
        return replace(whole, model=text_at(record, *self.said_by) or None)

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        """The request that failed last, of which only the screen has told."""
        if error := text_at(reading.talk.facts, "failure"):
            name, time = reading.ids.make("failure", error), reading.talk.facts["last"]
            yield p.ForeignMessage(name, "assistant", "", time, status="failed", error=error)

    def mark(self, name: str, block: p.Json) -> str:
        size = base64_size(value_at(block, "source.data"))
        file = Path(text_at(block, "path")).name
        return placeholder(name, file, text_at(block, "source.media_type"), size)


class RooCode(Cline):
    """Roo Code, which has times, and summaries beside what they stand for."""

    program, title = "roo-code", "Roo Code"
    extension = "rooveterinaryinc.roo-cline"


class KiloCode(RooCode):
    """Kilo Code's extension, as long as it was built on Roo Code."""

    program, title = "kilo-code", "Kilo Code"
    revision = 0
    extension = "kilocode.kilo-code"


_EXTENSIONS = {Cline.extension, RooCode.extension, KiloCode.extension}


def _beside(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(_NEWEST) + ".json")


def _newest(path: Path) -> Talk:
    counts = p.Ledger()
    records = records_or_rest(path, "messages", counts)
    times = [time for record in records if (time := time_at(record, "ts"))]
    facts = object_if_there(_beside(path))
    known = ("session_id", "metadata", "cwd", "workspace_root", "started_at", "ended_at", "model")
    facts = {field: facts.get(field) for field in known}
    if times:
        facts |= {"first": times[0], "last": times[-1]}
    name = path.name.removesuffix(_NEWEST)
    return Talk(path, facts, lambda _: records, name, counts)


def _task(folder: Path) -> Talk:
    counts = p.Ledger()
    records = records_or_rest(folder / API, "messages", counts)
    screen = objects_in(whole_if_there(folder / _SCREEN))
    listed = objects_in(whole_if_there(folder.parent.parent / "state" / "taskHistory.json"))
    own = (each for each in listed if each.get("id") == folder.name)
    found = object_if_there(folder / _FACTS) or next(own, p.Json())
    times = [time for record in [*records, *screen] if (time := time_at(record, "ts"))]
    shown = (text_at(each, "text") for each in screen if each.get("say") == "task")
    task = text_at(found, "task") or next(shown, "")
    facts = {
        field: found.get(field) for field in ("workspace", "cwdOnTaskInitialization", "modelId")
    }
    ends = [each for each in screen if each.get("ask") != "resume_task"][-1:]
    failed = (text_at(each, "text") for each in ends if each.get("ask") == "api_req_failed")
    texts = [text_at(each, "text") for record in records for each in blocks(record.get("content"))]
    facts |= {
        "cwd": next((found[1] for text in texts if (found := _FOLDER.search(text))), ""),
        "model": next((found[1] for text in reversed(texts) if (found := _MODEL.search(text))), ""),
        "task": title(task.strip().partition("\n")[0]),
        "failure": next(failed, ""),
        "first": min(times, default=None) or folder.name,
        "last": max(times, default=None),
    }
    # What the screen shows names the last message before it.
    shown_at: dict[object, str] = {}
    for each in screen:
        place, time = each.get("conversationHistoryIndex"), time_at(each, "ts")
        if isinstance(place, int) and time:
            shown_at.setdefault(place, time)
    first = next((time for each in screen if (time := time_at(each, "ts"))), None)
    at = {0: first, **shown_at} if first else shown_at
    timed = [{**record, "shown": at.get(number)} for number, record in enumerate(records)]
    return Talk(folder, facts, lambda _: timed, folder.name, counts)


def _typed(text: str) -> str:
    """The words of the user in a text that was sent."""
    return _MARKS.sub("", _INJECTED.sub("", text)).strip() if "<" in text else text
