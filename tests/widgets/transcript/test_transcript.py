import pytest
from textual.events import MouseScrollUp

from tests.tables import each_row
from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked, calling, numbered, result, text_of
from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, Summary
from tui.widgets.transcript import ScrollPosition
from tui.widgets.transcript.row_blocks import Details
from tui.widgets.transcript.row_painter import RowPainter
from tui.widgets.transcript.transcript import FRAMES_A_SECOND, LONGEST_WAIT, pause_after

LOREM = "Some words of an answer that go on for a while, so that they take a few rows here. "


def shown(app):
    return "\n".join(visible_text(app.transcript))


def top(app):
    return visible_text(app.transcript)[0]


async def test_it_begins_at_the_end_and_a_reader_elsewhere_is_not_moved_but_told_what_is_new(
    opened,
):
    async with opened(*numbered(50)) as (app, pilot):
        assert visible_text(app.transcript)[-1].split() == ["┃", "question", "50"]
        assert app.conversation.following
        app.conversation.put(answered("seen"))
        assert "↓" not in shown(app)
        await pilot.press("pageup")
        assert visible_text(app.transcript)[-1].endswith("↓ latest")
        before = visible_text(app.transcript)
        app.conversation.put(answered(LOREM * 5))
        app.conversation.add_text("new", LOREM * 5)
        app.conversation.add_text("new", LOREM * 4)
        await until(lambda: visible_text(app.transcript)[-1].endswith("↓ 2 new"))
        assert visible_text(app.transcript)[:-1] == before[:-1]
        assert not app.conversation.following
        await pilot.press("end")
        assert "↓" not in shown(app)
        assert app.conversation.following
        await pilot.press("up", "up", "up")
        assert not app.conversation.following
        await pilot.press("down", "down", "down")
        assert app.conversation.following
        await pilot._post_mouse_events([MouseScrollUp], app.transcript, offset=(5, 5))
        assert not app.conversation.following


async def test_a_long_answer_of_the_guide_stays_at_its_beginning(opened):
    async with opened(*numbered(50)) as (app, pilot):
        for part in ("Beginning.\n\n", LOREM * 20, LOREM * 20):
            app.conversation.add_text("guided", part, "offline:guide")
        await until(lambda: "Beginning." in shown(app), "the answer")
        await pilot.pause()
        assert "Beginning." in "".join(visible_text(app.transcript)[:3])
        await pilot.press("end")
        assert app.conversation.following
        assert "Beginning." not in shown(app)


async def test_user_and_model_are_told_apart_by_marks_and_a_model_is_called_as_in_commands(opened):
    answers = [answered("An answer.", "a", model="ollama:qwen3:4b"), answered("Another.", "b")]
    async with opened(asked("A question?"), answers[0], asked("More?"), answers[1]) as (app, _):
        rows = [row for row in visible_text(app.transcript) if row]
        assert visible_text(app.transcript)[:3] == ["", " ┃ A question?", ""]
        assert rows[1:3] == [" ● ollama:qwen3:4b", "   An answer."]
        assert rows[-2:] == [" ● answer", "   Another."]


async def test_what_became_of_an_answer_is_said_in_words(opened):
    entries = [
        answered("one", status="interrupted"),
        answered("two", status="truncated"),
        answered("", "f", status="failed", error="429 too many"),
        Reset("2026-01-01"),
        Summary("It was about code.", "x"),
    ]
    async with opened(*entries, size=(60, 40)) as (app, _):
        for words in (
            "■ interrupted",
            "■ truncated",
            "✗ 429 too many\n   /retry asks again, /edit edits the question",
            "started over here; earlier messages are kept",
            "▸ summary of earlier messages: It was about code.",
        ):
            assert words in shown(app)


async def test_code_is_framed_in_colours_and_its_language_named(opened):
    async with opened(answered("```python\n# note\nx = 'a'\n```")) as (app, _):
        assert "   ╭ python  copy\n   │ # note" in shown(app)
        rows = visible_text(app.transcript)
        (y,) = [y for y, row in enumerate(rows) if "# note" in row]
        comment = [s.style.color for s in app.transcript.render_line(y) if "note" in s.text]
        string = [s.style.color for s in app.transcript.render_line(y + 1) if "'a'" in s.text]
        assert comment != string


