"""Whatever is said, a row of the pane is as wide as the pane."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tests.examples import examples
from tests.widgets.transcript.conftest import showing
from tui.domain.journal.message import Message, ToolCall
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.row_blocks import Code

# fmt: off
PIECES = st.sampled_from([
    "a", "word ", "  ", "\t", "\n", "\n\n", "日本語", "ｶﾅ", "é", "e\u0301\u0301", "שלום", "مرحبا",
    "👨\u200d👩\u200d👧\u200d👦", "🇯🇵", "🇯", "👍🏽", "❤\ufe0f",
    "\u200d", "\u200b", "\u202e", "\x1b[31m", "\x9b",
    "w" * 90, "語" * 70, "https://example.com/" + "x" * 80, "`code`", "**bold**", "[a](https://b)",
    "- ", "1. ", "   - ", "> ", "# ", "---\n", "```python\n", "```\n", "   ```sh\n",
    "| a | b |\n|---|---|\n",
])
# fmt: on
TEXT = st.lists(PIECES, max_size=40).map("".join)
LOOK = dict.fromkeys(NAMES, Style())


def entries(text):
    return [
        Message("u", "user", text, ""),
        Message("a", "assistant", text, "", (ToolCall("t", "read", {"path": text}),), model=text),
        Message("t", "tool", text, "", tool_call_id="t"),
        Message("f", "assistant", "", "", status="failed", error=text),
    ]


@examples(0.6)
@given(TEXT, st.integers(20, 300), st.integers(0, 200))
def test_every_row_is_exactly_as_wide_as_the_pane(text, width, moved):
    conversation = showing(entries(text))
    conversation.inform_all()
    for item in conversation.layout:
        item.unfolded = frozenset({0})
        for block in item.blocks():
            for _ in range(2):
                for strip in block.strips(Canvas(width, LOOK)):
                    assert strip.cell_length == width
                    assert sum(cell_len(segment.text) for segment in strip) == width
                if isinstance(block, Code):
                    block.sideways.cells = moved


@examples(0.3)
@given(st.lists(TEXT, max_size=6), st.lists(st.integers(20, 300), min_size=6, max_size=6))
def test_also_while_it_arrives_and_the_width_changes(pieces, widths):
    conversation = Document()
    for piece, width in zip(pieces, widths, strict=False):
        conversation.add_text("a", piece)
        conversation.draw_on(Canvas(width, LOOK), 40)
        assert all(row.strip.cell_length == width for row in conversation.rows())
