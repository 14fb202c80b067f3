"""The row under the reader's eye stays where it is, whatever happens around it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tests.examples import examples
from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked, calling, numbered, result, showing
from tui.domain.journal.message import FileBlock, ImageBlock, Message, ToolCall, content_of
from tui.domain.journal.records import Reset, Summary
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.row_blocks import FoldLine

PICTURE = ImageBlock("photo.png", "image/png", "ab" * 32, 1)
WORDS = st.sampled_from(["a", "the", "conversation", "keeps-its-place", "日本語", "🎉", "x"])
LINE = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
CODE = st.lists(WORDS, min_size=1, max_size=12).map(
    lambda w: "```python\n" + "\n".join(w) + "\n```"
)
LIST = st.lists(LINE, min_size=1, max_size=8).map(lambda lines: "\n".join(f"- {x}" for x in lines))
TEXT = st.lists(st.one_of(LINE, CODE, LIST), min_size=1, max_size=6).map("\n\n".join)
WIDTH = st.integers(20, 100)
HEIGHT = st.integers(3, 25)


@st.composite
def entries(draw, prefix="m"):
    number = draw(st.integers(0, 10**9))
    key = f"{prefix}{number}"
    kind = draw(st.sampled_from([*["user", "files", "tool", "call", "other"], *["assistant"] * 2]))
    text = draw(TEXT)
    if kind == "other":
        return draw(st.sampled_from([Reset("x"), Summary(text, "m")]))
    if kind == "files":
        files = [FileBlock(f"{n}.py", draw(TEXT), 1) for n in range(draw(st.integers(1, 3)))]
        content = content_of(draw(st.sampled_from(["", text])), [*files, PICTURE])
        return Message(key, "user", content, "")
    if kind == "call":
        call = ToolCall("t", "read", {"path": text, "lines": [1, 2, 3]})
        return Message(key, "assistant", draw(st.sampled_from([None, text])), "", (call,))
    return Message(key, kind, text, "")


PAGES = st.lists(
    entries(), max_size=12, unique_by=lambda entry: getattr(entry, "id", None) or id(entry)
)
CHANGES = st.one_of(
    st.tuples(st.just("stream"), TEXT),
    st.tuples(st.just("put"), entries()),
    st.tuples(st.just("prepend"), st.lists(entries("p"), max_size=8)),
    st.tuples(st.just("fold"), st.integers(0, 30)),
    st.tuples(st.just("queue"), st.lists(LINE, max_size=2)),
    st.tuples(st.just("finish"), st.none()),
    st.tuples(st.just("hide"), st.integers(0, 30)),
    st.tuples(st.just("width"), WIDTH),
    st.tuples(st.just("height"), HEIGHT),
    st.tuples(st.just("paint"), st.none()),
)
MOVES = st.one_of(
    st.tuples(st.just("move"), st.integers(-60, 30)),
    st.tuples(st.just("scroll"), st.floats(0, 1)),
)


class Reading:
    """A conversation on a page, and what can happen to it."""

    def __init__(self, shown, width=60, height=10):
        self.conversation = showing(shown)
        self.width, self.height = width, height
        self.streamed = ""
        self.answers = 0
        self.draw()

    def draw(self):
        page = getattr(self, "page", None)
        if page is None or page.width != self.width:
            self.page = Canvas(self.width, dict.fromkeys(NAMES, Style()))
        self.conversation.draw_on(self.page, self.height)
        self.rows = self.conversation.rows()

    @property
    def reader(self):
        return self.conversation.reader

    @property
    def top(self):
        row = self.rows[0]
        return row.spot.item, row.strip.text.rstrip()

    def items(self):
        return list(self.conversation.layout)

    def do(self, what, value):
        getattr(self, f"_{what}")(value)
        self.draw()

    def _stream(self, text):
        self.streamed += text
        self.conversation.add_text(f"answer{self.answers}", text)

    def _finish(self, _):
        if self.streamed:
            self._put(Message(f"answer{self.answers}", "assistant", self.streamed, ""))
            self.streamed = ""
            self.answers += 1

    def _put(self, entry):
        self.conversation.put(entry)

    def _prepend(self, page):
        self.conversation.prepend(page)

    def _queue(self, prompts):
        self.conversation.show_queued(prompts)

    def _fold(self, number):
        found = [item for item in self.items() if item.foldable and not item.hidden]
        if found:
            item = found[number % len(found)]
            lines = [p for p, block in enumerate(item.blocks()) if isinstance(block, FoldLine)]
            # All files of a question, or one of them.
            lines.append(None)
            self.conversation.fold(item, lines[number % len(lines)])

    def _hide(self, number):
        """A retry that takes the place of a failed answer, which is not the one at the top."""
        top = self.rows[0].spot.item if self.rows else None
        found = [i for i in self.items() if i.message and i is not top and not i.hidden]
        if found:
            key = found[number % len(found)].key
            self._put(Message(f"retry {key}", "assistant", "again", "", replaces=key))

    def _width(self, width):
        self.width = width

    def _height(self, height):
        self.height = height

    def _paint(self, _):
        """Somebody looks elsewhere and back: what is above becomes known to the row."""
        for item in self.items():
            for place in range(len(item.blocks())):
                self.conversation._measure(item, place)

    def _move(self, rows):
        self.reader.move(rows)

    def _scroll(self, share):
        self.reader.scroll_to(int(share * self.conversation.layout.total))


def letters(text):
    return "".join(filter(str.isalnum, text))


def check_same(what, value, before, after, reading):
    (item, text), (new_item, new_text) = before, after
    assert new_item.key == item.key
    if what in {"stream", "finish"} and item.key.startswith("answer"):
        # Its last row may be going on.
        assert new_text.startswith(text.rpartition(" ")[0].rstrip("…"))
    elif what == "width" and letters(text):
        # The new row holds the first letter of the old one; both are rows of the same words.
        assert set(letters(text)[:1]) <= set(letters(new_text)) or not letters(new_text)
    elif what == "fold" and item is reading.rows[0].spot.item and item.foldable:
        pass
    elif what != "width":
        assert new_text == text


@pytest.mark.full
@given(PAGES.filter(bool), st.lists(st.one_of(CHANGES, CHANGES, MOVES), max_size=25))
def test_the_row_at_the_top_stays_whatever_happens(shown, happenings):
    reading = Reading(shown)
    for what, value in happenings:
        free = bool(reading.rows) and not reading.reader.following
        before = reading.top if free else None
        if what == "put" and before and before[0].key == getattr(value, "id", None):
            continue  # the very message that is read becomes another
        queued = free and not reading.rows[0].spot.item.key
        reading.do(what, value)
        if before and what not in {"move", "scroll"} and not (queued and what == "queue"):
            assert not (reading.reader.following and what in {"stream", "put", "prepend"})
            check_same(what, value, before, reading.top, reading)


def all_rows(conversation, page):
    drawn = [
        s.text
        for item in conversation.layout
        for block in item.blocks()
        for s in block.strips(page)
    ]
    return [text.rstrip() for text in drawn]


@examples(0.5)
@given(PAGES.filter(bool), WIDTH, HEIGHT, st.integers(1, 7))
def test_scrolling_from_the_top_to_the_end_shows_every_row_once(shown, width, height, step):
    reading = Reading(shown, width, height)
    expected = all_rows(showing(shown), reading.page)
    reading.reader.scroll_to(0)
    reading.draw()
    seen = [row.strip.text.rstrip() for row in reading.rows]
    while not reading.reader.following:
        top = reading.reader.rows_above()
        reading.do("move", min(step, height))
        came = reading.reader.rows_above() - top
        seen.extend(row.strip.text.rstrip() for row in reading.rows[height - came :])
    assert seen == expected


@examples(0.5)
@given(PAGES.filter(bool), HEIGHT, st.integers(1, 40))
def test_going_up_and_down_again_comes_back_to_the_same_row(shown, height, rows):
    reading = Reading(shown, height=height)
    reading.do("move", -30)
    before = reading.top
    reading.do("move", -rows)
    if reading.reader.following or not reading.reader.rows_above():
        return  # at the top there may have been fewer rows than that
    reading.do("move", rows)
    assert reading.top == before


@examples(0.5)
@given(PAGES, st.lists(TEXT, max_size=6), HEIGHT)
def test_a_reader_at_the_end_sees_the_end_of_what_arrives(shown, pieces, height):
    reading = Reading(shown, height=height)
    for piece in pieces:
        reading.do("stream", piece)
        assert reading.reader.following
        last = all_rows(reading.conversation, reading.page)[-height:]
        assert [row.strip.text.rstrip() for row in reading.rows] == last


@examples(0.5)
@given(PAGES.filter(bool), st.integers(-60, 0), HEIGHT)
def test_a_place_is_found_again_in_the_same_conversation(shown, rows, height):
    keys = [e.id for e in shown if isinstance(e, Message)]
    if len(set(keys)) < len(keys):
        return
    reading = Reading(shown, height=height)
    reading.do("move", rows)
    place, texts = reading.conversation.place, [row.strip.text for row in reading.rows]
    again = Reading(shown, height=height)
    again.conversation.go_to(place)
    again.draw()
    assert place.key is None or [row.strip.text for row in again.rows] == texts


@examples(0.5)
@given(PAGES, st.lists(PAGES, max_size=4))
def test_all_heights_add_up_once_everything_was_drawn(shown, pages):
    reading = Reading(shown)
    for page in pages:
        reading.do("prepend", page)
    reading.do("paint", None)
    assert reading.conversation.layout.total == len(all_rows(reading.conversation, reading.page))


def test_a_resize_back_and_forth_comes_back_to_the_same_row():
    words = " ".join(str(n) for n in range(3000))
    reading = Reading([Message("a", "assistant", words, "")], width=80, height=10)
    reading.do("move", -40)
    before = reading.top
    for width in (31, 57, 23, 99, 45, 80):
        reading.do("width", width)
    assert reading.top == before


LOREM = "Some words of an answer that go on for a while so that they take a few rows. "


def entry(chance, number):
    text = LOREM * chance.randint(1, 9)
    made = [
        lambda: asked(text, f"e{number}"),
        lambda: answered(f"{text}\n\n```py\nx = {number}\n```\n\n- {text}\n- b", f"e{number}"),
        lambda: calling(f"e{number}", arguments={"text": text}),
        lambda: result(f"{text}\n" * 5, f"e{number}"),
        lambda: Summary(text, "x"),
    ]
    return chance.choice(made)()


def happenings(chance, transcript, numbers):
    def fold():
        items = [i for i in transcript.conversation.layout if i.foldable]
        top = transcript.conversation.seen[0].spot.item
        if items := [item for item in items if item is not top]:
            transcript.conversation.fold(chance.choice(items))
            transcript._draw()

    return {
        "put": lambda: transcript.conversation.put(entry(chance, next(numbers))),
        "prepend": lambda: transcript.conversation.prepend(
            [entry(chance, next(numbers)) for _ in range(chance.randint(1, 20))], earlier=True
        ),
        "stream": lambda: transcript.conversation.add_text(
            "stream", LOREM + "\n\n" * chance.randint(0, 1)
        ),
        "fold": fold,
        "queue": lambda: transcript.conversation.show_queued([LOREM] * chance.randint(0, 2)),
    }


async def resize(app, pilot, chance):
    width, height = chance.randint(40, 100), chance.randint(15, 40)
    await pilot.resize_terminal(width, height)
    await until(lambda: app.transcript.size == (width, height - 3))
    await pilot.pause()


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
async def test_the_row_at_the_top_of_the_screen_stays(opened, seed):
    chance = random.Random(seed)
    numbers = iter(range(10_000))
    shown = [entry(chance, next(numbers)) for _ in range(60)]
    async with opened(*shown, earlier=True) as (app, pilot):
        transcript = app.transcript
        await pilot.press("pageup", "pageup", "up")
        for _ in range(60):
            assert not transcript.conversation.following
            row = transcript.conversation.seen[0]
            before = visible_text(transcript)[0]
            what = chance.choice(["put", "prepend", "stream", "fold", "queue", "resize", "move"])
            if what == "resize":
                await resize(app, pilot, chance)
                assert transcript.conversation.seen[0].spot.item is row.spot.item
                assert transcript.conversation.seen[0].spot.block == row.spot.block
            elif what == "move":
                transcript.action_move(-chance.randint(1, 5))
            else:
                happenings(chance, transcript, numbers)[what]()
                if what == "stream":
                    await until(lambda: transcript._timer is None)
                assert visible_text(transcript)[0] == before
            assert transcript.scroll_y == transcript.conversation.reader.rows_above()


async def test_what_was_guessed_wrong_above_moves_nothing(opened):
    """Blank lines and long words are nothing that a guess from afar gets right."""
    odd = [answered("\n\n".join("a" * n for n in range(1, 40)), f"odd{n}") for n in range(30)]
    async with opened(*odd, *numbered(40)) as (app, pilot):
        await pilot.press("pageup")
        before, scrolled = visible_text(app.transcript), app.transcript.scroll_y
        conversation = app.conversation
        for key in ("odd3", "odd17", "odd29"):
            item = conversation.items[key]
            for block in range(len(item.blocks())):
                conversation._measure(item, block)
        app.transcript._draw()
        assert visible_text(app.transcript) == before
        assert app.transcript.scroll_y != scrolled


async def test_every_row_passes_once_on_the_way_up(opened):
    texts = [f"word{n} " * (n % 50 + 1) for n in range(60)]
    shown = [answered(f"{text}\n\n- {text}", f"a{n}") for n, text in enumerate(texts)]
    async with opened(*shown) as (app, _):
        transcript = app.transcript
        seen = visible_text(transcript)
        for _ in range(5000):
            before = transcript.scroll_y
            transcript.action_move(-1)
            if transcript.conversation.reader.rows_above() == 0 and before == 0:
                break
            seen.insert(0, visible_text(transcript)[0])
        words = " ".join(seen).split()
        expected = ["●", "answer", *" ".join(f"{text} • {text}" for text in texts).split()]
        assert words == expected
