"""The versions that a bug report needs."""

import platform
from importlib.metadata import PackageNotFoundError, version

import tui

_LIBRARIES = ("textual", "pydantic-ai-slim", "httpx2", "msgspec")


def versions() -> str:
    """The program, Python, the libraries and the system, in one line."""
    libraries = ", ".join(f"{name} {library_version(name)}" for name in _LIBRARIES)
    python = f"Python {platform.python_version()}"
    return f"sibyl-tui {tui.__version__}, {python}, {libraries}, {system()}"


def library_version(name: str) -> str:
    """The installed version of a library."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def system() -> str:
    """The operating system, without the name of the machine."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"
