"""The table of providers: the servers that need no ``base_url`` in the settings.

A row adds a provider that speaks one of the dialects; ``tui.providers`` has a module for each
dialect.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import msgspec

OFFLINE = "offline"
"""The provider of the built-in guide, which needs no server: ``offline:guide``."""

GUIDE = "guide"


class AssumedWindow(int):
    """A model's window in tokens, where nobody has said what it is."""


def is_guide(model: str | None) -> bool:
    """Tell whether a model's name is the built-in guide's."""
    return bool(model and model.startswith(f"{OFFLINE}:"))


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, by a name or number that nobody else can have."""
    # The first screen does not need it.
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


DialectName = Literal["openai", "responses", "anthropic", "google", "mistral", "bedrock"]
"""The protocol of a server: chat completions, OpenAI's Responses, Anthropic's messages, …"""

MaxTokensName = Literal["max_tokens", "max_completion_tokens"]
"""The field of a chat completions request that limits its answer."""

ListingName = Literal["openai", "anthropic", "google", "ollama", "none"]
"""The form of the list of a server's models; ``none`` if it cannot be asked for one."""

EXTRAS: Mapping[DialectName, str] = {"bedrock": "boto3"}
"""The dialects that require the extra of their name, and the module that shows that it is there."""

LISTINGS: Mapping[DialectName, ListingName] = {
    "anthropic": "anthropic",
    "google": "google",
    "bedrock": "none",
}
"""The form that goes with a dialect, where it is not that of ``openai``."""


class ListedModel(msgspec.Struct, frozen=True):
    """A model in a server's list; its window in tokens, if the list has it.

    ``sees_images`` is ``None`` where the list does not say so.
    """

    name: str
    window: int | None = None
    owner: str = ""
    """Its maker in the words of the server, by which some servers are known."""
    sees_images: bool | None = None


class Provider(msgspec.Struct, frozen=True):
    """A server that answers, and how to ask it."""

    name: str
    title: str = ""
    """The name on the screen where it is connected; without one, it is ``name``."""
    key_variable: str | None = None
    context_window: int = 32_768
    """In tokens: what is assumed of a model of which nobody knows more."""
    models: tuple[str, ...] = ()
    """The first is the default."""
    base_url: str = ""
    """The part of the address that all requests share: up to ``/v1`` for ``openai``."""
    key_page: str = ""
    """The web page where a user gets a key."""
    dialect: DialectName = "openai"
    lists: ListingName = "openai"
    other_key_variables: tuple[str, ...] = ()
    """Variables that count if ``key_variable`` is not set."""
    key_file: str | None = None
    needs_key: bool = False
    """True for a vendor: it is chosen without being asked for as soon as its key is there."""
    key_command: tuple[str, ...] = ()
    """A program and its arguments that print the key, where neither variable nor file has it."""
    key_header: str = ""
    """The header with the key; empty for that of the dialect."""
    headers: dict[str, str] = {}
    """More headers, by name. Their values may be secret."""
    query: dict[str, str] = {}
    """Parameters that follow the address of each request, such as ``api-version``."""
    extra_body: dict[str, Any] = {}
    """More fields of each request for an answer: a JSON object."""
    stream_options: bool = True
    """True if chat completions ask for token counts by ``stream_options``."""
    max_tokens_name: MaxTokensName = "max_tokens"
    proxy: str | None = None
    """The address of the proxy; ``""`` for none, ``None`` for that of the environment."""
    client_certificate: str | None = None
    """A PEM file with the certificate that the server asks for, and perhaps its key."""
    client_key: str | None = None
    """A PEM file with the key of ``client_certificate``, if that has none."""
    example_address: str = ""
    """The form of an address that only the user knows."""
    url_variable: str | None = None
    """The environment variable that replaces ``base_url``."""
    path: str = ""
    """The path of an address in ``url_variable`` that has none."""
    answer_tokens: int = 32_000
    """The longest answer, in tokens with thinking, where the server requires a limit.

    Anthropic's does. No request asks for more than the quarter of the window that is kept free, nor
    than the model is known to give; 32,000 is the least that Anthropic's current models give.
    """
    timeout: float = 60
    """Seconds of silence allowed before and within an answer; connecting has 10."""
    retries: int = 2
    """Limit of retries of a request that failed before its answer began.

    That is: no connection, or the status 408, 409, 429 or 5xx. The pause is what the server asks
    for, else a random part of half a second, doubled each time. Neither silence nor a failure
    within an answer nor a wrong certificate is retried; no library below retries anything.
    """

    def __repr__(self) -> str:
        """Without the fields that may have a key or a password, such as ``proxy``."""
        return f"Provider({self.name!r})"

    @property
    def lacks_address(self) -> bool:
        """True for a server whose address only the user knows, until it is given."""
        return not self.base_url and bool(self.example_address)


_vendor = partial(Provider, needs_key=True)
"""A vendor, which is chosen as soon as its key is there."""

