"""The windows in what servers say of their models."""

from typing import Any

import pytest

from tui.providers.model_facts import (
    listed_sight,
    listed_window,
    loaded_window,
    of_llama_cpp,
    trained_window,
)


@pytest.mark.parametrize(
    ("server", "item", "window"),
    [
        ("vLLM", {"max_model_len": 8192}, 8192),
        ("LM Studio", {"max_context_length": 131072, "loaded_context_length": 4096}, 4096),
        ("LM Studio, not loaded", {"max_context_length": 131072}, 131072),
        ("llama.cpp", {"meta": {"n_ctx": 16384, "n_ctx_train": 131072}}, 16384),
        ("llama.cpp, older", {"meta": {"n_ctx_train": 131072}}, None),
        (
            "OpenRouter",
            {"context_length": 1000000, "top_provider": {"context_length": 200000}},
            200000,
        ),
        ("OpenRouter", {"context_length": 9, "top_provider": {"context_length": None}}, 9),
        ("Mistral", {"max_context_length": 262144}, 262144),
        ("Groq", {"context_window": 131072}, 131072),
        ("Anthropic", {"max_input_tokens": 1000000, "max_tokens": 64000}, 1000000),
        ("Google", {"inputTokenLimit": 1048576, "outputTokenLimit": 65536}, 1048576),
        ("OpenAI", {"id": "gpt-6-luna", "created": 1}, None),
        ("a broken one", {"max_model_len": "8k", "context_length": -1, "meta": []}, None),
        ("a broken one", {"max_model_len": True, "context_window": 10**12}, None),
    ],
)
def test_each_server_has_a_word_of_its_own_for_it(
    server: str, item: dict[str, Any], window: int | None
):
    assert listed_window(item) == window


@pytest.mark.parametrize(
    ("server", "item", "sees"),
    [
        ("OpenRouter", {"architecture": {"input_modalities": ["text", "image"]}}, True),
        ("OpenRouter", {"architecture": {"input_modalities": ["text"]}}, False),
        ("xAI", {"input_modalities": ["text"]}, False),
        ("Mistral", {"capabilities": {"vision": False}}, False),
        ("Anthropic", {"capabilities": {"image_input": {"supported": True}}}, True),
        ("Fireworks", {"supports_image_input": False}, False),
        ("Moonshot", {"supports_image_in": True}, True),
        ("OpenAI", {"id": "gpt-6-luna"}, None),
        ("a broken one", {"architecture": 5, "capabilities": ["vision"]}, None),
        ("a broken one", {"supports_image_input": "no"}, None),
    ],
)
def test_a_list_may_say_whether_a_model_sees_pictures(
    server: str, item: dict[str, Any], *, sees: bool | None
):
    assert listed_sight(item) is sees


def test_llama_cpp_says_it_for_each_slot():
    assert of_llama_cpp({"default_generation_settings": {"n_ctx": 4096}, "n_ctx": 16384})[0] == 4096
    assert of_llama_cpp({}) == (None, None)


def test_ollama_says_with_which_a_model_is_loaded():
    running = {
        "models": [4, {"name": "other:1b"}, {"name": "qwen3:latest", "context_length": 4096}]
    }
    assert loaded_window(running, "qwen3") == 4096
    assert loaded_window(running, "qwen3:4b") is None
    assert loaded_window({"models": None}, "qwen3") is None


@pytest.mark.parametrize(
    ("parameters", "trained", "window"),
    [
        ('temperature 0.7\nnum_ctx                        8192\nstop "x"', 40960, 8192),
        ("num_ctx 131072", 40960, 40960),
        ("num_ctx 8192", None, 8192),
        ("", 40960, 40960),
        ("", None, None),
    ],
)
def test_a_model_that_ollama_has_not_loaded_has_its_own(
    parameters: str, trained: int | None, window: int | None
):
    facts = {"general.architecture": "qwen3", "qwen3.context_length": trained}
    assert trained_window({"parameters": parameters, "model_info": facts}) == window


def test_an_ollama_that_says_nothing_of_a_model_is_survived():
    assert trained_window({}) is None
    assert trained_window({"parameters": 3, "model_info": []}) is None
