"""The command ``sibyl-tui``, and ``python -m tui``."""

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from tui.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
