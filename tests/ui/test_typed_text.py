"""Text that is typed or pasted where letters are commands: the prompt has it, whole."""

from textual import events

from tests.ui.screen import (
    answered,
    close,
    conversation,
    have_answered,
    key_line,
    lines,
    notice,
    notices,
    paste,
    press,
    question,
    rows,
    send,
    type_at_once,
    wait_for_answer,
)
from tests.ui.world import messages
from tests.visible_text import results_text
from tests.waiting import until
from tui.app.appearance import Appearance


async def prompt_has(app, text):
    await until(lambda: app.chat.prompt.text == text, f"{text!r}, not {app.chat.prompt.text!r}")


async def asks(app, words):
    """Until a letter asks."""
    await until(lambda: key_line(app).startswith(f" ! {words}?"), f"{words}, not {key_line(app)}")


async def reading(w, app, pilot, *pairs):
    """Go into a conversation of one question and its answer."""
    await have_answered(w, pilot, "hello")
    await pilot.press("f6", *pairs)
    await until(lambda: app.focused is app.chat.transcript, "the conversation")


SENTENCES = [
    *("repeat that", "find the bug", "edit: r", "rrr", "now what?"),
    *("What is 日本語で?", "日本語を説明して", "👨‍👩‍👧 why"),
]


async def test_a_sentence_typed_in_the_conversation_is_in_the_prompt_and_asks_no_model(running):
    async with running(["yes"]) as (w, app, pilot):
        await reading(w, app, pilot)
        here = w.workspace.current.id
        for text, at_once in [*((each, True) for each in SENTENCES), ("repeat that", False)]:
            app.chat.prompt.set_text("")
            app.chat.transcript.focus()
            if at_once:
                type_at_once(app, text, in_one_read=True)
            else:
                await pilot.press(*text)
            await prompt_has(app, text)
            assert app.chat.prompt.has_focus_within
            assert not key_line(app).startswith(" !")
            assert len(w.model.requests) == 1
            assert w.workspace.current.id == here
        # It is a draft like any other.
        await pilot.press("enter")
        await until(lambda: len(w.model.requests) == 2, "the request")


async def test_what_costs_or_changes_asks_and_enter_does_it(running):
    async with running(["yes"], ["again"]) as (w, app, pilot):
        await reading(w, app, pilot)
        here = w.workspace.current.id
        for letter, words, withdrawing in (
            ("e", "Edit this question and ask again", "escape"),
            ("f", "Continue from here in a copy", "down"),
            ("r", "Ask again for this answer", "f6"),
        ):
            await pilot.press(letter)
            await asks(app, words)
            await pilot.press(withdrawing)
            await until(lambda: not key_line(app).startswith(" !"), "no question")
            assert (withdrawing == "f6") == app.chat.prompt.has_focus_within
        await pilot.press("enter", "f6")
        assert (app.chat.prompt.text, len(w.model.requests)) == ("", 1)
        assert w.workspace.current.id == here
        await pilot.press("r")
        await asks(app, "Ask again for this answer")
        await press(pilot, "enter", shows="version 2/2")


async def test_enter_in_one_read_with_the_letter_and_a_click_elsewhere_answer_nothing(running):
    async with running(["yes"], ["again"]) as (w, app, pilot):
        await reading(w, app, pilot)
        type_at_once(app, "r<enter>", in_one_read=True)
        await asks(app, "Ask again for this answer")
        assert len(w.model.requests) == 1
        await pilot.press("enter")
        await answered(w, app, "version 2/2")
        await pilot.press("r")
        await asks(app, "Ask again for this answer")
        await pilot.click("Prompt Editor")
        await until(lambda: not key_line(app).startswith(" !"), "no question")
        await pilot.press(*"ok")
        await prompt_has(app, "ok")


async def test_keys_that_move_act_at_once_also_held_down(running):
    async with running(talk=(f"message {number}" for number in range(30))) as (_, app, pilot):
        await pilot.press("f6")
        type_at_once(app, "k" * 20 + "i")
        await until(lambda: "▌  message 9" in lines(app))
        assert app.chat.prompt.text == ""
        assert app.focused is app.chat.transcript


async def test_a_key_of_ones_own_asks_as_well_and_the_usual_one_is_text(world):
    w = world(["yes"], ["again"])
    w.appearance = Appearance(keys={"conversation-ask-again": "ö,f9"})
    async with w.running() as (app, pilot):
        await reading(w, app, pilot)
        type_at_once(app, "öffne")
        await prompt_has(app, "öffne")
        await pilot.press("f6", "r", "f6")
        await prompt_has(app, "öffner")
        await pilot.press("f9")
        await asks(app, "Ask again for this answer")
        await pilot.press("!")
        await prompt_has(app, "öffner!")
        await pilot.press("f6", "f9")
        await asks(app, "Ask again for this answer")
        await press(pilot, "enter", shows="version 2/2")


async def test_in_an_empty_conversation_every_letter_is_text_and_goes_where_the_caret_is(running):
    async with running(["yes"]) as (w, app, pilot):
        await pilot.press("f6")
        type_at_once(app, "yes, repeat")
        await prompt_has(app, "yes, repeat")
        await pilot.press("enter")
        await wait_for_answer(w)
        await pilot.press(*"one two", "home", "f6")
        type_at_once(app, "err ")
        await prompt_has(app, "err one two")