# fmt: off
_ROWS = (
    _vendor("anthropic",   "Anthropic",     "ANTHROPIC_API_KEY",  200_000, ("claude-sonnet-5-5",),
            "https://api.anthropic.com", "https://console.anthropic.com/settings/keys",
            dialect="anthropic", lists="anthropic", url_variable="ANTHROPIC_BASE_URL"),
    _vendor("openai",      "OpenAI",        "OPENAI_API_KEY",     128_000, ("gpt-6-luna",),
            "https://api.openai.com/v1", "https://platform.openai.com/api-keys",
            url_variable="OPENAI_BASE_URL"),
    _vendor("google",      "Google Gemini", "GEMINI_API_KEY",     128_000, ("gemini-3.5-flash",),
            "https://generativelanguage.googleapis.com", "https://aistudio.google.com/apikey",
            dialect="google", lists="google", other_key_variables=("GOOGLE_API_KEY",)),
    _vendor("mistral",     "Mistral",       "MISTRAL_API_KEY",    128_000,
            ("mistral-large-latest",),
            "https://api.mistral.ai/v1", "https://console.mistral.ai/api-keys", dialect="mistral"),
    _vendor("openrouter",  "OpenRouter",    "OPENROUTER_API_KEY", 128_000, ("openrouter/auto",),
            "https://openrouter.ai/api/v1", "https://openrouter.ai/settings/keys"),
    _vendor("groq",        "Groq",          "GROQ_API_KEY",       131_072, ("openai/gpt-oss-120b",),
            "https://api.groq.com/openai/v1", "https://console.groq.com/keys",
            max_tokens_name="max_completion_tokens"),
    _vendor("deepseek",    "DeepSeek",      "DEEPSEEK_API_KEY",   128_000, ("deepseek-flash",),
            "https://api.deepseek.com", "https://platform.deepseek.com/api_keys"),
    _vendor("xai",         "xAI",           "XAI_API_KEY",        256_000, ("grok-4.3",),
            "https://api.x.ai/v1", "https://console.x.ai/team/default/api-keys",
            max_tokens_name="max_completion_tokens"),
    _vendor("together",    "Together AI",   "TOGETHER_API_KEY",   128_000, ("openai/gpt-oss-120b",),
            "https://api.together.ai/v1", "https://api.together.ai/settings/api-keys"),
    _vendor("fireworks",   "Fireworks AI",  "FIREWORKS_API_KEY",  128_000,
            ("accounts/fireworks/models/gpt-oss-120b",),
            "https://api.fireworks.ai/inference/v1", "https://app.fireworks.ai/settings/users/api-keys"),
    _vendor("cerebras",    "Cerebras",      "CEREBRAS_API_KEY",   65_536,  ("gpt-oss-120b",),
            "https://api.cerebras.ai/v1", "https://cloud.cerebras.ai/platform",
            max_tokens_name="max_completion_tokens"),
    _vendor("huggingface", "Hugging Face",  "HF_TOKEN",           32_768,  ("openai/gpt-oss-120b",),
            "https://router.huggingface.co/v1", "https://huggingface.co/settings/tokens"),
    # Each user has an address of his own, and names models by the names of his deployments.
    _vendor("azure",       "Azure OpenAI",  "AZURE_OPENAI_API_KEY", 128_000,
            key_page="https://portal.azure.com (the page Keys and Endpoint of the resource)",
            key_header="api-key", max_tokens_name="max_completion_tokens",
            example_address="https://RESOURCE.openai.azure.com/openai/v1",
            url_variable="AZURE_OPENAI_ENDPOINT", path="/openai/v1"),
    # Keys of AWS serve for much else: without a default model it is never chosen unasked.
    Provider("bedrock", "Amazon Bedrock", dialect="bedrock", lists="none",
             key_variable="AWS_BEARER_TOKEN_BEDROCK", context_window=128_000),
    # Its models are those that the user has pulled. Its default window is 4,096 tokens, and it
    # truncates a longer request without an error. Loading a model takes minutes of silence.
    Provider("ollama", "Ollama", lists="ollama", base_url="http://127.0.0.1:11434/v1",
             url_variable="OLLAMA_HOST", context_window=4_096, timeout=300),
    # Local servers read a long request in silence. LM Studio loads models with 4,096 tokens.
    Provider("lmstudio", "LM Studio", base_url="http://127.0.0.1:1234/v1", context_window=4_096,
             timeout=300),
    Provider("llamacpp", "llama.cpp", base_url="http://127.0.0.1:8080/v1", timeout=300),
    Provider("vllm", "vLLM", base_url="http://127.0.0.1:8000/v1", timeout=300),
    Provider(OFFLINE, models=(GUIDE,)),
)
# fmt: on

PROVIDERS = {row.name: row for row in _ROWS}
"""By name, in the order in which an unasked choice tries them."""

SHARED_VARIABLES = frozenset({"GOOGLE_API_KEY", "HF_TOKEN"})
"""Variables of keys that serve for much else: a server of one's own is chosen before their vendors,
unless those are in the settings."""

KNOWN_SERVERS = tuple(name for name in PROVIDERS if name != OFFLINE)
"""The names that need no ``base_url``; any other name is an OpenAI-compatible server."""
