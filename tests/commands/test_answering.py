"""The model and its answers: /retry, /edit, /compact, /stop, /model, /set and /system."""

import pytest
from msgspec.structs import replace

from tests.engine.workspaces import FULL
from tests.tables import each_row
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.journal.records import Settings
from tui.domain.models import Level


def answered(commands, text="", **fields):
    """Let the current session's last answer end so."""
    opened = commands.current.opened
    answer = opened.begin_answer("scripted:model")
    if text:
        answer.receive(text)
    return opened.end_answer(answer, **fields)


# --- /retry


async def test_the_last_answer_is_asked_for_again_in_its_place_if_it_did_not_come_to_its_end(
    commands,
):
    await commands.program.send("hello")
    await commands("/retry")
    assert commands.calls == [("retry",)]
    for status in ("failed", "interrupted"):
        answered(commands, "h", status=status)
        await commands("/retry")
        assert commands.calls == [("retry",)]
    question, *_, answer = *commands.current.session.loaded_messages, answered(commands, "hi")
    await commands("/retry")
    assert commands.calls == [("again", answer.id)]
    await commands("/edit")
    assert commands.calls == [("edit", question.id)]
    commands.current.activity.begin_answer()
    assert await commands("/retry") == "Nothing to ask again."
    commands.current.activity.end_answer()
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


async def test_what_was_said_is_compacted_once_at_a_time(commands):
    await commands.program.send("hello")
    await commands("/compact")
    assert commands.calls == [("compact",)]
    commands.current.activity.begin_summary(at=0.0)
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


async def test_another_model_is_chosen_for_this_session_which_stays_new(commands, world):
    assert await commands("/model other:model") == "Model: other:model"
    assert commands.kinds == ["say", "show_session"]
    assert model(commands) == "other:model"
    assert commands.noted == ["other:model"]
    assert commands.current.empty
    assert await commands("/save") == "Nothing to save yet."
    await commands.program.send("hello")
    await commands("/model scripted:model")
    assert world.reader.entry(commands.current.id).model == "scripted:model"


@each_row("name", ["nobody:knows", "nobody", ""])
async def test_the_models_are_shown_for_a_name_that_no_list_has_or_none(commands, name):
    await commands(f"/model {name}")
    assert commands.calls == [("open", "models", *([name] if name else []))]
    assert model(commands) == "scripted:model"
    assert commands.noted == []


async def test_a_model_that_cannot_be_noted_answers_all_the_same(commands):
    await commands.program.send("hello")
    commands.program.store.fail_next(FULL)
    assert await commands("/model other:model") == "No room."
    assert model(commands) == "other:model"


CONFIGURED = (
    Level('[models."scripted:model"] in config.toml', temperature=0.7),
    Level("config.toml", system_prompt="Answer briefly."),
)


@pytest.fixture
def commands(started):
    commands = started()
    commands.configured = CONFIGURED
    return commands


def own(commands):
    return commands.current.session.settings


async def test_a_parameter_is_set_for_the_session_and_kept_with_it(world, commands):
    assert await commands("/set temperature 0.2") == "Set temperature to 0.2 for this session"
    assert await commands("/set MAX_TOKENS 1000000") == "Set max_tokens to 1000000 for this session"
    assert own(commands) == Settings(temperature=0.2, max_tokens=1_000_000)
    await commands("/name Kept")
    there = world.reader.journal(commands.current.id).load()
    assert there.settings == Settings(temperature=0.2, max_tokens=1_000_000)


async def test_all_settings_are_shown_with_where_they_come_from(commands):
    await commands("/set max_tokens 9")
    assert (await commands("/set")).splitlines() == [
        "system_prompt: Answer briefly. (config.toml)",
        'temperature: 0.7 ([models."scripted:model"] in config.toml)',
        "max_tokens: 9 (this session)",
        "effort: the model's default",
    ]
    commands.configured = ()
    assert "temperature: the model's default" in await commands("/set")


