"""The connections that were made on the screen: ``connections.toml``, beside ``config.toml``.

The program writes this file, and the user's own settings win over it. Keys are in files of their
own, below ``keys``.
"""

from pathlib import Path

import msgspec

from tui.config.settings_schema import ModelName, ProviderName, ProviderSettings

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

    def with_provider(self, name: str, provider: ProviderSettings) -> "Connections":
        """Add a connection, or replace it."""
        return msgspec.structs.replace(self, providers={**self.providers, name: provider})

    def with_chosen(self, model: str) -> "Connections":
        """Note that the user has chosen a model."""
        others = [each for each in self.recent if each != model]
        return msgspec.structs.replace(self, recent=(model, *others)[:_MOST_RECENT])

    def with_default(self, model: str) -> "Connections":
        """Note that a model was connected, which also chooses it."""
        return msgspec.structs.replace(self.with_chosen(model), model=model)

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
