import pytest

from tui.domain.model_names import KEY, NO_NAME, looks_like_key, refusal

NAMES = [
    "accounts/fireworks/models/llama-v3p1-405b-instruct",
    "accounts/my-org/deployedModels/qwen2p5-coder-32b-instruct-f2a9c1d4",
    "hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M",
    "hf:meta-llama/Meta-Llama-3.1-405B-Instruct",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:provisioned-model/0a1b2c3d4e5f",
    "ft:gpt-4o-mini-2024-07-18:org::abc123",
    "ft:gpt-3.5-turbo-0613:personal::8ABCdEfG",
    "ft:open-mistral-7b:8a1d3f4c:20250101:1a2b3c4d",
    "pplx-embed-context-v1-0.6b",
    "gpt4omini20240718prod",
    "my-gpt-4o-deployment-eastus2",
    "lmstudio-community/Meta-Llama-3.1-8B-Instruct-GGUF/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf",
    "mlx-community/DeepSeek-R1-0528-Qwen3-8B-4bit-DWQ-053125",
    "h2oai/h2o-danube3-500m-chat",
    "xai-org/grok-2",
    "x-ai/grok-4-fast:free",
    "meta/llama-2-70b-chat:02e509c789964a7ea8736978a43525956ef40397be9033abf9fd2badfe68c9e3",
    "projects/123456789012/locations/us-central1/endpoints/1234567890123456789",
    "publishers/google/models/gemini-1.5-pro@001",
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
    "ep-20240611073259-abcde",
    "api-gateway-model",
    "keyword-extractor-v2",
    "日本語-7b",
    "o3",
]
KEYS = [
    "sk-proj-Zq3x9TnV_7LmPw2RkYb8-Hd5sJc4GfQa",
    "sk-ant-api03-Zq3x9TnV7LmPw2RkYb8",
    "sk-or-v1-02e509c789964a7ea8736978a4352595",
    "sk-1234567890",
    "AIzaSyD3x9TnV7LmPw2RkYb8Hd5sJc4GfQa1Ee",
    "gsk_Zq3x9TnV7LmPw2RkYb8Hd5sJ",
    "xai-Zq3x9TnV7LmPw2RkYb8Hd5sJ",
    "pplx-Zq3x9TnV7LmPw2RkYb8Hd5sJ",
    "hf_ZqwxhTnVkLmPwtRkYbeHdhsJcGf",
    "key-3x9b7c2d8a4f6e1b",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "02e509c789964a7ea8736978a4352595",
    "Zq3x9TnV7LmPw2RkYb8Hd5sJc4GfQa1E",
    "Zq3x9TnV7-LmPw2RkYb8_Hd5sJc4GfQa1E2-x7Kp",
    "9b2e7c1a-4f3d-4e8a-9c6b-1d2e3f4a5b6c",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N",
    "Bearer Zq3x9TnV7LmPw2RkYb8",
    "OPENAI_API_KEY=abcdef",
    "export GROQ_API_KEY='abcdef'",
    "Authorization: Basic dXNlcjpwYXNz",
]


@pytest.mark.parametrize("before", ["", "openai:", "my-server:"])
@pytest.mark.parametrize("name", NAMES)
def test_names_that_models_have_are_names(name, before):
    assert refusal(before + name) == ""


@pytest.mark.parametrize("before", ["", "  ", "openai:", "openai: "])
@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_no_name_and_is_not_repeated(key, before):
    assert refusal(f"{before}{key}\n") == KEY
    assert looks_like_key(before + key)


@pytest.mark.parametrize(
    "text", ["two words", "a\x1b[31mb", "a\nb", "https://api.openai.com/v1", "ab-" * 100]
)
def test_what_no_model_is_called_is_refused(text):
    assert refusal(text) == NO_NAME
