"""What folds: files and pictures of a question, its long pastes, and thinking before an answer."""

import msgspec
import pytest
from rich.style import Style

from tests.attached import NOTES, numbered, picture, showing
from tests.tables import each_row
from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked, calling, drawn_document
from tui.domain.journal.message import FileBlock, Message
from tui.domain.search.find import Match, count_in, needle
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.foldable import MOST_KEPT, THOUGHT_ROWS, Thought

CODE = FileBlock("src/a.py", "def answer():\n    return 42\n", 28)
FOLDER = FileBlock("src", "a.py\nb.py", 2, folder=True)


def shown(app):
    return "\n".join(row.rstrip().replace("┃", " ", 1) for row in visible_text(app.transcript))


def files(*attachments, text="See @src/a.py", key="u"):
    return asked(showing(text, *attachments), key)


async def test_a_question_has_a_line_for_each_file_and_picture_which_a_click_opens(opened):
    photo, odd = picture(size=120_000), FileBlock("[red]a[/red].py", "", 3000)
    async with opened(files(CODE, FOLDER, photo, odd)) as (app, pilot):
        assert shown(app).strip().splitlines() == [
            "See @src/a.py",
            "   ▸ [file: src/a.py, 28 bytes]",
            "   ▸ [folder: src, 2 entries]",
            "     [image: photo.png, 120 KB]",
            "   ▸ [file: [red]a[/red].py, 3 KB]",
        ]
        await pilot.click(app.transcript, offset=(8, 4))
        await until(lambda: app.pictures == [(photo,)])


async def test_enter_shows_the_text_of_its_files_a_click_above_copies_it_and_enter_hides_it(opened):
    async with opened(files(CODE, FOLDER), size=(40, 23)) as (app, pilot):
        await pilot.press("k", "enter")
        text = shown(app).replace("▌", " ")
        assert "   ▾ [file: src/a.py, 28 bytes]\n   ╭ py" in text
        assert "   │ def answer():\n   │     return 42\n   ▾ [folder: src, 2 entries]" in text
        assert "   │ b.py" in text
        row = next(y for y, text in enumerate(visible_text(app.transcript)) if "copy" in text)
        place = visible_text(app.transcript)[row].index("copy")
        await pilot.click(app.transcript, offset=(place, row))
        assert app.copied == [CODE.text]
        await pilot.press("enter")
        assert "│" not in shown(app)


async def test_a_click_shows_the_text_of_one_file_which_c_copies_and_enter_hides(opened):
    async with opened(files(NOTES, CODE)) as (app, pilot):
        await pilot.press("k", "y", "c")
        assert app.copied == ["See @src/a.py"]
        await pilot.click(app.transcript, offset=(6, 3))
        assert "return 42" in shown(app)
        assert "Buy milk." not in shown(app)
        await pilot.press("c")
        assert app.copied[1:] == [CODE.text]
        await pilot.press("enter")
        assert "│" not in shown(app)


async def test_o_asks_for_the_links_and_pictures_but_not_for_what_files_say(opened):
    link = FileBlock("links.md", "https://in-a-file.example", 25)
    question = files(link, picture(), text="See https://typed.example")
    async with opened(question) as (app, pilot):
        await pilot.press("o")
        await until(lambda: app.links)
        assert app.links == [[("https://typed.example", "https://typed.example")]]
        assert app.pictures == [[picture()]]


async def test_a_question_without_a_word_begins_with_its_first_file(opened):
    async with opened(files(CODE, picture(), text="")) as (app, pilot):
        assert shown(app).strip().startswith("▸ [file: src/a.py, 28 bytes]")
        await pilot.press("k", "i")
        rows = shown(app).strip().replace("▌", " ").splitlines()
        assert "0 characters" in rows[0]
        assert rows[-2:] == ["   ▸ [file: src/a.py, 28 bytes]", "     [image: photo.png, 70 bytes]"]


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_fifty_files_are_fifty_rows(opened, size):
    many = [FileBlock(f"src/{n}.py", f"x = {n}", 6) for n in range(50)]
    async with opened(files(*many), answered("done"), size=size) as (app, pilot):
        await pilot.press("home")
        width = size[0]
        rows = visible_text(app.transcript)
        assert all(len(row) <= width for row in rows)
        assert rows[2].strip() == "┃ ▸ [file: src/0.py, 6 bytes]"
        await pilot.press("k", "k", "enter", "end")
        assert "x = 49" in shown(app)


