"""The dialect of Amazon Bedrock, by AWS's own client, which works in threads."""
# AWS's client has no types.
# pyright: basic

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, cast

import boto3
import httpx2
from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import BotoCoreError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnection
from botocore.session import Session
from botocore.tokens import FrozenAuthToken
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.bedrock import BedrockConverseModel, BedrockModelSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.bedrock import BedrockProvider
from pydantic_ai.settings import ModelSettings

from tui.domain.model_settings import ModelParameters
from tui.errors import ModelUnavailable
from tui.providers.capabilities import supported
from tui.providers.catalog import ModelChoice
from tui.providers.chat_events import ChatEvents
from tui.providers.connection import CONNECT_TIMEOUT
from tui.providers.dialect import AS_TYPED, library_messages, library_settings, sendable
from tui.providers.network import proxy_for
from tui.providers.protocol import ModelRequest
from tui.providers.server_words import quotable
from tui.providers.transport import Wire

_VENDOR = "https://bedrock-runtime.amazonaws.com"
"""In place of the address, whose region only AWS's client knows."""
_LOOK = 0.2
"""In seconds: how soon a waiting thread notices that the program ends."""


class BedrockDialect:
    """Requests to Amazon Bedrock, with the credentials and the region that AWS's tools use."""

    wire = Wire(ChatEvents)
    """Unused: AWS's client sends the requests, and reads events in a form of its own."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self._name = sendable(choice.model)
        self._client = _PatientClient(choice)
        self._known = BedrockProvider.model_profile(self._name) or ModelProfile()

    @property
    def thinks_unasked(self) -> bool:
        return self._known.get("thinking_enabled_by_default", False)

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        return supported(parameters, self._known)

    def settings(self, parameters: ModelParameters) -> ModelSettings:
        # The library leaves it out for models that have no cache there.
        given = BedrockModelSettings(cache=True) | BedrockModelSettings(
            **library_settings(parameters)
        )
        if headers := self._choice.headers:
            given["extra_headers"] = {name: text.reveal() for name, text in headers.items()}
        if fields := self._choice.extra_body:
            given["bedrock_additional_model_requests_fields"] = fields
        return given

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        return library_messages(request)

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:  # noqa: ARG002 - a Dialect's
        provider = BedrockProvider(bedrock_client=cast("BaseClient", self._client))
        return BedrockConverseModel(self._name, provider=provider, profile=_profile)


def _client(choice: ModelChoice) -> BaseClient:
    """Make AWS's client. Raises ``ModelUnavailable`` without a region."""
    connect = min(CONNECT_TIMEOUT, choice.timeout)
    config: dict[str, Any] = {
        "connect_timeout": connect,
        "read_timeout": choice.timeout,
        "retries": {"total_max_attempts": 1},
        **_way(choice),
    }
    session = boto3.Session()
    if choice.key:
        session = boto3.Session(botocore_session=_KeySession(choice.key.reveal()))
        config["signature_version"] = "bearer"
    make = cast("Any", session.client)
    address = choice.base_url or None
    try:
        return make("bedrock-runtime", config=Config(**config), endpoint_url=address)
    except (BotoCoreError, ValueError) as error:
        raise _unusable(choice, error) from None


def _way(choice: ModelChoice) -> dict[str, Any]:
    """The configured proxy and certificate; AWS's client knows those of the environment."""
    way: dict[str, Any] = {}
    if choice.proxy is not None:
        proxy = proxy_for(choice.base_url or _VENDOR, {}, choice.proxy.reveal())
        address = str(proxy.url) if proxy else ""
        way["proxies"] = {"http": address, "https": address} if proxy else {}
    if certificate := choice.client_certificate:
        way["client_cert"] = (certificate, choice.client_key) if choice.client_key else certificate
    return way


def _unusable(choice: ModelChoice, error: Exception) -> ModelUnavailable:
    """Make the error for what AWS's client finds out before it asks."""
    said = quotable(str(error), *choice.secrets).rstrip(".")
    return ModelUnavailable(
        f"{choice.provider} cannot be asked: {said}. AWS_REGION or AWS_DEFAULT_REGION names the"
        " region; credentials are those of AWS's tools, or AWS_BEARER_TOKEN_BEDROCK."
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


class _PatientClient:
    """AWS's client, whose calls do not hold up the end of the program.

    The library waits for them in a thread that the end would join.
    """

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self._client = _client(choice)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def converse_stream(self, **parameters: Any) -> Any:
        """Send a request, and wait for the beginning of its reply."""
        ask = contextvars.copy_context().run
        reply: Future[Any] = Future()
        call = partial(_fulfil, reply, partial(ask, self._client.converse_stream, **parameters))
        threading.Thread(target=call, daemon=True, name="bedrock").start()
        while threading.main_thread().is_alive():
            wait([reply], _LOOK)
            if reply.done():
                return self._result(reply)
        raise TimeoutError("the program ends")

    def _result(self, reply: Future[Any]) -> Any:
        try:
            return reply.result()
        except HTTPClientError:
            raise
        except NoConnection as error:
            said = quotable(str(error), *self._choice.secrets)
            raise ModelUnavailable(f"{self._choice.place} cannot be reached. {said}") from None
        except BotoCoreError as error:
            raise _unusable(self._choice, error) from None


def _fulfil(reply: Future[Any], ask: Callable[[], Any]) -> None:
    try:
        reply.set_result(ask())
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        reply.set_exception(error)


def _profile(known: ModelProfile) -> ModelProfile:
    return known | AS_TYPED
