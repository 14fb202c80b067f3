"""The prompt: an editor of several lines, with earlier prompts and completion."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from tui.domain.commands import Command, is_command
from tui.domain.completion import (
    Completion,
    FileListing,
    Target,
    common_text,
    completions,
    dropped_files,
)
from tui.domain.references import NO_WORDS, SIGN, unfinished_reference
from tui.domain.text import make_visible_line
from tui.domain.views.shown_session import AttachedView, PromptQueue
from tui.widgets.intents import CommandInvoked, hint
from tui.widgets.prompt.completion_list import CompletionList, FileOffers
from tui.widgets.prompt.earlier_prompts import EarlierPrompts, HistoryLine
from tui.widgets.prompt.editor import Editor
from tui.widgets.prompt.prompt_document import Paste
from tui.widgets.prompt.top_border import TopBorder

if TYPE_CHECKING:
    from textual.timer import Timer

SHARE_OF_SCREEN = 3
"""It grows to one part in so many."""
LEAST_ROWS = 3
_EDITING = "editing a question · Esc cancels"
_IF_EMPTY = {"ctrl+d": "quit", "question_mark": "help"}
"""The commands of keys that are for an empty prompt."""
_NO_SHELL = "sibyl-tui runs no commands. A space before the ! sends this as text."
_BETWEEN = " · "
SECONDS = 0.3
"""The delay after the last change, until files are looked at."""
MOST_CHARACTERS = 100_000
"""Longer texts are not looked through at each pause."""
_SECONDS_OF_ESCAPES = 0.5
"""The time between two Esc that clear the prompt."""


class Waiting(NamedTuple):
    """A queued prompt that was taken back: its text, and how many are before it.

    ``held`` if it was waiting for the user.
    """

    text: str
    place: int
    held: bool = False


class Offers(msgspec.Struct):
    """What commands may be given: sessions, best first, models, themes, and the user's commands."""

    targets: Sequence[Target] = ()
    models: Sequence[str] = ()
    themes: Sequence[str] = ()
    own: Sequence[Command] = ()


