"""Selection of a model: the requested one, else the first that is available."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tui.config import Settings
from tui.domain.providers import (
    GUIDE,
    KNOWN_SERVERS,
    OFFLINE,
    PROVIDERS,
    SHARED_VARIABLES,
    Provider,
)
from tui.errors import ConfigError, ModelUnavailable
from tui.providers.catalog import (
    ModelChoice,
    choice_of,
    key_of,
    provider_called,
    with_key,
    with_limits,
)
from tui.providers.protocol import Model
from tui.providers.secret import Secret

if TYPE_CHECKING:
    from tui.providers.guide import Search

FindModel = Callable[[str], str | None]
"""Ask the Ollama at an address for its first model."""


def choose(
    settings: Settings,
    environ: Mapping[str, str],
    proposed: str | None = None,
    find_ollama: FindModel | None = None,
    local: Collection[str] = (),
) -> tuple[ModelChoice, tuple[str, ...]]:
    """Select the model, with notices about those that were skipped.

    In order: the flag or environment variable; the model that a session ``proposed``, if the
    settings know it or it is a ``local`` one, which costs nothing; the configured model; the first
    available one. May ask a local Ollama, for at most 300 ms. Raises ``ModelUnavailable`` if the
    requested model cannot be used, and ``ConfigError`` for a wrong setting.
    """
    asked, insisted = settings.model, settings.insists
    if proposed and not insisted and (proposed in local or is_known(proposed, settings, environ)):
        asked = proposed
    search = _Selection(settings, environ, find_ollama or first_ollama_model)
    choice, notices = (search.named(asked), ()) if asked else search.first_found()
    if proposed and not insisted and proposed not in {choice.name, f"{OFFLINE}:{GUIDE}"}:
        notices = (*notices, f"{proposed} is not in your settings. {choice.name} answers instead.")
    return choice, notices


def is_known(name: str, settings: Settings, environ: Mapping[str, str]) -> bool:
    """True if the user's settings know the model that a session's file names.

    That is the configured model, one listed for its provider, or the provider's default, if its
    key is set. So a foreign file cannot choose a model that costs money.
    """
    provider_name, _, model = name.partition(":")
    provider = provider_called(provider_name, settings, environ)
    if provider is None or provider_name == OFFLINE:
        return False
    if name != settings.model and model not in provider.models:
        return False
    try:
        return bool(_Selection(settings, environ, lambda _: None).named(name))
    except ModelUnavailable:
        return False


def named(
    asked: str,
    settings: Settings,
    environ: Mapping[str, str],
    find_ollama: FindModel | None = None,
) -> ModelChoice:
    """Look up ``PROVIDER:MODEL``, or the default model of ``PROVIDER``.

    May ask a local Ollama. Raises ``ModelUnavailable`` and ``ConfigError``.
    """
    return _Selection(settings, environ, find_ollama or first_ollama_model).named(asked)


def known_names(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """List every configured or default model whose key is set."""
    return _Selection(settings, environ, lambda _: None).listed()


def build(choice: ModelChoice, search: "Search | None" = None) -> Model:
    """Create the model; its library takes a second or more, a command for its key up to ten."""
    if choice.provider == OFFLINE:
        from tui.providers.guide import OfflineGuide

        return OfflineGuide(search)
    from tui.providers.chat_model import ChatModel

    return ChatModel(with_key(choice))


def first_ollama_model(address: str) -> str | None:
    """Ask the Ollama at an address for its first model, for at most 300 ms."""
    from tui.providers.ollama import first_model

    return first_model(address)


def ollama_models(address: str) -> tuple[str, ...]:
    """Ask the Ollama at an address for its chat models, for at most 300 ms."""
    from tui.providers.ollama import chat_models

    return chat_models(address)


class _Selection:
    """One selection of a model, which collects what was skipped."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], find_ollama: FindModel
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._find_ollama = find_ollama
        self._passed_over: list[str] = []

    def named(self, asked: str) -> ModelChoice:
        """Look up ``PROVIDER:MODEL`` or ``PROVIDER``."""
        name, _, model = asked.partition(":")
        provider = self._provider(name)
        if provider is None:
            raise ModelUnavailable(self._unknown(name))
        if name == OFFLINE and model not in {"", GUIDE}:
            raise ModelUnavailable(
                f"There is no model {asked}. The built-in guide is {OFFLINE}:{GUIDE}."
            )
        return self._choice(provider, model or self._default_model(provider))

    def listed(self) -> tuple[str, ...]:
        """The names of all usable models; the guide's is the last."""
        settings = self._settings
        names = [settings.model] if settings.model else []
        for name in dict.fromkeys([*settings.providers, *PROVIDERS]):
            names += self._models_of(name)
        return tuple(dict.fromkeys(name for each in names if (name := self._name_of(each))))

    def _models_of(self, name: str) -> list[str]:
        # A wrong variable or key file is reported when the model is requested.
        try:
            provider = self._provider(name)
        except ConfigError:
            return []
        return [f"{name}:{model}" for model in provider.models] if provider else []

    def _name_of(self, asked: str) -> str | None:
        try:
            return self.named(asked).name
        except (ConfigError, ModelUnavailable):
            return None

    def first_found(self) -> tuple[ModelChoice, tuple[str, ...]]:
        """Select the first available model, else the guide."""
        vendors = [name for name in PROVIDERS if PROVIDERS[name].needs_key]
        perhaps = [name for name in vendors if self._has_shared_key(name)]
        certain = [name for name in vendors if name not in perhaps]
        choice = self._vendor(certain) or self._server() or self._ollama() or self._vendor(perhaps)
        return choice or ModelChoice(OFFLINE, GUIDE), tuple(self._passed_over)

    def _has_shared_key(self, name: str) -> bool:
        """True for a vendor of which only a variable is known that serves for much else."""
        provider = self._provider(name)
        variable = provider.key_variable if provider else None
        return variable in SHARED_VARIABLES and name not in self._settings.providers

    def _vendor(self, names: Sequence[str]) -> ModelChoice | None:
        """Select the default model of the first vendor whose key is set."""
        return next(filter(None, map(self._keyed, names)), None)

    def _keyed(self, name: str) -> ModelChoice | None:
        provider = self._provider(name)
        if provider is None:
            return None
        if self._key(provider) or provider.key_command:
            return self._usable(provider)
        variable, address = provider.key_variable, provider.url_variable
        if address and self._environ.get(address):
            self._passed_over.append(f"{address} is set, but {variable} is not.")
        return None

    def _usable(self, provider: Provider) -> ModelChoice | None:
        """Select the default model of a provider, unless it has none."""
        try:
            return self._choice(provider, self._default_model(provider))
        except ModelUnavailable as error:
            self._passed_over.append(str(error))
            return None

    def _server(self) -> ModelChoice | None:
        names = [name for name in self._settings.providers if name not in KNOWN_SERVERS]
        for name in names:
            try:
                return self.named(name)
            except ModelUnavailable as error:
                self._passed_over.append(str(error))
        return None

    def _ollama(self) -> ModelChoice | None:
        provider = self._provider("ollama")
        found = provider and self._find_ollama(provider.base_url)
        if provider and found:
            return self._choice(provider, (*provider.models, found)[0])
        return None

    def _choice(self, provider: Provider, model: str) -> ModelChoice:
        if provider.lacks_address:
            raise ModelUnavailable(self._addressless(provider))
        key = self._key(provider)
        if key is None and provider.needs_key and not provider.key_command:
            raise ModelUnavailable(self._keyless(provider))
        return with_limits(choice_of(provider, model, key), self._settings)

    def _provider(self, name: str) -> Provider | None:
        return provider_called(name, self._settings, self._environ)

    def _key(self, provider: Provider) -> Secret | None:
        return key_of(provider, self._settings, self._environ)

    def _default_model(self, provider: Provider) -> str:
        if provider.models:
            return provider.models[0]
        if provider.name == "ollama":
            found = self._find_ollama(provider.base_url)
            if found:
                return found
            raise ModelUnavailable(
                f"No Ollama with a model answers at {provider.base_url}. Start it, or set"
                " OLLAMA_HOST to its address."
            )
        raise ModelUnavailable(
            f"{provider.name}: no models listed. Choose one with /model, or add"
            f' models = ["MODEL"] to [providers.{provider.name}] in {self._settings.file}.'
        )

    def _unknown(self, name: str) -> str:
        known = ", ".join(dict.fromkeys([*PROVIDERS, *self._settings.providers]))
        return (
            f'There is no provider "{name}". Known are {known}. A model is named PROVIDER:MODEL;'
            f" your own server is [providers.NAME] in {self._settings.file}."
        )

    def _addressless(self, provider: Provider) -> str:
        return (
            f"{provider.name} requires an address. Press F5 to enter it, set"
            f' {provider.url_variable}, or add base_url = "https://…" to'
            f" [providers.{provider.name}] in {self._settings.file}."
        )

    def _keyless(self, provider: Provider) -> str:
        return (
            f"{provider.name} requires a key. Press F5 to enter it, set {provider.key_variable}, or"
            f' add api_key_file = "{provider.name}.key" to [providers.{provider.name}] in'
            f" {self._settings.file}."
        )
