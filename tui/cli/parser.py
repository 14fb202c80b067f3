"""The argument parser."""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias, cast

from tui.cli import console
from tui.domain.text import without_surrogates
from tui.errors import UsageError
from tui.terminal.first_frame import WITH_VALUE, asks_for_screen

PROGRAM = "sibyl-tui"
_DEBUG = "--debug"
_STORES = "files, configured, a folder, or the address of a server"
_TARGET = "an id or its beginning, a name, PROJECT#N, or a number of `sessions list`"

_EPILOG = """\
Without a command, the full screen starts. A question of several words in
quotes is answered as by ask. Arguments after -- are no options.

examples:
  sibyl-tui                             start the full screen
  sibyl-tui -c                          continue the last session of this project
  sibyl-tui "Why is the sky blue?"      ask without the screen
  git diff | sibyl-tui "Review this."   ask about the output of a program
  sibyl-tui import                      import the sessions of other programs

Read on: /help in the full screen, and
https://sibyl-tui.github.io/sibyl-tui/"""

_PATHS = frozenset({"data_dir", "debug", "file", "files", "output", "paths"})
"""Arguments that may be any bytes, as file names may."""
_COMPLETED_AS_FILES = {
    "bash": "_shtab_compgen_files",
    "zsh": "_files",
    "fish": "(__fish_complete_path (commandline -ct))",
    "tcsh": "f",
}
"""For shells: part of ``shtab.FILE``, without the time that its import takes."""

_WITH_VALUE = WITH_VALUE | {"-f", "--file"}

_Argument: TypeAlias = Callable[[Any], object]
"""Adds an argument to a parser or a group."""


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
        console.put(self.format_help())


class _Version(argparse.Action):
    """Looks up the version only for ``--version``, as that is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import tui

        console.put_line(f"{PROGRAM} {tui.__version__}")
        parser.exit(0)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; ``command`` is the command and its verb, ``""`` for the full screen.

    A first word with a blank in it is a question for ``ask``.
    Raises ``UsageError``. Prints and exits for ``--help`` and ``--version``.
    """
    word, verb = _first_words(arguments)
    is_question = any(map(str.isspace, word))
    if is_question:
        arguments = ["ask", *arguments]
    # Building all subparsers takes 7 ms, of which one command needs few, and the screen none.
    is_screen = asks_for_screen([*arguments])
    grammar = _without_commands() if is_screen else build(_names(word, verb))
    # ``--debug`` takes no argument after it: that is a command, a prompt or a session file.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [f"{_DEBUG}=" if each == _DEBUG else each for each in arguments[:end]]
    try:
        chosen = grammar.parse_args([*options, *arguments[end:]])
    except UsageError as error:
        if _DEBUG in arguments:
            raise UsageError(f"{error}\nTo name the file of the log: {_DEBUG}=FILE") from error
        known = f"{word} {verb}" if verb and _has_verbs(word) else word
        if word and not is_question and known not in _COMMANDS:
            raise UsageError(_no_command(grammar, word, verb)) from error
        raise
    for name, value in vars(chosen).items():
        if name not in _PATHS:
            setattr(chosen, name, _as_text(value))
    return chosen


def _first_words(arguments: Sequence[str]) -> tuple[str, str]:
    """The first two arguments that are no option and no option's value; ``""`` without them."""
    words, rest = list[str](), iter(arguments)
    for argument in rest:
        if argument in _WITH_VALUE:
            next(rest, None)
        elif not argument.startswith("-"):
            words.append(argument)
    first, second, *_ = *words, "", ""
    return first, second


def _has_verbs(word: str) -> bool:
    return any(each.startswith(f"{word} ") for each in _COMMANDS)


def _no_command(grammar: Parser, word: str, verb: str) -> str:
    from difflib import get_close_matches

    group = f"{word} " if verb and _has_verbs(word) else ""
    said = group + verb if group else word
    # A verb may be all that is remembered of its command.
    names = {
        name.rpartition(" ")[2]: name for name in reversed([*_COMMANDS]) if name.startswith(group)
    }
    found = get_close_matches(verb if group else word, names, 1)
    close = "".join(f"\nClosest: {PROGRAM} {names[each]}" for each in found)
    return (
        f'{grammar.format_usage()}{PROGRAM}: There is no command "{said}".{close}'
        f'\nTo ask it as a question: {PROGRAM} ask "{said}"'
    )


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


def _names(word: str, verb: str) -> Sequence[str]:
    """The names of the commands that may be meant; all of them where it is none."""
    named = word, f"{word} {verb}"
    if named[1] in _COMMANDS:
        return named
    return [name for name in _COMMANDS if name.split()[0] == word] or [*_COMMANDS]


