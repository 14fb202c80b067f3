"""The command ``sibyl-tui``, and ``python -m tui``."""

import gc
import sys

from tui.terminal import first_frame


def main() -> None:
    """Run the command line and leave with its exit code; the screen's outline comes first."""
    try:
        first_frame.begin(sys.argv[1:])
        # Until the command's module is there: a tenth of the time of a search is for garbage else.
        gc.disable()
        from tui.cli import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - the last line: a defect is told in a sentence
        first_frame.end()
        _tell(error)
        sys.exit(1)
    finally:
        first_frame.end()


def _tell(error: Exception) -> None:
    from tui.cli import console, debug_log

    console.tell(f"Unexpected error: {type(error).__name__}: {error}")
    console.tell(debug_log.last_words(error))


if __name__ == "__main__":
    main()
