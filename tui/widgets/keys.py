"""The tables of the keys of widgets, the rows of all such tables, and the names of keys.

A row is a key: its action, its label in the line of keys, its id under ``[keys]`` in the
configuration, and its line in the help. A row without a label is not in the line of keys.
"""

from dataclasses import dataclass
from functools import partial

from textual.binding import Binding
from textual.keys import format_key


@dataclass(frozen=True)
class Key(Binding):
    """A binding and its place in the line of keys."""

    line: int = 0
    """Its place in the line of keys, where it follows those of the focused widget."""
    always: bool = False
    """True for a key that the line of keys always shows: the way out, and the help."""
    useful: bool = False
    """True for a key that the line of keys shows only while it has an effect."""


def key(  # noqa: PLR0913 - the columns of the tables
    keys: str,
    action: str,
    label: str,
    key_id: str,
    does: str = "",
    *,
    priority: bool = True,
    key_display: str | None = None,
    line: int = 0,
    always: bool = False,
    useful: bool = False,
) -> Key:
    """Make a row; without ``does``, the help shows the label."""
    return Key(
        keys, action, label or does, bool(label), key_display, priority, does, key_id,
        line=line, always=always, useful=useful,
    )  # fmt: skip


plain = partial(key, priority=False)
"""Make a row of a key that the focused widget may use itself."""

# fmt: off
PROMPT = (
    plain("ctrl+o", "unfold",   "Show paste", "prompt-unfold",   "Show a folded paste whole", useful=True),
)
PROMPT_COMPLETION = plain("tab", "complete", "Complete", "prompt-complete", useful=True)
"""The prompt handles this key itself."""

TYPING = tuple(
    Key(keys, "type", does)
    for keys, does in (
        ("enter",                              "Send"),
        ("ctrl+j,alt+enter",                   "New line, or \\ before Enter"),
        ("shift+enter",                        "New line (in some terminals)"),
        ("tab",                                "Complete a command, its argument or @file"),
        ("up",                                 "Recall the project's earlier prompts, from the first line"),
        ("up,backspace",                       "If empty: edit the last queued prompt"),
        ("delete",                             "If empty: drop the last queued prompt"),
        ("ctrl+d",                             "If empty: quit"),
        ("question_mark",                      "If empty: show this help"),
        ("ctrl+c",                             "Copy the selection, else stop the answer; twice: quit"),
        ("ctrl+k,ctrl+u,ctrl+w,alt+backspace", "Cut to the line's end or start, or a word"),
        ("escape",                             "Twice: clear the prompt"),
        ("ctrl+z,ctrl+y",                      "Undo; redo, or paste the cut text"),
    )
)
"""Keys of the prompt's editor for the help: they cannot be rebound."""

CONVERSATION = (
    plain("j",           "step(1)",          "Next",       "conversation-next",              "Go to the next or previous message"),
    plain("k",           "step(-1)",         "Previous",   "conversation-previous",          "Go to the next or previous message"),
    plain("y",           "copy_message",     "Copy",       "conversation-copy",              "Copy this message"),
    plain("c",           "copy_code",        "Copy code",  "conversation-copy-code",         "Copy its code; again: the next block", useful=True),
    plain("r",           "ask_again",        "Ask again",  "conversation-ask-again",         "Ask again for this answer", useful=True),
    plain("e",           "edit_question",    "Edit",       "conversation-edit",              "Edit this question and ask again", useful=True),
    plain("[",           "version(-1)",      "Versions",   "conversation-version-previous",  "Show the previous or next version of this message", useful=True),
    plain("]",           "version(1)",       "",           "conversation-version-next",      "Show the previous or next version of this message"),
    plain("f",           "fork",             "",           "conversation-fork",              "Continue from here in a copy"),
    plain("o",           "open_link",        "Open",       "conversation-open-link",         "Open a link or a picture, after asking", useful=True),
    plain("i",           "details",          "Details",    "conversation-details",           "Show its time and model"),
    plain("I",           "all_details",      "",           "conversation-details-all",       "Show time and model of all messages"),
    plain("enter,space", "fold",             "Fold",       "conversation-fold",              "Unfold or fold files, a tool call or a summary", useful=True),
    plain("{",           "step(-1, 'user')", "Question",   "conversation-question-previous", "Go to your previous or next question"),
    plain("}",           "step(1, 'user')",  "",           "conversation-question-next",     "Go to your previous or next question"),
    plain("left",        "sideways(-1)",     "",           "conversation-code-left",         "Scroll long code lines"),
    plain("right",       "sideways(1)",      "",           "conversation-code-right",        "Scroll long code lines"),
    plain("w",           "wrap",             "",           "conversation-wrap",              "Wrap long code lines, or cut and scroll them"),
    plain("up",          "move(-1)",         "",           "conversation-up",                "Scroll"),
    plain("down",        "move(1)",          "",           "conversation-down",              "Scroll"),
    plain("pageup",      "page(-1)",         "",           "conversation-page-up",           "Go a page up or down"),
    plain("pagedown",    "page(1)",          "",           "conversation-page-down",         "Go a page up or down"),
    plain("home",        "to_top",           "",           "conversation-top",               "Go to the beginning or the end"),
    plain("end",         "to_end",           "",           "conversation-bottom",            "Go to the beginning or the end"),
    plain("n",           "match(1)",         "Next match", "find-next",                      "Go to the next or previous match", useful=True),
    plain("N",           "match(-1)",        "",           "find-previous",                  "Go to the next or previous match"),
)
CONVERSATION_MOVES = frozenset({"sideways", "move", "page", "to_top", "to_end"})
"""The actions that need no message."""

