"""``/set`` and ``/system``: the settings of a session's requests."""

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
    value_words,
)
from tui.domain.text import listed
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import UsageError

_DEFAULT = "default"
_NONE = "none"
_SHOWN = 60
"""Characters of a system prompt that a list shows."""


@command("set")
async def change_parameter(shell: Shell, arguments: str) -> None:
    """Show all settings or one, change one for this session, or take it back."""
    if not arguments:
        lines = [f"{name}: {_state(shell, name)}" for name in SETTINGS]
        title = f"Settings of this session with {_model_of(shell.workspace.current)}"
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
    return shell.context.settings_in_force(loaded.session.settings, _model_of(loaded))


def _model_of(loaded: LoadedSession) -> str:
    return loaded.model.name if loaded.model else loaded.session.model


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