async def test_an_answer_without_text_yet_shows_a_quiet_mark_and_queued_prompts_stay_below(opened):
    async with opened(asked("Well?"), answered("", "a"), arriving=["a"]) as (app, _):
        assert visible_text(app.transcript)[4] == "   …"
        app.conversation.add_text("a", "Yes.")
        await until(lambda: "Yes." in shown(app))
        assert "…" not in shown(app)
        app.conversation.show_queued(["then this"])
        app.conversation.put(answered("An answer."))
        rows = [row.strip() for row in visible_text(app.transcript) if row]
        assert rows[-3:] == ["An answer.", "› then this", "queued"]
        app.conversation.show_queued([])
        assert "then this" not in shown(app)


async def test_a_streamed_answer_is_followed_to_its_end_in_few_frames(opened, monkeypatch):
    async with opened(*numbered(10)) as (app, _):
        drawn = []
        paint = RowPainter.replace_rows
        monkeypatch.setattr(
            RowPainter, "replace_rows", lambda *rows: drawn.append(1) or paint(*rows)
        )
        for n in range(300):
            app.conversation.add_text("new", f"word{n} ")
        await until(lambda: "word299" in shown(app))
        assert app.conversation.following
        assert len(drawn) <= 3


async def test_an_answer_takes_the_place_of_what_arrived_and_of_the_one_that_it_replaces(opened):
    async with opened(answered("Better.", "g", replaces="f"), earlier=True) as (app, _):
        app.conversation.prepend([asked("Well?"), answered("broken", "f")], earlier=False)
        assert "broken" not in shown(app)
        assert "Well?" in shown(app)
        app.conversation.add_text("a", "So f")
        app.conversation.add_text("a", "ar.")
        app.conversation.put(answered("So far.", "a", status="interrupted"))
        assert shown(app).count("So far.") == 1
        assert "interrupted" in shown(app)
        app.conversation.add_text("b", "Draft")
        app.conversation.put(answered("Final", "b"))
        assert "Final" in shown(app)
        assert "Draft" not in shown(app)
        app.conversation.put(answered("", "c", status="failed", error="busy"))
        assert "busy" in shown(app)
        app.conversation.put(answered("Again.", "d", replaces="c"))
        assert "busy" not in shown(app)
        assert "Again." in shown(app)


async def test_the_mark_hides_no_word_of_a_full_row_and_a_click_on_it_leads_to_the_end(opened):
    rows = [f"{'w' * 40} row {number}" for number in range(10, 50)]
    async with opened(*numbered(50), answered("\n".join(["```", *rows, "```"]))) as (app, pilot):
        await pilot.press("pageup")
        *_, before, last = visible_text(app.transcript)
        assert last == before[:-2] + str(int(before[-2:]) + 1) + "      ↓"
        await pilot.press("home")
        mark = len(visible_text(app.transcript)[-1]) - len("latest")
        await pilot.click(app.transcript, offset=(mark - 5, 19))
        assert not app.conversation.following
        await pilot.click(app.transcript, offset=(mark, 19))
        assert app.conversation.following
        await pilot.click(app.transcript, offset=(mark, 19))
        assert app.conversation.following


async def test_dragging_the_scrollbar_goes_where_it_says_and_only_what_is_on_screen_is_drawn(
    opened,
):
    async with opened(*(answered(f"*answer* {n}", f"a{n}") for n in range(5000))) as (app, _):
        assert app.conversation._drawn.rows < 100
        app.transcript.scroll_to(y=0, animate=False)
        assert "   answer 0" in visible_text(app.transcript)
        app.transcript.scroll_to(y=app.transcript.max_scroll_y, animate=False)
        assert app.conversation.following
        assert app.conversation._drawn.rows < 200


async def test_a_few_rows_by_number_are_rows_also_where_heights_are_guessed(opened):
    words = [" ".join(f"w{n}x{place}" for place in range(90)) for n in range(60)]
    texts = [answered(f"{said}\n\n- {said}", said[:9]) for said in words]
    async with opened(*texts) as (app, _):
        for _ in range(100):
            *_, before = visible_text(app.transcript)[:-1]
            app.transcript.scroll_y -= 1
            assert visible_text(app.transcript)[-1].startswith(before[:30])