class Prompt(Widget):
    """The prompt: an editor, completion, earlier prompts, and those that wait."""

    @dataclass(eq=False, repr=False)
    class Submitted(Message):
        """Enter was pressed on a text that is not blank; the text has left the prompt.

        ``own`` are the words of it that are the user's references.
        """

        text: str
        own: frozenset[str] = NO_WORDS

    @dataclass(eq=False, repr=False)
    class Edited(Message):
        """The user changed the draft; an earlier prompt only looked at is no change.

        ``pastes`` are what of it is shown as one mark, ``own`` the user's references.
        """

        text: str
        pastes: tuple[str, ...] = ()
        own: frozenset[str] = NO_WORDS

    @dataclass(eq=False, repr=False)
    class ReferencesSettled(Message):
        """The text has stood for a moment: time to look at what it refers to."""

        text: str
        own: frozenset[str]

    @dataclass(eq=False, repr=False)
    class FilesWanted(Message):
        """A reference is being typed: the files are wanted that begin with ``folder``.

        Without one, those of the project.
        """

        folder: str

    @dataclass(eq=False, repr=False)
    class FilesDropped(Message):
        """A paste was inserted that may be nothing but paths of files, in each of ``readings``."""

        paste: Paste
        readings: Sequence[Sequence[str]]

    @dataclass(eq=False, repr=False)
    class PromptsWanted(Message):
        """Earlier prompts are wanted: ``anew`` the newest, else older ones than those shown.

        ``keys_wait`` if later keys are meant for the prompt that they bring.
        """

        anew: bool
        keys_wait: bool

    class HeldWanted(Message):
        """The user wants the held prompts to be sent."""

    class EditCancelled(Message):
        """The user cancels the edit of a question, and wants the earlier draft back."""

    @dataclass(eq=False, repr=False)
    class TakenBack(Message):
        """The user took prompts that waited back into the prompt, or dropped them.

        ``back`` goes back to where it waited, as the one before it was taken instead.
        """

        prompts: Sequence[str]
        back: Waiting | None = None

    def __init__(self) -> None:
        self.editor = Editor(self._press, self._show_edit, self._read_paste)
        self.border = TopBorder()
        super().__init__(self.border, self.editor)
        self._list = CompletionList()
        self._files = FileOffers(lambda folder: self.post_message(self.FilesWanted(folder)))
        self._history = EarlierPrompts()
        self._history_line = HistoryLine(
            self._history, self._recall, self._want_earlier, self._show_mode, self.focus
        )
        self._attached: AttachedView | None = None
        self._settling: Timer | None = None
        self._told = "", NO_WORDS
        self._shelved = self._recalled = NO_WORDS
        self._escaped_at = -math.inf
        self._useful: frozenset[str] = frozenset()
        self.offers = Offers()
        self._reason = ""
        self._editing = False
        self._queue = PromptQueue()
        self._taken: Waiting | None = None

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        # Not by ``max-height``: Textual does not look at it while it measures a docked widget.
        height = super().get_content_height(container, viewport, width)
        least = LEAST_ROWS + self._history_line.display
        return min(height, max(least, viewport.height // SHARE_OF_SCREEN))

    @property
    def text(self) -> str:
        """The text in the prompt."""
        return self.editor.text

    @property
    def draft(self) -> str:
        """The unsent draft: the text, or the text before an earlier prompt was recalled."""
        return self._history.draft if self._history.is_at(self.text) else self.text

    @property
    def completing(self) -> bool:
        """Tell if completions are shown."""
        return bool(self._list.found)

    @property
    def useful(self) -> frozenset[str]:
        """The keys enabled only at times that are enabled now."""
        keys = {
            "prompt-complete": self.completing,
            "prompt-unfold": bool(self.editor.document.pastes),
            "prompt-clear": bool(self.text.strip()) and not self._editing,
        }
        return frozenset(key for key, is_useful in keys.items() if is_useful)

    def focus(self, scroll_visible: bool = True) -> "Prompt":  # noqa: FBT001, FBT002 - Textual's
        """Let the user type."""
        # At once: what is typed next belongs to it.
        self.screen.set_focus(self.editor, scroll_visible)
        return self

    @property
    def own_words(self) -> frozenset[str]:
        """The references in the text that are the user's own."""
        return self.editor.document.own_words

    def set_text(
        self, text: str, pastes: Sequence[str] = (), own: frozenset[str] = NO_WORDS
    ) -> None:
        """Show another draft, the caret at its end and these ``pastes`` folded; posts nothing.

        ``own`` are the references in it that are the user's own.
        """
        self.editor.fold_pastes(pastes)
        self._history.leave()
        self._history_line.action_take()
        self._files.forget()
        self._shelved = own
        # Told first, so that what follows is not taken for the user's doing.
        self._told = text, own
        self.editor.load_text(text, own)

    def replace_text(self, text: str, own: frozenset[str] = NO_WORDS) -> None:
        """Put another text in the place of the user's, who can undo it.

        References that were the user's own stay so, beside the ``own`` of the new text.
        """
        self.editor.replace_text(text, self.own_words | own)

    def show_attached(self, attached: AttachedView | None) -> None:
        """Show in the border what the text will attach; ``None`` for nothing."""
        if attached != self._attached:
            self._attached = attached
            self._show_subtitle()

    def search_history(self) -> None:
        """Search the earlier prompts; within a search, go to an older one."""
        if self._history_line.parent is None:
            self.mount(self._history_line, before=self.editor)
        self._history_line.begin()

    def escape(self) -> None:
        """End an edit, or clear the text at the second Esc within half a second."""
        if self._editing:
            self.post_message(self.EditCancelled())
            return
        now = monotonic()
        is_second, self._escaped_at = now - self._escaped_at <= _SECONDS_OF_ESCAPES, now
        if is_second and self.text:
            self.editor.replace_text("")

    def show_history(
        self, prompts: Sequence[str], own: frozenset[str] = NO_WORDS, *, more: bool = False
    ) -> None:
        """The earlier prompts, newest first, and the user's own references in them.

        ``more`` if there may be older ones.
        """
        self._recalled = own
        self._history.show(prompts, more=more)

    def _show_mode(self, found: str = "") -> None:
        searching = f"earlier prompts{found}" if self._history_line.display else ""
        self.border.mode = searching or (_EDITING if self._editing else "")

    def show_private(self, *, private: bool) -> None:
        """Give the prompt of a private session a frame of its own."""
        self.border.private = private
        self.set_class(private, "-private")

    def show_files(self, listing: FileListing) -> None:
        """The files that were asked for."""
        is_new = self._files.accept(listing)
        if is_new and self.has_focus_within and self._list.chosen is None:
            self._offer()

    def show_state(self, reason: str = "", *, editing: bool = False) -> None:
        """Say why nothing can be sent from here, if so, and whether a sent question is edited."""
        self._reason = reason
        self.editor.set_class(bool(reason), "-unsendable")
        self._show_subtitle()
        if editing != self._editing:
            # Esc then gives the draft back.
            self._editing = editing
            self._show_mode()

    def show_queue(self, queue: PromptQueue) -> None:
        """The prompts that wait to be sent."""
        sent = max(0, len(self._queue.prompts) - len(queue.prompts))
        if self._taken is not None and sent:
            self._taken = self._taken._replace(place=max(0, self._taken.place - sent))
        self._queue = queue
        self._show_subtitle()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        self._list.show(())
        # Not where the terminal alone has lost the focus.
        if event.widget is self._history_line and self.app.app_focus:  # pyright: ignore[reportUnknownMemberType]
            self._history_line.action_leave()

    @on(CompletionList.Picked)
    def _put_picked(self, event: CompletionList.Picked) -> None:
        event.stop()
        self._put(event.completion.text)

    @on(events.Resize)
    def _show_subtitle(self) -> None:
        queue = _queue_hint(self._queue, again=self._can_exchange)
        parts = [make_visible_line(part) for part in (self._reason, queue) if part]
        # The border's corners, and a blank beside the text.
        room = self.editor.size.width - 4 - sum(len(part) + len(_BETWEEN) for part in parts)
        if self._attached:
            words = self._attached.words(lambda text: cell_len(text) <= room)
            parts += filter(None, [words])
        self.editor.border_subtitle = Content(_BETWEEN.join(parts))

    def _read_paste(self, paste: Paste) -> None:
        if readings := dropped_files(paste.text):
            self.post_message(self.FilesDropped(paste, readings))

    def _press(self, key: str) -> bool:
        """Do what a key does here; says whether it did anything."""
        match key:
            case "enter" | "tab" if self._list.chosen is not None:
                self._put(self._list.chosen.text)
            case "enter":
                self._enter()
            case "tab" if self._list.found:
                self._complete()
            case "escape" if self._list.found:
                self._list.show(())
            case "up" | "down" if self._list.found:
                self._list.move(-1 if key == "up" else 1)
            case "ctrl+d" | "question_mark" if not self.text:
                self.post_message(CommandInvoked(_IF_EMPTY[key]))
            case "up" | "backspace" | "delete" if not self.text and self._queue.prompts:
                self._take_back_last()
                if key == "delete":
                    self.editor.replace_text("")
            case "up" if self._exchange():
                pass
            case "up" if self.editor.in_first_row:
                if self._history.place:
                    self._recall_earlier(self.text)
                else:
                    self._want_earlier(partial(self._recall_earlier, self.text), anew=True)
            case "down":
                editor = self.editor
                is_last = editor.navigator.is_last_wrapped_line(editor.cursor_location)
                return is_last and self._recall(self._history.place - 1)
            case _:
                # Tab would leave, and the letters behind it act on what has the focus then.
                return key in ("tab", "shift+tab")
        return True

    def _enter(self) -> None:
        if self.editor.break_at_backslash():
            return
        if self.text.strip() == "/":
            self._show_list(completions("/", own=self.offers.own))
            return
        self._list.show(())
        text, own = self.text, self.own_words
        if text.startswith("!"):
            hint(self, _NO_SHELL)
        elif text.strip():
            # Bring back the text that a recalled prompt had replaced.
            history = self._history
            self.set_text(history.draft if history.place else "", own=self._shelved)
            self.post_message(self.Submitted(text, own))
        elif self._queue.held:
            self.post_message(self.HeldWanted())

    def _complete(self) -> None:
        # What the completions replace: a reference, or the whole prompt.
        before = self.editor.before_caret
        is_file = self._list.found[0].text.startswith(SIGN)
        reference = unfinished_reference(before) if is_file else None
        typed = before[reference.start :] if reference else self.text
        text = common_text(typed, self._list.found)
        if text == typed:
            self._list.move(1)
        else:
            self._put(text)

    def _put(self, text: str) -> None:
        if not text.startswith(SIGN):
            self.replace_text(text)
        elif typed := unfinished_reference(self.editor.before_caret):
            self.editor.put_reference(text, typed.start)
            # The caret may have moved since, into the quotes of a folder.
            self._offer()
        else:
            # The caret was moved away from it.
            self._list.show(())

    def _take_back_last(self) -> None:
        """Move the last queued prompt into the text, where the next keys edit it."""
        *others, last = self._queue.prompts
        is_held = bool(self._queue.held)
        sending = len(self._queue.sending) - (not is_held)
        self.show_queue(PromptQueue.of(others, sending, self._queue.own))
        self._take_back(Waiting(last, len(others), is_held))

    @property
    def _can_exchange(self) -> bool:
        """Tell if a recalled, unchanged prompt can be exchanged for the one before it."""
        taken = self._taken
        if taken is None or self.text != taken.text or not self.editor.in_first_row:
            return False
        return 0 < taken.place <= len(self._queue.prompts)

    def _exchange(self) -> bool:
        if self._taken is None or not self._can_exchange:
            return False
        back, place = self._taken, self._taken.place
        sending = len(self._queue.sending)
        waiting = [*self._queue.prompts[:place], back.text, *self._queue.prompts[place:]]
        earlier = waiting.pop(place - 1)
        taken = Waiting(earlier, place - 1, place > sending)
        sending += (not back.held) - (place <= sending)
        self.show_queue(PromptQueue.of(waiting, sending, self._queue.own))
        self._take_back(taken, back._replace(place=place - 1))
        return True

    def _take_back(self, taken: Waiting, back: Waiting | None = None) -> None:
        self._taken = taken
        self.post_message(self.TakenBack([taken.text], back))
        self.editor.replace_text(taken.text, self._queue.own.get(taken.text, NO_WORDS))
        self._show_subtitle()

    # --- earlier prompts

    def _want_earlier(
        self, then: Callable[[], object] | None, *, anew: bool = False, keys_wait: bool = True
    ) -> None:
        """Ask for earlier prompts, and call ``then`` once they are there."""
        self._history.then = then
        # In this widget's own task: a message that the screen posts does not reach the application.
        self.call_later(self.post_message, self.PromptsWanted(anew, keys_wait))

    def _recall_earlier(self, text: str) -> None:
        """Show the prompt before, unless another text was typed meanwhile."""
        if self.text != text:
            return
        if self._recall(self._history.place + 1):
            # The next Up continues from the first row.
            self.editor.move_cursor(self.editor.navigator.get_location_end((0, 0)))
        elif self._history.more:
            self._want_earlier(partial(self._recall_earlier, text))
        else:
            self.editor.action_cursor_up()

    def _recall(self, place: int) -> bool:
        text = self._history.go_to(place, self.text)
        if text is None:
            return False
        # The draft and changed prompts are shown again later.
        self._shelved |= self.own_words
        self.editor.load_text(text, self._shelved | self._recalled)
        return True

    def _show_edit(self) -> None:
        """Tell of a change at once, and offer what may complete it."""
        text, own = self.text, self.own_words
        if self.useful != self._useful:
            self._useful = self.useful
            self.call_later(self.refresh_bindings)
        if self._settling is not None:
            self._settling.stop()
        if own and len(text) <= MOST_CHARACTERS:
            settled = self.ReferencesSettled
            self._settling = self.set_timer(
                SECONDS, lambda: self.post_message(settled(self.text, self.own_words))
            )
        else:
            self.show_attached(None)
        if (text, own) == self._told or self._history.is_at(text):
            self._list.show(())
            return
        self._told = text, own
        self._escaped_at = -math.inf
        if self._taken is not None and self._taken.text != text:
            self._taken = None
            self._show_subtitle()
        self._offer()
        self.post_message(self.Edited(text, self.editor.document.pastes, own))

    def _offer(self) -> None:
        text = self.text
        found = completions(text, *msgspec.structs.astuple(self.offers))
        if not found and not is_command(text, [command.name for command in self.offers.own]):
            found = self._files.completions(self.editor.before_caret)
        self._show_list(found)

    def _show_list(self, found: Sequence[Completion]) -> None:
        if found and self._list.parent is None:
            self.mount(self._list, before=self.editor)
        self._list.show(found)


def _queue_hint(queue: PromptQueue, *, again: bool) -> str:
    if not queue.prompts:
        return ""
    count = f"{len(queue.prompts)} queued"
    if again:
        return f"{count} · ↑ edits the one before instead"
    one = "it" if len(queue.prompts) == 1 else "the last"
    sends = "Enter sends · " if queue.held else ""
    return f"{count} · {sends}↑ edits {one} · Del drops {one}"
