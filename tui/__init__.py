"""sibyl-tui: a terminal chat client whose conversations are on disk as they happen."""

# Not from typing, which takes longer to import than the first frame has.
TYPE_CHECKING = False
if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Find the version when it is asked for: importlib.metadata would slow every start."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("sibyl-tui")
        except PackageNotFoundError:
            # An upgrade of the package may replace its metadata just now.
            return ""
