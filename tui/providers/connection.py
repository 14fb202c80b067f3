"""The HTTP connection of one request."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2

from tui.providers.catalog import ModelChoice
from tui.providers.transport import ModelTransport, Reply, Wire

CONNECT_TIMEOUT = 10.0
"""In seconds."""


@asynccontextmanager
async def connection(
    choice: ModelChoice, wire: Wire, reply: Reply
) -> AsyncGenerator[httpx2.AsyncClient]:
    """Open a client for one request; it fills in ``reply`` and is closed at the end.

    It sends the key, whatever key the client library sets, by the route of ``reply``. Redirects
    are not followed.
    """
    timeout = httpx2.Timeout(choice.timeout, connect=min(CONNECT_TIMEOUT, choice.timeout))
    transport = ModelTransport(reply.route.transport(), choice, wire, reply)
    async with httpx2.AsyncClient(transport=transport, timeout=timeout) as http:
        yield http
