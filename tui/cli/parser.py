"""The argument parser."""

import argparse
import os
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias, cast

from tui.cli import output
from tui.domain.text.safe_text import without_surrogates
from tui.errors import UsageError
from tui.terminal.first_frame import asks_for_screen

PROGRAM = "sibyl-tui"
_DEBUG = "--debug"
_TARGET = "an id or its beginning, a name, PROJECT#N, or a number of `sessions list`"

_PATHS = frozenset({"data_dir", "debug", "file", "files", "output", "paths"})
"""Arguments that may be any bytes, as file names may."""
_COMPLETED_AS_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}
"""For shells: part of ``shtab.FILE``, without the time that its import takes."""


class Parser(argparse.ArgumentParser):
    """Raises errors instead of printing them, so that quoted input is sanitised."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.format_usage()}{self.prog}: {message}")

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride] - it has overloads
        self, args: Any = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Refuse unknown arguments here, with the usage of the command that has them."""
        chosen, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return chosen, unknown

    def print_help(self, file: Any = None) -> None:
        """Print the help like other data, so that a full disk is reported."""
        del file
        output.put(self.format_help())


class _Version(argparse.Action):
    """Looks up the version only for ``--version``, as that is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import tui

        output.put_line(f"{PROGRAM} {tui.__version__}")
        parser.exit(0)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; ``command`` is the command and its verb, ``""`` for the full screen.

    Raises ``UsageError``. Prints and exits for ``--help`` and ``--version``.
    """
    # Building the subparsers takes 4 ms, which the start of the full screen saves.
    grammar = _without_commands() if asks_for_screen([*arguments]) else build()
    try:
        chosen = grammar.parse_args(_with_attached_file(arguments))
    except UsageError as error:
        if _DEBUG not in arguments:
            raise
        raise UsageError(f"{error}\nTo name the file of the log: {_DEBUG}=FILE") from error
    for name, value in vars(chosen).items():
        if name not in _PATHS:
            setattr(chosen, name, _as_text(value))
    return chosen