async def test_a_paste_goes_to_the_prompt_from_wherever_letters_are_commands(running):
    async with running(["yes"]) as (w, app, pilot):
        await reading(w, app, pilot)
        text = "running\nnew\tfree"
        there = w.workspace.current.id
        for keys in (["f6"], ["f6", "r"], ["ctrl+b"], ["ctrl+b", "d"]):
            app.chat.prompt.set_text("")
            app.chat.prompt.focus()
            await pilot.press(*keys)
            paste(app, text)
            type_at_once(app, ".")
            await prompt_has(app, f"{'r' if 'r' in keys else ''}{text}.")
        assert len(w.model.requests) == 1
        assert w.other_program().entry(there).status == "open"


async def test_what_is_typed_or_pasted_over_a_page_closes_it_and_is_in_the_prompt(running):
    async with running(["yes"]) as (w, app, pilot):
        await reading(w, app, pilot)
        for name, pasted in (("notices", False), ("set", False), ("notices", True)):
            app.chat.prompt.set_text("")
            await app.action_invoke(name)
            await until(lambda: getattr(app.screen, "is_seen", False), name)
            if pasted:
                paste(app, "repeat that")
            else:
                type_at_once(app, "repeat that")
            await until(lambda: app.screen is app.chat, "the conversation")
            await pilot.press("!")
            await prompt_has(app, "repeat that!")
        assert notices(app) == ""


async def test_what_a_list_has_no_use_for_goes_to_the_prompt(running):
    async with running(["yes"]) as (w, app, pilot):
        await reading(w, app, pilot)
        for name, pasted in (
            ("tools", True),
            ("import", True),
            ("import", False),
            ("theme", False),
        ):
            app.chat.prompt.set_text("")
            await app.action_invoke(name)
            await until(lambda: app.screen is not app.chat, name)
            if pasted:
                paste(app, "list")
            else:
                type_at_once(app, "list")
            await prompt_has(app, "list")
            await until(lambda: "The text is in the prompt" in notice(app), name)
            await close(app, pilot)
            await pilot.press("!")
            await prompt_has(app, "list!")


async def test_a_paste_at_a_question_goes_to_the_prompt_and_is_no_answer(running):
    async with running(["one"]) as (w, app, pilot):
        await reading(w, app, pilot)
        await app.action_invoke("private")
        await until(lambda: w.workspace.current.private, "the private session")
        await send(pilot, "hello")
        await until(lambda: w.workspace.current.session.message_count, "the message")
        await app.action_invoke("new")
        await question(app)
        paste(app, "yyy")
        await prompt_has(app, "yyy")
        assert app.screen is not app.chat


async def test_text_in_the_list_of_the_picker_goes_to_its_filter(world):
    w = world()
    await w.session("First", "Yes.")
    there = await w.session("Second", "Yes.")
    async with w.running(there) as (app, pilot):
        await until(lambda: len(rows(app)) == 2, "the list")
        await pilot.press("f2")
        await until(lambda: app.screen is not app.chat and app.screen.shown, "the picker")
        await pilot.press("down")
        await until(lambda: app.screen.sessions.has_focus, "its list")
        type_at_once(app, "Fir")
        await until(lambda: app.screen.line.value == "Fir", "the letters")
        await pilot.press("down")
        paste(app, "st")
        await until(lambda: app.screen.line.value == "First", "the paste")
        assert app.chat.prompt.text == ""


async def test_what_is_typed_behind_enter_on_a_hit_is_in_the_prompt_there(world):
    w = world()
    there = await w.session("a needle", *["rest"] * 99)
    here = await w.session("Second", "Yes.")
    async with w.running(here) as (app, pilot):
        await pilot.press("f6", "ctrl+f")
        await until(lambda: app.screen is not app.chat, "the search")
        app.screen.line.value = "needle"
        await until(lambda: results_text(app.screen) == "needle", "the hits")
        type_at_once(app, "<enter>repeat n")
        await until(lambda: app.screen is app.chat and app.chat.shown == there, "the session")
        await prompt_has(app, "repeat n")
        await until(lambda: "a needle" in conversation(app), "the place of the hit")
        assert app.chat.transcript.finder._pointed
    assert len(messages(w, there)) == 100


async def test_a_read_only_session_gives_text_to_its_prompt_and_asks_before_a_copy(world):
    w = world(["yes"])
    there = await w.session("hello", "yes", "and on", "no")
    held = w.other_program().lease(there)
    async with w.running(there) as (app, pilot):
        await pilot.press("f6")
        type_at_once(app, "for you")
        await prompt_has(app, "for you")
        await pilot.press("f6", "k", "k", "f")
        await asks(app, "Continue from here in a copy")
        await pilot.press("enter")
        await until(lambda: app.chat.shown != there, "the copy")
        assert [text for _, text, _ in messages(w, app.chat.shown)] == ["hello", "yes"]
    held.release()


async def test_a_letter_without_a_command_in_the_sidebar_goes_to_the_prompt(running):
    async with running(talk=("Hello", "Yes."), size=(50, 24)) as (_, app, pilot):
        await pilot.press("ctrl+b")
        await until(lambda: app.chat.has_class("-with-sidebar"), "the sidebar over the rest")
        type_at_once(app, "hello, undo")
        await prompt_has(app, "hello, undo")
        assert not app.chat.has_class("-with-sidebar")


async def test_a_paste_goes_to_the_field_that_had_the_keys_before_the_terminal_lost_the_focus(
    world,
):
    async with world().running() as (app, pilot):
        await pilot.press("ctrl+g")
        app.post_message(events.AppBlur())
        await until(lambda: app.focused is None, "no focus")
        paste(app, "yes")
        await until(lambda: app.chat.find_line.text == "yes", "the paste")
        assert app.chat.prompt.text == ""
