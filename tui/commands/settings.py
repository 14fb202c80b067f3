"""``/set`` and ``/system``: the settings of a session's requests."""

from collections.abc import Sequence
from functools import partial

import msgspec

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, report, say
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.journal.records import Settings
from tui.domain.model_settings import (
    PARAMETERS,
    SETTINGS,
    ModelSettings,
    ParameterName,
    SettingName,
    Sourced,
    parameter_value,
    value_words,
)
from tui.domain.text.labels import listed
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import UsageError

_DEFAULT = "default"
_NONE = "none"
_SHOWN = 60
"""Characters of a system prompt that a list shows."""
_LEFT = "the model's default"
_CAN_BE_SET = f"the settings are {listed(PARAMETERS)}; /system sets the system prompt"


async def change_parameter(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show all settings or one, change one for this session, or take it back."""
    if not arguments:
        return _all(context)
    word, *value = arguments.split(maxsplit=1)
    name = _parameter(word)
    if not value:
        return say(f"{name}: {_state(context, name)}")
    if value[0].lower() == _DEFAULT:
        await _put(context, name, None)
        return say(f"Reset {name}: it is now {_state(context, name)}")
    wanted = parameter_value(name, value[0])
    await _put(context, name, wanted)
    return say(f"Set {name} to {value_words(wanted)} for this session")


async def change_system_prompt(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show the system prompt, change it for this session, or take it back."""
    if len(arguments.encode(errors="surrogatepass")) > TEXT_BYTES:
        raise UsageError("System prompt is larger than 8 MiB.")
    match arguments.lower():
        case "":
            return _system_prompt(context)
        case "default":
            await _put(context, "system_prompt", None)
            now = _state(context, "system_prompt")
            return say(f"Reset the system prompt: it is now {now}")
        case "none":
            await _put(context, "system_prompt", "")
            return say("Removed the system prompt for this session")
        case _:
            await _put(context, "system_prompt", arguments)
            return say("Set the system prompt for this session; /system shows it")


def _parameter(word: str) -> ParameterName:
    for name in PARAMETERS:
        if name == word.lower():
            return name
    raise UsageError(f"There is no setting {word}: {_CAN_BE_SET}")


async def _put(context: CommandContext, name: SettingName, value: str | float | None) -> None:
    loaded = context.workspace.current
    await context.workspace.change_settings(loaded, partial(_changed, {name: value}))


def _changed(changes: dict[SettingName, str | float | None], settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, **changes)


def _in_force(context: CommandContext) -> ModelSettings:
    loaded = context.workspace.current
    return context.settings_in_force(loaded.session.settings, _model_of(loaded))


def _model_of(loaded: LoadedSession) -> str:
    return loaded.model.name if loaded.model else loaded.session.model


def _all(context: CommandContext) -> Sequence[Effect]:
    model = _model_of(context.workspace.current)
    lines = [f"{name}: {_state(context, name)}" for name in SETTINGS]
    return report(f"Settings of this session with {model}", "\n".join(lines))


def _state(context: CommandContext, name: SettingName) -> str:
    """Describe a setting in force: ``0.2 (this session)``."""
    found = _in_force(context).sourced(name)
    if found is None:
        return _NONE if name == "system_prompt" else _LEFT
    return f"{_value(found)} ({found.source})"


def _value(found: Sourced) -> str:
    if isinstance(found.value, str):
        # Cut before it is split: it may have megabytes.
        beginning = " ".join(found.value[:_SHOWN].split())
        return beginning + "…" * (len(found.value) > _SHOWN) or _NONE
    return value_words(found.value)


def _system_prompt(context: CommandContext) -> Sequence[Effect]:
    found = _in_force(context).sourced("system_prompt")
    if found is None:
        return say("There is no system prompt. /system TEXT sets one for this session")
    return report(f"System prompt ({found.source})", f"{found.value or _NONE}")