async def test_the_end_of_a_name_without_end_is_shown(opened):
    name = "[red]" + "directory/" * 400 + "\x1b\u202e\n.py"
    async with opened(files(FileBlock(name, "", 3000), picture("日本" * 2000)), size=(40, 10)) as (
        app,
        _,
    ):
        _, _, file, image, *_ = visible_text(app.transcript)
        assert file.startswith(" ┃ ▸ [file: …")
        assert file.rstrip().endswith("\u241b<U+202E>\u240a.py, 3 KB]")
        assert image.startswith(" ┃   [image: …")
        assert image.rstrip().endswith("日本, 70 bytes]")


async def test_what_is_found_in_a_folded_file_opens_that_file(opened):
    async with opened(files(NOTES, CODE, picture()), answered("42")) as (app, pilot):
        app.transcript.finder.look_for(needle("return"))
        await pilot.pause()
        assert "28 bytes]                    1 found" in shown(app)
        assert app.transcript.finder.show(Match("u", 0), unfold=True)
        assert "return 42" in shown(app)
        assert "Buy milk." not in shown(app)


@each_row("word", ["a.py", "photo", "return", "py", "file", "e"])
def test_all_that_is_counted_can_be_gone_to(word):
    from tui.widgets.transcript.match_marks import MatchMarks

    message = files(NOTES, CODE, picture())
    document = drawn_document(message)
    wanted = needle(word)
    marks = MatchMarks(wanted, document)
    for number in range(count_in(wanted, message)):
        assert marks.go_to(Match("u", number), unfold=True)
    document.seen = document.rows()
    assert len(list(marks.in_sight())) == count_in(wanted, message)


def test_a_large_file_is_neither_cut_nor_drawn_before_it_is_unfolded():
    text = "".join(f"line {n} = {n}\n" for n in range(16_000))
    document = drawn_document(
        files(FileBlock("big.py", text, len(text))), *[answered("x")] * 3, height=20
    )
    document.rows()
    assert document._drawn.rows < 30
    document.fold(document.items["u"])
    document.rows()
    # A few pieces around the viewport.
    assert document._drawn.rows < 2500


def test_a_line_of_a_file_cannot_end_its_code_and_each_picture_has_a_line():
    text = "~" * 60 + "\n" + "`" * 60 + "\nafter"
    message = files(*map(numbered, range(3)), FileBlock("a.rst", text, 100))
    document = drawn_document(message, width=80, height=20)
    document.fold(document.items["u"])
    rows = [row.strip.text.rstrip() for row in document.rows()]
    assert all(any(f"[image: {n}.png, 1 KB]" in row for row in rows) for n in range(3))
    assert rows[-3:] == [f" ┃ │ {line}" for line in text.split("\n")]


def test_unfolding_a_file_above_moves_nothing_of_another():
    long = FileBlock("b.py", "\n".join(map(str, range(90))), 9)
    document = drawn_document(
        files(CODE, long), *(answered("x", f"a{n}") for n in range(9)), height=10
    )
    document.rows()
    item = document.items["u"]
    document.fold(item, 2)
    document.reader.go_to(item, 30, 3)
    before = [row.strip.text for row in document.rows()]
    document.fold(item, 1)
    assert [row.strip.text for row in document.rows()] == before


@each_row("width", range(1, 30))
def test_a_name_is_cut_at_every_width(width):
    document = drawn_document(files(FOLDER, picture("日本" * 99)), width=width, height=10)
    assert all(row.strip.cell_length == width for row in document.rows())