SIDEBAR_ROWS = (
    key("up,k",     "move(-1)",         "",     "sidebar-up",        "Go to the row above or below"),
    key("down,j",   "move(1)",          "",     "sidebar-down",      "Go to the row above or below"),
    key("pageup",   "move_page(-1)",    "",     "sidebar-page-up",   "Go a page up or down"),
    key("pagedown", "move_page(1)",     "",     "sidebar-page-down", "Go a page up or down"),
    key("home",     "move(-1_000_000)", "",     "sidebar-first",     "Go to the first or last row"),
    key("end",      "move(1_000_000)",  "",     "sidebar-last",      "Go to the first or last row"),
    key("enter",    "choose",           "Open", "sidebar-choose",    "Open this session"),
    key("left",     "fold(1)",          "",     "sidebar-fold",      "Fold or unfold the group"),
    key("right",    "fold(-1)",         "",     "sidebar-unfold",    "Fold or unfold the group"),
)
"""Keys that move the highlight."""
# With priority: without it the keys typed quickly after one of them would overtake it.
SIDEBAR_ACTIONS = (
    key("/",            "filter",    "Filter",  "sidebar-filter",   "Filter the sidebar"),
    key("n",            "new",       "New",     "sidebar-new",      "New session"),
    key("r",            "rename",    "Rename",  "sidebar-rename"),
    key("a",            "archive",   "Archive", "sidebar-archive",  "Archive this session"),
    key("d",            "delete",    "Delete",  "sidebar-delete",   "Move to the trash, after asking"),
    key("x",            "close",     "",        "sidebar-close",    "Close this session"),
    key("p",            "pin",       "Pin",     "sidebar-pin",      "Pin to the top, or unpin"),
    key("u",            "undo",      "Undo",    "sidebar-undo",     "Undo the last archive or delete"),
    key("<,ctrl+left",  "widen(-2)", "",        "sidebar-narrower", "Make the sidebar narrower or wider"),
    key(">,ctrl+right", "widen(2)",  "",        "sidebar-wider",    "Make the sidebar narrower or wider"),
)
"""Keys that act on the highlighted session or the list, while the rows have the focus."""
SIDEBAR_ROW_ACTIONS = frozenset(row.action.partition("(")[0] for row in SIDEBAR_ACTIONS)
"""The actions of these keys; anywhere else the same keys type characters."""
SIDEBAR = (
    *SIDEBAR_ACTIONS,
    key("ctrl+a",   "toggle_scope", "All projects", "sidebar-scope", "Show all projects, or only this one"),
    plain("escape", "clear_filter", "Clear",        "sidebar-clear", "Clear the filter", always=True),
)

FILTER = (
    plain("enter,down", "submit", "To the list", "filter-done", key_display="Enter"),
)

RENAME = (
    plain("enter",  "submit", "Rename", "rename-done",  "Rename the session"),
    plain("tab",    "ask_title", "Title by the model", "rename-title", "Ask the model for a title"),
    plain("escape", "leave",  "Cancel", "rename-leave", "Keep the old name", always=True),
)

