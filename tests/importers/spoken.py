"""A hypothesis strategy for conversations: trees of messages with any texts.

A test writes one as its program would, reads it back, and calls ``check_read``.
"""

from typing import NamedTuple

from hypothesis import strategies as st

from tests.strategies import any_text
from tui.importers.trees import AGAIN


class Spoken(NamedTuple):
    """A message, and the one that it follows; ``""`` for a first one."""

    id: str
    parent: str
    role: str
    text: str


def texts():
    """Any text that has a word."""
    return any_text(6).map(lambda text: f"word {text}.")


@st.composite
def trees(draw):
    """A conversation with branches, and the id of the message that was shown last."""
    spoken = [Spoken("m0", "", "user", draw(texts()))]
    for number in range(1, draw(st.integers(1, 6))):
        before = draw(st.sampled_from(spoken))
        role = "assistant" if before.role == "user" else "user"
        spoken.append(Spoken(f"m{number}", before.id, role, draw(texts())))
    return spoken, draw(st.sampled_from(spoken)).id


def lines():
    """A conversation without branches."""
    said = st.lists(texts(), min_size=1, max_size=5)
    return said.map(
        lambda said: [
            Spoken(f"m{n}", f"m{n - 1}" if n else "", ("user", "assistant")[n % 2], text)
            for n, text in enumerate(said)
        ]
    )


def children(spoken, name):
    """The ids of the messages that follow one."""
    return [each.id for each in spoken if each.parent == name]


def check_read(messages, spoken, leaf=None):
    """Check that all messages were read with their parents, the one shown last at the end."""
    read = {message.id: Spoken(message.id, message.parent or "", message.role, message.content)
            for message in messages if not message.id.endswith(AGAIN)}  # fmt: skip
    assert read == {each.id: each for each in spoken}
    assert messages[-1].id.removesuffix(AGAIN) == (leaf or spoken[-1].id)


def check_said(messages, spoken):
    """Check the roles and texts of a conversation without branches whose source has no ids."""
    assert [(each.role, each.content) for each in messages] == [
        (each.role, each.text) for each in spoken
    ]
