"""Conversations for tests: made up by hypothesis, and seen as a reader gives them."""

from typing import NamedTuple

from hypothesis import strategies as st

from tui.importers.protocol import ForeignMessage, Item

odd_texts = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("\x00\u2028\u2029\u0085\r\n\x1b\ufeff\ud800\U0001f600\u4f1a"),
    ),
    min_size=1,
    max_size=30,
).filter(lambda text: text.strip() and text.lstrip()[0] not in "<#[/?!C")
"""Texts that no program takes for its own, with characters that are hard to read back."""


class Turn(NamedTuple):
    """A prompt, the results of tools that the model asks for, and its answer."""

    follows: int
    """The number of the turn before it; -1 for none."""
    prompt: str
    results: list[str]
    answer: str


def turns(*, linear: bool = False, tools: bool = True) -> st.SearchStrategy[list[Turn]]:
    """Make up conversations of one turn or more, with branches unless they are ``linear``."""
    drawn = st.builds(
        Turn,
        st.integers(0, 9),
        odd_texts,
        st.lists(odd_texts, max_size=3) if tools else st.just([]),
        odd_texts,
    )
    return st.lists(drawn, min_size=1, max_size=6).map(
        lambda made: [
            turn._replace(follows=number - 1 if linear else turn.follows % (number + 1) - 1)
            for number, turn in enumerate(made)
        ]
    )


def branch(made: list[Turn], last: int) -> list[Turn]:
    """List the turns that lead to one, and it."""
    found: list[Turn] = []
    while last >= 0:
        found.insert(0, made[last])
        last = made[last].follows
    return found


def said(made: list[Turn]) -> list[tuple[str, str | None]]:
    """List roles and texts of turns as a reader gives them; calls of tools have no text."""
    return [
        message
        for turn in made
        for message in (
            ("user", turn.prompt),
            *([("assistant", None)] if turn.results else []),
            *(("tool", result) for result in turn.results),
            ("assistant", turn.answer),
        )
    ]


def live(items: list[Item]) -> list[ForeignMessage]:
    """List the messages of the branch that ends with the last one."""
    messages = [item for item in items if isinstance(item, ForeignMessage)]
    before = {
        message.id: messages[number - 1].id if number else ""
        for number, message in enumerate(messages)
    }
    known = {message.id: message for message in messages}
    at = messages[-1].id if messages else ""
    found: list[ForeignMessage] = []
    while at:
        found.insert(0, known[at])
        parent = known[at].parent
        at = before[at] if parent is None else parent
    return found


def roles_and_texts(messages: list[ForeignMessage]) -> list[tuple[str, str | None]]:
    return [(message.role, message.content) for message in messages]
