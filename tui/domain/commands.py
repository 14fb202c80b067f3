"""The table of commands, from which every other list of commands is derived.

Read by the parser, the help, the completion list, the palette, the dispatcher and the registry.
Only data: ``tui.commands.registry`` binds each command to its function.
"""

import re
from collections.abc import Collection, Mapping
from typing import Literal

import msgspec

from tui.domain.models import EFFORTS, PARAMETERS
from tui.domain.references import NO_WORDS, OWN_SIGN, SIGN, mark, own_words, unmarked
from tui.domain.text import late_pattern

Takes = Literal[
    "nothing",
    "text",
    "session",
    "closed session",
    "model",
    "theme",
    "command",
    "part",
]
"""The kind of a command's argument, by which it is completed."""

Reach = Literal["stays", "leads", "anywhere", "at once"]
"""The session that a command belongs to, and where typing goes while it waits in the queue.

- ``stays``: belongs to the session it was given in and leaves it on screen; later keys are typed.
- ``leads``: belongs to the session it was given in and may show another; later keys wait for that.
- ``anywhere``: means the same in every session, and may show another; later keys wait for that.
- ``at once``: skips the queue.
"""

_COMMAND = late_pattern(r"/([A-Za-z]+)(?:\s+(.*))?", re.DOTALL)

_SLASHED_COMMAND = late_pattern(r"//+[A-Za-z]+(?:\s|$)")

PLACEHOLDER = "{args}"


def filled(template: str, words: str) -> str:
    """Put words in the place of each ``{args}``; without one, after a blank line.

    Everything else in the template and in the words is plain text.
    """
    if PLACEHOLDER in template:
        return template.replace(PLACEHOLDER, words)
    return f"{template.rstrip()}\n\n{words}" if words else template


class Command(msgspec.Struct, frozen=True):
    """A row of the table."""

    name: str
    """The word after the slash."""
    reach: Reach
    title: str
    """Its line in the palette."""
    help: str
    usage: str = ""
    """The arguments, as help and usage errors show them: ``REQUIRED``, ``[OPTIONAL]``."""
    takes: Takes = "nothing"
    verbs: tuple[str, ...] = ()
    """The words that may come first in the argument."""
    values: tuple[str, ...] = ()
    """Whole arguments, offered once the first word is there."""
    aliases: tuple[str, ...] = ()
    """Its other names: the words that users of other clients type."""
    screen: str = ""
    """A command without a slash that the palette invokes instead, to ask for the argument."""

    @property
    def line(self) -> str:
        """The command and its arguments: ``/new [NAME]``."""
        return f"/{self.name} {self.usage}".rstrip()

    @property
    def usage_error(self) -> str:
        """The answer to arguments that do not fit."""
        return f"Usage: {self.line}"


class Invocation(msgspec.Struct, frozen=True):
    """A command to be carried out, with its arguments; typed, by key or from the palette."""

    name: str
    arguments: str = ""


_TARGET = "[NAME, NUMBER or ID]"
_SETTINGS = (*(f"effort {each}" for each in EFFORTS), *(f"{each} default" for each in PARAMETERS))

# fmt: off
COMMANDS: tuple[Command, ...] = (
    Command("new",      "anywhere", "New session",                         "start a new session in this project",
            "[NAME]", "text", aliases=("clear",)),
    Command("sessions", "anywhere", "All sessions",                        "pick a session from all projects",
            "[TEXT]", "text", aliases=("chats", "history")),
    Command("model",    "leads",    "Choose a model",                      "show or switch the model",
            "[NAME]", "model", aliases=("models",)),
    Command("search",   "anywhere", "Search all sessions",                 "search names and messages of all sessions",
            "TEXT", "text", screen="search-screen", aliases=("find",)),
    Command("tools",    "leads",    "Tools",                               "let the model read the files of a project, add tool servers",
            aliases=("mcp",)),
    Command("retry",    "stays",    "Ask again",                           "ask the last question again",
            aliases=("again", "regenerate")),
    Command("copy",     "stays",    "Copy the last answer",                "copy the last answer, code or id",
            "[code | id]", "part"),
    Command("help",     "anywhere", "Show help",                           "show all keys and commands",
            "[COMMAND]", "command", aliases=("commands",)),
    Command("quit",     "at once",  "Quit",                                "save everything and quit; exit and :q do the same",
            aliases=("bye", "exit")),
    Command("edit",     "leads",    "Edit the last question",              "edit the last question and ask again"),
    Command("name",     "stays",    "Rename this session",                 "name this session; alone, have the model make a title",
            "TEXT", "text", screen="rename-line", aliases=("rename", "title")),
    Command("fork",     "leads",    "Fork this session",                   "continue in a copy",
            _TARGET, "session", aliases=("branch",)),
    Command("undo",     "anywhere", "Undo",                                "undo the last archive, delete, restore or clear"),
    Command("compact",  "stays",    "Summarise older messages",            "summarise older messages", aliases=("summarize",)),
    Command("export",   "stays",    "Export as Markdown",                  "write this session to a new file",
            "[FILE]", "text"),
    Command("usage",    "stays",    "Tokens and cost",                     "show tokens and cost", aliases=("cost", "tokens")),
    Command("connect",  "leads",    "Connect a model",                     "connect a provider or a server of your own",
            aliases=("login", "provider")),
    Command("archive",  "leads",    "Archive this session",                "archive a session", _TARGET, "session"),
    Command("delete",   "leads",    "Delete this session",                 "move a session to the trash, after asking",
            _TARGET, "session", aliases=("remove",)),
    Command("resume",   "anywhere", "Open a closed session",               "open a closed session, latest closed first",
            "[list | NAME, NUMBER or ID | delete NUMBER or ID | clear]", "closed session", ("list", "delete", "clear"), aliases=("continue",)),
    Command("load",     "anywhere", "Open a session",                      "open a session, or list all",
            _TARGET, "session", aliases=("open",)),
    Command("restore",  "anywhere", "Restore a session",                   "open a session from the archive or the trash",
            _TARGET, "session"),
    Command("import",   "leads",    "Import sessions of other programs",   "bring in the sessions of other programs",
            "[PATH]", "text"),
    Command("paste",    "stays",    "Paste a picture",                     "paste the picture in the clipboard"),
    Command("editor",   "leads",    "Edit in $EDITOR",                     "edit the prompt in $VISUAL or $EDITOR"),
    Command("todo",     "stays",    "To-dos",                              "show or change the to-dos of this session",
            "[list | add TEXT | start NUMBER | done NUMBER | remove NUMBER]", "text", ("list", "add", "start", "done", "remove")),
    Command("system",   "stays",    "System prompt",                       "show or change the system prompt of this session",
            "[TEXT | default | none]", "text", ("default", "none")),
    Command("set",      "stays",    "Model settings",                      "show or change how the model is asked",
            "[NAME [VALUE | default]]", "text", PARAMETERS, values=_SETTINGS, aliases=("config", "settings")),
    Command("theme",    "anywhere", "Choose a theme",                      "choose the colours", "[NAME]", "theme"),
    Command("private",  "anywhere", "New private session",                 "start a session that is never written to disk"),
    Command("keep",     "stays",    "Keep this private session",           "save a private session"),
    Command("save",     "stays",    "Save now",                            "save now"),
    Command("reset",    "stays",    "Start over in this session",          "start over; earlier messages are kept"),
    Command("session",  "leads",    "Sessions of this project",            "show details, or the sessions of this project",
            "list | resume NUMBER | save [NAME or ID] | close [ID]", "text", ("list", "resume", "save", "close")),
    Command("stop",     "at once",  "Stop the answer",                     "stop the answer and keep the part that arrived"),
    Command("notices",  "anywhere", "Notices",                             "list the notices of this run, newest first"),
)
# fmt: on
"""Every command, those that are used most first: the order of the `/` menu and of the help."""

