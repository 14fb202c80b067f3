"""What an empty conversation shows."""

import pytest

from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import STYLES, asked
from tui.app.appearance import ThemeContrastApp
from tui.screens.beginning import welcome
from tui.widgets.transcript import Transcript
from tui.widgets.transcript.welcome_text import WelcomeText

KEYS = (("Enter", "Send"), ("Ctrl+F", "Search all sessions"))
WORDS = "It chats with language models."


class Welcoming(ThemeContrastApp):
    CSS_PATH = STYLES

    def __init__(self, *sentences, mark=()):
        super().__init__()
        self.text = WelcomeText(mark, sentences, KEYS)

    def compose(self):
        yield Transcript()

    def on_mount(self):
        self.query_one(Transcript).show_welcome(self.text)


@pytest.fixture
def shown():
    """What a pane of this size shows, once a session of these entries is on it, from the top."""

    async def show(*entries, size=(40, 9), sentences=(), mark=()):
        app = Welcoming(*sentences, mark=mark)
        async with app.run_test(size=size):
            transcript = app.query_one(Transcript)
            before = visible_text(transcript)
            transcript.show(entries, earlier=False)
            return before, visible_text(transcript)

    return show


async def test_an_empty_conversation_shows_keys_in_its_middle_once_that_is_known(shown):
    before, rows = await shown()
    assert before == [""] * 9
    assert rows == [
        *[""] * 3,
        "     Enter    Send",
        "     Ctrl+F   Search all sessions",
        *[""] * 4,
    ]
    _, rows = await shown(asked("Hello?"))
    assert [row.split() for row in rows if row] == [["┃", "Hello?"]]


async def test_where_it_is_narrow_what_a_key_does_goes_on_below_or_is_left_out(shown):
    _, rows = await shown(size=(30, 9))
    assert [row.split() for row in rows if row] == [
        ["Enter", "Send"],
        ["Ctrl+F", "Search", "all"],
        ["sessions"],
    ]
    assert rows[5].index("sessions") == rows[4].index("Search")
    for size in ((22, 9), (30, 2), (40, 1)):
        _, rows = await shown(size=size)
        assert not any(rows)


async def test_it_stays_in_the_middle_of_a_pane_of_any_width_until_the_first_entry_comes():
    app = Welcoming()
    async with app.run_test(size=(40, 9)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.show((), earlier=False)
        for width, left in ((60, 15), (30, 5), (40, 5)):
            await pilot.resize_terminal(width, 9)
            await until(lambda width=width, left=left: left_of_keys(app, width) == left)
        assert "Ctrl+F" in app.export_screenshot()
        transcript.conversation.put(asked("Hello?"))
        await pilot.pause()
        assert "Hello?" in app.export_screenshot()
        assert "Ctrl+F" not in app.export_screenshot()


def left_of_keys(app, width):
    """The column where the keys begin; none until the pane has that width."""
    strips = app.screen._compositor.render_strips()
    rows = [strip.text for strip in strips if "Enter" in strip.text]
    if not rows or strips[0].cell_length != width:
        return None
    return len(rows[0]) - len(rows[0].lstrip())


async def test_the_sentences_stand_above_the_keys(shown):
    _, rows = await shown(sentences=(WORDS,))
    assert [row.strip() for row in rows if row] == [
        WORDS,
        "Enter    Send",
        "Ctrl+F   Search all sessions",
    ]
    place = next(number for number, row in enumerate(rows) if WORDS in row)
    assert rows[place + 1] == ""


@pytest.mark.parametrize(("height", "said"), [(9, 2), (4, 2), (3, 1), (2, 1), (1, 0)], ids=str)
async def test_where_there_is_little_room_all_sentences_but_the_first_give_way(shown, height, said):
    _, rows = await shown(size=(40, height), sentences=(WORDS, "None is connected yet."))
    text = " ".join(rows)
    assert (WORDS in text) + ("connected" in text) == said
    assert ("Send" in text) == (height > 1)
    assert ("Ctrl+F" in text) == (height > 2)


MARK = ((("<o>", "mark"), (" It chats", "user")), (("---", "mark"),))


@pytest.mark.parametrize(
    ("size", "rows"),
    [
        ((40, 9), ["<o> It chats", "---", "", "None yet.", "", "Enter", "Ctrl+F"]),
        ((40, 6), ["<o> It chats", "---", "None yet.", "", "Enter", "Ctrl+F"]),
        ((40, 5), ["<o> It chats", "---", "None yet.", "Enter", "Ctrl+F"]),
        ((40, 4), [WORDS, "None yet.", "Enter", "Ctrl+F"]),
    ],
)
async def test_the_mark_stands_above_all_where_it_has_room(shown, size, rows):
    _, seen = await shown(size=size, sentences=(WORDS, "None yet."), mark=MARK)
    first = next(place for place, row in enumerate(seen) if row)
    begun = [row.strip() for row in seen[first : first + len(rows)]]
    assert all(text.startswith(row) for text, row in zip(begun, rows, strict=True))
    assert not any(seen[first + len(rows) :])


async def test_all_of_the_first_screen_is_seen_on_small_terminals(shown):
    text = welcome({}, has_model=False)
    for size in ((80, 19), (60, 10)):
        _, seen = await shown(size=size, sentences=text.sentences, mark=text.mark)
        said = " ".join(" ".join(seen).split())
        assert "◉" in said
        assert "chat with language models" in said
        assert "No model is connected yet." in said
        assert "Ctrl+F" in said
