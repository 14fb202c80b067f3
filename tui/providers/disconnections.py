"""Requests that get no reply: the reason for the user, and whether a retry may help."""

import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tui.providers.network import Proxy, Route
from tui.providers.server_words import causes, is_page, reason_of

_PROXY_WANTS_USER = 407
_SERVER_ERRORS = 500
_FORBIDDEN = 403
LOGIN_REQUIRED = 511
_OF_A_PROXY = frozenset({_FORBIDDEN, 502, 503, 504})

# OpenSSL's codes of faults of a certificate.
_NOT_VALID_NOW = {9: "is not valid yet", 10: "has expired"}
_OTHER_NAME = frozenset({62, 63, 64})

# OpenSSL's names of a reply that is not TLS, and of the alerts with which a server refuses.
_NO_TLS = frozenset({"HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "WRONG_VERSION_NUMBER"})
_WANTS_CERTIFICATE = ("ALERT_CERTIFICATE_REQUIRED", "ALERT_HANDSHAKE_FAILURE")
_REFUSES_CERTIFICATE = ("ALERT_BAD_CERTIFICATE", "ALERT_CERTIFICATE_UNKNOWN", "ALERT_UNKNOWN_CA")


@dataclass(frozen=True, slots=True)
class Disconnection:
    """A request without a reply."""

    words: str
    """The sentence for the user; it quotes nobody but the operating system and the proxy."""
    passes: bool = True
    """True if the next attempt may succeed."""


def explained(error: BaseException, route: Route, seconds: float) -> Disconnection:
    """Say why a server did not reply; ``seconds`` limited the connecting."""
    below = causes(error)
    if any(isinstance(each, httpx2.ConnectTimeout) for each in below):
        words = f"{route.first} cannot be reached: no connection within {seconds:g} seconds."
        return Disconnection(words, passes=False)
    for kind, explain in _EXPLANATIONS:
        for cause in below:
            if isinstance(cause, kind):
                return explain(cause, route)
    return _hung_up(route)


def intercepted(status: int, route: Route, *, is_page: bool) -> str | None:
    """Explain a refusal that somebody on the way may have made in the server's place."""
    if status == LOGIN_REQUIRED:
        return (
            f"The network on the way to {route.host} requires a login (status {status}). Open its"
            f" login page in a browser.{route.through}"
        )
    if route.proxy is None or route.is_secure:
        if is_page and status == _FORBIDDEN:
            return (
                f"{route.host} refused the request (status {status}) with a web page: a firewall"
                f" or a proxy of the network may be in the way.{route.through}"
            )
        return None
    if status == _PROXY_WANTS_USER:
        return _wanted_by(route.proxy)
    if is_page and status in _OF_A_PROXY:
        done = "refused the request" if status < _SERVER_ERRORS else "failed"
        return f"{route.first}, or {route.host} behind it, {done} (status {status})."
    return None


def web_page(route: Route, wanted: str, form: str) -> str:
    """Explain a web page where something else was ``wanted``; ``form`` is that of addresses."""
    return (
        f"{route.host} sent a web page instead of {wanted}: the address is wrong ({form}), or a"
        f" login page of the network or a proxy is in the way.{route.through}"
    )


def login_hint(route: Route, location: str, text: str) -> str:
    """A further sentence about a redirect to a web page, or to another host."""
    if not (is_page(text) or _leads_away(route, location)):
        return ""
    return " If it is a login page of the network, open that in a browser first."


def _leads_away(route: Route, location: str) -> bool:
    try:
        return urlsplit(location).hostname not in {None, urlsplit(route.address).hostname}
    except ValueError:
        return False


def _hung_up(route: Route) -> Disconnection:
    # Without the library's words, which may quote a header.
    return Disconnection(f"{route.host} closed the connection without an answer.{route.through}")


def _wanted_by(proxy: Proxy) -> str:
    if proxy.has_user:
        return f"The proxy {proxy} refused the user and password of its address (status 407)."
    return (
        f"The proxy {proxy} requires a user and a password (status 407). Write them into its"
        " address: http://USER:PASSWORD@HOST:PORT"
    )


def _by_proxy(error: httpx2.ProxyError, route: Route) -> Disconnection:
    """Explain a proxy's reply to the request for a connection: a status, and its words."""
    said = str(error)
    number = said.partition(" ")[0]
    status = int(number) if number.isdecimal() else 0
    if status == _PROXY_WANTS_USER and route.proxy:
        return Disconnection(_wanted_by(route.proxy), passes=False)
    reason = f"status {status}" if status else said.rstrip(".")
    words = f"{route.first} refused to connect to {route.host} ({reason})."
    if status < _SERVER_ERRORS:
        return Disconnection(words, passes=False)
    return Disconnection(f"{route.first} could not connect to {route.host} ({reason}).")


def _untrusted(error: ssl.SSLCertVerificationError, route: Route) -> Disconnection:
    code = error.verify_code
    if code in _NOT_VALID_NOW:
        today = datetime.now(UTC).astimezone().strftime("%Y-%m-%d")
        words = f"{_NOT_VALID_NOW[code]}, or the date of this machine is wrong: it is {today} here."
    elif code in _OTHER_NAME:
        words = (
            "is that of another server. Check the address; if your network has a login page, open"
            " that first."
        )
    else:
        words = (
            f"is not trusted on this machine ({error.verify_message}). If your network has a"
            " certificate authority of its own, name its file in SSL_CERT_FILE."
        )
    return Disconnection(f"The certificate of {route.host} {words}{route.through}", passes=False)


def _insecure(error: ssl.SSLError, route: Route) -> Disconnection:
    name = error.reason or ""
    if name in _NO_TLS:
        words = f"{route.host} does not speak TLS. Try its address with http:// and not https://."
    elif name.endswith(_WANTS_CERTIFICATE):
        words = (
            f"{route.host} requires a certificate of this machine. Name its file as"
            " client_certificate in config.toml."
        )
    elif name.endswith(_REFUSES_CERTIFICATE):
        words = f"{route.host} refused the certificate of this machine ({_spelled(name)})."
    else:
        words = f"No secure connection to {route.host} ({_spelled(name) or error})."
    return Disconnection(words + route.through, passes=False)


def _spelled(name: str) -> str:
    """The words of OpenSSL's name of an error."""
    return name.replace("_", " ").lower()


def _unknown(_error: socket.gaierror, route: Route) -> Disconnection:
    name = f"of the proxy {route.proxy}" if route.proxy else route.host
    return Disconnection(f"The name {name} was not found. Check the address and the network.")


def _closed(_error: ConnectionRefusedError, route: Route) -> Disconnection:
    asked = "Is it running?" if route.proxy else "Is the server running?"
    return Disconnection(f"{route.first} refused the connection. {asked}")


def _unreachable(error: httpx2.ConnectError, route: Route) -> Disconnection:
    below = [each for each in causes(error) if isinstance(each, OSError) and each.errno]
    if not below or isinstance(below[-1], ConnectionResetError):
        # Connected, and then no TLS.
        return _hung_up(route)
    return Disconnection(f"{route.first} cannot be reached ({reason_of(error)}).")


def _no_address(_error: httpx2.InvalidURL, route: Route) -> Disconnection:
    return Disconnection(f"{route.host} is not the address of a server.", passes=False)


# The first that fits: a wrong certificate is an SSL error, too.
_EXPLANATIONS: Sequence[tuple[type[BaseException], Callable[[Any, Route], Disconnection]]] = (
    (httpx2.ProxyError, _by_proxy),
    (ssl.SSLCertVerificationError, _untrusted),
    (ssl.SSLError, _insecure),
    (socket.gaierror, _unknown),
    (ConnectionRefusedError, _closed),
    (httpx2.ConnectError, _unreachable),
    (httpx2.InvalidURL, _no_address),
)
