"""The schema of ``config.toml``: every key with type, limits, default and description.

Wrong values are told to its author; a text is never quoted, as it may be an API key in the wrong
place. What the program writes beside it (``connections.toml``) has the same tables.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta, inspect

from tui.domain.models import HIGHEST_TEMPERATURE, MOST_TOKENS, Effort
from tui.domain.providers import KNOWN_SERVERS, DialectName, MaxTokensName
from tui.domain.text import late_pattern

EXAMPLE_MODEL = "openai:gpt-6-luna"

_DAY = 86_400
_MANY = 1_000_000
_LARGEST_WINDOW = 1_000_000_000


def _about(text: str, example: Any = None) -> Meta:
    """The description of a key for ``config example``, with a value that replaces the default."""
    return Meta(description=text, examples=None if example is None else [example])


def _like(pattern: str, expected: str) -> Meta:
    """The pattern of a text, with its description for errors."""
    return Meta(pattern=pattern, extra={"expected": expected})


# fmt: off
_Names = tuple[str, ...]
_KNOWN = f"{', '.join(KNOWN_SERVERS[:9])},\n{', '.join(KNOWN_SERVERS[9:])}"
ToolName = Literal["list_files", "read_file", "search_files", "search_sessions", "write_todos"]

ModelName = Annotated[str, _like(
    r"^[A-Za-z0-9][A-Za-z0-9_-]*(:\S.*)?$", f'PROVIDER:MODEL, such as "{EXAMPLE_MODEL}"')]
_FullModelName = Annotated[str, _like(
    r"^[A-Za-z0-9][A-Za-z0-9_-]*:\S.*$", f'PROVIDER:MODEL, such as "{EXAMPLE_MODEL}"')]
_Address = Annotated[str, _like(r"^https?://\S+$", 'an address such as "http://127.0.0.1:8080/v1"')]
_Proxy = Annotated[str, _like(
    r"^$|^(https?|socks5h?)://\S+$", 'an address such as "http://proxy:3128", or ""')]
_HeaderName = Annotated[str, _like(
    r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", 'the name of a header, such as "X-Team"')]
_HeaderText = Annotated[str, _like(r"^[!-~]([ -~]*[!-~])?$", "one line of ASCII characters")]
_Variable = Annotated[str, _like(
    r"^[A-Za-z_][A-Za-z0-9_]*$", "the name of an environment variable, not the key itself")]
_PromptName = Annotated[str, _like(r"^[a-z]+$", 'a name of small letters only, such as "review"')]
_Template = Annotated[str, _like(r"\S", "a text that is sent, got an empty one")]
_FileName = Annotated[str, _like(r"^[^\x00]+$", "the name of a file")]
ProviderName = Annotated[str, _like(
    r"^[A-Za-z0-9][A-Za-z0-9_-]*$", "a name of letters, digits, - and _")]
ToolServerName = Annotated[str, _like(
    r"^[A-Za-z0-9](?:[_-]?[A-Za-z0-9]){0,19}$",
    "a name of at most 20 letters and digits, with single - and _ between them")]

_SystemPrompt = Annotated[str | None, _about(
    "The system prompt: sent before each conversation.", "Answer briefly.")]
_Temperature = Annotated[Annotated[float, Meta(ge=0, le=HIGHEST_TEMPERATURE)] | None, _about(
    "Randomness: 0 picks the likeliest words. Not all models accept it.", 0.7)]
_MaxTokens = Annotated[Annotated[int, Meta(ge=1, le=MOST_TOKENS)] | None, _about(
    "The most tokens of an answer.", 4_000)]
_ContextWindow = Annotated[Annotated[int, Meta(ge=1, le=_LARGEST_WINDOW)] | None, _about(
    "The most tokens of a request and its answer together.", 32_768)]
_Tools = Annotated[bool | None, _about(
    "Offer the enabled tools; false for models that take none.", example=False)]
_Images = Annotated[bool | None, _about(
    "Send pictures; false for models that see none, true if a list is wrong.", example=False)]
_Effort = Annotated[Effort | None, _about(
    'Thinking before an answer: "off", "low", "medium" or "high".', "high")]


class ModelTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[models."PROVIDER:MODEL"]``: one model; ``None`` means the setting of its provider."""

    system_prompt: _SystemPrompt = None
    temperature: _Temperature = None
    max_tokens: _MaxTokens = None
    context_window: _ContextWindow = None
    effort: _Effort = None
    tools: _Tools = None
    images: _Images = None


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[providers.NAME]``: a server; ``None`` means the default of the provider."""

    base_url: Annotated[_Address | None, _about(
        "The address of the server: the part before /chat/completions.",
        "http://127.0.0.1:8080/v1")] = None
    api_key_env: Annotated[_Variable | None, _about(
        "The environment variable with the key, if the server requires one ...",
        "LOCAL_API_KEY")] = None
    api_key_file: Annotated[_FileName | None, _about(
        "... or a file of mode 0600 with the key, relative to this file.", "local.key")] = None
    key_command: Annotated[_Names, _about(
        "... or a program and its arguments, run without a shell: the first line that it\n"
        "prints is the key.", ["pass", "show", "local"])] = ()
    key_header: Annotated[_HeaderName | None, _about(
        "The header with the key, if it is not the usual one.", "api-key")] = None
    models: Annotated[_Names, _about("Its models; the first is the default.", ["qwen3"])] = ()
    context_window: _ContextWindow = None
    timeout: Annotated[Annotated[float, Meta(gt=0, le=_DAY)] | None, _about(
        "Seconds without data before a request is given up.", 60)] = None
    retries: Annotated[Annotated[int, Meta(ge=0, le=10)] | None, _about(
        "Retries of a request that failed before its answer began.", 2)] = None
    dialect: Annotated[DialectName | None, _about(
        'The protocol: "openai" (chat completions, that of most servers), "responses",\n'
        '"anthropic", "google", "mistral" or "bedrock". At api.openai.com it is "responses".',
        "openai")] = None
    headers: Annotated[dict[_HeaderName, _HeaderText] | None, _about(
        "More headers of each request. Their values are never shown.", {"X-Team": "blue"})] = None
    query: Annotated[dict[str, str] | None, _about(
        "Parameters after the address of each request.", {"api-version": "2026-10-01"})] = None
    extra_body: Annotated[dict[str, Any] | None, _about(
        "More fields of each request for an answer.", {"service_tier": "flex"})] = None
    stream_options: Annotated[bool | None, _about(
        "Ask for token counts; false for a server that refuses stream_options.",
        example=True)] = None
    max_tokens_name: Annotated[MaxTokensName | None, _about(
        'The field of a limit: "max_tokens" or "max_completion_tokens".', "max_tokens")] = None
    proxy: Annotated[_Proxy | None, _about(
        'The proxy to this server; "" for none.', "http://127.0.0.1:3128")] = None
    client_certificate: Annotated[_FileName | None, _about(
        "A PEM file with a client certificate, relative to this file ...", "client.pem")] = None
    client_key: Annotated[_FileName | None, _about(
        "... and one with its key, if that has none.", "client.key")] = None
    system_prompt: _SystemPrompt = None
    temperature: _Temperature = None
    max_tokens: _MaxTokens = None
    effort: _Effort = None
    tools: _Tools = None
    images: _Images = None


class RetentionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[retention]``: archiving of sessions that are no longer used."""

    backlog_limit: Annotated[int, Meta(ge=0, le=_MANY), _about(
        "Sessions that each project keeps; 0 = all.")] = 20
    max_age_days: Annotated[int, Meta(ge=0, le=_MANY), _about(
        "Days without use before a session is archived; 0 = never.")] = 30
    action: Annotated[Literal["archive", "trash"], _about(
        'The place of the others: "archive" or "trash".')] = "archive"


class HookSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[hooks]``: programs that are run on events."""

    on_archive: Annotated[_Names, _about(
        "A program and its arguments, run without a shell when sessions are archived.",
        ["notify-archived", "--quiet"])] = ()


class NotifySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[notify]``: signs that an answer has ended or a tool asks, where you do not look."""

    bell: Annotated[bool, _about("Ring the bell of the terminal.")] = True
    desktop: Annotated[bool, _about("Ask the terminal for a desktop notification.")] = True
    title: Annotated[bool, _about("Show it in the title of the terminal until you look.")] = True


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[tools]``: tools that a model may call."""

    enabled: Annotated[tuple[ToolName, ...], _about(
        "The enabled tools, beside those that /tools switches on. Each call but one of\n"
        "write_todos is shown, and runs only if you allow it.",
        ["read_file", "list_files", "search_files", "search_sessions", "write_todos"])] = ()


class ToolServerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[mcp.NAME]``: a server of tools, a program or an address."""

    command: Annotated[_Names, _about(
        "The program and its arguments, run without a shell. Other programs' form, a text\n"
        "with a list args in [mcpServers.NAME], is understood, too ...",
        ["uvx", "mcp-server-time"])] = ()
    url: Annotated[_Address | None, _about(
        "... or the address of a server (streamable HTTP). What is after ? is never shown.",
        "https://tools.example/mcp")] = None
    env: Annotated[dict[_Variable, str] | None, _about(
        "More variables of the program. Of yours it has HOME, LOGNAME, PATH, SHELL, TERM and\n"
        "USER only. Their values are never shown.", {"TZ": "UTC"})] = None
    headers: Annotated[dict[_HeaderName, _HeaderText] | None, _about(
        "More headers of each request to the address. Their values are never shown.",
        {"Authorization": "Bearer TOKEN"})] = None
    client_id: Annotated[str | None, _about(
        "The id of a client of your own for signing in at the address; without this, the\n"
        "program registers itself. An https address is that of the client's description.",
        "my-client")] = None
    client_secret: Annotated[str | None, _about(
        "... and its secret, if it has one. It is never shown.", "SECRET")] = None
    redirect_port: Annotated[int, Meta(ge=0, le=65535), _about(
        "The port of http://127.0.0.1:PORT/callback, if that is the only one which the server\n"
        "knows of your client; 0 = any.")] = 0
    cwd: Annotated[_FileName | None, _about(
        "The folder in which the program runs; without this, your home.", "~/notes")] = None
    tools: Annotated[_Names, _about(
        "The tools that are offered; without this, all.", ["get_current_time"])] = ()
    timeout: Annotated[float, Meta(gt=0, le=_DAY), _about(
        "Seconds before a call is given up.")] = 60


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of ``config.toml``."""

    model: Annotated[ModelName | None, _about(
        "The model that answers; without this, the first one found.", EXAMPLE_MODEL)] = None
    store: Annotated[str | None, _about(
        "The place of the sessions, if not files: a PostgreSQL server that several machines\n"
        "share. Its password is best in ~/.pgpass.", "postgresql://me@db.example.org/sibyl")] = None
    system_prompt: Annotated[str, _about(
        "The system prompt: sent before each conversation.", "Answer briefly.")] = ""
    proxy: Annotated[_Proxy | None, _about(
        'The proxy to all servers but local ones; "" for none; without this, that of the\n'
        "environment (HTTPS_PROXY, http_proxy, ALL_PROXY, NO_PROXY).",
        "http://127.0.0.1:3128")] = None
    auto_save_interval: Annotated[float, Meta(ge=0, le=_DAY), _about(
        "Seconds between two automatic saves; 0 = off.")] = 300
    max_open_sessions: Annotated[int, Meta(ge=1, le=_MANY), _about(
        "The most sessions open at once.")] = 10
    exclusive_projects: Annotated[bool, _about("Allow only one open session per project.")] = False
    titles: Annotated[Literal["words", "model"], _about(
        "The titles of sessions without a name: their first words, or one that the model\n"
        "makes after the first answer, by a short request of its own.")] = "words"
    search_model: Annotated[ModelName | None, _about(
        "The model that gives a search other words, after ? in Ctrl+F; without this, the one\n"
        "in use.", EXAMPLE_MODEL)] = None
    auto_import: Annotated[_Names, _about(
        "Programs whose new sessions are imported on every start of the screen and every hour,\n"
        "beside those chosen in /import. sibyl-tui import --help names them.",
        ["claude-code", "codex"])] = ()
    theme: Annotated[str | None, _about("The colours of the screen.", "textual-dark")] = None
    reduced_motion: Annotated[bool, _about("Turn animations off.")] = False
    retention: Annotated[RetentionSettings, _about(
        "Archiving of sessions that are no longer used.")] = RetentionSettings()
    hooks: Annotated[HookSettings, _about("Programs to run on events.")] = HookSettings()
    notify: Annotated[NotifySettings, _about(
        "Signals when an answer ends or a tool asks, while the terminal has no focus or\n"
        "another session is on screen.")] = NotifySettings()
    tools: Annotated[ToolSettings, _about("Tools that models may call.")] = ToolSettings()
    mcp: Annotated[dict[ToolServerName, ToolServerSettings], _about(
        "Servers of tools (Model Context Protocol), beside those that /tools adds.\n"
        "Each call is shown, and runs only if you allow it.", "time")] = {}
    keys: Annotated[dict[str, str], _about(
        "Keys of the screen: an action and its key, or several separated by commas. Keys that\n"
        "type a character cannot be used where text is typed. The error for an unknown\n"
        "action lists all actions.", {"new": "ctrl+n"})] = {}
    prompts: Annotated[dict[_PromptName, _Template], _about(
        "Your own commands: /review WORDS sends this text, with WORDS in place of {args},\n"
        "or after a blank line if there is no {args}.",
        {"review": "Find the three worst faults of this text:\n\n{args}"})] = {}
    providers: Annotated[dict[ProviderName, ProviderSettings], _about(
        f"Servers, whose models are called NAME:MODEL. These are known by name:\n{_KNOWN}.\n"
        "Any other name is a server of your own, which needs a base_url.", "local")] = {}
    models: Annotated[dict[_FullModelName, ModelTable], _about(
        "Settings of single models, which go before those of their provider; /set and /system\n"
        "change them for one session.", f'"{EXAMPLE_MODEL}"')] = {}
# fmt: on


FILE = "connections.toml"
KEYS = "keys"

_MOST_RECENT = 50


class Connections(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of ``connections.toml``."""

    model: ModelName | None = None
    """The model that was connected last."""
    recent: tuple[ModelName, ...] = ()
    """The models that the user has chosen, the latest first."""
    providers: dict[ProviderName, ProviderSettings] = {}

    def with_chosen(self, model: str) -> "Connections":
        """Note that the user has chosen a model."""
        others = [each for each in self.recent if each != model]
        return msgspec.structs.replace(self, recent=(model, *others)[:_MOST_RECENT])

    def with_connected(self, name: str, provider: ProviderSettings, model: str) -> "Connections":
        """Add a connection or replace it, and choose its model."""
        providers = {**self.providers, name: provider}
        return msgspec.structs.replace(self.with_chosen(model), model=model, providers=providers)

    def without(self, name: str) -> "Connections":
        """Remove a connection, and its models with it."""
        prefix = f"{name}:"
        return Connections(
            model=None if self.model and self.model.startswith(prefix) else self.model,
            recent=tuple(each for each in self.recent if not each.startswith(prefix)),
            providers={each: table for each, table in self.providers.items() if each != name},
        )

    def chosen_of(self, name: str) -> tuple[str, ...]:
        """The models of a provider that the user has chosen, without its name."""
        prefix = f"{name}:"
        return tuple(each[len(prefix) :] for each in self.recent if each.startswith(prefix))


