"""The levels of a model's settings in the configuration."""

from collections.abc import Iterator
from pathlib import Path

from tui.config.loading import Settings
from tui.config.schema import ModelTable, ProviderSettings
from tui.domain.model_settings import Level


def configured_levels(settings: Settings, model: str) -> tuple[Level, ...]:
    """The settings of ``PROVIDER:MODEL``: of the model, then its provider, then of all models."""
    return tuple(_levels(settings, model))


def _levels(settings: Settings, model: str) -> Iterator[Level]:
    config, file = settings.config, settings.file
    if table := config.models.get(model):
        yield _level(table, file, f'[models."{model}"]')
    provider = model.partition(":")[0]
    if server := config.providers.get(provider):
        yield _level(server, file, f"[providers.{provider}]")
    if config.system_prompt:
        yield Level(file.name, system_prompt=config.system_prompt)


def _level(table: ModelTable | ProviderSettings, file: Path, name: str) -> Level:
    source = f"{name} in {file.name}"
    return Level(
        source,
        table.system_prompt,
        table.temperature,
        table.max_tokens,
        table.effort,
        table.tools,
    )
