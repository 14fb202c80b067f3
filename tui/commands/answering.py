"""``/retry``, ``/edit``, ``/compact``, ``/stop``, ``/model``, ``/set`` and ``/system``."""

import asyncio
from contextlib import suppress

import msgspec

from tui.commands.shell import Shell, command
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.journal.records import Settings
from tui.domain.models import (
    PARAMETERS,
    SETTINGS,
    ModelSettings,
    ParameterName,
    SettingName,
    parameter_value,
    refusal,
    value_words,
)
from tui.domain.providers import is_guide
from tui.domain.text import listed
from tui.engine.turns.turn import can_retry
from tui.errors import ConfigError, ModelUnavailable, StorageError, UsageError


@command("retry")
async def retry(shell: Shell, arguments: str) -> None:
    """Ask again after the last answer; one that failed or was stopped is replaced."""
    loaded = shell.workspace.current
    messages = loaded.session.loaded_messages
    if loaded.activity.running or not messages:
        shell.say("Nothing to ask again.")
    elif can_retry(messages[-1]):
        await shell.context.retry()
    else:
        await shell.context.revise(messages[-1].id, "again")


@command("edit")
async def edit(shell: Shell, arguments: str) -> None:
    """Put the last question into the prompt, to be sent in its place."""
    messages = shell.workspace.current.session.loaded_messages
    question = next((each for each in reversed(messages) if each.role == "user"), None)
    if question is None:
        return shell.say("No question to edit yet.")
    return await shell.context.revise(question.id, "edit")


@command("compact")
async def compact(shell: Shell, arguments: str) -> None:
    """Summarise all but the last turn."""
    loaded = shell.workspace.current
    if loaded.activity.summarising:
        return shell.say("Summarising already.")
    if not loaded.session.message_count:
        return shell.say("Nothing to compact.")
    if loaded.model and is_guide(loaded.model.name):
        return shell.say("The built-in guide writes no summaries. F5 connects a model that does.")
    return await shell.context.compact()


@command("stop")
async def stop(shell: Shell, arguments: str) -> None:
    """Stop the answer, of which the arrived part is kept, or the summary."""
    if not await shell.context.stop(shell.workspace.current):
        shell.say("Nothing to stop.")


@command("model")
async def choose_model(shell: Shell, arguments: str) -> None:
    """Switch the model, or show those that there are; a name that no list has is asked about."""
    if not arguments:
        return shell.open("models")
    # In a thread, as it reads the files of keys.
    if arguments not in await asyncio.to_thread(shell.context.models.names):
        if unfit := refusal(arguments):
            return shell.say(unfit, "error")
        if ":" in arguments:
            return shell.open("models", arguments)
    try:
        await use_model(shell, arguments)
    except ModelUnavailable:
        return shell.open("models", arguments)
    return await show_model(shell)


async def use_model(shell: Shell, name: str) -> None:
    """Let a model answer in this session. Raises ``ModelUnavailable``, ``StorageError``."""
    loaded = shell.workspace.current
    model = await asyncio.to_thread(shell.context.models.named, name)
    await shell.workspace.use_model(loaded, model)
    # The choice counts; only the next start would not know of it.
    with suppress(ConfigError, StorageError):
        await shell.context.note_model(model.name)


async def show_model(shell: Shell) -> None:
    """Show the model that answers by now."""
    model = shell.workspace.current.model
    shell.say(f"Model: {model.name if model else ''}")
    await shell.show_session()


_DEFAULT = "default"
_NONE = "none"
_SHOWN = 60
"""Characters of a system prompt that a list shows."""


@command("set")
async def change_parameter(shell: Shell, arguments: str) -> None:
    """Show all settings or one, change one for this session, or take it back."""
    if not arguments:
        lines = [f"{name}: {_state(shell, name)}" for name in SETTINGS]
        title = f"Settings of this session with {shell.workspace.current.model_name}"
        return shell.report(title, "\n".join(lines))
    word, *value = arguments.split(maxsplit=1)
    names: dict[str, ParameterName] = {each: each for each in PARAMETERS}
    name = names.get(word.lower())
    if name is None:
        raise UsageError(
            f"There is no setting {word}: the settings are {listed(PARAMETERS)}; "
            "/system sets the system prompt"
        )
    if not value:
        return shell.say(f"{name}: {_state(shell, name)}")
    if value[0].lower() == _DEFAULT:
        await _put(shell, name, None)
        return shell.say(f"Reset {name}: it is now {_state(shell, name)}")
    wanted = parameter_value(name, value[0])
    await _put(shell, name, wanted)
    return shell.say(f"Set {name} to {value_words(wanted)} for this session")


@command("system")
async def change_system_prompt(shell: Shell, arguments: str) -> None:
    """Show the system prompt, change it for this session, or take it back."""
    if len(arguments.encode(errors="surrogatepass")) > TEXT_BYTES:
        raise UsageError("System prompt is larger than 8 MiB.")
    match arguments.lower():
        case "":
            found = _in_force(shell).sourced("system_prompt")
            if found is None:
                return shell.say(
                    "There is no system prompt. /system TEXT sets one for this session"
                )
            return shell.report(f"System prompt ({found.source})", f"{found.value or _NONE}")
        case "default":
            await _put(shell, "system_prompt", None)
            now = _state(shell, "system_prompt")
            return shell.say(f"Reset the system prompt: it is now {now}")
        case "none":
            await _put(shell, "system_prompt", "")
            return shell.say("Removed the system prompt for this session")
        case _:
            await _put(shell, "system_prompt", arguments)
            return shell.say("Set the system prompt for this session; /system shows it")


async def _put(shell: Shell, name: SettingName, value: str | float | None) -> None:
    def change(settings: Settings) -> Settings:
        return msgspec.structs.replace(settings, **{name: value})

    await shell.workspace.change_settings(shell.workspace.current, change)


def _in_force(shell: Shell) -> ModelSettings:
    loaded = shell.workspace.current
    return shell.context.settings_in_force(loaded.session.settings, loaded.model_name)


def _state(shell: Shell, name: SettingName) -> str:
    """Describe a setting in force: ``0.2 (this session)``."""
    found = _in_force(shell).sourced(name)
    if found is None:
        return _NONE if name == "system_prompt" else "the model's default"
    if not isinstance(found.value, str):
        return f"{value_words(found.value)} ({found.source})"
    # Cut before it is split: it may have megabytes.
    beginning = " ".join(found.value[:_SHOWN].split()) + "…" * (len(found.value) > _SHOWN)
    return f"{beginning or _NONE} ({found.source})"
