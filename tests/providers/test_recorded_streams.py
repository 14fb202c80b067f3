"""Streams as vendors and servers document them: a row each, in whatever pieces they arrive."""

from collections.abc import Sequence

from tests.providers.recorded import CODECS, codec, samples
from tests.providers.test_quirks import told
from tests.tables import each_row
from tui.domain.journal.message import TokenUsage
from tui.providers.codec import BrokenStream
from tui.providers.protocol import TextReceived, ThinkingReceived
from tui.providers.reception import Reception


def sent(events: Sequence[bytes], end: bytes = b"\n") -> bytes:
    return b"".join(event + end * 2 for event in events)


def received(dialect: str, *pieces: bytes) -> tuple[str, str, str]:
    """The thinking, the text, and the last counts, the calls and the end or the error."""
    reception = Reception(codec(dialect).answer())
    came = [event for piece in pieces for event in reception.feed(piece)]
    broken = ""
    try:
        came += reception.end()
    except BrokenStream as error:
        broken = f"! {error.breakage} {error.words} {error.more}".rstrip()
    thought, said, counts, end = "", "", "", ""
    for event in came:
        match event:
            case ThinkingReceived(text):
                thought += text
            case TextReceived(text):
                said += text
            case TokenUsage():
                counts = told(event)
            case _:
                end += told(event)
    return f"({thought})" if thought else "", said, broken or counts + end


def heard(dialect: str, *pieces: bytes) -> str:
    return "".join(received(dialect, *pieces))


recorded = each_row(
    "dialect, events, expected",
    [
        (dialect, lines.split(b"\n"), expected)
        for dialect in CODECS
        for _, lines, expected in samples(f"streams_{dialect}")
    ],
)


@recorded
def test_a_recorded_stream_is_heard_in_whatever_pieces_it_comes(
    dialect: str, events: list[bytes], expected: str
):
    whole, windows = sent(events), sent(events, b"\r\n")
    assert heard(dialect, whole) == expected
    assert heard(dialect, *(bytes([byte]) for byte in whole)) == expected
    assert heard(dialect, b"\xef\xbb\xbf" + windows) == expected
    assert heard(dialect, *(bytes([byte]) for byte in windows)) == expected
    assert heard(dialect, sent(events, b"\r").rstrip()) == expected


@recorded
def test_a_stream_that_is_cut_keeps_its_words_and_is_no_whole_answer(
    dialect: str, events: list[bytes], expected: str
):
    _, whole, _ = received(dialect, sent(events))
    for place in range(1, len(events)):
        _, text, end = received(dialect, sent(events[:place]))
        assert whole.startswith(text)
        assert end.startswith("!") or text == whole


ERRORS = {
    "responses": b'{"type": "error", "code": "server_error", "message": "On fire.", "param": null}',
    "anthropic": b'{"type": "error", "error": {"type": "api_error", "message": "On fire."}}',
}


@recorded
def test_an_error_in_the_middle_is_quoted_behind_the_words_that_came(
    dialect: str, events: list[bytes], expected: str
):
    error = b"data: " + ERRORS.get(dialect, b'{"error": {"code": 500, "message": "On fire."}}')
    for place in range(1, len(events)):
        before = events[:place]
        _, text, end = received(dialect, sent([*before, error, *events[place:]]))
        assert text == received(dialect, sent(before))[1]
        assert end == "! failed On fire." or expected.endswith(end)
