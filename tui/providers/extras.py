"""Dialects whose library is an extra of the package."""

import shlex
import sys
from importlib.util import find_spec

from tui.domain.providers import EXTRAS, DialectName
from tui.errors import ModelUnavailable


def require_extra(dialect: DialectName, provider: str) -> None:
    """Raise ``ModelUnavailable`` with the command that installs it, if an extra is missing."""
    module = EXTRAS.get(dialect)
    if module is not None and not _is_installed(module):
        raise ModelUnavailable(
            f"The library for {provider} is not installed. Run: {install_command(dialect)}"
        )


def install_command(extra: str) -> str:
    """The command that installs an extra beside the running program, whose venv may have no pip."""
    python = shlex.quote(sys.executable)
    return f'python3 -m pip --python {python} install "sibyl-tui[{extra}]"'


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
