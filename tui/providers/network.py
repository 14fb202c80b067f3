"""The way to a server, by the environment and the configuration, and why it led to no reply.

Proxies are chosen as curl does: ``https_proxy``, ``http_proxy`` (in small letters only: a web
server sets the other one for its scripts), ``all_proxy`` and ``no_proxy``.
"""

import os
import socket
import ssl
from base64 import b64encode
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from tui.domain.providers import Provider
from tui.errors import ModelUnavailable
from tui.providers.catalog import install_command
from tui.providers.secret import Secret
from tui.providers.server_words import causes, is_page, reason_of

_FOR_ALL = ("all_proxy", "ALL_PROXY")
_VARIABLES = {"http": ("http_proxy", *_FOR_ALL), "https": ("https_proxy", "HTTPS_PROXY", *_FOR_ALL)}
_SETTING = "proxy in config.toml"
_LOOPBACK = ("localhost", "127.0.0.0/8", "::1")
# The port of a proxy whose address has none.
_PORTS = {"http": 1080, "https": 443, "socks5": 1080, "socks5h": 1080}

LOGIN_REQUIRED = 511
_PROXY_WANTS_USER = 407
_FORBIDDEN = 403
_OF_A_PROXY = frozenset({_FORBIDDEN, 502, 503, 504})

# OpenSSL's codes of faults of a certificate.
_NOT_VALID_NOW = {9: "is not valid yet", 10: "has expired"}
_OTHER_NAME = frozenset({62, 63, 64})