def connections_file(config_file: Path) -> Path:
    """The path of the connections that belong to a ``config.toml``."""
    return config_file.with_name(FILE)


Fault = tuple[str, str]
"""A dotted key, and the description of the expected value."""

_LONGEST_NUMBER = 40
"""Digits of a number that are shown."""

_NAMES: dict[type, str] = {
    **dict.fromkeys((bool, inspect.BoolType), "true or false"),
    **dict.fromkeys((dict, inspect.StructType, inspect.DictType), "a table"),
    **dict.fromkeys((float, inspect.FloatType), "a number"),
    **dict.fromkeys((int, inspect.IntType), "a whole number"),
    **dict.fromkeys((list, inspect.VarTupleType), "a list"),
    str: "text",
}
"""By the type of a value, and by that of the schema."""

_BARE = late_pattern(r"[A-Za-z0-9_-]+")


def joined(key: str, name: str) -> str:
    """Append a name to a dotted key: ``models`` and ``a:b`` give ``models."a:b"``."""
    written = name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    return f"{key}.{written}" if key else written


def faults(value: object, kind: inspect.Type, key: str) -> Iterator[Fault]:
    """Find all parts of a value that its type does not allow, outermost first."""
    inner = _plain(kind)
    match inner, value:
        case inspect.StructType(), dict():
            fields = {field.name: field.type for field in inner.fields}
            for name, each in cast("dict[str, Any]", value).items():
                if name in fields:
                    yield from faults(each, fields[name], joined(key, name))
                else:
                    yield from _in_another_table(each, fields, joined(key, name))
                    yield joined(key, name), f"there is no such key; {_closest(name, fields, key)}"
        case inspect.DictType(), dict():
            for name, each in cast("dict[str, Any]", value).items():
                yield from faults(name, inner.key_type, joined(key, name))
                yield from faults(each, inner.value_type, joined(key, name))
        case inspect.VarTupleType(), list():
            for place, each in enumerate(cast("list[Any]", value), 1):
                yield from faults(each, inner.item_type, f"{key}[{place}]")
        case inspect.AnyType(), _:
            pass
        case _:
            if not _fits(value, inner):
                yield key, f"expected {expected(kind)}{_got(value, inner)}"


