"""Garbage of a command: collected again once its modules are imported."""

import subprocess
import sys

import pytest

_PROGRAM = """
import gc, sys
from tui import __main__
from tui.cli import console

put = console.put_line
console.put_line = lambda text="": put(f"{gc.isenabled()} {gc.get_freeze_count() > 1000}")
__main__.main()
"""


@pytest.mark.parametrize("command", [["sessions", "list"], ["sessions", "search", "nothing"]])
def test_a_command_collects_garbage_but_of_what_was_imported(tmp_path, command):
    arguments = ["--data-dir", str(tmp_path), *command]
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *arguments], stdout=subprocess.PIPE)
    assert done.stdout == b"True True\n"
