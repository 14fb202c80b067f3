"""Runs a command that starts the screen as a user does, asks something, and leaves.

    python -m tests.terminal.start_command DIRECTORY COMMAND

For .ci/run, which tries the README's own command so.
"""

import sys

from tests.terminal.program import Program

_MINUTES = 15


def main() -> int:
    directory, command = sys.argv[1:]
    argv = ["bash", "-ec", command]
    with Program(argv, directory=directory) as program:
        program.until("/ commands · @ files", "the prompt", seconds=_MINUTES * 60)
        program.type("What is a session?")
        program.press("enter")
        # Its beginning may have moved out of sight.
        program.until(r"2 messages +\S*guide\b.* saved \d", "the guide's answer")
        print(program.text)
        program.press("ctrl+q")
        status = program.wait()
        program.until("sibyl-tui --session ", "the line that resumes it")
    return status


if __name__ == "__main__":
    sys.exit(main())
