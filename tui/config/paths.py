"""Paths of the user's data, settings and state, and of projects; no file is created or read."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_PROGRAM = "sibyl"
_COMMAND = "sibyl-tui"
_SETTINGS = "config.toml"
_DEBUG_LOG = "debug.log"


def data_directory(environ: Mapping[str, str], flag: str | None = None) -> Path:
    """The directory of the sessions: the flag, ``SIBYL_DATA_DIR``, or the platform's default."""
    named = flag or environ.get("SIBYL_DATA_DIR")
    if named:
        return _absolute(named)
    # Imported here, as a start with explicit directories does not need it.
    import platformdirs

    return _kept(platformdirs.user_data_path(_PROGRAM, appauthor=False), _on_macos())


def config_file(environ: Mapping[str, str]) -> Path:
    """The settings file, which may be missing: ``SIBYL_CONFIG``, or the platform's default."""
    named = environ.get("SIBYL_CONFIG")
    if named:
        return _absolute(named)
    import platformdirs

    place = platformdirs.user_config_path(_PROGRAM, appauthor=False)
    return _kept(place / _SETTINGS, _on_macos() / _SETTINGS)


def state_directory() -> Path:
    """The directory of interface state and rescue files."""
    import platformdirs

    return _kept(platformdirs.user_state_path(_PROGRAM, appauthor=False), _on_macos())


def debug_log(environ: Mapping[str, str], flag: str | None = None) -> Path | None:
    """The file of the debug log: the flag's, that of ``SIBYL_DEBUG``, or none.

    An empty flag, and 1 as the variable, mean the file in the directory of state.
    """
    named = environ.get("SIBYL_DEBUG", "") if flag is None else flag or "1"
    if named in ("", "0"):
        return None
    return state_directory() / _DEBUG_LOG if named == "1" else _absolute(named)


def with_tilde(text: str) -> str:
    """Shorten the home directory in a text that others may read."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none
    return text.replace(f"{home}/", "~/") if home not in ("~", "/") else text


def command(called: str) -> str:
    """The shell word that starts this program again; ``called`` is ``sys.argv[0]``.

    The plain name if it is found on ``PATH``, or if the program was started in another way.
    """
    import shlex
    import shutil

    if os.path.basename(called) != _COMMAND or os.sep not in called or not called.isprintable():  # noqa: PTH119
        return _COMMAND
    by_name = shutil.which(_COMMAND)
    try:
        is_it = by_name is not None and os.path.samefile(by_name, called)  # noqa: PTH121
    except OSError:
        is_it = False
    return _COMMAND if is_it else shlex.quote(called)


def project_path(directory: str | os.PathLike[str]) -> Path:
    """The real path of the git work tree around a directory, else of the directory itself."""
    real = Path(os.path.realpath(directory))
    for place in (real, *real.parents):
        # A directory in a plain clone, a file in a linked work tree or a submodule.
        if os.path.lexists(place / ".git"):
            return place
    return real


def style_sheets() -> list[Path]:
    """The style sheets: inside the package in a wheel, beside it in a checkout."""
    return sorted(_shipped("styles").glob("*.tcss"))


def manual() -> list[Path]:
    """The pages of the manual: inside the package in a wheel, beside it in a checkout."""
    return sorted((_shipped("docs") / "manual").rglob("*.md"))


def changelog() -> Path:
    """The list of changes: inside the package in a wheel, beside it in a checkout."""
    return _shipped("CHANGELOG.md")


def _shipped(name: str) -> Path:
    package = Path(__file__).parent.parent
    inside = package / name
    return inside if inside.exists() else package.parent / name


def _on_macos() -> Path:
    return Path("~/Library/Application Support").expanduser() / _PROGRAM


def _kept(place: Path, earlier: Path) -> Path:
    """The platform's default, or on macOS the earlier one if only that exists.

    Before 4.6 platformdirs ignored XDG_* there; data from that time would seem lost.
    """
    on_macos = sys.platform == "darwin"
    return earlier if on_macos and not place.exists() and earlier.exists() else place


def _absolute(named: str) -> Path:
    # The shell does not expand the ~ of --data-dir=~/x. Path.expanduser raises if there is no such
    # home; this one leaves the name unchanged.
    return Path(os.path.expanduser(named)).absolute()  # noqa: PTH111
