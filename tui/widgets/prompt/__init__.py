"""The prompt: what the user is about to say."""

from tui.widgets.prompt.prompt import Prompt, Waiting
from tui.widgets.prompt.prompt_document import Paste

__all__ = ["Paste", "Prompt", "Waiting"]
