"""The base class of modal screens."""

from typing import ClassVar

from textual import events, on
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType

from tui.domain.screen_sizes import KEY_LINE_FROM_ROWS
from tui.widgets.keys import short_key_name

_BESIDE_KEYS = 4
"""Columns of the border that the keys in it leave free."""


class Dialog(ModalScreen[ScreenResultType]):
    """A modal screen that gives one result, with the status line of the chat below it.

    A box of the class ``dialog`` names the keys that work now in its lower border. Two answers in
    one read of input, or two clicks, would also pop the screen below.
    """

    VERTICAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [  # pyright: ignore[reportIncompatibleVariableOverride] - of Textual's own
        (0, "-short"),
        (KEY_LINE_FROM_ROWS, "-tall"),
    ]
    DEFAULT_CSS = """
    Dialog {
        background: transparent;
        /* No padding, which is drawn over the screen below. */
        & > * { margin: 0 0 1 0; }
        &.-tall > * { margin: 0 0 2 0; }
        /* Notices come in its own line. */
        &.-tall > .has-key-line { margin: 0 0 1 0; }

        .dialog {
            background: $surface; border: round $border;
            border-title-color: $text-primary; border-title-style: bold;
            border-subtitle-color: $text-muted;
        }
    }
    """

    def on_mount(self) -> None:
        self.bindings_updated_signal.subscribe(self, lambda _: self.name_keys())  # pyright: ignore[reportUnknownMemberType, reportUnknownLambdaType]

    @on(events.Resize)
    def _fit_keys(self) -> None:
        self.call_after_refresh(self.name_keys)

    def name_keys(self) -> None:
        """Show the keys that work now in the border."""
        for box in self.query(".dialog"):
            box.border_subtitle = Content(_fitting(self.key_words(), box.size.width))

    def key_words(self) -> str:
        """The keys that work where the focus is, with their descriptions; the way out is last."""
        shown: dict[str, str] = {}
        for active in self.active_bindings.values():
            binding = active.binding
            if active.enabled and binding.show and not isinstance(active.node, App):
                shown.setdefault(binding.description, short_key_name(binding.key))
        keys = sorted(shown.items(), key=lambda each: each[1] == "Esc")
        return " · ".join(f"{key} {does.lower()}" for does, key in keys)

    def retry_failed(self) -> None:
        """Ask again what the store could not answer; most dialogs ask it nothing."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with a result, and end what its workers do; only if this screen is on top."""
        if not self.is_active:
            return AwaitComplete()
        # Not with the screen, a little later: they may look for what is not on it any more.
        self.workers.cancel_node(self)  # pyright: ignore[reportUnknownMemberType]
        return super().dismiss(result)


def _fitting(keys: str, width: int) -> str:
    """Leave out the last keys that do not fit, but never the way out."""
    parts = keys.split(" · ")
    others = [each for each in parts if not each.startswith("Esc")]
    while width and others[1:] and len(" · ".join(parts)) > width - _BESIDE_KEYS:
        parts.remove(others.pop())
    return " · ".join(parts)
