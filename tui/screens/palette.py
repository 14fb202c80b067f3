"""The command palette, and its providers: actions, sessions and themes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from itertools import chain
from typing import Any

import msgspec
from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.command import CommandInput, CommandList, CommandPalette, Hit, Hits, Provider
from textual.content import Content

from tui.domain.commands import BY_NAME, COMMANDS, Command
from tui.domain.text import age, plural
from tui.domain.timestamps import parse_utc
from tui.domain.views.session_rows import SessionRow
from tui.screens.chat import ChatScreen
from tui.screens.dialog import Dialog
from tui.screens.keys import APP, CHAT
from tui.widgets.cells import fill, one_line
from tui.widgets.intents import CommandInvoked, SessionSelected
from tui.widgets.keys import CONVERSATION, SIDEBAR_ACTIONS, Key, key_name
from tui.widgets.line_input import LineInput


class Action(msgspec.Struct, frozen=True):
    """A line of the palette: runs ``command`` with ``arguments``, else presses ``key``."""

    name: str = ""
    """The words of the line; not needed for a command, whose title is in the table."""
    key: str = ""
    """The id of the binding that does the same."""
    command: str = ""
    arguments: str = ""
    asks: bool = False
    """True for what costs or changes: it is asked about in the line of keys first."""

    @property
    def title(self) -> str:
        """The words of the line."""
        return self.name or BY_NAME[self.command].title


_KEY_IDS = {row.action: row.id or "" for row in APP}


def _commands(*names: str) -> tuple[Action, ...]:
    """Make the lines of commands, each with the key that invokes it."""
    invoked = {name: f"invoke('{BY_NAME[name].screen or name}')" for name in names}
    return tuple(Action("", _KEY_IDS.get(invoked[name], ""), name) for name in names)


_BEGINNING: tuple[Action, ...] = (
    *_commands("new", "search"),
    Action("Find in this conversation", "find"),
    Action("Search earlier prompts", "prompt-history"),
    Action("Go to the sidebar", "sidebar-focus"),
    Action("Next session", "session-next"),
    Action("Previous session", "session-previous"),
    *_commands("model", "connect", "copy"),
    Action(key="stop", command="stop"),
    Action(command="retry", asks=True),
    *_commands("edit", "editor", "paste", "tools"),
    Action("Answer the tool that waits for approval", "approval-focus"),
    # This session.
    Action(key="session-rename", command="name"),
    *_commands("fork", "archive", "delete", "undo"),
    Action("Close this session", key="close", command="session", arguments="close"),
    *_commands("save", "reset", "compact", "export", "import", "usage", "notices", "todo"),
    Action("Unfold or fold the to-dos", "todos-fold"),
)

_END: tuple[Action, ...] = (
    # Other sessions.
    *_commands("sessions"),
    Action(command="session", arguments="list"),
    *_commands("resume", "load", "restore"),
    *(Action(f"Session {n} of the list", f"session-{n}") for n in range(1, 10)),
    # The conversation.
    Action("Go to the conversation", "conversation-focus"),
    Action("Copy this message", "conversation-copy"),
    Action("Copy its code", "conversation-copy-code"),
    Action("Ask again for this answer", "conversation-ask-again", asks=True),
    Action("Edit this question and ask again", "conversation-edit", asks=True),
    Action("Previous version of this message", "conversation-version-previous"),
    Action("Next version of this message", "conversation-version-next"),
    Action("Continue from this message in a copy", "conversation-fork", asks=True),
    Action("Open a link or a picture", "conversation-open-link"),
    Action("Time and model of this message", "conversation-details"),
    Action("Time and model of all messages", "conversation-details-all"),
    Action("Unfold or fold files, a tool call or a summary", "conversation-fold"),
    Action("Your next question", "conversation-question-next"),
    Action("Your previous question", "conversation-question-previous"),
    Action("Next message", "conversation-next"),
    Action("Previous message", "conversation-previous"),
    Action("Next match", "find-next"),
    Action("Previous match", "find-previous"),
    Action("Top of the conversation", "conversation-top"),
    Action("End of the conversation", "end"),
    Action("Page up", "page-up"),
    Action("Page down", "page-down"),
    Action("Wrap long code lines, or cut them", "conversation-wrap"),
    Action("Scroll long code lines left", "conversation-code-left"),
    Action("Scroll long code lines right", "conversation-code-right"),
    # The screen.
    *_commands("theme", "help", "quit"),
)


def with_the_rest(
    beginning: Sequence[Action], end: Sequence[Action], commands: Sequence[Command]
) -> tuple[Action, ...]:
    """Put the commands that neither part names between the two."""
    placed = {action.command for action in (*beginning, *end)}
    rest = _commands(*(each.name for each in commands if each.name not in placed))
    return (*beginning, *rest, *end)


ACTIONS = with_the_rest(_BEGINNING, _END, COMMANDS)
"""Every action of the palette."""


_TITLE_CELLS, _KEY_CELLS = 33, 10
_HOW_FROM_COLUMNS = 60
_NEXT = 1e-6
"""The difference in score of successive entries.

