"""Signing in at a server: OAuth by the library's client, with the redirect on loopback.

The library's client is driven from outside: its own lock is held until a reply begins, which one
of a slow call or a silent stream may never do, and it neither bounds replies nor refreshes after a
restart.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from importlib.metadata import version
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.utils import extract_field_from_www_auth, is_valid_client_metadata_url
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)

from tui.domain.providers import is_loopback
from tui.domain.tool_servers import ServerQuestion, SignIns, is_shown_whole
from tui.errors import StorageError
from tui.tool_servers.context import ServerContext, ServerFailed

SIGN_IN_SECONDS = 300.0
WANTED = "It wants you to sign in: s in /tools, on the screen"

_OURS = f"sibyl-tui/{version('sibyl-tui')}"
_FETCH_SECONDS = 30.0
_READ_SECONDS = 10.0
_LONGEST_REPLY = 256 * 1024
_PATH = "/callback"
_PAGE = (
    "<!doctype html><meta charset=utf-8><title>sibyl-tui</title><p>{} You can close this window."
)
_EXPIRED = 1.0
_CHALLENGE = "www-authenticate"


class _KeptTokens(OAuthToken):
    """A sign-in as it is kept: tokens, and what the library would guess after a restart."""

    address: str
    port: int
    client: OAuthClientInformationFull
    server: OAuthMetadata | None = None
    resource: ProtectedResourceMetadata | None = None


class SignIn:
    """Sends requests as the signed-in user, and asks for a sign-in if the server wants one."""

    def __init__(self, sender: httpx2.AsyncClient, context: ServerContext, kept: SignIns) -> None:
        # Its query and password may be secret, and are no part of what a sign-in is for.
        whole = httpx2.URL(context.settings.url or "")
        self._url = str(whole.copy_with(userinfo=b"", query=None))
        self._sender, self._context, self._files = sender, context, kept
        self._lock = asyncio.Lock()
        self._kept: _KeptTokens | None = None
        self._port = 0
        self._provider: OAuthClientProvider

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises ``ServerFailed`` where a sign-in is wanted and fails."""
        if self._kept is None:
            self._kept = await self._read()
        used, response = await self._attempt(request)
        # No stream in the background asks the user, and the end of a session asks nobody.
        ways = {"POST": (self._refresh, self._sign_in), "GET": (self._refresh,)}
        for renew in ways.get(request.method, ()):
            if not _is_refused(response):
                break
            async with self._lock:
                # Another request, or another program, may have renewed it.
                self._kept = await self._read()
                is_renewed = self._kept != used or await renew(request, response)
            if is_renewed:
                used, response = await self._attempt(request)
        return response

    async def _attempt(self, request: httpx2.Request) -> tuple[_KeptTokens | None, httpx2.Response]:
        kept = self._kept
        if kept:
            request.headers["Authorization"] = f"Bearer {kept.access_token}"
        response = await self._sender.send(request, stream=True, follow_redirects=False)
        if not _is_refused(response):
            return kept, response
        await response.aclose()
        said = {_CHALLENGE: response.headers.get(_CHALLENGE, "")}
        return kept, httpx2.Response(response.status_code, headers=said, request=request)

    # --- the library's client

    async def _refresh(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """Renew tokens without the user; false if that cannot be."""
        used = self._kept
        if response.status_code != HTTPStatus.UNAUTHORIZED or not used:
            return False
        provider = self._begin(used.port)
        provider.context.token_expiry_time = _EXPIRED
        await self._drive(request, None)
        return self._kept is not used

    async def _sign_in(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """Have the user sign in. Raises ``ServerFailed``."""
        if not self._context.may_sign_in:
            raise ServerFailed(WANTED)
        self._check(request.url)
        own = self._context.settings.client_id is not None
        port = self._context.settings.redirect_port if own else self._kept.port if self._kept else 0
        with self._context.paused():
            async with _listening(port, is_fixed=own) as redirect:
                provider = self._begin(redirect.port)
                provider.context.redirect_handler = redirect.expect
                provider.context.callback_handler = partial(self._ask, redirect)
                try:
                    await self._drive(request, response)
                except ServerFailed:
                    # Else the next request would ask at once again.
                    self._context.may_sign_in = False
                    raise
        return True

    def _begin(self, port: int) -> OAuthClientProvider:
        own, kept = self._context.settings.client_id, self._kept
        redirect = f"http://127.0.0.1:{port}{_PATH}"
        wanted = {"client_name": "sibyl-tui", "redirect_uris": [redirect]}
        document = own if is_valid_client_metadata_url(own) else None
        metadata = OAuthClientMetadata.model_validate(wanted)
        # A client is registered with its port.
        self._port = port
        self._provider = OAuthClientProvider(
            self._url, metadata, self, client_metadata_url=document
        )
        context = self._provider.context
        # Else it would refresh at another place.
        context.oauth_metadata = kept.server if kept else None
        if kept and kept.resource:
            context.protected_resource_metadata = kept.resource
            context.auth_server_url = str(kept.resource.authorization_servers[0])
        return self._provider

    async def _drive(self, request: httpx2.Request, refused: httpx2.Response | None) -> None:
        """Send the requests of the library's flow, but not the one that was ``refused``."""
        flow = self._provider.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            if outgoing is request and refused is not None:
                outgoing = await flow.asend(refused)
            while outgoing is not request:
                outgoing = await flow.asend(await self._fetch(outgoing))
        except (OAuthFlowError, httpx2.TransportError, ValueError) as error:
            raise ServerFailed(f"Signing in failed ({error})") from None
        finally:
            await flow.aclose()

    async def _fetch(self, outgoing: httpx2.Request) -> httpx2.Response:
        self._check(outgoing.url)
        # Some servers answer no request without a name, and one gives tokens in another form.
        outgoing.headers["User-Agent"] = _OURS
        outgoing.headers["Accept"] = "application/json"
        outgoing.headers["Accept-Encoding"] = "identity"
        try:
            async with asyncio.timeout(_FETCH_SECONDS):
                response = await self._sender.send(outgoing, stream=True, follow_redirects=False)
                data = await read_body(response, _LONGEST_REPLY)
        except TimeoutError:
            raise ServerFailed(f"{outgoing.url.host} did not answer in time") from None
        if data is None:
            raise ServerFailed(f"{outgoing.url.host} sent too long a reply")
        headers = {"content-type": response.headers.get("content-type", "")}
        read = httpx2.Response(
            response.status_code, headers=headers, content=data, request=outgoing
        )
        read.next_request = response.next_request
        return read

    def _check(self, url: httpx2.URL) -> None:
        """Raise ``ServerFailed`` for an address at which nothing secret may be said."""
        is_local = is_loopback(url.host) and is_loopback(httpx2.URL(self._url).host)
        if url.scheme != "https" and not (url.scheme == "http" and is_local):
            raise ServerFailed(f"It wants a sign-in at {url.host}, which is not https")
        if not is_shown_whole(str(url)):
            raise ServerFailed("It wants a sign-in at an address that cannot be shown")

    async def _ask(self, redirect: "_Redirect") -> AuthorizationCodeResult:
        """Show the address until the user has signed in there, or refuses."""
        self._check(httpx2.URL(redirect.opened))
        server, host = self._context.server, urlsplit(redirect.opened).hostname
        at = httpx2.URL(self._url).host
        words = f'The server "{server}" at {at} wants you to sign in at {host}.'
        question = ServerQuestion(server, "sign-in", words, address=redirect.opened)
        asking = asyncio.create_task(self._context.put(question))
        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                await asyncio.wait({asking, redirect.arrived}, return_when=asyncio.FIRST_COMPLETED)
                if not redirect.arrived.done() and asking.result() is None:
                    raise ServerFailed("You have not signed in; s in /tools asks again")
                found = await redirect.arrived
        except TimeoutError:
            minutes = SIGN_IN_SECONDS / 60
            raise ServerFailed(f"Nobody signed in within {minutes:g} minutes") from None
        finally:
            asking.cancel()
            await asyncio.wait({asking})
        if "code" not in found:
            reason = found.get("error_description") or found.get("error", "no code was given")
            raise ServerFailed(f"{host} refused the sign-in ({reason})")
        return AuthorizationCodeResult.model_validate(found)

    # --- what is kept, as the library asks for it

    async def _read(self) -> _KeptTokens | None:
        try:
            found = await asyncio.to_thread(self._files.read, self._context.server)
        except StorageError as error:
            if not self._context.may_sign_in:
                raise ServerFailed(str(error)) from None
            # Signing in anew replaces the file.
            return None
        with suppress(ValueError):
            kept = _KeptTokens.model_validate(found)
            # A sign-in is for one address.
            return kept if kept.address == self._url else None
        return None

    async def get_tokens(self) -> OAuthToken | None:
        return self._kept

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self._provider.context
        kept = _KeptTokens.model_validate(
            {
                **tokens.model_dump(),
                "address": self._url,
                "port": self._port,
                "client": context.client_info,
                "server": context.oauth_metadata,
                "resource": context.protected_resource_metadata,
            }
        )
        said = kept.model_dump(mode="json", exclude_none=True)
        try:
            await asyncio.to_thread(self._files.write, self._context.server, said)
        except StorageError as error:
            raise ServerFailed(str(error)) from None
        self._kept = kept

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        own, secret = self._context.settings.client_id, self._context.settings.client_secret
        kept = self._kept
        if kept and (own == kept.client.client_id if own else kept.port == self._port):
            return kept.client
        if own is None or is_valid_client_metadata_url(own):
            return None
        method = "client_secret_basic" if secret else "none"
        return OAuthClientInformationFull(
            client_id=own, client_secret=secret, token_endpoint_auth_method=method
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """It is kept with the tokens."""


async def read_body(response: httpx2.Response, limit: int) -> bytes | None:
    """Read a body, and close the reply; ``None`` if it is longer than allowed."""
    data = bytearray()
    try:
        async for part in response.aiter_raw():
            data += part
            if len(data) > limit:
                return None
        return bytes(data)
    finally:
        await response.aclose()


def _is_refused(response: httpx2.Response) -> bool:
    """True where a sign-in, or one for more, would help."""
    if response.status_code == HTTPStatus.FORBIDDEN:
        return extract_field_from_www_auth(response, "error") == "insufficient_scope"
    return response.status_code == HTTPStatus.UNAUTHORIZED


class _Redirect:
    """The place to which the browser is sent back."""

    def __init__(self) -> None:
        self.port = 0
        self.opened = ""
        self.arrived: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._state = ""

    async def expect(self, address: str) -> None:
        """Wait for the redirect of this address: any other one counts for nothing."""
        self.opened = address
        self._state = parse_qs(urlsplit(address).query)["state"][0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a request of the browser, or of whoever else."""
        status, words = "404 Not Found", "Nothing is here."
        with suppress(OSError, ValueError, EOFError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_READ_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            verb, target, *_ = head.decode("latin-1").split(" ", 2)
            parts = urlsplit(target)
            found = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if (verb, parts.path) == ("GET", _PATH) and found.get("state") == self._state:
                status = "200 OK"
                words = "You have signed in." if "code" in found else "Not signed in."
                if not self.arrived.done():
                    self.arrived.set_result(found)
        page = _PAGE.format(words).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + page)
        with suppress(OSError):
            await writer.drain()
        writer.close()


@asynccontextmanager
async def _listening(port: int, *, is_fixed: bool) -> AsyncGenerator[_Redirect]:
    """Listen on loopback, on another port if the wanted one is in use and not ``is_fixed``."""
    redirect = _Redirect()
    try:
        server = await asyncio.start_server(redirect.serve, "127.0.0.1", port)
    except OSError as error:
        if is_fixed:
            raise ServerFailed(
                f"Port {port} of this machine is in use ({error.strerror})"
            ) from None
        server = await asyncio.start_server(redirect.serve, "127.0.0.1", 0)
    redirect.port = server.sockets[0].getsockname()[1]
    try:
        yield redirect
    finally:
        # A browser may hold more connections, which nobody waits for.
        server.close()
