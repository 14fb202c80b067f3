"""``/retry``, ``/compact``, ``/stop`` and ``/model``."""

import pytest

from tests.engine.workspaces import FULL


def answered(commands, text="", **fields):
    """Let the current session's last answer end so."""
    opened = commands.current.opened
    answer = opened.begin_answer("scripted:model")
    if text:
        answer.receive(text)
    return opened.end_answer(answer, **fields)


# --- /retry


async def test_after_a_whole_answer_another_version_is_asked_for(commands):
    await commands.program.send("hello")
    answer = answered(commands, "hi")
    await commands("/retry")
    assert commands.calls == [("again", answer.id)]


async def test_edit_is_about_the_last_question(commands):
    await commands.program.send("hello")
    answered(commands, "hi")
    question = commands.current.session.loaded_messages[0]
    await commands("/edit")
    assert commands.calls == [("edit", question.id)]


@pytest.mark.parametrize("status", ["failed", "interrupted"])
async def test_an_answer_that_did_not_come_to_its_end_is_asked_for_again(commands, status):
    await commands.program.send("hello")
    answered(commands, "h", status=status)
    await commands("/retry")
    assert commands.calls == [("retry",)]


async def test_a_prompt_without_an_answer_is_asked_again(commands):
    await commands.program.send("hello")
    await commands("/retry")
    assert commands.calls == [("retry",)]


async def test_nothing_is_retried_while_an_answer_is_made(commands):
    await commands.program.send("hello")
    commands.current.activity.begin_answer()
    assert await commands("/retry") == "Nothing to ask again."


async def test_what_failed_before_a_reset_is_not_retried(commands):
    await commands.program.send("hello")
    answered(commands, "h", status="failed")
    await commands("/reset")
    assert await commands("/retry") == "Nothing to ask again."


async def test_an_answer_cut_off_by_a_crash_can_be_retried_in_a_session_that_is_looked_at(
    commands, world
):
    there = await world.session("What is two?")
    await commands.program.look_at(there)
    await commands("/retry")
    assert commands.calls == [("retry",)]


# --- /compact


async def test_what_was_said_is_compacted(commands):
    await commands.program.send("hello")
    await commands("/compact")
    assert commands.calls == [("compact",)]


async def test_it_is_compacted_once_at_a_time(commands):
    await commands.program.send("hello")
    commands.current.activity.begin_summary()
    assert await commands("/compact") == "Summarising already."


# --- /stop


async def test_stopping_an_answer_says_nothing_itself(commands):
    commands.running = True
    assert await commands("/stop") == ""
    assert commands.calls == []
    assert not commands.running


# --- /model


def model(commands):
    return commands.current.model.name if commands.current.model else ""


async def test_without_a_name_the_models_are_shown(commands):
    await commands("/model")
    assert commands.calls == [("open", "models")]


async def test_another_model_is_chosen_for_this_session(commands, world):
    await commands.program.send("hello")
    assert await commands("/model other:model") == "Model: other:model"
    assert commands.kinds == ["say", "show_session"]
    assert model(commands) == "other:model"
    assert world.reader.entry(commands.current.id).model == "other:model"
    assert commands.noted == ["other:model"]


async def test_choosing_a_model_in_a_new_session_leaves_it_new(commands):
    await commands("/model other:model")
    assert commands.current.empty
    assert await commands("/save") == "Nothing to save yet."


@pytest.mark.parametrize("name", ["nobody:knows", "nobody"])
async def test_a_model_that_no_list_has_is_asked_about(commands, name):
    await commands(f"/model {name}")
    assert commands.calls == [("open", "models", name)]
    assert model(commands) == "scripted:model"
    assert commands.noted == []


async def test_a_model_that_cannot_be_noted_answers_all_the_same(commands):
    await commands.program.send("hello")
    commands.program.store.fail_next(FULL)
    assert await commands("/model other:model") == "No room."
    assert model(commands) == "other:model"
