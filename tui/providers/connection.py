"""The HTTP connection of one request."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2

from tui.providers.catalog import ModelChoice
from tui.providers.transport import ModelTransport, Reply, Wire

CONNECT_TIMEOUT = 10.0
"""In seconds."""


@asynccontextmanager
async def connection(
    choice: ModelChoice, wire: Wire, certificates: ssl.SSLContext, reply: Reply
) -> AsyncGenerator[httpx2.AsyncClient]:
    """Open a client for one request; it fills in ``reply`` and is closed at the end.

    It sends the key, whatever key the client library sets. Redirects are not followed, and
    proxies of the environment not used: a client with its own transport ignores them.
    """
    timeout = httpx2.Timeout(choice.timeout, connect=min(CONNECT_TIMEOUT, choice.timeout))
    inner = httpx2.AsyncHTTPTransport(verify=certificates)
    transport = ModelTransport(inner, choice, wire, reply)
    async with httpx2.AsyncClient(transport=transport, timeout=timeout) as http:
        yield http
