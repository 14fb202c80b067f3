"""The kept lists of models, for whoever looks for what a model takes."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tui.domain.providers import ListedModel, Provider
from tui.domain.timestamps import format_utc
from tui.errors import StorageError
from tui.providers.catalog import ModelChoice


class KeptLists(msgspec.Struct, eq=False):
    """Reads and writes the cache of the servers' lists. Its methods block."""

    _file: Path
    _clock: Callable[[], datetime]

    def model(self, choice: ModelChoice) -> ListedModel:
        """A model in its server's list, as far as that has been kept."""
        from tui.storage import state_files

        kept = state_files.read_lists(self._file).get(choice.provider.name)
        if kept is None or kept.address != choice.provider.base_url:
            return ListedModel(choice.model)
        sees = kept.sees_images.get(choice.model)
        return ListedModel(choice.model, kept.windows.get(choice.model), sees_images=sees)

    def keep(self, provider: Provider, listed: Sequence[ListedModel]) -> None:
        """Keep the list of a server, unless it is the one that is kept."""
        from tui.storage import state_files

        before = state_files.read_lists(self._file).get(provider.name)
        kept = state_files.CachedList.of(provider.base_url, format_utc(self._clock()), listed)
        if before and replace(before, asked_at=kept.asked_at) == kept:
            return
        # A list that is not kept is asked for again.
        with suppress(StorageError):
            state_files.change_lists(self._file, {provider.name: kept})
