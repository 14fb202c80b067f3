"""Thinking before an answer: its last rows while it comes, then one line that unfolds."""

from rich.style import Style

from tui.domain.journal.message import Message
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.foldable import MOST_KEPT, THOUGHT_ROWS, Thought

CANVAS = Canvas(40, dict.fromkeys(NAMES, Style()))


def rows(document):
    document.draw_on(CANVAS, 30)
    return [row.strip.text.strip() for row in document.rows()]


def thinking(*pieces):
    """A document with an answer of which only thinking has arrived."""
    document = Document()
    document.add_text("m1", "", "fake:qwen3")
    for piece in pieces:
        document.add_thinking("m1", piece)
    return document


def test_the_last_rows_are_shown_while_it_comes():
    document = thinking(*(f"step {number}\n" for number in range(20)))
    assert rows(document) == ["", "● fake:qwen3", *(f"step {number}" for number in range(16, 20))]


def test_it_folds_when_the_answer_begins_and_can_be_unfolded():
    document = thinking("first\n", "then")
    document.end_thinking("m1", 12.4)
    document.add_text("m1", "Good day.")
    assert rows(document) == ["", "● fake:qwen3", "▸ thought for 12 s", "Good day."]
    document.fold(document.items["m1"])
    assert rows(document) == [
        "",
        "● fake:qwen3",
        "▾ thought for 12 s",
        "first",
        "then",
        "Good day.",
    ]


def test_it_stays_with_the_complete_answer_and_in_the_session_shown_again():
    document = thinking("first")
    document.end_thinking("m1", 2)
    document.add_text("m1", "Good day.")
    message = Message("m1", "assistant", "Good day.", "", model="fake:qwen3")
    document.put(message)
    assert "▸ thought for 2 s" in rows(document)
    document.replace([message])
    assert "▸ thought for 2 s" in rows(document)


def test_control_sequences_in_it_are_made_visible():
    document = thinking("a\x1b[2Jb")
    assert rows(document)[-1] == "a␛[2Jb"


def test_a_long_one_is_kept_in_bounds():
    thought = Thought()
    for _ in range(100):
        thought.add("x" * 1000)
    thought.add("the end")
    thought.end(1)
    text = "".join(block.text for block in thought.blocks(unfolded=True)[1:])
    assert len(text) <= MOST_KEPT
    assert text.endswith("the end")
    document = Document()
    for number in range(101):
        document.add_thinking(f"m{number}", "x")
    assert "m0" not in document.thoughts
    assert "m100" in document.thoughts


def test_a_step_costs_the_same_however_much_came_before():
    short, long = Thought(), Thought()
    short.add("x" * 3000)
    for _ in range(30):
        long.add("x" * 1000)
    shown = [thought.blocks(unfolded=False)[0].text for thought in (short, long)]
    assert len(shown[0]) == len(shown[1])
    assert len(long.blocks(unfolded=False)[0].draw(CANVAS)) == THOUGHT_ROWS


def test_the_same_blocks_are_drawn_while_nothing_changes():
    thought = Thought()
    thought.add("hm")
    thought.end(1)
    assert thought.blocks(unfolded=False) is thought.blocks(unfolded=False)
