"""The commands that the fault tests walk through, and what must be true after each of them."""

import hashlib
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from tests.faults.power_cut import Cut
from tui import cli
from tui.domain.journal.message import ImageBlock, Message, TokenUsage, content_of
from tui.domain.journal.records import Opened, encode
from tui.domain.journal.session import SessionEntry, Status
from tui.errors import AttachmentNotFound, StorageError
from tui.storage.doctor import Doctor
from tui.storage.file_store import FileStore
from tui.storage.protocol import EVERYWHERE, SessionFilter

KEPT = "session-20260111-153000-000001"
ASIDE = "session-20260111-153000-000002"
TRASHED = "session-20260111-153000-000003"
_CLAUDE = (
    '{"parentUuid":null,"isSidechain":false,"sessionId":"00000000-0000-4000-8000-000000000001",'
    '"cwd":"/walk","version":"2.1.209","type":"user","message":{"role":"user","content":"imported"},'
    '"uuid":"00000000-0000-4000-8000-000000000002","timestamp":"2026-01-11T14:30:22.123Z"}\n'
)
SCOPE = "walk"
NEW = "a new question"
PHOTO = b"\x89PNG\r\n\x1a\n of two sessions"
SECRET = b"\x89PNG\r\n\x1a\n of the session in the trash alone"
SENT = b"\x89PNG\r\n\x1a\n of a new prompt"
RESCUED = b"\x89PNG\r\n\x1a\n of a message that could not be saved"
GUIDED = ("--model", "offline:guide")
"""Without a model, a command whose output is read by a program fails."""

TEXTS = {KEPT: ("kept question", "kept answer"), ASIDE: ("aside",), TRASHED: ("trashed",)}
PICTURES = {KEPT: [PHOTO], ASIDE: [], TRASHED: [PHOTO, SECRET]}


@dataclass(frozen=True)
class Walk:
    """A command, what is there when it has said that it is done, and what it may destroy."""

    name: str
    arguments: Sequence[str]
    done: Callable[[FileStore], bool]
    destroys: frozenset[str] = frozenset()

    def command(self, root: Path) -> list[str]:
        return [sys.executable, "-m", "tui", *within(root, self.arguments)]


def within(root: Path, arguments: Sequence[str]) -> list[str]:
    """Arguments for the data directory and the scope of the walk."""
    return [*arguments, "--data-dir", str(root), "--scope", SCOPE]


def walks(directory: Path) -> list[Walk]:
    """All commands that write; ``directory`` has the file that is imported."""
    return [
        Walk("ask", ["ask", NEW, "--json", *GUIDED], lambda store: NEW in everything_said(store)),
        Walk("ask-session", ["ask", NEW, "--json", *GUIDED, "--session", KEPT], _asked(KEPT)),
        Walk("ask-archived", ["ask", NEW, "--json", *GUIDED, "--session", ASIDE], _asked(ASIDE)),
        Walk(
            "ask-picture",
            ["ask", NEW, "--json", *GUIDED, "--session", KEPT, "-f", str(directory / "new.png")],
            _is_asked_with_picture,
        ),
        Walk("name", ["sessions", "name", KEPT, "A name"], _named("A name")),
        Walk("archive", ["sessions", "archive", KEPT], _is(KEPT, "archived")),
        Walk("restore", ["sessions", "restore", ASIDE], _is(ASIDE, "closed")),
        Walk("restore-trashed", ["sessions", "restore", TRASHED], _is(TRASHED, "closed")),
        Walk("delete", ["sessions", "delete", KEPT, "--yes"], _is(KEPT, "trashed")),
        Walk("purge", ["sessions", "purge", "--yes"], _is_gone, frozenset({TRASHED})),
        Walk(
            "import",
            ["sessions", "import", str(directory / "rescue.jsonl")],
            lambda store: "rescued" in said(store, KEPT),
        ),
        Walk(
            "import-new",
            ["sessions", "import", str(directory / "new.jsonl")],
            lambda store: "rescued" in everything_said(store),
        ),
        Walk(
            "import-picture",
            ["sessions", "import", str(directory / "picture.jsonl")],
            lambda store: said(store, KEPT)[-1].startswith("see\n[image: photo.png"),
        ),
        Walk(
            "import-program",
            ["import", str(directory / "claude.jsonl")],
            _is_imported,
        ),
    ]