def _with_attached_file(arguments: Sequence[str]) -> list[str]:
    """Let ``--debug`` take no argument after it: that is a command, a prompt or a session file."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [f"{_DEBUG}=" if each == _DEBUG else each for each in arguments[:end]]
    return [*options, *arguments[end:]]


def _as_text(value: Any) -> Any:
    """Decode what the locale could not as UTF-8. Raises ``UsageError``."""
    if isinstance(value, list):
        return [_as_text(each) for each in cast("list[Any]", value)]
    if not isinstance(value, str) or without_surrogates(value) == value:
        return value
    try:
        return os.fsencode(value).decode()
    except UnicodeError as error:
        raise UsageError(f'"{value}" is not valid UTF-8.') from error


def build() -> Parser:
    """Build the parser of all commands."""
    parser = _without_commands()
    commands = parser.add_subparsers(metavar="COMMAND")
    _add_ask(commands)
    _add_sessions(commands)
    _add_import(commands)
    _add_doctor(commands)
    _add_index(commands)
    _add_config(commands)
    _add_completion(commands)
    return parser


def _without_commands() -> Parser:
    parser = Parser(
        prog=PROGRAM,
        description="Chat with language models in sessions that are never lost.",
        epilog="Without a command, the full screen starts. Arguments after -- are no options.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    _add_common(parser)
    # With SUPPRESS, subparsers do not overwrite options given before them.
    parser.set_defaults(
        command="",
        data_dir=None,
        store=None,
        scope=None,
        model=None,
        session=None,
        go_on=False,
        private=False,
        auto_save_interval=None,
        debug=None,
        debug_failure="",
    )
    _add_screen(parser)
    return parser


# argparse has no public name for this type, and it is generic for type checkers only.
_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _command(commands: _Commands, name: str, command: str, text: str) -> Parser:
    parser = commands.add_parser(
        name, help=text, description=text, argument_default=argparse.SUPPRESS
    )
    _add_common(parser)
    parser.set_defaults(command=command)
    return parser


def _add_common(parser: Parser) -> None:
    common = parser.add_argument_group("everywhere")
    suppressed = argparse.SUPPRESS
    common.add_argument(
        "--data-dir",
        metavar="DIR",
        default=suppressed,
        help="the directory that keeps the sessions",
    )
    common.add_argument(
        "--store",
        metavar="ADDRESS",
        default=suppressed,
        help="a server that keeps the sessions instead, postgresql://[USER@]HOST/DATABASE",
    )
    common.add_argument(
        "--scope", metavar="NAME", default=suppressed, help="the project or named scope to work in"
    )
    common.add_argument(
        "--model", metavar="PROVIDER:MODEL", default=suppressed, help="the model that answers"
    )
    common.add_argument(
        _DEBUG,
        nargs="?",
        metavar="FILE",
        default=suppressed,
        help="write a log for bug reports, without texts and keys; a FILE is named as --debug=FILE",
    )


def _add_screen(parser: Parser) -> None:
    screen = parser.add_argument_group("the full screen")
    which = screen.add_mutually_exclusive_group()
    _add_which(which)
    which.add_argument(
        "--private",
        action="store_true",
        default=argparse.SUPPRESS,
        help="a session that is never written to disk",
    )
    screen.add_argument(
        "--auto-save-interval",
        metavar="SECONDS",
        default=argparse.SUPPRESS,
        help="save automatically every so many seconds; 0 = off",
    )


def _add_which(group: argparse._MutuallyExclusiveGroup) -> None:  # pyright: ignore[reportPrivateUsage] - it has no public name
    group.add_argument("--session", metavar="TARGET", default=argparse.SUPPRESS, help=_TARGET)
    group.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        default=argparse.SUPPRESS,
        help="the active session of this project, else a new one",
    )


def _add_ask(commands: _Commands) -> None:
    ask = _command(commands, "ask", "ask", "Ask one question and print the answer.")
    ask.add_argument(
        "prompt",
        nargs="?",
        default=None,
        metavar="PROMPT",
        help="the question; - reads it from standard input. Piped input is added below a PROMPT",
    )
    files = ask.add_argument(
        "-f",
        "--file",
        dest="files",
        action="append",
        default=[],
        metavar="FILE",
        help="a text file, a picture or a folder to send with it; can be repeated",
    )
    files.complete = _COMPLETED_AS_FILES  # pyright: ignore[reportAttributeAccessIssue]
    _add_which(ask.add_mutually_exclusive_group())
    _add_json(ask, "print one JSON object per line")


def _add_sessions(commands: _Commands) -> None:
    parser = _command(commands, "sessions", "sessions", "List, show, search and organise sessions.")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    _add_list(verbs)
    _add_search(verbs)
    _add_export(verbs)
    show = _command(verbs, "show", "sessions show", "Print a session as Markdown.")
    show.add_argument("target", metavar="TARGET", help=_TARGET)
    _add_all_messages(show)
    _add_json(show)
    name = _command(verbs, "name", "sessions name", "Name a session.")
    name.add_argument("target", metavar="TARGET", help=_TARGET)
    name.add_argument("name", metavar="NAME")
    for verb, text in (
        ("archive", "Archive sessions."),
        ("restore", "Restore sessions from the archive or the trash."),
    ):
        moved = _command(verbs, verb, f"sessions {verb}", text)
        moved.add_argument("targets", metavar="TARGET", nargs="+", help=_TARGET)
    delete = _command(verbs, "delete", "sessions delete", "Move sessions to the trash.")
    delete.add_argument("ids", metavar="ID", nargs="+", help="the complete id")
    delete.add_argument("--yes", action="store_true", default=False, help="delete without asking")
    purge = _command(verbs, "purge", "sessions purge", "Delete sessions in the trash for good.")
    purge.add_argument(
        "ids", metavar="ID", nargs="*", default=[], help="only these; the complete id"
    )
    purge.add_argument(
        "--yes",
        action="store_true",
        default=False,
        help="delete them; without it they are only listed",
    )
    taken = _command(verbs, "import", "sessions import", "Import a rescue file or a session file.")
    taken.add_argument("file", metavar="FILE")
    _add_copy(verbs)


def _add_copy(verbs: _Commands) -> None:
    parser = _command(
        verbs,
        "copy",
        "sessions copy",
        "Copy all sessions from one store to another, byte for byte. Nothing is copied twice.",
    )
    for name, dest, text in (
        ("from", "source", "copy from here"),
        ("to", "target", "copy to here"),
    ):
        parser.add_argument(
            f"--{name}",
            dest=dest,
            metavar="STORE",
            required=True,
            help=f"{text}: files, configured, a folder, or the address of a server",
        )
    parser.add_argument(
        "--dry-run", action="store_true", default=False, help="only compare the two stores"
    )
    _add_json(parser)


def _add_list(verbs: _Commands) -> None:
    parser = _command(verbs, "list", "sessions list", "List sessions, newest use first.")
    _add_statuses(parser)
    _add_json(parser)


def _add_statuses(parser: Parser) -> None:
    for name, text in (
        ("archived", "archived sessions"),
        ("trashed", "sessions in the trash"),
        ("all", "all sessions: open, closed, archived and in the trash"),
    ):
        parser.add_argument(f"--{name}", action="store_true", default=False, help=text)


def _add_export(verbs: _Commands) -> None:
    parser = _command(
        verbs, "export", "sessions export", "Write sessions as Markdown or JSON Lines."
    )
    parser.add_argument("targets", metavar="TARGET", nargs="*", default=[], help=_TARGET)
    _add_statuses(parser)
    parser.add_argument(
        "--since", metavar="DATE", default=None, help="only those used on this day or later"
    )
    parser.add_argument(
        "--format", choices=("markdown", "jsonl"), default="markdown", help="default: markdown"
    )
    parser.add_argument(
        "--output",
        metavar="PATH",
        default=None,
        help="a file for one session, a folder for several; without it, standard output",
    )
    parser.add_argument(
        "--force", action="store_true", default=False, help="replace files that exist"
    )
    _add_all_messages(parser)


def _add_search(verbs: _Commands) -> None:
    parser = _command(
        verbs,
        "search",
        "sessions search",
        "Search names and messages in all projects and the archive, best match first.",
    )
    parser.add_argument(
        "words",
        nargs="+",
        metavar="QUERY",
        help='words that must all occur; "quotes" for a phrase, word* for a prefix;'
        " in:project, from:program, before:2026-05 and after:2026-05-01 narrow it",
    )
    parser.add_argument("--limit", metavar="N", default="20", help="print at most N matches")
    _add_json(parser)


def _add_import(commands: _Commands) -> None:
    from tui.importers.readers import PROGRAMS

    parser = _command(
        commands,
        "import",
        "import",
        "Import the sessions of other programs into the archive. Nothing is imported twice.",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        default=[],
        metavar="PATH",
        help="an exported file or a folder; without one, the usual places are searched",
    )
    parser.add_argument(
        "--from",
        dest="sources",
        action="append",
        default=[],
        metavar="NAME",
        help="only from this program, such as claude-code; may be repeated",
    )
    for name, text in (
        ("all", "import everything that is found, without asking"),
        ("dry-run", "only show what there is"),
        ("again", "also import sessions that were deleted here"),
        ("large", "also read databases of more than 1 GiB, which are copied to be read"),
    ):
        parser.add_argument(f"--{name}", action="store_true", default=False, help=text)
    parser.add_argument(
        "--since", metavar="DATE", default=None, help="only what was changed on this day or later"
    )
    parser.epilog = f"Programs that are read: {', '.join(PROGRAMS)}."
    _add_json(parser)


def _add_index(commands: _Commands) -> None:
    parser = _command(commands, "index", "index", "Maintain the search index.")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    _command(verbs, "rebuild", "index rebuild", "Delete the search index and build it again.")


def _add_doctor(commands: _Commands) -> None:
    doctor = _command(
        commands,
        "doctor",
        "doctor",
        "Check the stored sessions. Exit code: 0 clean, 1 findings, 2 damage.",
    )
    doctor.add_argument(
        "--repair",
        action="store_true",
        default=False,
        help="repair whatever can be repaired without changing a record",
    )
    _add_json(doctor)


def _add_config(commands: _Commands) -> None:
    parser = _command(commands, "config", "config", "Show the configuration.")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for verb, text in (
        ("show", "Print the settings in force."),
        ("path", "Print the path of the configuration file."),
        ("example", "Print a commented example file."),
    ):
        _command(verbs, verb, f"config {verb}", text)


def _add_completion(commands: _Commands) -> None:
    parser = _command(
        commands, "completion", "completion", "Print a completion script for a shell."
    )
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _add_all_messages(parser: Parser) -> None:
    parser.add_argument(
        "--all-messages",
        action="store_true",
        default=False,
        help="include messages from before a reset, and earlier versions",
    )


def _add_json(parser: Parser, text: str = "print JSON") -> None:
    parser.add_argument("--json", action="store_true", default=False, help=text)