async def test_earlier_pages_are_asked_for_once_each_and_move_nothing_on_screen(opened):
    async with opened(*numbered(200, 201), earlier=True) as (app, pilot):
        assert app.earlier_wanted == 0
        app.transcript.show_beginning()
        await pilot.press("up", "down", "up")
        before = visible_text(app.transcript)
        assert app.earlier_wanted == 1
        app.conversation.prepend([answered(LOREM * 7, "p"), *numbered(200)], earlier=False)
        await pilot.pause()
        assert visible_text(app.transcript) == before
        await pilot.press("up", "up")
        assert "question 200" in visible_text(app.transcript)[1]
        await pilot.press("home", "home")
        assert app.earlier_wanted == 1
        # A short one asks at once.
        app.transcript.show(numbered(2, 5), earlier=True)
        await until(lambda: app.earlier_wanted == 2)


async def test_what_is_kept_of_the_drawn_rows_is_bounded(opened, monkeypatch):
    monkeypatch.setattr("tui.widgets.transcript.document.ROWS", 100)
    async with opened(*(answered(LOREM * 9, f"a{n}") for n in range(50))) as (app, pilot):
        for _ in range(20):
            await pilot.press("pageup")
        assert app.conversation._drawn.rows < 130


async def test_another_size_keeps_the_row_that_was_read_or_the_end(opened):
    words = " ".join(f"word{n}" for n in range(2000))
    async with opened(answered(words)) as (app, pilot):
        await pilot.press("pageup", "pageup")
        first = top(app).split()[0]
        await pilot.resize_terminal(41, 23)
        await until(lambda: app.transcript.size.width == 41)
        assert first in top(app)
        await pilot.resize_terminal(60, 30)
        await until(lambda: app.transcript.size.width == 60)
        assert first == top(app).split()[0]
        await pilot.press("end")
        await pilot.resize_terminal(40, 12)
        await until(lambda: app.transcript.size.height < 12)
        assert app.conversation.following
        await until(lambda: "word1999" in visible_text(app.transcript)[-1], "the end")


async def test_a_place_is_found_again_and_one_that_is_gone_is_the_end(opened):
    first = numbered(100)
    async with opened(*first) as (app, pilot):
        await pilot.press("pageup", "up")
        place, before = app.conversation.place, visible_text(app.transcript)
        app.transcript.show([asked("another session")], earlier=False)
        app.transcript.show(first, earlier=False)
        assert app.conversation.following
        app.conversation.go_to(place)
        assert visible_text(app.transcript) == before
        assert not app.conversation.following
        app.conversation.go_to(ScrollPosition("no such message", 3, following=False))
        assert app.conversation.following


async def test_an_empty_conversation_has_a_place_and_takes_every_key(opened):
    async with opened() as (app, pilot):
        keys = ["up", "down", "home", "end", "pageup", "j", "k", "y", "c", "enter"]
        await pilot.press(*keys, "left_curly_bracket", "right_curly_bracket")
        assert app.conversation.place == ScrollPosition(None, 0, following=True)
        assert app.copied == []
        assert shown(app).strip() == ""


async def test_a_call_is_a_line_and_a_result_shows_its_first_lines(opened):
    text = '{\n\t"a": 1,\n\n' + "".join(f"line {n}\n" for n in range(9))
    entries = [calling(name="mcp__files__read_file"), result(text), result("# Shop\n", "short")]
    async with opened(*entries) as (app, _):
        assert [row for row in visible_text(app.transcript) if row] == [
            " ● answer",
            '   ▸ files: read_file(path="a.py")',
            "   ▸ files: read_file result (12 lines)",
            '         "a": 1,',
            *(f"     line {n}" for n in range(4)),
            "   ▸ files: read_file result: # Shop",
        ]


async def test_a_change_of_theme_changes_colours_and_moves_nothing(opened):
    async with opened(*numbered(50)) as (app, pilot):
        await pilot.press("pageup")
        before, style = (
            visible_text(app.transcript),
            app.transcript.render_line(1)._segments[3].style,
        )
        app.theme = "textual-light"
        await until(lambda: app.transcript.render_line(1)._segments[3].style.color != style.color)
        assert visible_text(app.transcript) == before
        fresh = app.transcript._painter._palette()
        assert app.transcript._painter.canvas.palette == fresh
        app.transcript.show([asked("again")], earlier=False)
        assert app.transcript._painter.canvas.palette == fresh