HISTORY = (
    plain("enter,tab", "take",     "Select", "history-take",   "Select the prompt that is shown, without sending it"),
    plain("up",        "step(1)",  "Older",  "history-older",  "Go to an older or newer prompt that has the words"),
    plain("down",      "step(-1)", "Newer",  "history-newer",  "Go to an older or newer prompt that has the words"),
    plain("escape",    "leave",    "Cancel", "history-leave",  "Bring the old text back", always=True),
)

FIND = (
    plain("enter,down,f3",           "step(1)",  "Next",     "find-line-next",     "Go to the next match", key_display="Enter"),
    plain("up,shift+enter,shift+f3", "step(-1)", "Previous", "find-line-previous", "Go to the previous match", key_display="↑"),
    plain("escape",                  "close",    "Close",    "find-line-close",    "Close, and stay here", always=True),
)

# With priority: letters typed right after an answer belong to the prompt.
APPROVAL = (
    key("o,1",        "choose('once')",       "Allow once",   "approval-once"),
    key("u,2",        "choose('until-quit')", "Until I quit", "approval-until-quit", "Allow this tool until I quit"),
    key("a,3",        "choose('always')",     "Always",       "approval-always",     "Always allow this tool; /tools forgets it"),
    key("d,n",        "deny",                 "Deny",         "approval-deny",       "Deny, with a reason or without", always=True),
    key("enter",      "choose",               "",             "approval-take",       "Select"),
    plain("left",     "mark(-1)",             "",             "approval-before",     "Go to another answer"),
    plain("right",    "mark(1)",              "",             "approval-next",       "Go to another answer"),
    plain("up",       "scroll_lines(-1)",     "",             "approval-up",         "Scroll"),
    plain("down",     "scroll_lines(1)",      "",             "approval-down",       "Scroll"),
    plain("pageup",   "scroll_pages(-1)",     "",             "approval-page-up",    "Go a page up or down"),
    plain("pagedown", "scroll_pages(1)",      "",             "approval-page-down",  "Go a page up or down"),
)
REASON = (
    plain("enter", "submit", "Deny", "reason-done",  "Deny, with the reason or without"),
    plain("up",    "leave",  "Back", "reason-leave", "Go back to the answers"),
)

QUESTION = (
    plain("o",          "open",     "Open", "question-open",   "Open the address in your browser"),
    plain("c",          "copy",     "Copy", "question-copy",   "Copy the address"),
    plain("enter,down", "step(1)",  "",     "question-next",   "Go to the next field"),
    plain("up",         "step(-1)", "",     "question-before", "Go to the field before"),
)
# fmt: on


NO_KEY = "none"
"""The key of an action that has none by default: Textual refuses an empty one."""

_MODIFIERS = {"ctrl": "Ctrl", "alt": "Alt", "shift": "Shift", "super": "Super", "meta": "Meta"}
_KEY_NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "tab": "Tab",
    "space": "Space",
    "backspace": "Backspace",
    "delete": "Del",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
}
_ARROWS = {"Up": "↑", "Down": "↓", "Left": "←", "Right": "→"}


def key_name(key: str) -> str:
    """The name of a key as on a keyboard: ``Ctrl+N`` for ``ctrl+n``, ``/`` for ``slash``.

    Empty for ``NO_KEY``.
    """
    if key == NO_KEY:
        return ""
    *modifiers, last = key.strip().split("+") if key.strip() != "+" else ["+"]
    words = [_MODIFIERS.get(each, each) for each in modifiers]
    shown = _KEY_NAMES.get(last) or format_key(last)
    if last not in _KEY_NAMES and (modifiers or len(shown) > 1):
        # A letter alone is typed as it is; with modifiers it names the key.
        shown = shown.upper()
    return "+".join([*words, shown])


def short_key_name(key: str) -> str:
    """A short name for narrow places: ``^N``, ``Alt+↓``."""
    name = key_name(key)
    *modifiers, last = name.rsplit("+", 1) if name != "+" else ["+"]
    last = _ARROWS.get(last, last)
    if modifiers == ["Ctrl"]:
        return f"^{last}"
    return "+".join([*modifiers, last])