# OpenSSL's names of a reply that is not TLS, and of the alerts with which a server refuses.
_NO_TLS = frozenset({"HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "WRONG_VERSION_NUMBER"})
_WANTS_CERTIFICATE = ("ALERT_CERTIFICATE_REQUIRED", "ALERT_HANDSHAKE_FAILURE")
_REFUSES_CERTIFICATE = ("ALERT_BAD_CERTIFICATE", "ALERT_CERTIFICATE_UNKNOWN", "ALERT_UNKNOWN_CA")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, shown without its user and password."""

    name: str
    """Its host and port, as it is shown."""
    source: str
    """The variable or the setting that names it."""
    url: httpx2.URL = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name} (from {self.source})"

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The password, in each form in which a server could repeat it."""
        user, password = self.url.username, self.url.password
        basic = b64encode(f"{user}:{password}".encode()).decode("ascii")
        written = self.url.userinfo.decode("ascii").partition(":")[2]
        texts = [password, written, basic] if password else []
        return tuple(Secret(text, self.source) for text in texts)


@dataclass(frozen=True, slots=True)
class Route:
    """The way to a server."""

    address: str
    proxy: Proxy | None
    certificates: ssl.SSLContext = field(repr=False)
    http_proxy: httpx2.Proxy | None = field(repr=False)
    """The proxy, as the library has it."""

    @property
    def host(self) -> str:
        """The name and the port of the server."""
        return urlsplit(self.address).netloc

    @property
    def first(self) -> str:
        """The side that is connected to, at the beginning of a sentence."""
        return f"The proxy {self.proxy}" if self.proxy else self.host

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The texts of the proxy's address that are never shown."""
        return self.proxy.secrets if self.proxy else ()

    @property
    def through(self) -> str:
        """A further sentence that names the proxy."""
        return f" {self.host} is asked through the proxy {self.proxy}." if self.proxy else ""

    def transport(self) -> httpx2.AsyncHTTPTransport:
        """Open a transport for one client."""
        return httpx2.AsyncHTTPTransport(verify=self.certificates, proxy=self.http_proxy)


def route_to(server: Provider, environ: Mapping[str, str] = os.environ) -> Route:
    """Choose the way to a server.

    Reads the certificates, so call it in a thread. Raises ``ModelUnavailable`` for an address or
    a file that cannot be used.
    """
    proxy = proxy_for(server.base_url, environ, server.proxy)
    secure = "https" in {urlsplit(server.base_url).scheme, proxy.url.scheme if proxy else ""}
    # Without TLS, a wrong file does no harm.
    trusted = _certificates(environ, server) if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    http_proxy = None
    if proxy:
        with_tls = proxy.url.scheme == "https"
        http_proxy = httpx2.Proxy(proxy.url, ssl_context=trusted if with_tls else None)
    return Route(server.base_url, proxy, trusted, http_proxy)


# --- proxies


def proxy_for(
    address: str, environ: Mapping[str, str], configured: str | None = None
) -> Proxy | None:
    """Choose the proxy for a server: the configured one, ``""`` for none, or the environment's.

    This machine is always asked directly. Raises ``ModelUnavailable`` if it has no usable address.
    """
    server = urlsplit(address)
    said, source = configured, _SETTING
    if said is None:
        names = _VARIABLES.get(server.scheme, _FOR_ALL)
        said, source = next(
            ((environ[each], each) for each in names if environ.get(each)), ("", "")
        )
    # Names may be separated by blanks, too.
    exempt = (environ.get("no_proxy") or environ.get("NO_PROXY") or "").replace(",", " ").split()
    places = [*_LOOPBACK, *exempt]
    if not said or exempt == ["*"] or any(_is_in(each, server.hostname or "") for each in places):
        return None
    return _proxy(said.strip(), source)


def _is_in(place: str, host: str) -> bool:
    """True for a host in a domain such as ``.example.com``, or a network such as ``10.0.0.0/8``."""
    if f".{host}".endswith(f".{place.lower().strip('.')}"):
        return True
    try:
        return ip_address(host) in ip_network(place.strip("[]"), strict=False)
    except ValueError:
        return False


def _proxy(said: str, source: str) -> Proxy:
    address = said if "://" in said else f"http://{said}"
    url = None
    with suppress(KeyError, ValueError, httpx2.InvalidURL):
        parts = urlsplit(address)
        whole = httpx2.URL(address).copy_with(port=parts.port or _PORTS[parts.scheme])
        # A password with an unquoted / or # begins the path: what is before that is no host.
        if whole.host and "@" not in f"{parts.path}{parts.query}{parts.fragment}":
            url = whole
    if url is None or url.scheme not in _PORTS:
        # What is wrong in it may be a part of the password.
        raise ModelUnavailable(
            f"The address of the proxy (from {source}) cannot be used. Write it like"
            " http://proxy.example:3128; in a password, write # as %23, / as %2F and @ as %40."
        )
    # Without its user.
    name = url.netloc.decode("ascii")
    if url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise ModelUnavailable(
            f"The proxy {name} (from {source}) is a SOCKS proxy, whose library is not installed."
            f" Run: {install_command('socks')}"
        )
    return Proxy(name, source, url)


# --- certificates


def _certificates(environ: Mapping[str, str], server: Provider) -> ssl.SSLContext:
    """Read the certificates that are trusted: the system's, and those of ``SSL_CERT_FILE``.

    Also those of the directories in ``SSL_CERT_DIR``, and the one to show to the server. Raises
    ``ModelUnavailable`` for a file that cannot be used: the library names neither it nor who
    asked for it.
    """
    context = httpx2.create_ssl_context(trust_env=False)
    if file := environ.get("SSL_CERT_FILE"):
        with _usable(file, "SSL_CERT_FILE", "certificates in PEM form"):
            context.load_verify_locations(cafile=file)
    if directories := environ.get("SSL_CERT_DIR"):
        # OpenSSL reads them when it looks for a certificate, and ignores those that are not there.
        context.load_verify_locations(capath=directories)
    if file := server.client_certificate:
        source = "client_certificate in config.toml"
        expected = "a certificate and its key in PEM form, without a password"
        for each in filter(None, [server.client_key, file]):
            with _usable(each, source, expected), Path(each).open("rb"):
                pass
        with _usable(file, source, expected):
            # Without a password here, the library would ask for one on the terminal.
            context.load_cert_chain(file, server.client_key, password="")
    return context


@contextmanager
def _usable(file: str, source: str, expected: str) -> Generator[None]:
    """Say which file cannot be used, who names it, and why."""
    try:
        yield
    except ssl.SSLError:
        reason = f"expected {expected}"
    except OSError as error:
        reason = os.strerror(error.errno or 0)
    else:
        return
    raise ModelUnavailable(f"The file {file} (from {source}) cannot be used: {reason}.")


# --- requests without a reply, and replies of somebody on the way


class NoReply(Exception):
    """A request without a reply. ``words`` quote nobody but the operating system and the proxy.

    ``passes`` is true if the next attempt may succeed.
    """

    def __init__(self, words: str, *, passes: bool = True) -> None:
        super().__init__(words)
        self.words = words
        self.passes = passes


# The first that fits: a wrong certificate is an SSL error, too.
_REASONS = (
    httpx2.ConnectTimeout,
    httpx2.ProxyError,
    ssl.SSLCertVerificationError,
    ssl.SSLError,
    socket.gaierror,
    ConnectionRefusedError,
    httpx2.ConnectError,
    httpx2.InvalidURL,
)


def explained(error: BaseException, route: Route, seconds: float) -> NoReply:
    """Say why a server did not reply; ``seconds`` limited the connecting."""
    below = causes(error)
    # Without the library's words, which may quote a header.
    hung_up = f"{route.host} closed the connection without an answer.{route.through}"
    match next((each for kind in _REASONS for each in below if isinstance(each, kind)), None):
        case httpx2.ConnectTimeout():
            words = f"{route.first} cannot be reached: no connection within {seconds:g} seconds."
            return NoReply(words, passes=False)
        case httpx2.ProxyError() as refusal:
            return _by_proxy(str(refusal), route)
        case ssl.SSLCertVerificationError() as fault:
            return NoReply(_untrusted(fault, route) + route.through, passes=False)
        case ssl.SSLError() as fault:
            return NoReply(_insecure(fault, route) + route.through, passes=False)
        case socket.gaierror():
            name = f"of the proxy {route.proxy}" if route.proxy else route.host
            return NoReply(f"The name {name} was not found. Check the address and the network.")
        case ConnectionRefusedError():
            asked = "Is it running?" if route.proxy else "Is the server running?"
            return NoReply(f"{route.first} refused the connection. {asked}")
        case httpx2.ConnectError():
            systems = [each for each in below if isinstance(each, OSError) and each.errno]
            if not systems or isinstance(systems[-1], ConnectionResetError):
                # Connected, and then no TLS.
                return NoReply(hung_up)
            return NoReply(f"{route.first} cannot be reached ({reason_of(error)}).")
        case httpx2.InvalidURL():
            words = f"{route.host} is not the address of a server."
            return NoReply(words, passes=False)
        case _:
            return NoReply(hung_up)


def _by_proxy(said: str, route: Route) -> NoReply:
    """Explain a proxy's reply to the request for a connection: a status, and its words."""
    number = said.partition(" ")[0]
    status = int(number) if number.isdecimal() else 0
    if status == _PROXY_WANTS_USER and route.proxy:
        return NoReply(_wanted_by(route.proxy), passes=False)
    reason = f"status {status}" if status else said.rstrip(".")
    done = "could not connect" if status >= 500 else "refused to connect"
    words = f"{route.first} {done} to {route.host} ({reason})."
    return NoReply(words, passes=status >= 500)


def _wanted_by(proxy: Proxy) -> str:
    if proxy.url.username:
        return f"The proxy {proxy} refused the user and password of its address (status 407)."
    return (
        f"The proxy {proxy} requires a user and a password (status 407). Write them into its"
        " address: http://USER:PASSWORD@HOST:PORT"
    )


def _untrusted(error: ssl.SSLCertVerificationError, route: Route) -> str:
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
    return f"The certificate of {route.host} {words}"


def _insecure(error: ssl.SSLError, route: Route) -> str:
    name = error.reason or ""
    spelled = name.replace("_", " ").lower()
    if name in _NO_TLS:
        return f"{route.host} does not speak TLS. Try its address with http:// and not https://."
    if name.endswith(_WANTS_CERTIFICATE):
        return (
            f"{route.host} requires a certificate of this machine. Name its file as"
            " client_certificate in config.toml."
        )
    if name.endswith(_REFUSES_CERTIFICATE):
        return f"{route.host} refused the certificate of this machine ({spelled})."
    return f"No secure connection to {route.host} ({spelled or error})."


def intercepted(status: int, route: Route, *, is_page: bool) -> str | None:
    """Explain a refusal that somebody on the way may have made in the server's place."""
    if status == LOGIN_REQUIRED:
        return (
            f"The network on the way to {route.host} requires a login (status {status}). Open its"
            f" login page in a browser.{route.through}"
        )
    if route.proxy is None or urlsplit(route.address).scheme == "https":
        # Nobody on the way can make a reply, but those whose certificates are trusted.
        if is_page and status == _FORBIDDEN:
            return (
                f"{route.host} refused the request (status {status}) with a web page: a firewall"
                f" or a proxy of the network may be in the way.{route.through}"
            )
        return None
    if status == _PROXY_WANTS_USER:
        return _wanted_by(route.proxy)
    if is_page and status in _OF_A_PROXY:
        done = "refused the request" if status < 500 else "failed"
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
    elsewhere = False
    with suppress(ValueError):
        elsewhere = urlsplit(location).hostname not in {None, urlsplit(route.address).hostname}
    if not (elsewhere or is_page(text)):
        return ""
    return " If it is a login page of the network, open that in a browser first."
