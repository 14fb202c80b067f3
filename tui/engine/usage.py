"""The tokens and the price of a session, over its whole journal."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import CountedRequest, Record, by_model, counted_requests
from tui.domain.providers import Provider
from tui.domain.views.costs import ModelUsage, SessionUsage, usage_of
from tui.engine.sessions.loaded_session import LoadedSession
from tui.storage.protocol import SessionReader


class UsageTotals(msgspec.Struct, eq=False):
    """Adds up what sessions took; ``provider`` looks up a provider as it is configured."""

    _reader: SessionReader
    _provider: Callable[[str], Provider | None]

    async def of(self, session: LoadedSession) -> SessionUsage:
        """Add up all requests of a session, those of earlier versions too.

        Raises ``StorageError``.
        """
        name, published, pending = session.id, session.published, session.pending
        return await asyncio.to_thread(self._added, name, pending, published=published)

    async def prices_of(self, answers: Sequence[Message]) -> Mapping[str, float]:
        """The prices of answers in dollars, by their ids; those that no list has are left out."""

        def prices() -> Mapping[str, float]:
            requests = [
                CountedRequest(each.id, each.model or "", each.timestamp, each.usage)
                for each in answers
                if each.usage
            ]
            priced = {each.id: self._priced(each.model, [each]).dollars for each in requests}
            return {name: dollars for name, dollars in priced.items() if dollars is not None}

        return await asyncio.to_thread(prices)

    def _added(self, name: str, pending: Sequence[Record], *, published: bool) -> SessionUsage:
        saved = self._reader.journal(name).requests() if published else ()
        unsaved = counted_requests(pending)
        requests = {each.id: each for each in (*saved, *unsaved)}.values()
        # The library is imported in the thread, too.
        from tui.providers.prices import price_date

        models = tuple(self._priced(*group) for group in by_model(requests).items())
        priced = any(each.dollars is not None for each in models)
        return SessionUsage(models, price_date() if priced else None)

    def _priced(self, model: str, requests: Sequence[CountedRequest]) -> ModelUsage:
        from tui.providers.prices import price

        name, _, called = model.partition(":")
        provider = self._provider(name)
        added = usage_of(model, requests)
        if provider is None or not added.usage.total:
            return added
        dollars = price(provider.name, provider.base_url, called, requests)
        return msgspec.structs.replace(added, dollars=dollars)