BY_NAME = {command.name: command for command in COMMANDS}

ALIASES = dict(sorted((alias, each.name) for each in COMMANDS for alias in each.aliases))
"""The commands by their other names."""

_LEAVING = frozenset({"exit", "quit", ":q"})
"""Prompts without a slash that leave the program; with a space before they are sent."""

REACHES: dict[str, Reach] = {
    name: command.reach for command in COMMANDS for name in (command.name, command.screen) if name
}
"""By the names that an ``Invocation`` may have: those of commands and of their screens."""


def parse(text: str, own: Collection[str] = ()) -> Invocation | None:
    """Parse a prompt; ``None`` for a text to be sent to the model.

    The first word of a command is ``/`` and letters only: ``/etc/hosts`` is text. ``own`` are the
    names of the user's own commands, which go before aliases.
    """
    match = _COMMAND.fullmatch(text.strip())
    if match is None:
        return None
    name = match[1].lower()
    if name not in own:
        name = ALIASES.get(name, name)
    return Invocation(name, (match[2] or "").strip())


def is_command(text: str, own: Collection[str] = ()) -> bool:
    """Tell whether a prompt is a command of the table, which sends nothing to the model."""
    invocation = parse(text, own) if text.startswith("/") else None
    return invocation is not None and invocation.name in BY_NAME and invocation.name not in own


def command_called(name: str) -> Command | None:
    """Find a command by its name or alias, in any case."""
    name = name.lower()
    return BY_NAME.get(ALIASES.get(name, name))


class PromptText(msgspec.Struct, frozen=True):
    """A prompt that is no command, as it was typed and as it is sent."""

    typed: str
    text: str
    own: frozenset[str] = NO_WORDS
    """The references in ``text`` that are the user's own; those of a template are."""


def read_input(
    typed: str,
    templates: Mapping[str, str] | None = None,
    own: frozenset[str] = NO_WORDS,
) -> Invocation | PromptText:
    """Decide once between a command and a text for the model.

    ``templates`` are the user's own commands, each of which sends a text; ``own`` are the
    references in the typed text that are the user's own.
    """
    if typed.rstrip() in _LEAVING:
        return Invocation("quit")
    invocation = parse(typed, templates or {})
    if invocation is None:
        return PromptText(typed, text_to_send(typed), own)
    template = (templates or {}).get(invocation.name, "")
    text = filled(template.replace(SIGN, OWN_SIGN), mark(invocation.arguments, own))
    is_prompt = text.strip() and template
    return PromptText(typed, unmarked(text), own_words(text)) if is_prompt else invocation


def template_command(name: str, template: str) -> Command:
    """Describe one of the user's own commands, by the first line of its template."""
    line = template.strip().partition("\n")[0]
    return Command(name, "stays", f"Prompt: {name}", f"send: {line}", "[TEXT]", "text")


def text_to_send(text: str) -> str:
    """Remove the escape from a prompt that is no command: ``//x`` sends ``/x``.

    Only where slashes and a word begin it: ``// a comment`` in pasted code is not escaped.
    """
    return text[1:] if _SLASHED_COMMAND.match(text) else text