def _asked(session_id: str) -> Callable[[FileStore], bool]:
    return lambda store: said(store, session_id)[-2:-1] == [NEW]


def _is_asked_with_picture(store: FileStore) -> bool:
    (asked,) = [each for each in said(store, KEPT) if each.startswith(NEW)]
    return "[image: " in asked and has_picture(store, SENT)


def _named(name: str) -> Callable[[FileStore], bool]:
    return lambda store: store.entry(KEPT).name == name


def _is(session_id: str, status: Status) -> Callable[[FileStore], bool]:
    return lambda store: store.entry(session_id).status == status


def _is_imported(store: FileStore) -> bool:
    everywhere = SessionFilter(statuses=EVERYWHERE)
    found = [entry.id for entry in store.list(everywhere, None, 100).entries if entry.program]
    return [said(store, each) for each in found] == [["imported"]]


def _is_gone(store: FileStore) -> bool:
    gone = TRASHED not in {entry.id for entry in _entries(store)}
    return gone and has_picture(store, PHOTO) and not has_picture(store, SECRET)


def fill(root: Path, directory: Path) -> None:
    """A data directory with a session in each folder, and two files to be imported.

    No search index can be made in it: that takes many calls, and nothing is in it alone.
    """
    store = FileStore(root)
    for session_id, texts in TEXTS.items():
        lease = store.create(SCOPE, "/walk", "offline:guide", session_id=session_id)
        store.append(lease, [Opened(at=_time(0)), *_messages(session_id, texts)])
        store.append(lease, [_showing(store, session_id, each) for each in PICTURES[session_id]])
        state = store.journal(session_id).load().state(_time(9))
        store.append(lease, [state])
        lease.release()
    store.archive(ASIDE)
    store.delete(TRASHED)
    (root / "index.sqlite3").mkdir()
    header, *_ = store.path(KEPT).read_bytes().splitlines(keepends=True)
    rescued = (
        b'{"type":"message","id":"rescued","role":"user","content":"rescued",'
        b'"timestamp":"2026-01-11T14:31:00.000Z"}\n'
    )
    (directory / "claude.jsonl").write_text(_CLAUDE)
    (directory / "rescue.jsonl").write_bytes(header + rescued)
    (directory / "new.png").write_bytes(SENT)
    shown = encode(_showing(store, "never-saved", RESCUED))
    (directory / "picture.jsonl").write_bytes(header + shown)
    (directory / "new.jsonl").write_bytes(header.replace(b"-000001", b"-000009") + rescued)


def plainly(arguments: Sequence[str]) -> tuple[int, str]:
    """Run a command that nobody disturbs, in this process; its exit code and what it said."""
    told = io.StringIO()
    with mock.patch.object(sys, "stdin", None), redirect_stdout(told), redirect_stderr(told):
        code = cli.run(arguments)
    return code, told.getvalue()


def lost(root: Path, walk: Walk, stdout: str) -> list[str]:
    """What is not as it was promised: nothing, or the test has found a way to lose something."""
    return [
        *_missing_sessions(root, walk, stdout),
        *missing_messages(root, stdout),
        *_ordinals_twice(root),
        *_missing_pictures(root),
        *_damage(root),
    ]


def lost_in(
    cuts: Iterable[Cut], place: Path, look: Callable[[Path, str], Iterable[str]]
) -> list[str]:
    """What a look at the place, and at what was said, misses after any of the power cuts."""
    problems: list[str] = []
    for cut in cuts:
        cut.left.materialise(place)
        problems += [f"{cut}: {each}" for each in look(place, cut.acknowledged.decode())]
        shutil.rmtree(place)
    return problems


