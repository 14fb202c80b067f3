"""Writes the reference of the manual from the tables in the code: ``python -m tests.reference``."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import inspect
from textual.binding import Binding

from tui.app.appearance import ALL_KEYS, EVERYWHERE
from tui.cli import EXIT_CODES
from tui.cli.parser import build
from tui.config import writing
from tui.config.settings_schema import Config
from tui.domain.commands import COMMANDS, Command
from tui.domain.providers import KNOWN_SERVERS, PROVIDERS
from tui.importers.readers import readers
from tui.screens.keys import key_lines
from tui.widgets.keys import NO_KEY
from tui.widgets.sidebar.session_list import PIN, PRIVATE, SIGNS

_ABOUT_KEYS = """\
F1 shows every key and keyboard shortcut. Those of the first table work everywhere. The last column
is the name of the action, by which `[keys]` in the configuration [gives it another
key](../screen.md#keys-of-your-own): `new = "f9"`."""
_ABOUT_COMMANDS = """\
Type them into the prompt: Tab completes. Arguments in brackets can be left out. `//x` sends `/x` as
text."""
_ABOUT_EXIT_CODES = """\
Ended by a signal, the exit code is 128 and the signal's number: 130 after Ctrl+C."""
_ABOUT_CONFIGURATION = """\
Every key of `config.toml`, with its default; without a default, an example in parentheses.
`sibyl-tui config example` prints the same as a file."""
_ABOUT_PROVIDERS = """\
A model is called `PROVIDER:MODEL`. The variable has the key. A provider without a default model
needs one to be named or chosen. Any other name is a server of your own, which needs a
`base_url`."""
_ABOUT_FORMATS = """\
`sibyl-tui import` reads these; NAME is for `--from`, of which the beginning is enough."""
_EVERYWHERE = ("--data-dir", "--store", "--scope", "--model", "--debug")
FOLDER = Path(__file__).parent.parent / "docs/manual/reference"


def pages() -> dict[str, str]:
    """The text of each page, by the name of its file."""
    return {
        "keys.md": _page("Reference: keys", _keys()),
        "commands.md": _page("Reference: commands", _commands()),
        "command-line.md": _page("Reference: command line", _command_line()),
        "configuration.md": _page("Reference: configuration", _configuration()),
        "providers.md": _page("Reference: providers", _providers()),
        "formats.md": _page("Reference: formats", _formats()),
    }


def _page(title: str, parts: Iterable[str]) -> str:
    return "\n\n".join([f"# {title}", *parts]) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join([first, "|---" * len(head) + "|", *others])


def _code(text: str) -> str:
    """Text as code; a cell of a table can have no ``|``."""
    assert "|" not in text
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _keys() -> Iterator[str]:
    yield "## Keys"
    for place, bindings in ALL_KEYS.items():
        every = Binding.make_bindings(bindings)
        ids: dict[str, list[str]] = {}
        for each in every:
            ids.setdefault(each.tooltip or each.description, []).append(each.id or "")
        rows = (
            (_key_names(line.typed), line.does, _ids(ids[line.does]))
            for line in key_lines(bindings, {})
        )
        table = _table(("key", "does", "action"), rows)
        yield f"### {place}\n{table}" if place != EVERYWHERE else f"{_ABOUT_KEYS}\n\n{table}"
        unbound = " and ".join(f"`{each.id}`" for each in every if each.key == NO_KEY)
        if unbound:
            yield f"These actions have no key until you give them one: {unbound}."
    marks = [(_code(sign), mark.value) for mark, (sign, _) in SIGNS.items() if mark.value]
    marks += [(_code(PIN), "pinned"), (_code(PRIVATE), "private, not on disk")]
    yield f"### Marks in the list of sessions\n{_table(('mark', 'means'), marks)}"


def _key_names(typed: str) -> str:
    return ", ".join(_code(name) for name in typed.replace(" or ", ", ").split(", "))


def _ids(ids: Sequence[str]) -> str:
    names = [f"`{each}`" for each in dict.fromkeys(ids) if each]
    return f"{names[0]} … {names[-1]}" if len(names) > 3 else ", ".join(names)


def _commands() -> Iterator[str]:
    yield "## Commands"
    rows = (
        (", ".join(_forms(each)), each.help, ", ".join(f"`/{name}`" for name in each.aliases))
        for each in COMMANDS
    )
    yield f"{_ABOUT_COMMANDS}\n\n{_table(('command', 'does', 'other names'), rows)}"


def _forms(command: Command) -> Iterator[str]:
    """Each alternative of a command's arguments."""
    usage = command.usage
    if usage.startswith("[") and " | " in usage and usage.count("[") == 1:
        usage = f" | {usage[1:-1]}"
    for form in usage.replace(" | default]]", " or default]]").split(" | "):
        yield _code(f"/{command.name} {form}".rstrip())


def _command_line() -> Iterator[str]:
    yield "## Command line"
    parser = build()
    yield from _options(parser, "sibyl-tui")
    yield from _verbs(parser)
    yield "## Exit codes"
    rows = [(f"{code}", meaning) for code, meaning in EXIT_CODES.items()]
    yield f"{_ABOUT_EXIT_CODES}\n\n{_table(('code', 'means'), rows)}"


def _verbs(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from _options(verb, verb.prog)
                yield from _verbs(verb)


def _options(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    left_out = {"--help"} if name == "sibyl-tui" else {"--help", *_EVERYWHERE}
    rows = [
        (_option(action), _cell(action.help or ""))
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction)
        and not left_out & {*action.option_strings}
    ]
    text = f"### {name}\n{_cell(parser.description or '')}"
    if name == "sibyl-tui":
        text += f"\n{', '.join(map(_code, _EVERYWHERE))} and `--help` work with every command."
    yield f"{text}\n\n{_table(('argument', 'means'), rows)}" if rows else text


def _option(action: argparse.Action) -> str:
    value = action.metavar or ""
    if action.choices:
        value = value or " or ".join(action.choices)
    if not action.option_strings:
        return _code(str(value))
    takes = action.nargs != 0
    return ", ".join(
        _code(f"{each} {value}".rstrip() if takes else each) for each in action.option_strings
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "or")


def _configuration() -> Iterator[str]:
    yield "## Configuration file"
    yield _ABOUT_CONFIGURATION
    yield from _config_table(inspect.type_info(Config), "")


def _config_table(kind: inspect.StructType, name: str) -> Iterator[str]:
    rows, tables = [], []
    for field in kind.fields:
        meta, inner = writing._unwrapped(field.type)
        place = f"{name}.{field.name}".lstrip(".")
        about = _cell(str(meta["description"]))
        match inner:
            case inspect.StructType():
                tables.append((inner, place, about))
            case inspect.DictType(value_type=inspect.StructType() as table):
                shown = '"PROVIDER:MODEL"' if field.name == "models" else "NAME"
                tables.append((table, f"{place}.{shown}", about))
            case inspect.DictType() if not name and field.name in ("keys", "prompts"):
                example = ", ".join(
                    _code(f"[{place}] {key} = {writing._value(value)}")
                    for key, value in meta["examples"][0].items()
                )
                tables.append((None, place, f"{about} Example: {example}."))
            case _:
                default = field.default
                if default in (None, (), inspect.NODEFAULT) or default == {}:
                    shown = f"({_code(writing._value(meta['examples'][0]))})"
                else:
                    shown = _code(writing._value(default))
                rows.append((_code(field.name), shown, about))
    if rows:
        head = f"### [{name}]" if name else "### At the top of the file"
        yield f"{head}\n{_table(('key', 'default', 'means'), rows)}"
    for table, place, about in tables:
        if table is None:
            yield f"### [{place}]\n{about}"
        else:
            first, *rest = _config_table(table, place)
            yield first.replace("\n", f"\n{about}\n\n", 1)
            yield from rest


def _providers() -> Iterator[str]:
    yield "## Known providers"
    rows = []
    for name in KNOWN_SERVERS:
        row = PROVIDERS[name]
        variables = filter(None, (row.key_variable, *row.other_key_variables))
        rows.append(
            (
                _code(name),
                row.title,
                ", ".join(map(_code, variables)) or "-",
                _code(row.base_url or row.example_address or "-"),
                _code(row.models[0]) if row.models else "-",
            )
        )
    head = ("name", "provider", "variable", "address", "default model")
    yield f"{_ABOUT_PROVIDERS}\n\n{_table(head, rows)}"


def _formats() -> Iterator[str]:
    yield "## Formats"
    rows = []
    for each in readers():
        found = "an export, which you name" if each.exported else "its files on this machine"
        rows.append((each.title, _code(each.program), found))
    yield f"{_ABOUT_FORMATS}\n\n{_table(('sessions of', 'NAME', 'found in'), rows)}"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
