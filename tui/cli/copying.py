"""``sibyl-tui sessions copy``: copy all sessions of a store into another one."""

import os
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from tui.cli import console
from tui.cli.progress_line import STOPPED, ProgressLine
from tui.config import paths
from tui.config.loading import Flags, check_password, load_settings
from tui.domain.imports import bytes_words
from tui.domain.text import listed, make_visible_line, plural
from tui.domain.timestamps import utc_now
from tui.engine.copying import CopyResult, copy
from tui.errors import ConfigError, UsageError
from tui.storage.file_store import FileStore
from tui.storage.protocol import SessionStore
from tui.storage.stores import open_store

_FILES = "files"
_CONFIGURED = "configured"
_NAMED = 20
"""The most sessions and pictures of a kind that are named; JSON has all."""
_AGAIN = "The same command continues, and adds nothing twice."


def run(chosen: Namespace) -> int:
    """Copy and report; 1 if something of the source is not at the target."""
    source_text = _address(chosen, "--from", chosen.source)
    target_text = _address(chosen, "--to", chosen.target)
    source_folder, target_folder = _folder(chosen, source_text), _folder(chosen, target_text)
    both = (source_folder, source_text), (target_folder, target_text)
    if len({text if folder is None else os.path.realpath(folder) for folder, text in both}) == 1:
        raise UsageError("--from and --to are the same store.")
    if source_folder is not None and not _is_directory(source_folder):
        raise UsageError(f"No such data directory: {source_folder}")
    progress = ProgressLine()
    with (
        closing(_opened(source_folder, source_text)) as source,
        closing(_opened(target_folder, target_text)) as target,
        progress.stopped_by_keys(),
    ):
        done = copy(source, target, progress.show, dry=chosen.dry_run)
    progress.end()
    if chosen.json:
        console.put_json({"dry_run": chosen.dry_run, **msgspec.to_builtins(done)}, 2)
    else:
        _report(done, is_dry=chosen.dry_run)
    _report_some(
        [f"{each} is another session there. Both are unchanged." for each in done.different]
    )
    _report_some([make_visible_line(f"{each.id}: {each.reason}") for each in done.failures])
    _report_some([f"picture {each} is missing or damaged." for each in done.missing_pictures])
    if done.error:
        console.tell(done.error)
    if done.error and done.has_begun:
        console.tell(f"The copy ended early. {_AGAIN}")
    elif done.stopped:
        console.tell(f"Stopped after {plural(done.added + done.extended, 'session')}. {_AGAIN}")
    return STOPPED if done.stopped else int(not done.is_whole)


# --- stores


def _address(chosen: Namespace, flag: str, text: str) -> str:
    """Check the address of a store; only one in the configuration may have a password."""
    if not text:
        raise UsageError(f"{flag}: expected files, configured, a folder or an address.")
    environment = dict(os.environ)
    file = paths.config_file(environment)
    if text != _CONFIGURED:
        check_password(text, flag, file)
        return text
    flags = Flags(chosen.model, chosen.scope, None, chosen.store)
    return load_settings(file, environment, flags).config.store or _FILES


def _opened(folder: Path | None, text: str) -> SessionStore:
    if folder is not None:
        if os.path.lexists(folder) and not _is_directory(folder):
            raise UsageError(f"Not a directory: {folder}")
        return FileStore(folder, utc_now)
    try:
        return open_store(text, Path(), utc_now)
    except ConfigError as error:
        # The error names the settings, where this address is not from.
        raise UsageError(f"STORE: {error.expected}. A new folder is written as ./NAME.") from error


def _folder(chosen: Namespace, text: str) -> Path | None:
    """Find the data directory that an argument means; ``None`` for another store."""
    if text == _FILES:
        return paths.data_directory(dict(os.environ), chosen.data_dir)
    path = paths.data_directory({}, text)
    # A store of a package may have a path in the part after the colon.
    is_path = os.sep in text.partition(":")[0] or text in (".", "..", "~")
    return path if is_path or _is_directory(path) else None


def _is_directory(path: Path) -> bool:
    # Path.is_dir raises for a name that is too long, as the address of a server may be.
    return os.path.isdir(path)  # noqa: PTH112


# --- words


def _report(done: CopyResult, *, is_dry: bool) -> None:
    if done.error and not done.has_begun:
        # The store is away: there is nothing to add to the error.
        return
    size = bytes_words(done.copied_bytes)
    sessions = plural(done.added, "session")
    if is_dry:
        console.put_line(
            f"Would copy {sessions} and extend {done.extended}, {size};"
            f" {done.present} of {done.sessions} are there already."
        )
        return
    console.put_line(
        f"Copied {sessions}, extended {done.extended}, {size};"
        f" {done.present} of {done.sessions} were there already."
    )
    console.put_line(f"Verified by SHA-256: {plural(done.verified, 'session')}.")
    counts = ((done.pictures, "picture"), (done.imports, "past import"), (done.moves, "past move"))
    if others := [plural(count, what) for count, what in counts if count]:
        console.put_line(f"Also: {listed(others)}.")


def _report_some(failures: Sequence[str]) -> None:
    for failure in failures[:_NAMED]:
        console.tell(f"Not copied: {failure}")
    if len(failures) > _NAMED:
        console.tell(f"and {len(failures) - _NAMED} more. --json names all.")
