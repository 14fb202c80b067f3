"""OpenAI's client for long conversations."""

from typing import Any, cast

import httpx2
from openai import AsyncOpenAI, omit
from openai.resources.chat import AsyncChat
from openai.resources.chat.completions import AsyncCompletions
from openai.resources.responses import AsyncResponses


def openai_client(base_url: str, http: httpx2.AsyncClient) -> AsyncOpenAI:
    """Create the client of one request, which goes through ``http``."""
    return LongRequestClient(
        # The connection sends the key. Without one here, the library would send OPENAI_API_KEY
        # to any server.
        api_key="none",
        admin_api_key="",
        base_url=base_url,
        timeout=http.timeout,
        max_retries=0,
        http_client=http,
    )


class LongRequestClient(AsyncOpenAI):
    """Sends the messages of a request as they are.

    The library compares each field of each message with its types, on the event loop: for a
    conversation of 3,000 messages that takes 300 ms. Fields of ``extra_body`` are left alone.
    """

    @property
    def chat(self) -> "_Chat":
        return _Chat(self)

    @property
    def responses(self) -> "_Responses":
        return _Responses(self)


class _Chat(AsyncChat):
    def __init__(self, client: AsyncOpenAI) -> None:
        super().__init__(client)
        self._completions = _Completions(client)

    @property
    def completions(self) -> "_Completions":
        return self._completions


class _Completions(AsyncCompletions):
    async def create(self, *, messages: Any, extra_body: Any = None, **more: Any) -> Any:
        body: dict[str, Any] = {**(extra_body or {}), "messages": messages}
        return await cast("Any", super()).create(messages=[], extra_body=body, **more)


class _Responses(AsyncResponses):
    async def create(self, *, input: Any = omit, extra_body: Any = None, **more: Any) -> Any:  # noqa: A002
        body: dict[str, Any] = {**(extra_body or {}), "input": input}
        return await cast("Any", super()).create(extra_body=body, **more)
