"""The tokens and the price of a session, over its whole journal."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from tui.domain.journal.counts import CountedRequest, by_model, counted_requests
from tui.domain.journal.message import Message
from tui.domain.journal.records import Record
from tui.domain.providers import Provider
from tui.domain.views.costs import ModelUsage, SessionUsage, usage_of
from tui.engine.sessions.loaded_session import LoadedSession
from tui.storage.protocol import SessionReader


class UsageTotals:
    """Adds up what sessions took; ``provider`` looks up a provider as it is configured."""

    def __init__(self, reader: SessionReader, provider: Callable[[str], Provider | None]) -> None:
        self._reader = reader
        self._provider = provider

    async def of(self, session: LoadedSession) -> SessionUsage:
        """Add up all requests of a session, those of earlier versions too.

        Raises ``StorageError``.
        """
        name, published, pending = session.id, session.published, session.pending
        return await asyncio.to_thread(self._added, name, pending, published=published)

    async def price_of(self, answer: Message) -> float | None:
        """The price of one answer in dollars; ``None`` where no list has it."""
        if not answer.usage or not answer.model:
            return None
        request = CountedRequest(answer.id, answer.model, answer.timestamp, answer.usage)
        return (await asyncio.to_thread(self._priced, answer.model, [request])).dollars

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
