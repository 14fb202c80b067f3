from tests.visible_text import visible_text
from tests.widgets.transcript.conftest import answered, asked, calling, numbered, result
from tui.domain.journal.records import Summary

CODE = "First:\n\n```py\nx = 1\n```\n\nthen\n\n```sh\nls\n```"


def shown(app):
    return "\n".join(row.replace("▌", " ") for row in visible_text(app.transcript))


def marked(app):
    return [row for row in visible_text(app.transcript) if row.startswith("▌")]


async def test_j_and_k_put_the_cursor_on_messages_and_bring_it_into_sight(opened):
    async with opened(*numbered(50)) as (app, pilot):
        assert app.conversation.cursor.message is None
        await pilot.press("k")
        assert app.conversation.cursor.message.id == "q50"
        assert marked(app) == ["▌┃ question 50"]
        await pilot.press("k", "k")
        # Scrolling leaves it where it is in sight.
        await pilot.press("up", "up")
        assert marked(app) == ["▌┃ question 48"]
        await pilot.press(*["k"] * 18)
        assert marked(app) == ["▌┃ question 30"]
        assert not app.conversation.following
        await pilot.press(*["j"] * 20)
        assert marked(app) == ["▌┃ question 50"]
        assert app.conversation.following


async def test_a_long_message_under_the_cursor_is_seen_from_its_beginning(opened):
    long = answered("\n\n".join(f"paragraph {n}" for n in range(60)), "long")
    async with opened(*numbered(5), long, *numbered(5, 6)) as (app, pilot):
        await pilot.press(*["k"] * 6)
        assert app.conversation.cursor.message.id == "long"
        assert "paragraph 0" in visible_text(app.transcript)[2]


async def test_braces_go_from_question_to_question(opened):
    entries = [asked("one", "1"), answered("a"), asked("two", "2"), answered("b"), answered("c")]
    async with opened(*entries) as (app, pilot):
        await pilot.press("left_curly_bracket")
        assert app.conversation.cursor.message.id == "2"
        await pilot.press("left_curly_bracket")
        assert app.conversation.cursor.message.id == "1"
        await pilot.press("right_curly_bracket")
        assert app.conversation.cursor.message.id == "2"


async def test_the_cursor_stands_beside_all_of_a_message_without_a_gap(opened):
    shown = [asked("why"), answered("one\n\ntwo\n\n```\nx\n```", "a")]
    async with opened(*shown) as (app, pilot):
        await pilot.press("k")
        begins = [row[:1] for row in visible_text(app.transcript)]
        first = begins.index("▌")
        assert begins[first : first + 7] == ["▌"] * 7
        assert begins.count("▌") == 7
        assert "● answer" in visible_text(app.transcript)[first]


async def test_y_copies_a_message_as_it_was_written_or_has_arrived_so_far_and_c_its_code(opened):
    for entries, keys, copied in (
        ([asked("one \x1b[31m"), answered("**two**")], "ykky", ["**two**", "one \x1b[31m"]),
        ([answered(CODE), asked("thanks")], "c", ["ls"]),
        ([answered(CODE)], "kccc", ["x = 1", "ls", "x = 1"]),
    ):
        async with opened(*entries) as (app, pilot):
            await pilot.press(*keys)
            assert app.copied == copied
    async with opened(asked("one")) as (app, pilot):
        app.conversation.add_text("a", "half ")
        app.conversation.add_text("a", "an answer")
        await pilot.press("y")
        assert app.copied == ["half an answer"]


async def test_enter_shows_a_result_or_what_a_call_is_about_and_hides_it_again(opened):
    entries = [asked("go"), calling(arguments={"path": "a.py", "deep": [1]}), result("one\ntwo")]
    async with opened(*entries) as (app, pilot):
        folded = visible_text(app.transcript)
        await pilot.press("enter")
        assert "▾ read_file result (2 lines)\n   one\n   two" in shown(app)
        await pilot.press("enter", "k", "k", "enter")
        assert "▾ read_file" in shown(app)
        assert '"path": "a.py",' in shown(app)
        await pilot.press("space")
        assert shown(app).split("\n") == folded


async def test_a_summary_is_one_line_that_opens(opened):
    summary = Summary("It was about code.\nIt works now.", "x")
    async with opened(asked("go"), summary) as (app, pilot):
        assert "▸ summary of earlier messages: It was about code." in shown(app)
        assert "works" not in shown(app)
        await pilot.press("enter")
        assert "▾ summary of earlier messages\n   It was about code.\n   It works now." in shown(
            app
        )
        # Also while the cursor is on a message, which has nothing to fold.
        await pilot.press("k", "space")
        assert "works" not in shown(app)


async def test_folding_above_moves_nothing_below_and_at_the_end_keeps_its_line_in_sight(opened):
    text = "\n".join(f"line {n}" for n in range(80))
    async with opened(*numbered(20), calling(), result(text)) as (app, pilot):
        before = visible_text(app.transcript)[0]
        await pilot.press("enter")
        assert visible_text(app.transcript)[0] == before
        assert any("▾ read_file result" in row for row in visible_text(app.transcript))
        assert not app.conversation.following
        for entry in numbered(30, 21):
            app.conversation.put(entry)
        await pilot.press("end", "pageup")
        before = visible_text(app.transcript)
        app.conversation.fold(app.conversation.items["result"])
        app.transcript._draw()
        assert visible_text(app.transcript) == before


