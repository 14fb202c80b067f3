"""The dialect of Google's Gemini API."""

import ssl

import httpx2
from google.genai import Client
from google.genai.types import HttpOptions, ThinkingConfigDict
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.google import GoogleModelProfile
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.settings import ModelSettings

from tui.domain.model_settings import ModelParameters
from tui.providers.capabilities import supported
from tui.providers.catalog import ModelChoice
from tui.providers.dialect import AS_TYPED, library_messages, library_settings, sendable
from tui.providers.google_events import GoogleEvents, merged_texts
from tui.providers.protocol import ModelRequest
from tui.providers.transport import Wire

_WIRE = Wire(GoogleEvents, merged_texts, key_header="x-goog-api-key", key_form="{}")


_THOUGHTS = GoogleModelSettings(google_thinking_config=ThinkingConfigDict(include_thoughts=True))


class GoogleDialect:
    """Requests to Google's Gemini API, which lists its models at the same address."""

    wire = _WIRE

    thinks_unasked = False

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        # The client makes two for itself, which takes 40 ms, and connects by our client only.
        unused = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._unused = {"verify": unused, "ssl": unused}
        # The first client imports more, which takes 100 ms.
        self._known = self.model(httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport())).profile

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        return supported(parameters, self._known)

    def settings(self, parameters: ModelParameters) -> ModelSettings | None:
        given = library_settings(parameters)
        # An effort brings its own configuration of thinking.
        shows_thoughts = self._known.get("supports_thinking") and "thinking" not in given
        return (_THOUGHTS | given if shows_thoughts else given) or None

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        return library_messages(request)

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:
        options = HttpOptions(
            base_url=self._choice.base_url,
            httpx_async_client=http,
            timeout=int(self._choice.timeout * 1000),
            client_args=self._unused,
            async_client_args=self._unused,
        )
        # The connection sends the key. Without one here, the library would look for one in the
        # environment.
        client = Client(vertexai=False, api_key="none", http_options=options)
        return GoogleModel(
            sendable(self._choice.model), provider=GoogleProvider(client=client), profile=_profile
        )


def _profile(known: ModelProfile) -> ModelProfile:
    return known | AS_TYPED | GoogleModelProfile(google_supports_strict_tool_definition=False)
