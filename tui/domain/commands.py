"""The command table: what parsing, help, completion and the palette all read.

Only data: the functions behind it are in ``tui.commands``.
"""

import re
from typing import Literal

import msgspec

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
"""What a command's argument is, so that it can be completed."""

_COMMAND = re.compile(r"/([A-Za-z]+)(?:\s+(.*))?", re.DOTALL)

_SLASHED_COMMAND = re.compile(r"//+[A-Za-z]+(?:\s|$)")


class Command(msgspec.Struct, frozen=True):
    """One command: ``usage`` is what follows its name, ``title`` what the palette calls it.

    ``verbs`` are the words that may follow first.
    ``screen`` is what the palette invokes in its place, where there is a screen to ask for a text.
    """

    name: str
    title: str
    help: str
    usage: str = ""
    takes: Takes = "nothing"
    verbs: tuple[str, ...] = ()
    screen: str = ""

    @property
    def line(self) -> str:
        """How it is typed."""
        return f"/{self.name} {self.usage}".rstrip()

    @property
    def short_line(self) -> str:
        """The same where there is little room: only the words that may follow first."""
        return f"/{self.name} {'|'.join(self.verbs)}" if self.verbs else self.line


class Invocation(msgspec.Struct, frozen=True):
    """A command that the user asked for, by whatever way, and what was said with it."""

    name: str
    arguments: str = ""


COMMANDS: tuple[Command, ...] = (
    Command("help", "Show help", "keys and commands", "[command]", "command"),
    Command("sessions", "List all sessions", "every session, newest use first", "[text]", "text"),
    Command("save", "Save now", "write what is not on disk yet"),
    Command(
        "load", "Load a session", "save, switch to a session and open it", "<target>", "session"
    ),
    Command("new", "New session", "save, and start the scope's next session", "[name]", "text"),
    Command("reset", "Reset the conversation", "save, then begin anew under the same id"),
    Command(
        "session",
        "Sessions of this project",
        "details, and this project's sessions",
        "list | resume <index> | save [target] | close [id]",
        "text",
        ("list", "resume", "save", "close"),
    ),
    Command(
        "resume",
        "Resume a closed session",
        "closed sessions, most recently closed first",
        "[list | <number|target> | delete <number|id> | clear]",
        "closed session",
        ("list", "delete", "clear"),
    ),
    Command("name", "Name this session", "name the session", "<text>", "text"),
    Command(
        "search",
        "Search all sessions",
        "names and messages of every session",
        "<text>",
        "text",
        screen="search-screen",
    ),
    Command("archive", "Archive this session", "set a session aside", "[target]", "session"),
    Command(
        "restore",
        "Restore a session",
        "bring one back from archive or trash, and open it",
        "[target]",
        "session",
    ),
    Command(
        "delete", "Delete this session", "ask, then move it to the trash", "[target]", "session"
    ),
    Command("fork", "Fork this session", "go on from here in a new session", "[target]", "session"),
    Command("undo", "Undo", "take back the last archive, delete, restore or clear"),
    Command(
        "todo",
        "To-dos",
        "list what is to be done, or change the list",
        "[list | add <text> | start <n> | done <n> | remove <n>]",
        "text",
        ("list", "add", "start", "done", "remove"),
    ),
    Command("retry", "Try again", "ask again where an answer failed or was stopped"),
    Command("compact", "Summarise what was said", "let a summary stand for the oldest messages"),
    Command("stop", "Stop the answer", "stop the answer, keep what has arrived"),
    Command("copy", "Copy the last answer", "copy the last answer, or its code", "[code]", "part"),
    Command("export", "Export as Markdown", "write this session to a new file", "[file]", "text"),
    Command("usage", "Tokens and cost", "how full the context is, and what answers took"),
    Command("edit", "Edit the prompt outside", "write the prompt in $VISUAL or $EDITOR"),
    Command("model", "Choose a model", "say or change what answers", "[name]", "model"),
    Command("theme", "Choose a theme", "say or change the colours", "[name]", "theme"),
    Command("quit", "Quit", "save everything and leave"),
)
"""Every command there is, in the order in which help lists them."""

BY_NAME = {command.name: command for command in COMMANDS}


def parse(text: str) -> Invocation | None:
    """The command that a prompt is; ``None`` if it is a text to be sent.

    A command is one whose first word is ``/`` and letters only: ``/etc/hosts`` is text.
    """
    match = _COMMAND.fullmatch(text.strip())
    if match is None:
        return None
    return Invocation(match[1].lower(), (match[2] or "").strip())


def text_to_send(text: str) -> str:
    """What a prompt that is no command sends: ``//x`` stands for ``/x``.

    Only where slashes and a word begin it: ``// a comment`` of pasted code stays what it is.
    """
    return text[1:] if _SLASHED_COMMAND.match(text) else text
