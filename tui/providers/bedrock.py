"""Requests to Amazon Bedrock by AWS's own client, which works in threads."""
# AWS's client has no types.
# pyright: basic

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

import boto3
from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EventStreamError,
    HTTPClientError,
    ReadTimeoutError,
)
from botocore.exceptions import ConnectionError as NoConnection
from botocore.session import Session
from botocore.tokens import FrozenAuthToken
from urllib3.exceptions import HTTPError
from urllib3.exceptions import ReadTimeoutError as SilentStream

from tui.errors import ModelUnavailable
from tui.providers.catalog import ModelChoice
from tui.providers.codec import BrokenStream, JsonObject
from tui.providers.exchange import CONNECT_TIMEOUT, Refusal, Reply
from tui.providers.network import NoReply, proxy_for
from tui.providers.protocol import AnswerEnded, ModelEvent
from tui.providers.reception import Reception
from tui.providers.server_words import quotable
from tui.threads import begin

_VENDOR = "https://bedrock-runtime.amazonaws.com"
"""In place of the address, whose region only AWS's client knows."""

_replied = threading.local()
"""The body of a reply, as it comes from the connection, in the thread that reads it."""


class BedrockClient:
    """AWS's client, with the credentials and the region that AWS's tools use."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self.client = cast("Any", _client(choice))
        more = choice.provider.headers

        def keep_body(response_dict: JsonObject, **_: Any) -> None:
            _replied.body = response_dict["body"]

        events, asked = self.client.meta.events, "bedrock-runtime.ConverseStream"
        events.register(f"before-call.{asked}", lambda params, **_: params["headers"].update(more))
        events.register(f"before-parse.{asked}", keep_body)

    async def answer(
        self, body: JsonObject, reception: Reception, reply: Reply
    ) -> AsyncGenerator[ModelEvent]:
        """Send a request and give the events of its answer.

        Raises ``Refusal``, ``NoReply``, ``BrokenStream``, and ``ModelUnavailable`` for what AWS's
        client finds out before it asks.
        """
        reading = _Reading(partial(self.client.converse_stream, **body))
        try:
            while (received := await reading.received.get()) is not None:
                if isinstance(received, BaseException):
                    self._explain(received, reception, reply)
                    break
                reply.status = 200
                for event in reception.receive(received):
                    yield event
                if reception.is_done:
                    break
            for event in reception.end():
                reply.is_done = isinstance(event, AnswerEnded)
                yield event
        finally:
            reading.stop()

    def _explain(self, error: BaseException, reception: Reception, reply: Reply) -> None:
        """Say why an answer ended, or raise the reason why there is none."""
        secrets = self._choice.secrets
        match error:
            case EventStreamError():
                said = error.response.get("Error", {}).get("Message", "")
                reception.break_off(BrokenStream("failed", said))
            case ClientError():
                said = cast("Any", error.response)
                about = said.get("ResponseMetadata", {})
                reply.status = about.get("HTTPStatusCode", 400)
                seconds = about.get("HTTPHeaders", {}).get("retry-after", "")
                text = json.dumps(said.get("Error", {}).get("Message", ""))
                pause = float(seconds) if seconds.isdecimal() else None
                raise Refusal(reply.status or 400, text, pause) from None
            case ReadTimeoutError() | SilentStream():
                reception.break_off(BrokenStream("silent"))
            case NoConnection() | HTTPClientError() if reply.status is None:
                words = f"{self._choice.place} cannot be reached. {quotable(str(error), *secrets)}"
                raise NoReply(words) from None
            case HTTPClientError() | HTTPError():
                reception.break_off(BrokenStream("cut"))
            case BotoCoreError():
                raise _unusable(self._choice, error) from None
            case _:
                raise error


class _Reading:
    """The events of one request, read in a thread."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self._ask = ask
        self._loop = asyncio.get_running_loop()
        self.received: asyncio.Queue[Any] = asyncio.Queue()
        """The events, or the exception that ends them; ``None`` after the last."""
        self._stream: Any = None
        self._body: Any = None
        self._is_stopped = False
        begin("bedrock", self._run)

    def stop(self) -> None:
        """Close the connection, also while it is read."""
        self._is_stopped = True
        if self._stream is None:
            return
        with suppress(AttributeError, OSError, RuntimeError, ValueError):
            # Closing alone does not wake up the thread that reads.
            self._body.shutdown()
        self._stream.close()

    def _run(self) -> None:
        last: BaseException | None = None
        try:
            self._stream = self._ask()["stream"]
            self._body = _replied.body
            if self._is_stopped:
                self.stop()
            for event in self._stream:
                self._give(event)
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            last = error
        self._give(last)

    def _give(self, item: Any) -> None:
        # The loop may be closed by now.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.received.put_nowait, item)


def _client(choice: ModelChoice) -> BaseClient:
    """Make AWS's client. Raises ``ModelUnavailable`` without a region."""
    connect = min(CONNECT_TIMEOUT, choice.provider.timeout)
    config: dict[str, Any] = {
        "connect_timeout": connect,
        "read_timeout": choice.provider.timeout,
        "retries": {"total_max_attempts": 1},
    }
    # AWS's client knows the proxy and the certificates of the environment.
    if choice.provider.proxy is not None:
        proxy = proxy_for(choice.provider.base_url or _VENDOR, {}, choice.provider.proxy)
        address = str(proxy.url) if proxy else ""
        config["proxies"] = {"http": address, "https": address} if proxy else {}
    if certificate := choice.provider.client_certificate:
        key = choice.provider.client_key
        config["client_cert"] = (certificate, key) if key else certificate
    session = boto3.Session()
    if choice.key:
        session = boto3.Session(botocore_session=_KeySession(choice.key.reveal()))
        config["signature_version"] = "bearer"
    make = cast("Any", session.client)
    address = choice.provider.base_url or None
    try:
        return make("bedrock-runtime", config=Config(**config), endpoint_url=address)
    except (BotoCoreError, ValueError) as error:
        raise _unusable(choice, error) from None


def _unusable(choice: ModelChoice, error: Exception) -> ModelUnavailable:
    """Make the error for what AWS's client finds out before it asks."""
    said = quotable(str(error), *choice.secrets).rstrip(".")
    return ModelUnavailable(
        f"{choice.provider.name} cannot be asked: {said}. AWS_REGION or AWS_DEFAULT_REGION names"
        " the region; credentials are those of AWS's tools, or AWS_BEARER_TOKEN_BEDROCK."
    )


class _KeySession(Session):
    """A session of AWS's client with a key in place of credentials."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key

    def get_auth_token(self, **_: Any) -> FrozenAuthToken:
        return FrozenAuthToken(self._key)

    def get_credentials(self) -> None:
        return None
