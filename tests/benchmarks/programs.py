"""The two programs that are measured in turn, each on a terminal and in a home of its own."""

import os
import shutil
import sys
from pathlib import Path

from tests.benchmarks.terminal import TimedProgram

ROOT = Path(__file__).parent.parent.parent
SIBYL = str(Path(sys.executable).with_name("sibyl-tui"))
_OURS = ("SIBYL_", "XDG_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "TEXTUAL")
_MODEL = "local:test-model"

_KEEP_ALL = "[retention]\nbacklog_limit = 0\nmax_age_days = 1000000\n"
"""The sessions are of long ago, and each start is to find all of them; it looks for old ones."""


class Programs:
    """Starts either program; ``root`` is the sessions' directory of ours."""

    def __init__(self, directory: Path, root: Path | None = None) -> None:
        self.root = root or directory / "data"
        self._home = directory / "home"
        self._home.mkdir()
        self._config = self._home / "config.toml"
        self._config.write_text(_KEEP_ALL, "utf-8")

    def use_model(self, base_url: str) -> None:
        """From now on a server answers."""
        self._config.write_text(
            f'model = "{_MODEL}"\n[providers.local]\nbase_url = "{base_url}"\n{_KEEP_ALL}', "utf-8"
        )

    def bare(self, *arguments: str) -> TimedProgram:
        """The bare application."""
        argv = (sys.executable, "-m", "tests.benchmarks.bare", *arguments)
        return self._start(argv, PYTHONPATH=str(ROOT))

    def slow_sibyl(self, *arguments: str) -> TimedProgram:
        """The program on a disk whose every sync takes a while."""
        argv = (sys.executable, "-m", "tests.benchmarks.slow_disk", *arguments)
        return self._start((*argv, "--data-dir", str(self.root)), PYTHONPATH=str(ROOT))

    def traced(self, trace: Path) -> TimedProgram:
        """The program, with a list of the functions that a prompt runs through."""
        argv = (sys.executable, "-m", "tests.benchmarks.traced", "--data-dir", str(self.root))
        return self._start(argv, PYTHONPATH=str(ROOT), SIBYL_TRACE=str(trace))

    def sibyl(self, *arguments: str) -> TimedProgram:
        """The program that was installed; no draft of an earlier run is taken up."""
        shutil.rmtree(self.root / "drafts", ignore_errors=True)
        return self._start((SIBYL, "--data-dir", str(self.root), *arguments))

    def _start(self, argv, **more: str) -> TimedProgram:
        environment: dict[str, str | None] = {
            name: None for name in os.environ if name.startswith((*_OURS, "PYTHON"))
        }
        environment |= {
            "HOME": str(self._home),
            "SIBYL_CONFIG": str(self._config),
            "COLORTERM": "truecolor",
            **more,
        }
        return TimedProgram(argv, environment=environment, directory=str(self._home))
