"""``/copy``: what of the conversation it means."""

import pytest

from tests.commands.test_answers import answered

CODE = (
    "First:\n\n```sh\necho one\n```\n\nthen\n\n1. this:\n   ```py\n   if x:\n       y()\n   ```\n"
)


async def talked(commands, *answers):
    for answer in answers:
        await commands.program.send("A question")
        answered(commands, answer)


async def test_the_last_answer_is_copied_as_it_was_written(commands):
    await talked(commands, "Before.", "**The** last\x1b[2J one.\n")
    await commands("/copy")
    assert commands.calls == [("copy", "**The** last\x1b[2J one.\n")]


async def test_the_last_block_of_code_is_copied_without_its_fence(commands):
    await talked(commands, CODE, "No code here.")
    await commands("/copy code")
    assert commands.calls == [("copy", "if x:\n    y()")]


async def test_the_id_of_the_session_is_copied(commands):
    await commands("/copy id")
    assert commands.calls == [("copy", commands.program.workspace.current.id)]


async def test_an_answer_without_text_is_none(commands):
    await talked(commands, "Text.")
    await commands.program.send("A question")
    answered(commands, status="failed", error="refused")
    await commands("/copy")
    assert commands.calls == [("copy", "Text.")]


async def test_what_has_arrived_of_an_answer_is_copied(commands):
    await commands.program.send("A question")
    commands.current.opened.begin_answer("scripted:model").receive("So far")
    await commands("/copy")
    assert commands.calls == [("copy", "So far")]


async def test_an_answer_before_a_reset_is_on_screen_and_copied(commands):
    await talked(commands, "Before.")
    await commands("/reset")
    await commands("/copy")
    assert commands.calls == [("copy", "Before.")]


@pytest.mark.parametrize("text", ["/copy", "/copy code"])
async def test_there_is_nothing_to_copy_in_a_new_session(commands, text):
    assert await commands(text) == "Nothing to copy."


async def test_there_is_no_code_to_copy_where_none_was_written(commands):
    await talked(commands, "Only `words`.")
    assert await commands("/copy code") == "Nothing to copy."


async def test_anything_else_is_told_how(commands):
    assert await commands("/copy all") == "Usage: /copy [code | id]"