With equal scores the order would depend on which provider answers first.
"""
_LETTER = 1000.0
"""The score of an action whose letter was typed: more than that of any title."""
_KEYS: Sequence[tuple[str, Sequence[Key]]] = (
    ("", (*APP, *CHAT)),
    ("conversation-focus", CONVERSATION),
    ("sidebar-focus", SIDEBAR_ACTIONS),
)
"""Keys by the id of the one that leads to where they work."""
_BEFORE = len(ACTIONS)
"""The rank at which sessions and themes begin, after all actions."""


class Actions(Provider):
    """The actions that are possible now, with their keys and commands."""

    async def discover(self) -> Hits:
        # Hits of all providers are sorted by score.
        for place, (action, do) in enumerate(self._possible()):
            yield Hit(1 - place / 1000, self._row(action, Content(action.title)), do, action.title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for place, (action, do) in enumerate(self._possible()):
            command = BY_NAME.get(action.command)
            aliases = command.aliases if command and not action.arguments else ()
            key = self._key(action)
            searched = (action.title, key, *_typed(action), *(f"/{alias}" for alias in aliases))
            is_letter = query == key.rpartition(" ")[2]
            score = _LETTER if is_letter else max(map(matcher.match, searched))
            if score > 0:
                title = matcher.highlight(action.title)
                yield Hit(score - place * _NEXT, self._row(action, title), do, action.title)

    def _possible(self) -> Iterator[tuple[Action, Callable[[], Any]]]:
        if not isinstance(screen := self.screen, ChatScreen):
            return
        bound = {
            binding.id: (node, binding)
            for node in (screen, screen.transcript)
            for binding in Binding.make_bindings(node.BINDINGS)
            if binding.id
        }
        if screen.approval.question is None:
            del bound["approval-focus"]  # the key shows a message instead
        for action in ACTIONS:
            if action.command:
                # One with a required argument has a screen that asks for it.
                name = BY_NAME[action.command].screen or action.command
                do = partial(screen.post_message, CommandInvoked(name, action.arguments))
            elif action.key in bound:
                node, binding = bound[action.key]
                if not node.check_action(binding.action.partition("(")[0], ()):
                    continue
                do = partial(node.run_action, binding.action)
            else:
                continue
            yield action, partial(screen.ask_first, action.title, do) if action.asks else do

    def _row(self, action: Action, title: Content) -> Content:
        """Format a line: title, key and command, where there is room."""
        if self.app.size.width < _HOW_FROM_COLUMNS:
            return title
        typed = next(iter(_typed(action)), "")
        how = fill(self._key(action), _KEY_CELLS) + typed
        gap = " " * max(2, _TITLE_CELLS - cell_len(action.title))
        return Content.assemble(title, gap, (how, "not bold"))

    def _key(self, action: Action) -> str:
        """The key that does the same everywhere, else the one that leads to a letter, and that."""
        letter = f"sidebar-{(action.key or action.command).removeprefix('session-')}"
        return self._keys.get(action.key) or self._keys.get(letter, "")

    @cached_property
    def _keys(self) -> Mapping[str, str]:
        """The names of the keys, by the ids of their bindings."""
        chosen = self.screen.chosen_keys if isinstance(self.screen, ChatScreen) else {}
        names = {"": ""}
        for leads, rows in _KEYS:
            for row in rows:
                key = key_name(chosen.get(row.id or "", row.key).split(",")[0])
                names[row.id or ""] = f"{names[leads]} {key}".strip() if key else ""
        return names


def _typed(action: Action) -> tuple[str, ...]:
    return (f"/{action.command} {action.arguments}".rstrip(),) if action.command else ()


_Entry = tuple[Sequence[str], Callable[[], Content] | None, Callable[[], Any]]
"""The texts that find it, its line if that is not the first of them, and what it does."""


class Others(Provider):
    """The user's own commands, which are put into the prompt; by typing, themes and sessions."""

    async def discover(self) -> Hits:
        for place, (_, row, do) in enumerate(self._own_commands()):
            yield Hit(-place / 1000, row() if row else "", do)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        entries = chain(self._own_commands(), self._themes(), self._sessions())
        for place, (searched, row, do) in enumerate(entries, _BEFORE):
            score = max(map(matcher.match, searched))
            if score > 0:
                line = row() if row else matcher.highlight(searched[0])
                yield Hit(score - place * _NEXT, line, do, searched[0])

    def _own_commands(self) -> Iterator[_Entry]:
        if isinstance(screen := self.screen, ChatScreen):
            for command in screen.own_commands:
                gap = " " * max(2, _TITLE_CELLS + _KEY_CELLS - cell_len(command.title))
                typed = f"/{command.name}", "not bold"
                row = partial(Content.assemble, command.title, gap, typed)
                yield (command.title, command.line), row, partial(screen.begin_command, command)

    def _themes(self) -> Iterator[_Entry]:
        for name in sorted(self.app.available_themes):
            choose = partial(self.screen.post_message, CommandInvoked("theme", name))
            yield (f"Theme: {name}",), None, choose

    def _sessions(self) -> Iterator[_Entry]:
        if not isinstance(screen := self.screen, ChatScreen) or screen.rows is None:
            return
        for row in screen.rows.known:
            # The uncut name, as there is room for it.
            label = one_line(row.name.strip() or row.label)
            show = partial(screen.post_message, SessionSelected(row.id))
            yield (label,), partial(_session_row, label, row, screen.rows_at), show