async def test_i_shows_time_model_and_more_and_capital_i_of_all_messages_also_of_new_ones(opened):
    answer = answered("Well.", "a1", model="openai:x")
    async with opened(asked("Why?", "u1"), answer) as (app, pilot):
        before = shown(app)
        await pilot.press("k", "i")
        rows = shown(app).split("\n")
        assert rows[rows.index(" ● openai:x") + 1].startswith(
            "   time unknown · openai:x · complete · 5"
        )
        assert "a1" in shown(app)
        await pilot.press("i")
        assert shown(app) == before
        await pilot.press("I")
        app.conversation.put(asked("More?", "u2"))
        await pilot.pause()
        assert all(f"· {key}" in shown(app) for key in ("u1", "a1", "u2"))
        await pilot.press("I")
        assert "time unknown" not in shown(app)


async def test_details_above_move_nothing_that_is_read(opened):
    async with opened(*numbered(60)) as (app, pilot):
        await pilot.press("pageup")
        top = next(row for row in visible_text(app.transcript) if "question" in row)
        await pilot.press("I")
        assert top.strip("┃ ") in "\n".join(visible_text(app.transcript)[:4])


async def test_details_of_a_message_that_begins_above_the_screen_are_told_at_once(opened):
    long = answered("\n\n".join(f"paragraph {number}" for number in range(40)), "a-long")
    async with opened(asked("question"), long) as (app, pilot):
        await pilot.press("k", "pagedown")
        before = visible_text(app.transcript)
        await pilot.press("i")
        assert visible_text(app.transcript) == before
        assert len(app.hinted) == 1
        assert "a-long" in app.hinted[0]


async def test_a_click_above_code_copies_all_of_it_as_it_was_written(opened):
    code = "x\t= 1\n" + "".join(f"line_{n} = {n}\n" for n in range(900))
    text = f"One.\n\n```py\nfirst\n```\n\nTwo.\n\n```python title\n{code}```\n"
    async with opened(answered(text), size=(60, 30)) as (app, pilot):
        await pilot.press("home")
        seen = visible_text(app.transcript)
        y = next(y for y, row in enumerate(seen) if "python title" in row)
        assert seen[y].endswith("python title  copy")
        x = len(seen[y])
        await pilot.click(app.transcript, offset=(x, y))
        await pilot.click(app.transcript, offset=(x - 6, y))
        assert app.copied == []
        await pilot.click(app.transcript, offset=(x - 1, y))
        assert app.copied == [code.rstrip("\n")]
        await pilot.click(app.transcript, offset=(x - 1, seen.index("   ╭ py  copy")))


async def test_a_click_on_its_line_folds_too_and_one_above_what_a_tool_is_given_copies_it(opened):
    async with opened(calling(arguments={"path": "a b"}), result("one\ntwo")) as (app, pilot):
        for cell in (6, 0):
            await pilot.click(app.transcript, offset=(cell, 3))
            assert ("   two" in visible_text(app.transcript)) == (cell == 6)
            await pilot.press("up")
        await pilot.press("k", "k", "enter")
        seen = visible_text(app.transcript)
        y = next(y for y, row in enumerate(seen) if "json" in row)
        await pilot.click(app.transcript, offset=(len(seen[y]) - 1, y))
        assert app.copied == ['{\n  "path": "a b"\n}']


async def test_the_cursor_comes_along_where_its_reader_scrolls_on(opened):
    async with opened(*numbered(50)) as (app, pilot):
        await pilot.press("k", "pageup", "pageup", "pageup")
        last = app.conversation.cursor.message
        seen = [row for row in visible_text(app.transcript) if row.startswith("▌")]
        assert last.text in seen[0]
        await pilot.press("y")
        assert app.copied == [last.text]
        await pilot.press("pagedown", "pagedown")
        cursor = [row for row in visible_text(app.transcript) if row.startswith("▌")]
        assert cursor
        assert app.conversation.cursor.message.text in cursor[0]


async def test_code_that_is_in_sight_is_copied_first_and_it_is_said_which(opened):
    blocks = [f"first_{n}\n" + f"x_{n}\n" * 12 for n in range(5)]
    text = "\n\n".join(f"Part {n}.\n\n```\n{block}```" for n, block in enumerate(blocks))
    async with opened(answered(text)) as (app, pilot):

        def begun():
            seen = "\n".join(visible_text(app.transcript))
            return next(n for n in range(5) if f"first_{n}" in seen)

        await pilot.press("home", "k", "pagedown")
        before = begun()
        await pilot.press("c", "c", "pagedown", "pagedown", "c")
        assert begun() > before + 1
        places = [before, before + 1, begun()]
        assert [text.split("\n")[0] for text in app.copied] == [f"first_{n}" for n in places]
        assert app.which == [f"Code {n + 1} of 5" for n in places]
