"""The prompt: what the user is about to say."""

from tui.widgets.prompt.pastes import Paste
from tui.widgets.prompt.prompt import Prompt, Waiting

__all__ = ["Paste", "Prompt", "Waiting"]