def _session_row(label: str, row: SessionRow, now: datetime | None) -> Content:
    """Format a title, and details that distinguish sessions of equal ones."""
    used = age(parse_utc(row.last_used_at), now) if now else ""
    parts = (used, plural(row.message_count, "message"), one_line(row.scope), row.id)
    # Neither highlighted nor passed as help: both would be parsed as markup.
    about = " · ".join(part for part in parts if part)
    return Content.assemble(label, (f"\n{about}", "$foreground 85% not bold"))


class _PaletteInput(CommandInput, LineInput):
    """The query line. ``CommandInput`` is the first base: Textual styles a widget by that."""


class Palette(CommandPalette, Dialog[None]):  # pyright: ignore[reportIncompatibleMethodOverride] - of Textual's own
    """Textual's palette, with the line editor of this program."""

    def __init__(self) -> None:
        super().__init__({Actions, Others})

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if isinstance(widget, CommandInput):
                yield _PaletteInput(placeholder=widget.placeholder, select_on_focus=False)
            else:
                yield widget

    def on_mount(self) -> None:
        # Textual's own keys, which nobody can rebind.
        self.query_one(CommandList).border_subtitle = "↑ ↓ choose · Enter run · Esc close"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # Textual crashes on a key that arrives before the rows have a size.
        if action == "command_list" and not any(each.size for each in self.query(CommandList)):
            return False
        return super().check_action(action, parameters)
