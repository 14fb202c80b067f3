"""The dialogs that ask something: for a confirmation, and what a server of tools asks."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from tui.domain.text import make_visible
from tui.screens.dialog import Dialog
from tui.screens.typed_text import PassOn
from tui.widgets.question_panel import QuestionPanel

SECONDS_OF_A_PAUSE = 0.5
"""Pause in typing after which a key counts as an answer."""

_SECONDS_PER_LOOK = 0.02
_SECONDS_PER_RENEWAL = 0.25
_ANSWERS = {"y": True, "n": False, "escape": False}


class ConfirmScreen(Dialog[bool]):
    """A question; only ``y`` and its button mean yes, anything else that closes it means no.

    Keys and pastes from before the question was visible are no answer, nor are those that follow
    without a pause: they go to ``pass_on``, the widget that they were typed for. A question whose
    reason is gone answers itself with yes.
    """

    AUTO_FOCUS = "#no"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up", "app.focus_previous", "Other button", show=False),
        Binding("right,down", "app.focus_next", "Other button", show=False),
        Binding("pagedown", "read(1)", "More of the question", show=False),
        Binding("pageup", "read(-1)", "Less of the question", show=False),
    ]
    DEFAULT_CSS = """
    ConfirmScreen {
        align: center middle;
        #question {
            width: 100%; max-width: 76; height: auto; max-height: 100%; padding: 0 1;
            border: round $text-warning;
        }
        VerticalScroll {
            height: auto; max-height: 8; scrollbar-size-vertical: 1;
            scrollbar-background: $surface; scrollbar-color: $foreground 30%;
        }
        .confirm--question { text-style: bold; }
        .confirm--detail { color: $text-muted; }
        Horizontal { height: 1; margin-top: 1; align-horizontal: center; }
        Button { margin: 0 2; min-width: 11; }
        #no, #yes { color: $foreground; background: $surface; background-tint: $foreground 0%; }
        #no:focus {
            color: $block-cursor-foreground; background: $block-cursor-background;
            text-style: bold;
        }
        #yes { color: $text-error; }
        #yes:focus { color: $surface; background: $text-error; text-style: bold; }
        &:ansi, &:nocolor {
            #no:focus, #yes:focus { text-style: bold reverse; }
        }
    }
    """

    def __init__(
        self,
        question: str,
        detail: str | Callable[[], str],
        pass_on: PassOn,
        is_seen: Callable[[], bool],
    ) -> None:
        """``is_seen`` is true once the terminal has received the painted frame.

        ``detail`` are the consequences; those of a function are the reason to ask, and are asked
        for anew while the question is open.
        """
        super().__init__()
        self._is_seen = is_seen
        self._question = question
        self._reason = None if isinstance(detail, str) else detail
        self._detail = detail if isinstance(detail, str) else detail()
        self._pass_on = pass_on
        self._answers_from = math.inf

    def compose(self) -> ComposeResult:
        with Vertical(id="question", classes="dialog"):
            with VerticalScroll(can_focus=False):
                yield Static(Content(make_visible(self._question)), classes="confirm--question")
                if self._detail:
                    yield Static(Content(make_visible(self._detail)), classes="confirm--detail")
            with Horizontal():
                yield Button("Yes (y)", id="yes", compact=True)
                yield Button("No (n)", id="no", compact=True)

    def on_resize(self, event: events.Resize) -> None:
        # The rows of the question that fit beside the buttons and the border.
        self.query_one(VerticalScroll).styles.max_height = max(5, event.size.height - 6)

    def action_read(self, pages: int) -> None:
        """Scroll a long question."""
        text = self.query_one(VerticalScroll)
        text.scroll_relative(y=pages * max(1, text.size.height - 1), animate=False)

    def on_mount(self) -> None:
        self.call_after_refresh(self._be_answered)
        if self._reason is not None:
            self.set_interval(_SECONDS_PER_RENEWAL, partial(self._renew, self._reason))

    def _renew(self, reason: Callable[[], str]) -> None:
        if (detail := reason()) == self._detail or not self.is_current:
            return
        self._detail = detail
        self.query_one(".confirm--detail", Static).update(Content(make_visible(detail)))
        if not detail:
            self.dismiss(result=True)

    @property
    def can_be_answered(self) -> bool:
        """True once the question is visible."""
        return self._answers_from < math.inf

    def on_key(self, event: events.Key) -> None:
        if self._is_early(event):
            return
        answer = _ANSWERS.get(event.key.lower())
        if answer is not None:
            event.stop()
            self.dismiss(answer)

    def takes_key(self, event: events.Key | events.Paste) -> bool:
        """Give every paste to the prompt; it also delays the answer."""
        if isinstance(event, events.Key):
            return False
        if not self._is_early(event):
            self._pass_on(event)
        return True

    @on(Button.Pressed)
    def _answer(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def _be_answered(self) -> None:
        if self._is_seen():
            self._answers_from = time.monotonic()
        else:
            # A frame that was postponed while the terminal lagged is painted first.
            look_again = partial(self.call_after_refresh, self._be_answered)
            self.set_timer(_SECONDS_PER_LOOK, look_again)

    def _is_early(self, event: events.Key | events.Paste) -> bool:
        if event.time >= self._answers_from:
            return False
        event.stop()
        if self.can_be_answered:
            self._answers_from = max(self._answers_from, event.time + SECONDS_OF_A_PAUSE)
        self._pass_on(event)
        return True


class QuestionDialog(Dialog[None]):
    """Shows the question of a server over another dialog."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "refuse", "Refuse", priority=True),
    ]
    DEFAULT_CSS = """
    QuestionDialog {
        align: center middle;
        QuestionPanel { width: 100%; max-width: 76; }
    }
    """

    def __init__(self, panel: QuestionPanel) -> None:
        super().__init__()
        self._panel = panel
        self._is_over = False

    def compose(self) -> ComposeResult:
        self._panel.add_class("dialog")
        yield self._panel

    def on_mount(self) -> None:
        # No button: a key that was meant for the dialog below answers nothing.
        self._panel.focus()

    def end(self) -> None:
        """Close it, once it is on top."""
        self._is_over = True
        self.dismiss()

    def on_screen_resume(self) -> None:
        if self._is_over:
            self.dismiss()

    def action_refuse(self) -> None:
        self._panel.action_refuse()