def expected(kind: inspect.Type) -> str:
    """Describe the permitted values, as the end of a sentence."""
    if isinstance(kind, inspect.Metadata):
        said = cast("dict[str, str]", kind.extra or {})  # pyright: ignore[reportUnknownMemberType]
        return said["expected"] if said else expected(kind.type)
    if isinstance(kind, inspect.UnionType):
        return expected(_not_none(kind))
    match kind:
        case inspect.IntType() | inspect.FloatType():
            return _name(kind) + _limits(kind)
        case inspect.LiteralType():
            *others, last = (f'"{value}"' for value in kind.values)
            return f"{', '.join(others)} or {last}"
        case inspect.VarTupleType():
            return f"a list of {_name(kind.item_type)}s"
        case _:
            return _name(kind)


def _plain(kind: inspect.Type) -> inspect.Type:
    """Unwrap a type: without its metadata, and without ``None``, which TOML does not have."""
    if isinstance(kind, inspect.Metadata):
        return _plain(kind.type)
    if isinstance(kind, inspect.UnionType):
        return _plain(_not_none(kind))
    return kind


def _not_none(kind: inspect.UnionType) -> inspect.Type:
    return next(each for each in kind.types if not isinstance(each, inspect.NoneType))


def _in_another_table(
    value: object, fields: Mapping[str, inspect.Type], key: str
) -> Iterator[Fault]:
    """Find keys of an unknown table that are in one of the known: other programs name it so."""
    if not isinstance(value, dict):
        return
    here = {
        inner.name: joined(name, inner.name)
        for name, kind in fields.items()
        if isinstance(table := _plain(kind), inspect.StructType)
        for inner in table.fields
    }
    for name in cast("dict[str, Any]", value):
        if name in here:
            yield joined(key, name), f"there is no such key; here it is {here[name]}"


