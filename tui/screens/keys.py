"""The tables of the keys of screens, all keys by the place where they work, and help about them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest

import msgspec
from textual.binding import Binding, BindingType

from tui.domain.text import late_pattern
from tui.widgets import keys
from tui.widgets.key_line import COPY_SELECTED
from tui.widgets.keys import NO_KEY, Key, key, key_name, plain

# fmt: off
APP = (
    key("ctrl+n", "invoke('new')",              "New",      "new",           "Start a new session", line=3),
    key("ctrl+s", "invoke('save')",             "",         "save",          "Save now"),
    key(NO_KEY,   "invoke('session', 'close')", "",         "close",         "Close this session"),
    key("ctrl+f", "invoke('search-screen')",    "Search",   "search",        "Search all sessions", line=5),
    key("f2",     "invoke('sessions')",         "Sessions", "sessions",      "Pick a session", line=4),
    key("ctrl+p", "command_palette",            "Commands", "palette",       "Show all commands, sessions and themes", line=7),
    key("f1",     "invoke('help')",             "Help",     "help",          "Show all keys and commands", line=14, always=True),
    key("f4",     "invoke('editor')",           "",         "edit",          "Edit in $EDITOR"),
    key("alt+v",  "invoke('paste')",            "",         "paste-picture", "Paste the picture in the clipboard"),
    key("f5",     "invoke('connect')",          "",         "connect",       "Connect a model"),
    key("f7",     "invoke('model')",            "",         "model",         "Choose a model"),
    key("f8",     "invoke('notices')",          "",         "notices",       "List the notices of this run"),
    key("ctrl+q", "invoke('quit')",             "Quit",     "quit",          "Save everything and quit", line=6),
)
"""Keys that work on every screen."""

CHAT = (
    key("alt+down",       "walk(1)",              "Next session",     "session-next",       "Open the session below or above", line=10, useful=True),
    key("alt+up",         "walk(-1)",             "Previous session", "session-previous",   "Open the session below or above", line=11, useful=True),
    *(key(f"alt+{n}", f"go_to_row({n - 1})", "", f"session-{n}", "Open one of the first sessions in the list") for n in range(1, 10)),
    key("ctrl+r",         "search_history",       "",                 "prompt-history",     "Search the earlier prompts; again: an older one"),
    key(NO_KEY,           "rename",               "",                 "session-rename",     "Rename this session"),
    key("ctrl+b",         "focus_sidebar",        "",                 "sidebar-focus",      "Go to the sidebar; from there, hide it"),
    key("ctrl+g",         "find",                 "Find",             "find",               "Find in this conversation", line=9),
    key("/",              "find('here')",         "",                 "find-here"),
    key("ctrl+t",         "fold_todos",           "To-dos",           "todos-fold",         "Unfold or fold the to-dos", line=12),
    key("f3",             "answer_question",      "Answer",           "approval-focus",     "Answer the tool that waits for approval", line=1),
    # The prompt does not use Down while it is empty.
    plain("down",         "answer_question('below')", "",                 "approval-below",     "Answer the tool that waits, from an empty prompt"),
    key("f6",             "read",                 "Read, copy",       "conversation-focus", "Go to the conversation, and back", line=8),
    # The prompt does not use them while all of its text is visible.
    plain("pageup",       "page(-1)",             "",                 "page-up",            "Scroll the conversation by a page"),
    plain("pagedown",     "page(1)",              "",                 "page-down",          "Scroll the conversation by a page"),
    # The prompt does not use End while it is empty.
    plain("ctrl+end,end", "go_to_end",            "Latest",           "end",                "Go to the end of the conversation", line=2),
    plain("escape",       "stop_or_go_to_prompt", "Stop",             "stop",               "Close, deny a tool, stop the answer or go to the prompt", line=13, always=True),
)

# As in the sidebar.
PICKER_LETTERS = (
    plain("r", "rename",     "Rename",  "picker-rename",     "Rename the session", line=2),
    plain("a", "archive",    "Archive", "picker-archive",    "Archive the session", line=3),
    plain("d", "delete",     "Delete",  "picker-delete",     "Move to the trash, after asking", line=4),
    plain("u", "undo",       "Undo",    "picker-undo",       "Undo the last archive or delete", line=6),
    plain("p", "pin",        "Pin",     "picker-pin",        "Pin to the top, or unpin", line=5),
    plain("b", "bring_back", "Restore", "picker-bring-back", "Restore from the archive or the trash, and open", line=7),
    plain("/", "filter",     "Filter",  "picker-filter",     "Go back to the filter", line=8),
)
"""Keys that act while the list has the focus; in the filter they are text."""

# With priority where the filter binds the same key.
PICKER = (
    key("enter",     "choose",           "Open",         "picker-choose",        line=1),
    key("down",      "move(1)",          "To the list",  "picker-next",          "Go to the next or previous session; then letters act on it"),
    key("up",        "move(-1)",         "",             "picker-previous",      "Go to the next or previous session; then letters act on it"),
    key("pagedown",  "move_page(1)",     "",             "picker-page-down",     "Go a page up or down"),
    key("pageup",    "move_page(-1)",    "",             "picker-page-up",       "Go a page up or down"),
    key("tab",       "turn_view(1)",     "View",         "picker-view-next",     "Show all, closed, archived or trashed sessions", line=9),
    key("shift+tab", "turn_view(-1)",    "",             "picker-view-previous", "Show all, closed, archived or trashed sessions"),
    key("ctrl+a",    "toggle_project",   "All projects", "picker-project",       "Show all projects, or only this one", line=10),
    key("escape",    "dismiss",          "Close",        "picker-close",         line=11, always=True),
    *PICKER_LETTERS,
    key("home",      "move(-1_000_000)", "",             "picker-first",         "Go to the first or last session"),
    key("end",       "move(1_000_000)",  "",             "picker-last",          "Go to the first or last session"),
)
PICKER_ACTIONS = frozenset(row.action.partition("(")[0] for row in PICKER)
PICKER_LETTER_ACTIONS = frozenset(row.action for row in PICKER_LETTERS)

# With priority: the query line binds the same keys.
SEARCH = (
    key("enter",    "choose",        "Go there", "search-choose",    line=1),
    key("down",     "move(1)",       "Next",     "search-next",      "Go to the next or previous match", line=2),
    key("up",       "move(-1)",      "Previous", "search-previous",  "Go to the next or previous match", line=3),
    key("pagedown", "move_page(1)",  "",         "search-page-down", "Go a page up or down"),
    key("pageup",   "move_page(-1)", "",         "search-page-up",   "Go a page up or down"),
    key("home",     "move(-1000)",   "",         "search-first",     "Go to the first or last match"),
    key("end",      "move(1000)",    "",         "search-last",      "Go to the first or last match"),
    key("escape",   "dismiss",       "Close",    "search-close",     line=4, always=True),
)
# fmt: on

KEYS: Mapping[str, Sequence[Key]] = {
    "In the prompt": (*keys.TYPING, *keys.PROMPT),
    "In the conversation": (
        plain("/", "find", "Find", "find-here", "Find in this conversation"),
        *keys.CONVERSATION,
    ),
    "In the sidebar": (*keys.SIDEBAR_ROWS, *keys.SIDEBAR),
    "While filtering the sidebar": keys.FILTER,
    "While renaming a session": keys.RENAME,
    "While searching earlier prompts": keys.HISTORY,
    "While finding": keys.FIND,
    "In the session picker": PICKER,
    "While searching all sessions": SEARCH,
    "While a tool waits for approval": keys.APPROVAL,
    "While denying a tool": keys.REASON,
    "While a server asks something": keys.QUESTION,
}
"""The keys of widgets and dialogs, by the heading of their section in the help."""

LINES = frozenset(KEYS) - {
    "In the conversation",
    "In the sidebar",
    "While a tool waits for approval",
    "While a server asks something",
}
"""The sections in which text is typed, so that no key may be a character."""

CHAT_LINE: Sequence[Key] = (*APP, *CHAT, *chain(*KEYS.values()), keys.PROMPT_COMPLETION)
"""The keys that the line of keys of the chat screen may show."""

USEFUL = {
    COPY_SELECTED: "Copy selected",
    **{row.id or "": row.description for row in CHAT_LINE if row.useful},
}
"""Labels of keys that it shows only while they have an effect, by id."""


_RUN = 3
"""From this many consecutive numbered keys on, only the first and the last are shown."""
_NUMBERED = late_pattern(r"(.*?)(\d+)")


class KeyHelpLine(msgspec.Struct, frozen=True):
    """A key or command, and its effect."""

    typed: str
    does: str


def key_lines(bindings: Sequence[BindingType], chosen: Mapping[str, str]) -> Iterator[KeyHelpLine]:
    """Make a line for each effect; ``chosen`` are the user's own keys by id of the binding."""
    # ``make_bindings`` splits a binding of several keys.
    keys: dict[str, dict[str, list[str]]] = {}
    for binding in Binding.make_bindings(bindings):
        shown = chosen.get(binding.id or "", binding.key).split(",")
        actions = keys.setdefault(binding.tooltip or binding.description, {})
        actions.setdefault(binding.id or binding.action, []).extend(
            filter(None, map(key_name, shown))
        )
    for does, actions in keys.items():
        if does and any(actions.values()):
            yield KeyHelpLine(_said([[*dict.fromkeys(names)] for names in actions.values()]), does)


def _said(names: Sequence[Sequence[str]]) -> str:
    """Format the keys of one effect: the first keys of all actions, then the second ones."""
    if len(names) == 1:
        return ", ".join(names[0])
    ways = [filter(None, way) for way in zip_longest(*names)]
    return " or ".join(", ".join(_runs([*way])) for way in ways)


def _runs(names: Sequence[str]) -> Iterator[str]:
    """Combine consecutive numbered keys to a range."""
    run: list[str] = []
    for name in (*names, ""):
        last = _NUMBERED.fullmatch(run[-1]) if run else None
        if run and (last is None or name != f"{last[1]}{int(last[2]) + 1}"):
            yield from [f"{run[0]} … {run[-1]}"] if len(run) >= _RUN else run
            run = []
        run.append(name)
