from pathlib import Path

import pytest

from tui.config.loading import configured_levels, load_settings
from tui.domain.models import Level, ModelParameters, ModelSettings, Sourced

TEXT = """
system_prompt = "Everywhere."

[providers.openai]
temperature = 1
max_tokens = 300
effort = "low"

[models."openai:gpt-6-luna"]
system_prompt = ""
temperature = 0
effort = "off"
"""


@pytest.fixture
def configured(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text(TEXT)
    settings = load_settings(file, {})
    return lambda model: ModelSettings(configured_levels(settings, model))


def test_the_model_goes_before_its_provider_and_that_before_all(configured):
    settings = configured("openai:gpt-6-luna")
    assert settings.parameters == ModelParameters(temperature=0, max_tokens=300, effort="off")
    assert settings.system_prompt == ""
    assert settings.sourced("temperature") == Sourced(
        0, '[models."openai:gpt-6-luna"] in config.toml'
    )
    assert settings.sourced("max_tokens") == Sourced(300, "[providers.openai] in config.toml")


def test_another_model_has_only_what_is_set_for_its_provider(configured):
    settings = configured("openai:other")
    assert settings.parameters == ModelParameters(temperature=1, max_tokens=300, effort="low")
    assert settings.sourced("system_prompt") == Sourced("Everywhere.", "config.toml")


def test_what_nobody_sets_is_left_to_the_model(configured):
    settings = configured("ollama:gpt-6-luna")
    assert settings.parameters == ModelParameters()
    assert settings.sourced("temperature") is None
    assert settings.system_prompt == "Everywhere."


def test_tools_are_offered_unless_they_are_off_for_the_model_or_its_provider(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("providers.ollama.tools = false\nmodels.'ollama:qwen3'.tools = true")
    settings = load_settings(file, {})
    offered = {
        name: ModelSettings(configured_levels(settings, name)).offers_tools
        for name in ("ollama:gemma3", "ollama:qwen3", "openai:gpt-6-luna")
    }
    assert offered == {"ollama:gemma3": False, "ollama:qwen3": True, "openai:gpt-6-luna": True}


def test_the_first_level_counts_even_with_nothing_in_it():
    settings = ModelSettings(
        [Level("here", system_prompt="", temperature=0), Level("there", "x", 1)]
    )
    assert (settings.system_prompt, settings.parameters.temperature) == ("", 0)