async def test_a_parameter_is_shown_and_taken_back(commands):
    said = 'temperature: 0.7 ([models."scripted:model"] in config.toml)'
    assert await commands("/set temperature") == said
    assert await commands("/set max_tokens") == "max_tokens: the model's default"
    await commands("/set temperature 0")
    assert await commands("/set temperature") == "temperature: 0 (this session)"
    told = await commands("/set temperature Default")
    assert told.startswith("Reset temperature: it is now 0.7 ([models.")
    assert own(commands) == Settings()
    assert await commands("/set effort HIGH") == "Set effort to high for this session"
    assert own(commands) == Settings(effort="high")
    assert await commands("/set effort") == "effort: high (this session)"
    assert await commands("/set effort default") == "Reset effort: it is now the model's default"


@each_row(
    "typed, said",
    [
        (
            "temprature 0.2",
            "There is no setting temprature: the settings are temperature, max_tokens and .*",
        ),
        ("effort hot", "effort is off, low, medium or high, not hot"),
        ("temperature 3.5", "temperature takes a number from 0 to 2, not 3.5"),
        ("temperature -0.1", "temperature takes a number from 0 to 2, not -0.1"),
        ("temperature warm", "temperature takes a number from 0 to 2, not warm"),
        ("temperature nan", "temperature takes a number from 0 to 2, not nan"),
        ("temperature inf", "temperature takes a number from 0 to 2, not inf"),
        ("max_tokens 0", "max_tokens takes a whole number from 1 to 1000000, not 0"),
        ("max_tokens 1.5", "max_tokens takes a whole number from 1 to 1000000, not 1.5"),
        ("max_tokens " + "9" * 5000, "max_tokens takes a whole number from 1 to 1000000, .*"),
    ],
)
async def test_what_cannot_be_set_is_an_error_that_says_what_can(commands, typed, said):
    told = await commands(f"/set {typed}")
    assert told == said or told.startswith(said.removesuffix(".*"))
    assert commands.severity == "error"
    assert own(commands) == Settings()


async def test_a_system_prompt_is_set_shown_taken_back_and_done_without(commands):
    assert await commands("/system") == "Answer briefly."
    assert commands.title == "System prompt (config.toml)"
    said = "Set the system prompt for this session; /system shows it"
    assert await commands("/system Answer in\nthree  words.") == said
    assert own(commands).system_prompt == "Answer in\nthree  words."
    assert await commands("/system") == "Answer in\nthree  words."
    assert commands.title == "System prompt (this session)"
    assert "system_prompt: Answer in three words. (this session)" in await commands("/set")
    said = "Reset the system prompt: it is now Answer briefly. (config.toml)"
    assert await commands("/system default") == said
    assert own(commands) == Settings()
    assert await commands("/system none") == "Removed the system prompt for this session"
    assert own(commands).system_prompt == ""
    assert await commands("/system") == "none"
    commands.configured = ()
    await commands("/system default")
    assert (await commands("/system")).startswith("There is no system prompt. /system TEXT")


async def test_a_long_system_prompt_is_cut_in_the_list_and_whole_by_itself_up_to_a_limit(commands):
    assert "larger than 8 MiB" in await commands("/system " + "x" * (TEXT_BYTES + 1))
    assert own(commands) == Settings()
    await commands("/system " + "x" * 1000)
    assert f"system_prompt: {'x' * 60}… (this session)" in await commands("/set")
    assert "x" * 1000 in await commands("/system")


async def test_session_shows_the_settings_of_its_own_and_a_change_leaves_the_others_alone(commands):
    await commands.workspace.change_settings(commands.current, lambda s: replace(s, pinned=True))
    await commands("/set temperature 1.5")
    await commands("/system Be brief.")
    assert own(commands) == Settings(system_prompt="Be brief.", temperature=1.5, pinned=True)
    details = await commands("/session")
    assert "temperature: 1.5" in details
    assert "system prompt: this session's own; /system shows it" in details


async def test_an_effort_that_this_program_does_not_know_is_shown_nowhere_and_stays(commands):
    await commands.workspace.change_settings(
        commands.current, lambda s: replace(s, temperature=1, effort="enormous\n# Title")
    )
    for command in ("/session", "/set"):
        assert "enormous" not in await commands(command)
    await commands("/set temperature 2")
    assert own(commands).effort == "enormous\n# Title"