def said(store: FileStore, session_id: str) -> list[str]:
    """The texts of a session, in their order."""
    return [message.text for message in store.journal(session_id).load().all_messages]


def everything_said(store: FileStore) -> list[str]:
    """The texts of all sessions, wherever they are."""
    return [text for entry in _entries(store) for text in said(store, entry.id)]


def _missing_sessions(root: Path, walk: Walk, stdout: str) -> list[str]:
    problems: list[str] = []
    for session_id, texts in TEXTS.items():
        if session_id in walk.destroys:
            continue
        try:
            there = said(FileStore(root), session_id)
        except StorageError as error:
            problems.append(f"{session_id} cannot be read: {error}")
            continue
        if tuple(there[: len(texts)]) != texts:
            problems.append(f"{session_id} says {there}")
    return problems


def missing_messages(root: Path, stdout: str) -> list[str]:
    """Messages that were said to be saved and are not there."""
    problems: list[str] = []
    for saved in _acknowledged(stdout):
        try:
            session = FileStore(root).journal(saved["session_id"]).load()
        except StorageError as error:
            problems.append(f"said to be saved, but: {error}")
            continue
        there = {message.id: message.usage for message in session.all_messages}
        if saved["message_id"] not in there:
            problems.append(f"said to be saved, but not there: {saved}")
        elif msgspec.convert(saved.get("usage"), TokenUsage | None) != there[saved["message_id"]]:
            problems.append(f"said to be saved, but with other tokens: {saved}")
    return problems


def _acknowledged(stdout: str) -> list[dict[str, Any]]:
    lines = [line for line in stdout.split("\n")[:-1] if line.startswith('{"type":"saved"')]
    return [json.loads(line) for line in lines]


def _missing_pictures(root: Path) -> list[str]:
    """The pictures without which a message was left."""
    # The picture of the session that is purged may be there or not: doctor finds the messages.
    kept = (data for data in (PHOTO, RESCUED) if not has_picture(FileStore(root), data))
    return [f"freed too early: {data!r}" for data in kept]


def _ordinals_twice(root: Path) -> list[str]:
    ordinals = [entry.ordinal for entry in _entries(FileStore(root))]
    return [] if len(set(ordinals)) == len(ordinals) else [f"numbers given twice: {ordinals}"]


def _damage(root: Path) -> list[str]:
    """A killed write may leave one torn line; everything else is whole."""
    allowed = {"index_out_of_use", "temporary_file", "two_folders", "unlisted", "damaged_scopes"}
    allowed.add("unused_picture")
    bad = [finding for finding in Doctor(root).examine() if finding.kind not in allowed]
    torn = [finding for finding in bad if finding.message.startswith("1 damaged record ")]
    # Moves are not synced: the line of a session that is where it was moved to may be torn.
    torn += [f for f in bad if (f.kind, f.message) == ("damaged_moves", "1 damaged line")]
    return [str(finding) for finding in bad if finding not in torn or len(torn) > 1]


def _entries(store: FileStore) -> Sequence[SessionEntry]:
    return store.list(SessionFilter(SCOPE, EVERYWHERE), None, 100).entries


def _showing(store: FileStore, session_id: str, data: bytes) -> Message:
    """A message with a picture, which is kept."""
    sha256 = store.add_attachment(session_id, data)
    block = ImageBlock("photo.png", "image/png", sha256, len(data))
    return Message(f"{session_id}-{sha256[:4]}", "user", content_of("see", [block]), _time(7))


def has_picture(store: FileStore, data: bytes) -> bool:
    """Tell whether a picture is kept, whole."""
    try:
        return store.attachment(KEPT, hashlib.sha256(data).hexdigest()) == data
    except AttachmentNotFound:
        return False


def _messages(session_id: str, texts: Sequence[str]) -> list[Message]:
    return [
        Message(f"{session_id}-{place}", "assistant" if place % 2 else "user", text, _time(place))
        for place, text in enumerate(texts)
    ]


def _time(seconds: int) -> str:
    return f"2026-01-11T14:30:{seconds:02d}.000Z"