def _closest(name: str, fields: Mapping[str, object], key: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, fields, n=1, cutoff=0.4)
    if close:
        return f"the closest is {joined(key, close[0])}"
    return f"the keys are {', '.join(fields)}"


def _fits(value: object, kind: inspect.Type) -> bool:
    match kind:
        case inspect.StrType():
            import re

            is_text = isinstance(value, str)
            return is_text and (kind.pattern is None or bool(re.search(kind.pattern, value)))
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.LiteralType():
            return value in kind.values
        case inspect.IntType():
            return isinstance(value, int) and _is_within(value, kind)
        case inspect.FloatType():
            return isinstance(value, int | float) and _is_within(value, kind)
        case _:
            return False


def _is_within(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    # Comparisons with nan are false: it is out of bounds.
    return (
        not isinstance(value, bool)
        and (kind.ge is None or value >= kind.ge)
        and (kind.gt is None or value > kind.gt)
        and (kind.le is None or value <= kind.le)
    )


def _limits(kind: inspect.IntType | inspect.FloatType) -> str:
    """Describe the range; every number of the schema has both limits, or none."""
    if kind.le is None:
        return ""
    low = f"from {kind.ge:.9g}" if kind.gt is None else f"above {kind.gt:.9g} and up"
    return f" {low} to {kind.le:.9g}"


def _got(value: object, kind: inspect.Type) -> str:
    """Describe the actual value: its type, or the number that is out of bounds."""
    name = _NAMES.get(type(value), "a date or time")
    if isinstance(kind, inspect.LiteralType):
        return "" if isinstance(value, str) else f", got {name}"
    if isinstance(value, int | float) and _name(kind) in {name, _NAMES[float]}:
        return f", got {_shown(value)}"
    return "" if name == _name(kind) else f", got {name}"


def _shown(value: float) -> str:
    # Python refuses to print integers of thousands of digits; TOML has them in hexadecimal.
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER * 4:
        return "a longer one"
    return str(value)[:_LONGEST_NUMBER]


def _name(kind: inspect.Type) -> str:
    return _NAMES.get(type(kind), _NAMES[str])