def build(names: Sequence[str] = ()) -> Parser:
    """Build the parser of some commands, or of all."""
    parser = _without_commands()
    # With its name, it imports no library to word a usage.
    groups = {"": parser.add_subparsers(metavar="COMMAND", prog=PROGRAM)}
    for name in names or _COMMANDS:
        text, arguments = _COMMANDS[name]
        group, _, verb = name.rpartition(" ")
        command = groups[group].add_parser(
            verb, help=text, description=text, argument_default=argparse.SUPPRESS
        )
        command.set_defaults(command=name)
        _add_group(command, "everywhere", _COMMON)
        for add in arguments:
            add(command)
        if _has_verbs(name):
            groups[name] = command.add_subparsers(
                metavar="VERB", required=True, prog=f"{PROGRAM} {name}"
            )
        if name == "import":
            from tui.importers.readers import PROGRAMS

            command.epilog = f"Programs that are read: {', '.join(PROGRAMS)}."
    return parser


def _without_commands() -> Parser:
    # With SUPPRESS, subparsers do not overwrite options given before them.
    parser = Parser(
        prog=PROGRAM,
        description="Chat with language models in sessions that are never lost.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    _add_group(parser, "everywhere", _COMMON)
    _add_group(parser, "the full screen", _SCREEN)
    nothing = ("data_dir", "store", "scope", "model", "session", "auto_save_interval", "debug")
    parser.set_defaults(**dict.fromkeys(nothing), command="", debug_failure="")
    parser.set_defaults(go_on=False, private=False)
    return parser


def _add_group(parser: Parser, title: str, arguments: Sequence[_Argument]) -> None:
    group = parser.add_argument_group(title)
    for add in arguments:
        add(group)


def _argument(*names: str, **options: Any) -> _Argument:
    """Make an argument, to be added to a parser or a group."""
    return lambda parser: parser.add_argument(*names, **options)


def _flag(name: str, text: str) -> _Argument:
    return _argument(name, action="store_true", default=False, help=text)


def _either(*arguments: _Argument) -> _Argument:
    """Make one argument of several that exclude each other."""

    def add_all(parser: Any) -> None:
        group = parser.add_mutually_exclusive_group()
        for add in arguments:
            add(group)

    return add_all


def _file(parser: Any) -> None:
    text = "a text file, a picture or a folder to send with it; can be repeated"
    file = parser.add_argument(
        "-f", "--file", dest="files", action="append", default=[], metavar="FILE", help=text
    )
    file.complete = _COMPLETED_AS_FILES


# fmt: off
_COMMON = (
    _argument("--data-dir", metavar="DIR", help="the directory that keeps the sessions"),
    _argument("--store", metavar="ADDRESS",
              help="a server that keeps the sessions instead, postgresql://[USER@]HOST/DATABASE"),
    _argument("--scope", metavar="NAME", help="the project or named scope to work in"),
    _argument("--model", metavar="PROVIDER:MODEL", help="the model that answers"),
    _argument(_DEBUG, metavar="FILE", nargs="?",
              help="write a log for bug reports, without texts and keys;"
              " a FILE is named as --debug=FILE"),
)
_SESSION = _argument("-r", "--session", metavar="TARGET", help=_TARGET)
_SESSION_OR_PICKER = _argument("-r", "--session", metavar="TARGET", nargs="?", const="",
                               help=f"{_TARGET}; alone: pick one")
_CONTINUE = _argument("-c", "--continue", dest="go_on", action="store_true",
                      help="the active session of this project, else a new one")
_PRIVATE = _argument("--private", action="store_true",
                     help="a session that is never written to disk")
_SCREEN = (
    _either(_SESSION_OR_PICKER, _CONTINUE, _PRIVATE),
    _argument("--auto-save-interval", metavar="SECONDS",
              help="save automatically every so many seconds; 0 = off"),
)

_ONE_TARGET = _argument("target", metavar="TARGET", help=_TARGET)
_TARGETS = _argument("targets", metavar="TARGET", nargs="+", help=_TARGET)
_ALL_MESSAGES = _flag("--all-messages",
                      "include messages from before a reset, and earlier versions")
_JSON = _flag("--json", "print JSON")
_STATUSES = (
    _flag("--archived", "archived sessions"),
    _flag("--trashed", "sessions in the trash"),
    _flag("--all", "all sessions: open, closed, archived and in the trash"),
)

_COMMANDS: Mapping[str, tuple[str, Sequence[_Argument]]] = {
    "ask": ("Ask one question and print the answer.", (
        _argument("prompt", metavar="PROMPT", nargs="?", default=None,
                  help="the question; - reads it from standard input."
                  " Piped input is added below a PROMPT"),
        _file,
        _either(_SESSION, _CONTINUE),
        _flag("--json", "print one JSON object per line"),
    )),
    "sessions": ("List, show, search and organise sessions.", ()),
    "sessions list": ("List sessions, newest use first.", (*_STATUSES, _JSON)),
    "sessions search": (
        "Search names and messages in all projects and the archive, best match first.", (
        _argument("words", metavar="QUERY", nargs="+",
                  help='words that must all occur; "quotes" for a phrase, word* for a prefix;'
                  " in:project, from:program, before:2026-05 and after:2026-05-01 narrow it"),
        _argument("--limit", metavar="N", default="20", help="print at most N matches"),
        _JSON,
    )),
    "sessions export": ("Write sessions as Markdown or JSON Lines.", (
        _argument("targets", metavar="TARGET", nargs="*", default=[], help=_TARGET),
        *_STATUSES,
        _argument("--since", metavar="DATE", default=None,
                  help="only those used on this day or later"),
        _argument("--format", choices=("markdown", "jsonl"), default="markdown",
                  help="default: markdown"),
        _argument("--output", metavar="PATH", default=None,
                  help="a file for one session, a folder for several; without it, standard output"),
        _flag("--force", "replace files that exist"),
        _flag("--mask-secrets", "mask what looks like a key or a password in what is written"),
        _ALL_MESSAGES,
    )),
    "sessions show": ("Print a session as Markdown.", (_ONE_TARGET, _ALL_MESSAGES, _JSON)),
    "sessions name": ("Name a session.", (_ONE_TARGET, _argument("name", metavar="NAME"))),
    "sessions archive": ("Archive sessions.", (_TARGETS,)),
    "sessions restore": ("Restore sessions from the archive or the trash.", (_TARGETS,)),
    "sessions delete": ("Move sessions to the trash.", (
        _argument("ids", metavar="ID", nargs="+", help="the complete id"),
        _flag("--yes", "delete without asking"),
    )),
    "sessions purge": ("Delete sessions in the trash for good.", (
        _argument("ids", metavar="ID", nargs="*", default=[], help="only these; the complete id"),
        _flag("--yes", "delete them; without it they are only listed"),
    )),
    "sessions import": ("Import a rescue file or a session file.", (
        _argument("file", metavar="FILE"),
    )),
    "sessions copy": (
        "Copy all sessions from one store to another, byte for byte. Nothing is copied twice.", (
        _argument("--from", dest="source", metavar="STORE", required=True,
                  help=f"copy from here: {_STORES}"),
        _argument("--to", dest="target", metavar="STORE", required=True,
                  help=f"copy to here: {_STORES}"),
        _flag("--dry-run", "only compare the two stores"),
        _JSON,
    )),
    "import": (
        "Import the sessions of other programs into the archive. Nothing is imported twice.", (
        _argument("paths", metavar="PATH", nargs="*", default=[],
                  help="an exported file or a folder; without one, the usual places are searched"),
        _argument("--from", dest="sources", action="append", default=[], metavar="NAME",
                  help="only from this program, or those whose names begin so; may be repeated"),
        _flag("--all", "import everything that is found, without asking"),
        _either(
            _flag("--dry-run", "only show what there is"),
            _flag("--watch", "import now, and again whenever something is new, until Ctrl+C"),
        ),
        _flag("--again", "also import sessions that were deleted here"),
        _flag("--large", "also read databases of more than 1 GiB, which are copied to be read"),
        _argument("--since", metavar="DATE", default=None,
                  help="only what was changed on this day or later"),
        _JSON,
    )),
    "mcp": ("Let agents search and read the sessions, by the Model Context Protocol.", ()),
    "doctor": ("Check the stored sessions. Exit code: 0 clean, 1 findings, 2 damage.", (
        _flag("--repair", "repair whatever can be repaired without changing a record"),
        _JSON,
    )),
    "index": ("Maintain the search index.", ()),
    "index rebuild": ("Delete the search index and build it again.", ()),
    "config": ("Show the configuration.", ()),
    "config show": ("Print the settings in force.", ()),
    "config path": ("Print the path of the configuration file.", ()),
    "config example": ("Print a commented example file.", ()),
    "completion": ("Print a completion script for a shell.", (
        _argument("shell", choices=("bash", "zsh", "fish", "tcsh")),
    )),
}
# fmt: on
"""Every command with its help and its arguments, in the order of the help."""