async def test_a_thought_and_a_call_can_be_searched_together(opened):
    call = calling(arguments={"path": "needle.py"})
    async with opened(asked("go"), call) as (app, pilot):
        app.conversation.add_thinking("call", "hm")
        app.conversation.end_thinking("call", 2)
        app.transcript.finder.look_for(needle("needle"))
        await pilot.pause()
        assert app.transcript.finder.show(Match("call", 0), unfold=True)
        assert '"path": "needle.py"' in shown(app)


LOG = "\n".join(f"line {n}" for n in range(12))
TYPED = f"Explain:\n{LOG}\nin short"
BEGIN = len("Explain:\n")
FOLDED = [" ┃ Explain:", " ┃ ▸ [pasted 12 lines]", " ┃ in short"]


def question(*folded, text=TYPED):
    return msgspec.structs.replace(asked(text, "u"), folded=folded)


def pasted_rows(app):
    return [row for row in visible_text(app.transcript) if row]


async def test_a_paste_is_one_line_that_unfolds_also_for_what_is_found_in_it(opened):
    async with opened(question((BEGIN, BEGIN + len(LOG)))) as (app, pilot):
        assert pasted_rows(app) == FOLDED
        await pilot.press("k", "enter")
        rows = [row.replace("▌", " ") for row in pasted_rows(app)]
        assert rows[1:3] == [" ┃ ▾ [pasted 12 lines]", " ┃ line 0"]
        assert rows[-2:] == [" ┃ line 11", " ┃ in short"]
        await pilot.press("enter", "y")
        assert [row.replace("▌", " ") for row in pasted_rows(app)] == FOLDED
        assert app.copied == [TYPED]
        app.transcript.finder.look_for(needle("line 7"))
        assert app.transcript.finder.show(Match("u", 0), unfold=True)
        assert any("line 7" in row for row in pasted_rows(app))


async def test_of_two_a_click_unfolds_one_and_places_that_cannot_be_hide_nothing(opened):
    text = f"{LOG}{'x' * 1200}"
    folded = (0, len(LOG)), (len(LOG), len(text))
    async with opened(question(*folded, text=text)) as (app, pilot):
        assert pasted_rows(app) == [" ┃ ▸ [pasted 12 lines]", " ┃ ▸ [pasted 1,200 characters]"]
        await pilot.click(app.transcript, offset=(6, 2))
        assert pasted_rows(app)[:2] == [" ┃ ▸ [pasted 12 lines]", " ┃ ▾ [pasted 1,200 characters]"]
        for folded in (((5, 5),), ((9, 3),), ((0, 10_000),), ((3, 9), (4, 12))):
            app.transcript.show([question(*folded, text="just some words")], earlier=False)
            seen = " ".join(pasted_rows(app))
            assert "just" in seen or "[pasted" in seen
            assert "words" in seen


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


def test_the_last_rows_are_shown_while_it_comes_and_control_sequences_are_made_visible():
    document = thinking(*(f"step {number}\n" for number in range(20)))
    assert rows(document) == ["", "● fake:qwen3", *(f"step {number}" for number in range(16, 20))]
    document.add_thinking("m1", "a\x1b[2Jb")
    assert rows(document)[-1] == "a␛[2Jb"


def test_it_folds_when_the_answer_begins_and_stays_with_it_in_the_session_shown_again():
    document = thinking("first\n", "then")
    document.end_thinking("m1", 12.4)
    document.add_text("m1", "Good day.")
    folded = ["", "● fake:qwen3", "▸ thought for 12 s", "Good day."]
    assert rows(document) == folded
    document.fold(document.items["m1"])
    assert rows(document) == [*folded[:2], "▾ thought for 12 s", "first", "then", "Good day."]
    message = Message("m1", "assistant", "Good day.", "", model="fake:qwen3")
    document.put(message)
    assert "▾ thought for 12 s" in rows(document)
    document.replace([message])
    assert rows(document) == folded


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
    # The same blocks are drawn while nothing changes.
    long.end(1)
    assert long.blocks(unfolded=False) is long.blocks(unfolded=False)
