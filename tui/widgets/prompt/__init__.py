"""The prompt: what the user is about to say."""

from tui.widgets.prompt.prompt import Prompt, Waiting

__all__ = ["Prompt", "Waiting"]
