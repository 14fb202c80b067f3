"""Hypothesis strategies for what may stand in a journal.

Strings are as a reader of JSON gives them: lone surrogates are there, but never a high one just
before a low one, which in JSON is one character. ``as_read`` makes any string so.
"""

import msgspec
from hypothesis import strategies as st

from tui.domain.journal.message import Message, TokenUsage, ToolCall
from tui.domain.journal.records import (
    Closed,
    Import,
    Offsets,
    Opened,
    Partial,
    Reset,
    Restored,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
)
from tui.domain.journal.todo import TodoItem
from tui.domain.json_text import MOST

# What breaks readers, writers and terminals, oftener than chance would have it.
_TROUBLE = [
    *("\x00", "\n", "\r\n", "\x1b]0;title\x1b\\", "\x7f", "\x85", "\x9b2J", "\u2028", "\u2029"),
    *("\ud800", "\udfff", "\u202e", "\u2066", "\U000e0041", "\ufeff", "\\", '"', "[", "{"),
    *(
        "会話",
        "か\u3099",
        "e\u0301",
        "😀",
        "👩\u200d👩\u200d👧",
        "🇯🇵",
        "❤\ufe0f",
        "\u200b",
        "\t",
        " ",
    ),
]


def as_read(text):
    """The string that comes back from JSON: surrogates side by side become one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def any_text(max_size=12):
    """Any string at all, lone surrogates and control characters too."""
    pieces = st.sampled_from(_TROUBLE) | st.characters()
    return st.lists(pieces, max_size=max_size).map("".join).map(as_read)


def message_ids():
    return st.builds("{}{}".format, st.sampled_from("mé\x00"), any_text(3))


def counts():
    return st.integers(0, MOST)


def json_values(max_leaves=8):
    """Any value that JSON can say; its numbers are finite."""
    numbers = st.integers() | st.integers(-(10**60), 10**60) | _finite()
    leaves = st.none() | st.booleans() | numbers | any_text(4)
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text(3), inner, max_size=3),
        max_leaves=max_leaves,
    )


def json_objects():
    return st.dictionaries(any_text(3), json_values(4), max_size=3)


def messages():
    """Any ``message`` record."""
    return st.builds(
        Message,
        id=message_ids(),
        role=_roles(),
        content=st.none() | any_text() | st.lists(json_values(4), max_size=3),
        timestamp=any_text(4),
        tool_calls=st.lists(_tool_calls(), max_size=2).map(tuple),
        tool_call_id=_perhaps(any_text(4)),
        status=st.sampled_from([None, "interrupted", "failed", "truncated"]),
        error=_perhaps(any_text(4)),
        model=_perhaps(any_text(4)),
        usage=_perhaps(_usages()),
        replaces=_perhaps(any_text(4)),
        after=_perhaps(any_text(4)),
        after_at=_perhaps(counts()),
        folded=_perhaps(st.lists(st.tuples(counts(), counts()), max_size=2).map(tuple)),
        context_snapshot=json_values(4),
        metadata=_perhaps(json_objects()),
    )


def records():
    """Any record of any kind."""
    return st.one_of(
        messages(),
        _headers(),
        _partials(),
        _summaries(),
        st.builds(Todos, items=st.lists(_todo_items(), max_size=3).map(tuple)),
        _settings(),
        _states(),
        st.builds(Opened, at=any_text(4), resumed=st.booleans()),
        st.builds(Closed, at=any_text(4)),
        st.builds(Restored, at=any_text(4)),
        st.builds(Reset, at=any_text(4)),
        _imports(),
    )


def _imports():
    return st.builds(
        Import,
        at=any_text(4),
        program=any_text(4),
        source_id=any_text(4),
        path=any_text(4),
        format_version=_perhaps(any_text(4)),
        size=counts(),
        read=counts(),
        skipped=st.dictionaries(any_text(4), counts(), max_size=3),
    )


def _summaries():
    return st.builds(
        Summary,
        text=any_text(),
        through=any_text(4),
        model=_perhaps(any_text(4)),
        usage=_perhaps(_usages()),
    )


def _usages():
    return st.builds(TokenUsage, counts(), counts(), counts(), counts())


def _finite():
    return st.floats(allow_nan=False, allow_infinity=False)


def _perhaps(strategy):
    return st.none() | strategy


def _roles():
    return st.sampled_from(["user", "assistant", "tool"])


def _tool_calls():
    return st.builds(ToolCall, id=any_text(4), name=any_text(4), arguments=json_values(4))


def _todo_items():
    statuses = st.sampled_from(["pending", "in_progress", "completed"])
    return st.builds(TodoItem, content=any_text(4), status=statuses, active_form=any_text(4))


def _headers():
    return st.builds(
        SessionHeader,
        version=st.integers(1, MOST),
        id=any_text(4),
        created_at=any_text(4),
        scope=any_text(4),
        ordinal=st.integers(0, 10**9),
        project_path=any_text(4),
        model=any_text(4),
        forked_from=_perhaps(any_text(4)),
        imported_from=_perhaps(any_text(4)),
        metadata=_perhaps(json_objects()),
    )


def _partials():
    return st.builds(
        Partial,
        message_id=message_ids(),
        at=counts(),
        text=any_text(),
        role=_perhaps(_roles()),
        timestamp=_perhaps(any_text(4)),
        model=_perhaps(any_text(4)),
        replaces=_perhaps(any_text(4)),
        after=_perhaps(any_text(4)),
        after_at=_perhaps(counts()),
    )


def _settings():
    return st.builds(
        Settings,
        system_prompt=_perhaps(any_text(4)),
        temperature=_perhaps(st.floats(0, 2)),
        max_tokens=_perhaps(counts()),
        effort=_perhaps(any_text(4)),
        tools_off=st.lists(any_text(4), max_size=2).map(tuple),
        pinned=st.booleans(),
    )


def _states():
    places = _perhaps(counts())
    return st.builds(
        State,
        name=any_text(4),
        model=any_text(4),
        prompt_count=counts(),
        message_count=counts(),
        total_count=counts(),
        updated_at=any_text(4),
        offsets=st.builds(
            Offsets,
            summary=places,
            todos=places,
            reset=places,
            settings=places | st.just(msgspec.UNSET),
        ),
    )
