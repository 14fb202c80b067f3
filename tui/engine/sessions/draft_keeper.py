"""Saves drafts: text typed and not sent, or sent and not on disk yet.

A prompt in the hands of an external editor has a folder of its own beside the drafts, which is
locked while its program lives. After a kill its text becomes a draft again.
"""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from tui.domain.commands import text_to_send
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.journal.session import Draft, Session
from tui.domain.json_text import LINE_BYTES, journal_json
from tui.domain.timestamps import parse_utc
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.write_queue import save_errors
from tui.errors import StorageError
from tui.files import read_bounded, read_json
from tui.storage import locks
from tui.storage.disk import storage_errors
from tui.storage.drafts import Drafts

_PROMPT, _DRAFT, _LOCK = "prompt.md", "draft.json", "lock"


def read_edited(path: Path, before: str) -> str:
    """Read what an editor has made of the text ``before``.

    Raises ``UnfitFile`` for another kind of file or a larger one than a prompt, and ``OSError``.
    """
    data = read_bounded(path, TEXT_BYTES)
    try:
        written = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        written = data.decode("utf-8", "replace")
    if "\r\n" not in before:
        written = written.replace("\r\n", "\n")
    # Editors end the last line; nobody has typed that.
    return written if before.endswith("\n") else written.removesuffix("\n")


def _write(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)


_TOKEN_BYTES = 3


def _new_token() -> str:
    return os.urandom(_TOKEN_BYTES).hex()


class Typed(msgspec.Struct, frozen=True):
    """The drafts of a session: its holder's, and those put aside under tokens.

    ``unsent`` are those parts of them that have not been sent since they were written, ``distinct``
    those among these that are not the beginning of another one.
    """

    own: Draft | None
    asides: dict[str, Draft]
    unsent: Sequence[Draft]
    distinct: Sequence[Draft]


