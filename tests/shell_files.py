"""Writes the completion scripts and the man page of the wheel: ``python -m tests.shell_files``."""

import os
import tomllib
from pathlib import Path
from unittest.mock import patch

import shtab
from argparse_manpage.manpage import Manpage

from tests.reference import _EVERYWHERE
from tui.cli.parser import PROGRAM, Parser, build

ROOT = Path(__file__).parent.parent
COMPLETIONS = {
    "bash": f"share/bash-completion/completions/{PROGRAM}",
    "zsh": f"share/zsh/site-functions/_{PROGRAM}",
    "fish": f"share/fish/vendor_completions.d/{PROGRAM}.fish",
}
MAN_PAGE = f"share/man/man1/{PROGRAM}.1"


def completion(shell: str) -> str:
    """The script that completes the command in a shell."""
    return shtab.complete(build(), shell) + "\n"


def man_page() -> str:
    """The man page; the options that every command has are told once."""
    parser = build()
    for _, verb in verbs(parser):
        verb.description = None  # as in the list of commands
        shared = [each for each in verb._actions if {*_EVERYWHERE} & {*each.option_strings}]
        verb._actions = [each for each in verb._actions if each not in shared]
        verb._action_groups = [each for each in verb._action_groups if each.title != "everywhere"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    about = {
        "project_name": PROGRAM,
        "description": project["description"],
        "manual_title": "User Commands",
        # Of no day: the same source makes the same page.
        "date": project["version"],
    }
    # A usage is one line, which man breaks where it is read.
    with patch.dict(os.environ, COLUMNS="1000"):
        page = str(Manpage(parser, about, format="single-commands-section"))
    page = page.replace(".SH\nPOSITIONAL ARGUMENTS", ".SH COMMANDS")
    # Examples are lines, and not a paragraph.
    return page.replace("examples:", ".nf\nexamples:").replace("\nRead on:", ".fi\n\nRead on:")


def verbs(parser: Parser):
    """Every command of a parser, and theirs."""
    for action in parser._actions:
        for name, verb in (action.choices or {}).items() if action.nargs == "A..." else ():
            yield name, verb
            yield from verbs(verb)


def files() -> dict[str, str]:
    """The text of each file, by its path."""
    return {path: completion(shell) for shell, path in COMPLETIONS.items()} | {MAN_PAGE: man_page()}


if __name__ == "__main__":
    for path, text in files().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, "utf-8")
