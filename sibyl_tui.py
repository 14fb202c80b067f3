"""The command ``sibyl-tui``, which starts the package ``tui`` beside this module.

Other projects have a package of that name. One that ``PYTHONPATH`` has first is passed over; one
that was installed over ours is named, as nothing of ours can run then.
"""

import os
import sys

# Only for this import: the modules of a package are looked for in its own folder.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - slow to import
import tui

del sys.path[0]


def main() -> None:
    """Run the program, or say what is in its place."""
    if not (tui.__doc__ or "").startswith("sibyl-tui:"):
        sys.exit(
            f'Another package named "tui" has replaced ours: {tui.__file__}.'
            " Install sibyl-tui in an environment of its own, as pipx and uv do."
        )
    from tui.__main__ import main as run

    run()


if __name__ == "__main__":
    main()
