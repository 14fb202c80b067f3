"""The real program, stopped where it imports its command line.

    python -m tests.terminal.held DIRECTORY [ARGUMENT...]

It writes the modules that the start has loaded by then to ``DIRECTORY/modules``, and waits for
the FIFO ``DIRECTORY/cli``; if there is a file ``DIRECTORY/fail``, the import fails.
"""

import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

place = Path(sys.argv[1])


class _Held(MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname == "tui.cli":
            sys.meta_path.remove(self)
            names = "\n".join(sys.modules)
            (place / "new").write_text(names, "utf-8")
            (place / "new").rename(place / "modules")
            (place / "cli").read_bytes()
            if (place / "fail").exists():
                raise ZeroDivisionError("the import failed")


sys.argv[:] = ["sibyl-tui", *sys.argv[2:]]
sys.meta_path.insert(0, _Held())

from tui.__main__ import main  # noqa: E402

main()