class DraftKeeper:
    """Puts prompts on disk and back.

    The draft of a session belongs to its holder. What is typed in one that this program does not
    hold is put aside, and offered to whoever holds it next.
    """

    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts
        self._token = _new_token()

    async def keep(self, loaded: LoadedSession, try_save: Callable[[], Awaitable[bool]]) -> None:
        """Write the draft of a prompt, unless it is on disk; in the prompt's queue of writes.

        ``try_save`` writes the session.
        """
        if loaded.unsaved_questions:
            # On disk it is no draft any more: a crash would bring back what was sent.
            await try_save()
        if self.is_kept(loaded):
            return
        draft, prompt = loaded.draft(), loaded.prompt
        if loaded.opened is not None:
            await asyncio.to_thread(self._write_own, draft, prompt.asides)
            prompt.kept, prompt.asides = draft, {}
        else:
            await asyncio.to_thread(self._drafts.save, draft, token=self._token)
            prompt.kept, prompt.asides = draft, {**prompt.asides, self._token: draft}

    def is_kept(self, loaded: LoadedSession) -> bool:
        """Tell whether the draft of a prompt is on disk, under the right name."""
        draft, prompt = loaded.draft(), loaded.prompt
        if prompt.kept is None:
            return draft.empty
        is_aside = loaded.opened is not None and self._token in prompt.asides
        return draft == prompt.kept and not is_aside

    async def put_aside(self, loaded: LoadedSession) -> None:
        """Write what was typed while a session was given up, for whoever holds it next.

        Raises ``StorageError``.
        """
        if loaded.private:
            return
        # A slow disk may be writing the same; it would be offered twice.
        await loaded.prompt.writes.settle()
        draft = loaded.draft()
        if draft.empty or draft == loaded.prompt.kept or loaded.unsaved:
            return  # what could not be saved is in a rescue file, and its draft with it
        loaded.prompt.kept = draft
        with save_errors():
            await asyncio.to_thread(self._drafts.save, draft, token=_new_token())

    # --- what blocks on the disk

    @contextmanager
    def lend(self, loaded: LoadedSession, text: str) -> Generator[Path]:
        """A file with the prompt of a session, which an editor may change; gone afterwards.

        Nobody else can read it. Raises ``StorageError`` and ``OSError``.
        """
        draft = msgspec.structs.replace(loaded.draft(), text=text, queued=())
        folder = self._drafts.folder_for_edit(draft.session_id)
        lock = locks.take(folder / _LOCK, new=True)
        try:
            _write(folder / _DRAFT, journal_json(msgspec.to_builtins(draft)))
            _write(folder / _PROMPT, text.encode("utf-8", "surrogatepass"))
            yield folder / _PROMPT
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()

    def recover_edits(self) -> None:
        """Make drafts of what the editors of killed programs have written, and remove the folders.

        Raises ``StorageError``.
        """
        with storage_errors("Cannot read the drafts"):
            found = list(self._drafts.edits())
        for folder in found:
            with storage_errors(f"Cannot read {folder}"):
                lock = folder / _LOCK
                if not os.path.lexists(lock) or locks.holder_of(lock) is not None:
                    continue
            with suppress(OSError, msgspec.ValidationError):
                draft = msgspec.convert(read_json(folder / _DRAFT, LINE_BYTES), Draft)
                if folder.name.startswith(draft.session_id):
                    self._drafts.save_edited(draft, read_edited(folder / _PROMPT, draft.text))
            shutil.rmtree(folder, ignore_errors=True)

    def unclaimed(self, scope: str) -> str | None:
        """The session in which something was typed and that never came to be, if there is one."""
        with storage_errors("Cannot read the drafts"):
            draft = self._drafts.unclaimed(scope)
        return draft.session_id if draft is not None else None

    def typed(self, loaded: LoadedSession) -> Typed:
        """Read what was typed: the draft and what readers put aside, or one's own if reading.

        Raises ``StorageError``.
        """
        with storage_errors(f"Cannot read the drafts of {loaded.id}"):
            asides = dict(self._drafts.aside(loaded.id))
            if loaded.access.read_only:
                own, asides = None, {k: v for k, v in asides.items() if k == self._token}
            else:
                own = self._drafts.load(loaded.id)
            session = loaded.session
            unsent = [self._unsent(session, own, None)] if own else []
            unsent += [self._unsent(session, each, token) for token, each in asides.items()]
        wholes = {_whole(draft): draft for draft in unsent}
        # One that another begins with is in that.
        distinct = [
            draft
            for whole, draft in wholes.items()
            if not any(other != whole and other.startswith(whole) for other in wholes)
        ]
        return Typed(own, asides, unsent, distinct)

    def show(self, loaded: LoadedSession, typed: Typed) -> None:
        """Replace the draft of a prompt by the one that was found on disk."""
        found = [*filter(None, (typed.own, *typed.asides.values()))]
        loaded.prompt.restore(
            "\n\n".join(filter(None, (draft.text for draft in typed.distinct))),
            [prompt for draft in typed.distinct for prompt in draft.queued],
            tuple(paste for draft in found for paste in draft.pastes),
            typed.asides,
            frozenset(word for draft in found for word in draft.references),
        )
        loaded.prompt.kept = loaded.draft() if found else None
        if typed.own and typed.own not in typed.unsent:
            # The file still has text that was sent: it has to be written again.
            loaded.prompt.kept = typed.own

    def spare(self, loaded: LoadedSession, session: Session) -> None:
        """Put aside the draft of an earlier holder that this prompt knows nothing of.

        ``session`` is what was read under the lease. Raises ``StorageError``.
        """
        found = self._drafts.load(loaded.id)
        if found is None:
            return
        # Not all of it: the new file's time is later than what was sent from the old one.
        unsent = self._unsent(session, found, None)
        text = _whole(unsent)
        known = _whole(loaded.prompt.kept) if loaded.prompt.kept else ""
        if text not in known and text not in _whole(loaded.draft()):
            self._drafts.save(unsent, token=_new_token())

    # --- within

    def _unsent(self, session: Session, draft: Draft, token: str | None) -> Draft:
        """A draft without what was sent since: a crash came before it was written anew."""
        written = self._drafts.written_at(draft.session_id, token)
        if written is None:
            return draft
        said = [
            each.typed_text
            for each in session.all_messages
            if each.role == "user"
            and (moment := parse_utc(each.timestamp)) is not None
            and moment >= written
        ]
        queued: list[str] = []
        for text in draft.queued:
            # Each that was said is one that waited, not all that are alike.
            if text in said:
                said.remove(text)
            else:
                queued.append(text)
        begun = text_to_send(draft.text).strip()
        text = "" if any(prompt.startswith(begun) for prompt in said) else draft.text
        return msgspec.structs.replace(draft, text=text, queued=tuple(queued))

    def _write_own(self, draft: Draft, asides: Mapping[str, Draft]) -> None:
        """Write the holder's draft; what it was offered is in it or was thrown away."""
        self._drafts.save(draft)
        if not asides:
            return
        for token, found in self._drafts.aside(draft.session_id):
            # What a reader has typed since then stays for the next holder.
            if token == self._token or asides.get(token) == found:
                with suppress(StorageError):
                    empty = Draft(draft.session_id, draft.scope, draft.project_path, "")
                    self._drafts.save(empty, token=token)


def _whole(draft: Draft) -> str:
    """All text of a draft, the queue first."""
    return "\n\n".join(filter(None, (*draft.queued, draft.text)))
