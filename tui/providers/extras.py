"""Dialects whose library is an extra of the package."""

from importlib.util import find_spec

from tui.domain.providers import EXTRAS, DialectName
from tui.errors import ModelUnavailable


def require_extra(dialect: DialectName, provider: str) -> None:
    """Raise ``ModelUnavailable`` with the command that installs it, if an extra is missing."""
    module = EXTRAS.get(dialect)
    if module is not None and not _is_installed(module):
        raise ModelUnavailable(
            f'The library for {provider} is not installed. Run: pip install "sibyl-tui[{dialect}]"'
        )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
