"""An estimate of tokens where no server has counted; rather too many than too few."""

import json
import string
from collections.abc import Sequence

from tui.domain.journal.blocks import ImageBlock
from tui.domain.journal.message import Message
from tui.providers.protocol import ToolDefinition

BYTES_PER_TOKEN = 3
"""For a rough size of text that is not read."""
_TOKENS_PER_MESSAGE = 8
_TOKENS_PER_PICTURE = 1_600
"""A large picture's at Anthropic, by its documentation; OpenAI and Google count fewer."""
_WORDS = (string.ascii_letters + " \n").encode()
_ODD = bytes(set(range(128)) - set(_WORDS))


def estimated_tokens(message: Message) -> int:
    """Estimate the tokens of a message, with its files, its pictures and its calls."""
    pictures = sum(isinstance(each, ImageBlock) for each in message.attachments)
    return estimated_text_tokens(message) + pictures * _TOKENS_PER_PICTURE


def estimated_text_tokens(message: Message) -> int:
    """Estimate the tokens of a message whose pictures are sent as labels."""
    calls = "".join(call.name + str(call.arguments) for call in message.tool_calls)
    return tokens_of(message.text + calls) + _TOKENS_PER_MESSAGE


def tokens_of_tools(tools: Sequence[ToolDefinition]) -> int:
    """Estimate the tokens of the definitions that a request offers."""
    texts = (f"{each.name}{each.description}{json.dumps(each.parameters)}" for each in tools)
    return sum(tokens_of(text) + _TOKENS_PER_MESSAGE for text in texts)


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text, at two million characters in ten milliseconds.

    Of letters and blanks four make a token, of digits and punctuation two. A character that is
    not ASCII counts half a token for each byte but its first: a Cyrillic one half, a Chinese one
    whole.
    """
    data = text.encode(errors="replace")
    letters = len(data) - len(data.translate(None, _WORDS))
    odd = len(data) - letters if text.isascii() else len(data) - len(data.translate(None, _ODD))
    return (letters + 2 * odd) // 4 + (len(data) - len(text)) // 2
