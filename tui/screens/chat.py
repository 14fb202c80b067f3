"""The chat screen: sidebar, conversation, prompt and status bar."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen
from textual.selection import SelectEnd
from textual.widgets import Static

from tui.domain.commands import Command
from tui.domain.completion import Target
from tui.domain.journal.message import Message as SessionMessage
from tui.domain.journal.todo import TodoItem
from tui.domain.providers import is_guide
from tui.domain.screen_sizes import (
    KEY_LINE_FROM_ROWS,
    LEAST_COLUMNS,
    LEAST_ROWS,
    SIDEBAR_FROM_COLUMNS,
)
from tui.domain.views.session_rows import SessionRows
from tui.domain.views.shown_session import ActivityView, PromptQueue, SessionStatus, SessionView
from tui.screens.beginning import FirstPaint, welcome
from tui.screens.keys import CHAT, CHAT_LINE, USEFUL
from tui.screens.session_walk import SessionWalk
from tui.screens.typed_text import TypedText, is_text
from tui.widgets.approval_panel import ApprovalPanel
from tui.widgets.find_line import FindLine
from tui.widgets.intents import CommandInvoked, MatchWanted, PromptWanted, SessionSelected, hint
from tui.widgets.key_line import KeyLine
from tui.widgets.keys import key_name
from tui.widgets.prompt import Prompt
from tui.widgets.sidebar import Sidebar
from tui.widgets.status_bar import StatusBar
from tui.widgets.textual_bases import ScreenBase
from tui.widgets.todo_panel import TodoPanel
from tui.widgets.transcript import ScrollPosition, ScrollPositions, Transcript

if TYPE_CHECKING:
    from textual.selection import SelectState
    from textual.timer import Timer
    from textual.widget import Widget

    from tui.widgets.question_panel import QuestionPanel

_JUST_ABOVE = 0.01
_LAST_MESSAGES = 4
"""The last messages, which a turn may have changed without an event."""

TOO_SMALL = f"sibyl-tui needs {LEAST_COLUMNS} columns and {LEAST_ROWS} rows."

_DRAFT_SECONDS, _DRAFT_SECONDS_AT_MOST = 1.0, 3.0
"""Delays until a draft is settled: after the last key, and after the first."""


def fit(screen: Screen[Any], size: Size) -> bool:
    """Set the size classes of the style sheet; true if the screen is too small."""
    small = size.width < LEAST_COLUMNS or size.height < LEAST_ROWS
    screen.set_class(size.width < SIDEBAR_FROM_COLUMNS, "-narrow")
    screen.set_class(small, "-too-small")
    screen.set_class(size.height < KEY_LINE_FROM_ROWS, "-short")
    return small


class ChatScreen(ScreenBase):
    """Shows values and passes on what the reader wants; decides nothing."""

    class DraftSettled(Message):
        """Nothing was typed for a moment, or something for long: time to keep it."""

    # Not by focus() when all is there: keys that waited are given out before that.
    AUTO_FOCUS = "Prompt Editor"
    BINDINGS: ClassVar[list[BindingType]] = [*CHAT]

    def __init__(self, chosen_keys: Mapping[str, str] | None = None) -> None:
        """``chosen_keys`` are the user's own, by the ids of their bindings."""
        super().__init__()
        self.chosen_keys = chosen_keys or {}
        self.own_commands: tuple[Command, ...] = ()
        self.sidebar = Sidebar()
        self.transcript = Transcript()
        self.conversation = self.transcript.conversation
        self.find_line = FindLine()
        self.todos = TodoPanel()
        self.approval = ApprovalPanel(self.chosen_keys)
        self.question_panel: QuestionPanel | None = None
        self.prompt = Prompt()
        self.key_line = KeyLine(CHAT_LINE, self._words_of_keys)
        self.status_bar = StatusBar()
        self._too_small = Static(Content(TOO_SMALL), id="too-small")
        self.is_there = asyncio.Event()
        self.first_paint = FirstPaint(self)
        self.places = ScrollPositions()
        self.answering = False
        self._status: SessionStatus | None = None
        self._programs: Sequence[str] = ()
        self.rows: SessionRows | None = None
        self.rows_at: datetime | None = None
        self.walk = SessionWalk(self.sidebar, self.prompt)
        self._typed_text = TypedText(
            self, self.transcript, self.prompt, self.key_line, self.go_to_prompt
        )
        self._draft_timer: Timer | None = None
        self._draft_deadline = 0.0
        self._found_from: Widget | None = None
        # Textual looks for the actions of BINDINGS here.
        self.action_walk = self.walk.step
        self.action_go_to_row = self.walk.go_to_row
        self.action_search_history = self.prompt.search_history
        self.action_page = self.transcript.action_page
        self.action_go_to_end = self.transcript.action_to_end
        # The dispatch of keys looks for it here.
        self.takes_key = self._typed_text.takes_key

    @property
    def shown(self) -> str:
        """The id of the session on screen; empty before the first."""
        return self.walk.shown

    def compose(self) -> ComposeResult:
        with Horizontal(id="chat"):
            yield self.sidebar
            with Vertical(id="conversation"):
                yield self.transcript
                yield self.prompt
        yield self.key_line
        yield self.status_bar

    def _join(self, panel: "Widget") -> None:
        """Mount a panel that is needed now: hidden ones would take their part of the start."""
        panels = self.find_line, self.todos, self.approval, self.prompt
        if panel.parent is None:
            below = next(each for each in panels[panels.index(panel) :] if each.parent)
            self.query_one("#conversation").mount(panel, before=below)

    async def on_mount(self) -> None:
        self.is_there.set()
        await self.first_paint.wait()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        # Each part was given its style when it was mounted: to do so again takes 8 ms of the start.
        event.refresh_styles = self.first_paint.has_come
        if self.first_paint.has_come:
            self.refresh_bindings()
        else:
            self.first_paint.begin()

    def on_screen_suspend(self) -> None:
        self.key_line.hide_keys()

    def on_resize(self, event: events.Resize) -> None:
        if fit(self, event.size):
            if self._too_small.parent is None:
                self.mount(self._too_small)
            self.prompt.focus()  # what is not seen is neither answered nor deleted

    # --- values

    def show_session(self, view: SessionView) -> None:
        """Show a session from its end."""
        if self.shown and self.shown != view.session_id:
            self.places.leave(self.shown, self.conversation.place)
            self.transcript.finder.point_no_more()
            self._typed_text.withdraw_question()
            self._close_find_line()
        ids = (view.arriving,) if view.arriving else ()
        self.transcript.show(
            view.entries,
            earlier=view.earlier,
            later=view.later,
            arriving=ids,
            versions=view.versions,
        )
        self.show_around(view)

    def show_around(self, view: SessionView) -> None:
        """Show of a session all but what was said."""
        self.show_queue(view.queue)
        if self.shown != view.session_id:
            self.walk.arrive(view.session_id)
            # Only then: in the session on screen keys may be on their way that it knows not of.
            self.prompt.set_text(view.draft, view.pastes, view.own_words)
        self.show_prompt(view)

    def show_changes(self, view: SessionView) -> None:
        """Show what has become of the session on screen; its reader stays where he is."""
        messages = [entry for entry in view.entries if isinstance(entry, SessionMessage)]
        for message in messages[-_LAST_MESSAGES:]:
            if message.id != view.arriving:
                self.conversation.put(message)
        self.conversation.show_versions(view.versions)
        self.show_queue(view.queue)
        self.show_prompt(view)

    def show_prompt(self, view: SessionView) -> None:
        """Show to-dos and approval around the prompt; its text is left alone."""
        if view.asking is not None:
            self._join(self.approval)
        self.show_todos(view.todos)
        if view.asking is not self.approval.question and self.approval.has_focus_within:
            self.prompt.focus()  # what is typed next answers no other question
        self.approval.show(view.asking)
        self.refresh_bindings()
        self.prompt.show_state(view.read_only_in_short, editing=view.editing)

    def show_todos(self, todos: Sequence[TodoItem]) -> None:
        """Show to-dos above the prompt."""
        if todos:
            self._join(self.todos)
        was_there = self.todos.display
        self.todos.show(todos)
        if self.todos.display != was_there:
            # A key folds them.
            self.refresh_bindings()

    def show_queue(self, queue: PromptQueue) -> None:
        """Show what waits to be sent."""
        self.conversation.show_queued(queue.prompts)
        self.prompt.show_queue(queue)

    def begin_command(self, command: Command) -> None:
        """Put a command into the prompt that has to be told something."""
        self.prompt.replace_text(f"/{command.name} ")
        self.prompt.focus()

    @on(SessionSelected)
    @on(ApprovalPanel.Answered)
    def go_to_prompt(self) -> None:
        """Let the next keys go to the prompt; on a narrow screen the sidebar goes."""
        self.remove_class("-with-sidebar")
        self.prompt.focus()

    def show_rows(self, rows: SessionRows, now: datetime) -> None:
        """Show the list of sessions."""
        before, self.rows, self.rows_at = self.walk.ways, rows, now
        self.sidebar.show_rows(rows, now)
        if before != self.walk.ways:
            self.refresh_bindings()
        self.prompt.offers.targets = [Target(row.id, row.label, row.scope) for row in rows.known]

    def show_status(self, status: SessionStatus) -> None:
        """Show the status of the session on screen."""
        answering = status.running or status.summarising or status.queued > 0
        if answering != self.answering:
            self.answering = answering
            self.refresh_bindings()
        self._status = status
        self.prompt.border.model = status.model
        self.prompt.show_private(private=status.save.private)
        self.status_bar.show(status)
        keys, has_model = self.chosen_keys, not is_guide(status.model)
        self.transcript.show_welcome(welcome(keys, has_model=has_model, programs=self._programs))

    def offer_import(self, programs: Sequence[str]) -> None:
        """Offer in an empty session to import the sessions of these programs."""
        self._programs = programs
        if self._status is not None:
            self.show_status(self._status)

    def show_question(self, panel: "QuestionPanel") -> Callable[[], object]:
        """Show a question of a server above the prompt; gives the function that removes it."""
        self.question_panel = panel
        self.query_one("#conversation").mount(panel, before=self.prompt)

        def remove() -> None:
            self.question_panel = None
            if panel.has_focus_within or panel.has_focus:
                self.go_to_prompt()
            panel.remove()

        return remove

    def action_answer_question(self, _: str = "") -> None:
        if self.question_panel is not None and self.approval.question is None:
            self.set_focus(self.question_panel)
        elif self.approval.question is None:
            hint(self.prompt, "No tool is waiting for approval")
        else:
            self.approval.take_keys()

    def action_fold_todos(self) -> None:
        if self.todos.display:
            self.todos.fold()
        else:
            hint(self.prompt, "No to-dos yet. /todo add TEXT adds one")

    def show_activity(self, activity: ActivityView | None) -> None:
        """Show the work in the session on screen, with the key that stops it."""
        asks = self.approval.question or self.question_panel
        above = self.find_line.display or self.prompt.completing or asks
        stops = self.answering and self.is_active and not above
        key = self.chosen_keys.get("stop", "escape").partition(",")[0]
        border = self.prompt.border
        border.activity, border.stop = activity, key_name(key) if stops else ""

    def _words_of_keys(self) -> Mapping[str, str]:
        """Labels that replace those of the table now; empty hides a key."""
        useful = self.transcript.useful | self.prompt.useful | self.walk.ways
        no_use = {
            "conversation-focus": self.transcript.has_focus,
            "sidebar-focus": self.sidebar.rows.has_focus,
            "find": self.find_line.display,
            "approval-focus": self.approval.has_focus_within
            or (self.approval.question or self.question_panel) is None,
            "todos-fold": not self.todos.display,
        }
        return {
            **{key: "" for key, has_none in no_use.items() if has_none},
            **{key: words if key in useful else "" for key, words in USEFUL.items()},
            "notices": "Last notice" if self.key_line.notices.unread else "",
            "stop": self._way_out(may_clear="prompt-clear" in useful),
        }

    def _way_out(self, *, may_clear: bool) -> str:
        if self.find_line.display or self.prompt.completing:
            return "Close"
        if self.approval.question is not None:
            return "Deny"
        if self.question_panel is not None:
            return "Refuse"
        if self.answering:
            return "Stop"
        if self.prompt.has_focus_within:
            return "twice clears" if may_clear else ""
        return "Prompt"

    def pass_to_prompt(self, event: events.Key | events.Paste) -> None:
        """Give the prompt what was typed before something came over it."""
        if is_text(event):
            self._typed_text.give(event)
        elif self.prompt.has_focus_within:
            self.prompt.editor.post_message(event)

    def ask_first(self, words: str, do: Callable[[], object]) -> None:
        """Ask in the line of keys before something that costs or changes."""
        self.transcript.focus()
        self._typed_text.ask(words, do)

    @on(events.DescendantBlur)
    def _withdraw_question(self, event: events.DescendantBlur) -> None:
        if event.widget is self.transcript:
            self._typed_text.withdraw_question()

    # --- drafts

    @on(Prompt.Edited)
    def settle_draft(self) -> None:
        """Ask soon for the draft to be saved, as it has changed."""
        if self._draft_timer is None:
            self._draft_deadline = time.monotonic() + _DRAFT_SECONDS_AT_MOST
        else:
            self._draft_timer.stop()
        rest = self._draft_deadline - time.monotonic()
        self._draft_timer = self.set_timer(min(_DRAFT_SECONDS, rest), self._ask_to_keep)

    def _ask_to_keep(self) -> None:
        self._draft_timer = None
        self.post_message(self.DraftSettled())

    def go_to_end(self, *, returning: bool) -> None:
        """Scroll to the end; ``returning`` keeps the position for a later visit."""
        self.places.note(self.shown, self.conversation.place if returning else None)
        self.transcript.finder.point_no_more()
        self.conversation.go_to(ScrollPosition(None, 0, following=True))

    # --- what concerns the screen alone

    def action_rename(self) -> None:
        status, before = self._status, self.focused
        if status is None or self.sidebar.renaming:
            return
        narrow = self.has_class("-narrow")
        # A hidden sidebar is shown meanwhile.
        shown = "-with-sidebar" if narrow else "-without-sidebar"
        was_set = self.has_class(shown)

        def go_back() -> None:
            self.set_class(was_set, shown)
            self.set_focus(before)

        self.set_class(narrow, shown)
        self.sidebar.begin_renaming(status.session_id, status.name, status.label, go_back)

    def action_focus_sidebar(self) -> None:
        """Go to the sidebar, or hide it from there.

        On a wide screen it is there unless it was hidden; on a narrow one only while it is used.
        """
        if self.sidebar.rows.has_focus:
            self.add_class("-without-sidebar")
            self.go_to_prompt()
            return
        self.remove_class("-without-sidebar")
        self.set_class(self.has_class("-narrow"), "-with-sidebar")
        self.sidebar.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a slash to those who type one, F3 to those who find, and Down if nothing asks."""
        if action == "find" and parameters:
            return self.focused is self.transcript
        if action == "answer_question" and (parameters or self.find_line.display):
            return (self.approval.question or self.question_panel) is not None
        if action == "go_to_end":
            return not self.conversation.following
        return super().check_action(action, parameters)

    def action_find(self, _: str = "") -> None:
        if self.find_line.has_focus_within:
            self.find_line.step(1)
            return
        self._found_from = self.focused
        self._join(self.find_line)
        self.find_line.open()

    @on(FindLine.CloseRequested)
    def _close_find_line(self) -> None:
        """Look for nothing any more; the keys go back to where they were."""
        if self.find_line.has_focus_within:
            # At once, as what is typed next is meant for it.
            self.set_focus(self._found_from, scroll_visible=False)
        self.find_line.close()

    @on(MatchWanted)
    def _go_to_match(self, event: MatchWanted) -> None:
        if not self.find_line.text:
            return self.action_find()
        self.find_line.show()
        return self.find_line.step(event.count)

    def action_stop_or_go_to_prompt(self) -> None:
        self.transcript.finder.point_no_more()
        if self.find_line.display:
            self._close_find_line()
            return
        if self.approval.question is not None:
            self.approval.action_choose("deny")
            return
        if self.question_panel is not None:
            self.question_panel.action_refuse()
            return
        if self.answering:
            self.post_message(CommandInvoked("stop"))
            return
        if self.prompt.has_focus_within and not self.has_class("-with-sidebar"):
            self.prompt.escape()
        self.go_to_prompt()

    def action_read(self) -> None:
        """Go into the conversation, and from there back to the prompt."""
        if self.focused is self.transcript:
            self.prompt.focus()
            return
        self.transcript.focus()
        self.transcript.show_cursor()

    @on(PromptWanted)
    def _leave_click_to_prompt(self) -> None:
        """Let the prompt have the keys after a click, except from the conversation or Find."""
        if not self.transcript.has_focus and not self.find_line.has_focus_within:
            self.prompt.focus()

    # --- selection by mouse: one that begins in the conversation stays in it, and scrolls it

    def adjusted_selection(self, state: "SelectState") -> "SelectState":
        # Textual keeps the end at the text that was under the pointer when it last moved, even if
        # that scrolled away, and extends it to widgets beside or below the conversation.
        pane, pointer = self.transcript, state.screen_offset
        if state.start.content_widget is not pane or not state.end:
            return state
        end = SelectEnd(state.start.container, pane, pane.offset_at(pointer))
        return state.update_end(pointer, end)

    def adjusted_scrolling(
        self, state: "SelectState", widget: "Widget", pointer: tuple[float, float]
    ) -> "tuple[Widget, tuple[float, float]]":
        if state.start.content_widget is not self.transcript:
            return widget, pointer
        region = self.transcript.content_region
        x, y = max(pointer[0], region.x), max(pointer[1], region.y)
        # Just above the end of the last row: the distance sets the speed of scrolling.
        y = min(y, region.bottom - _JUST_ABOVE)
        return self.transcript, (min(x, region.right - 1), y)