async def test_rows_are_as_wide_as_the_pane(opened):
    text = (
        "日本語 🎉 é ‍👩‍👩‍👧 " * 20
        + "\n\n```\n\tx\t日本"
        + "語" * 80
        + "\n```\n\n| 日 | b |\n|--|--|\n| 🎉 | é |"
    )
    entries = [asked(text), answered(text), Message("t", "tool", text, "")]
    async with opened(*entries, size=(37, 90)) as (app, _):
        for y in range(app.transcript.size.height):
            assert app.transcript.render_line(y).cell_length == 36
            assert sum(s.cell_length for s in app.transcript.render_line(y)) == 36
            assert "\t" not in app.transcript.render_line(y).text


async def test_an_answer_that_is_exchanged_while_it_is_read_is_read_on(opened):
    text = "\n\n".join(f"paragraph {n}" for n in range(80))
    async with opened(*numbered(5), answered(text, "a"), *numbered(30, 6)) as (app, pilot):
        await pilot.press("home", *["down"] * 60)
        before = visible_text(app.transcript)
        assert "paragraph" in "".join(before[:2])
        app.conversation.put(answered(f"{text}\n\nand *more*", "a"))
        assert visible_text(app.transcript) == before


async def test_an_answer_that_became_shorter_above_the_row_leaves_it_in_the_conversation(opened):
    long = answered("\n".join(f"- item {n}" for n in range(60)), "long")
    async with opened(long, *numbered(30)) as (app, pilot):
        await pilot.press("home", *["down"] * 40)
        assert "item" in top(app)
        app.conversation.put(answered("short", "long"))
        assert "question" in "".join(visible_text(app.transcript)[:2])
        app.transcript.action_move(-100)
        assert visible_text(app.transcript)[:3] == ["", " ● answer", "   short"]
        assert app.transcript.scroll_y == 0


@each_row("width", range(32, 110, 3))
def test_details_are_parted_between_what_they_tell(page, width):
    known = "2026-01-11 14:30:23 UTC · model-4 · complete · 5 characters · 20260111-a1b2c3d4"
    rows = [text_of(strip).strip() for strip in Details(known, "quiet").strips(page(width))]
    assert " · ".join(rows) == known
    assert not any(row.startswith("·") or row.endswith("·") for row in rows)


@pytest.mark.parametrize(
    ("took", "wait"), [(0.001, 1 / FRAMES_A_SECOND), (0.1, 0.3), (5, LONGEST_WAIT)]
)
def test_a_slow_frame_is_followed_by_a_longer_pause_within_bounds(took, wait):
    assert pause_after(took) == pytest.approx(wait)


# --- weights and grounds

ANSWER = "# One\n\nText.\n\n#### Four\n\n```py\nx = 1\n```\n"


def segments(app, words):
    """The segments of the first row that has these words."""
    transcript = app.transcript
    for y in range(transcript.size.height):
        strip = transcript.render_line(y)
        if words in text_of(strip):
            return [each for each in strip if each.text.strip()]
    return []


async def weight(app, words):
    await until(lambda: segments(app, words), words)
    (bold,) = {bool(each.style.bold) for each in segments(app, words) if words in each.text}
    return bold


async def test_headings_of_any_level_and_short_questions_are_bold(opened):
    async with opened(asked("Why?"), answered(ANSWER), asked("Why so? " * 30)) as (app, _):
        for words in ("Why?", "One", "Four"):
            assert await weight(app, words)
        for words in ("Text.", "Why so?"):
            assert not await weight(app, words)


async def test_code_has_a_background_of_its_own_from_its_frame_to_the_end_of_the_text(opened):
    async with opened(answered(ANSWER)) as (app, _):
        await until(lambda: segments(app, "x = 1"))
        prose = segments(app, "Text.")[-1].style.bgcolor
        for words in ("py", "x = 1"):
            strip = next(
                strip
                for strip in map(app.transcript.render_line, range(app.transcript.size.height))
                if words in text_of(strip)
            )
            grounds = [each.style.bgcolor for each in strip for _ in each.text]
            assert len(set(grounds[3:-2])) == 1
            assert grounds[3] != prose
            assert grounds[0] == grounds[-1] == prose
