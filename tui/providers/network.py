"""The way to a server: its proxy and certificates, by the environment and the configuration.

Proxies are chosen as curl does: ``https_proxy``, ``http_proxy`` (in small letters only: a web
server sets the other one for its scripts), ``all_proxy`` and ``no_proxy``.
"""

import os
import ssl
from base64 import b64encode
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import httpx2

from tui.domain.providers import Provider
from tui.errors import ModelUnavailable
from tui.providers.catalog import install_command
from tui.providers.secret import Secret

_FOR_ALL = ("all_proxy", "ALL_PROXY")
_VARIABLES = {
    "http": ("http_proxy", *_FOR_ALL),
    "https": ("https_proxy", "HTTPS_PROXY", *_FOR_ALL),
}
_SETTING = "proxy in config.toml"
_LOOPBACK = ("127.0.0.0/8", "::1")
# The port of a proxy whose address has none.
_PORTS = {"http": 1080, "https": 443, "socks5": 1080, "socks5h": 1080}


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
    def has_user(self) -> bool:
        """True if its address has a user."""
        return bool(self.url.username)

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

    @property
    def host(self) -> str:
        """The name and the port of the server."""
        return urlsplit(self.address).netloc

    @property
    def is_secure(self) -> bool:
        """True if nobody on the way can read or change a reply."""
        return urlsplit(self.address).scheme == "https"

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
        return httpx2.AsyncHTTPTransport(verify=self.certificates, proxy=self._proxy())

    def blocking_transport(self) -> httpx2.HTTPTransport:
        """Open a transport for one client that runs in a thread."""
        return httpx2.HTTPTransport(verify=self.certificates, proxy=self._proxy())

    def _proxy(self) -> httpx2.Proxy | None:
        if self.proxy is None:
            return None
        secure = self.proxy.url.scheme == "https"
        return httpx2.Proxy(self.proxy.url, ssl_context=self.certificates if secure else None)


def route_to(server: Provider, environ: Mapping[str, str] = os.environ) -> Route:
    """Choose the way to a server.

    Reads the certificates, so call it in a thread. Raises ``ModelUnavailable`` for an address or
    a file that cannot be used.
    """
    proxy = proxy_for(server.base_url, environ, server.proxy)
    secure = "https" in {urlsplit(server.base_url).scheme, proxy.url.scheme if proxy else ""}
    # Without TLS, a wrong file does no harm.
    trusted = certificates(environ, server) if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return Route(server.base_url, proxy, trusted)


# --- proxies


def proxy_for(
    address: str, environ: Mapping[str, str], configured: str | None = None
) -> Proxy | None:
    """Choose the proxy for a server: the configured one, ``""`` for none, or the environment's.

    This machine is always asked directly. Raises ``ModelUnavailable`` if it has no usable address.
    """
    server = urlsplit(address)
    said, source = _said(server.scheme, environ) if configured is None else (configured, _SETTING)
    if not said or _is_direct(server, environ):
        return None
    return _proxy(said, source)


def _said(scheme: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The address of a proxy in the environment, and its variable."""
    names = _VARIABLES.get(scheme, _FOR_ALL)
    return next(((environ[name], name) for name in names if environ.get(name)), ("", ""))


def _is_direct(server: SplitResult, environ: Mapping[str, str]) -> bool:
    host = server.hostname or ""
    # Names may be separated by blanks, too.
    exempt = (environ.get("no_proxy") or environ.get("NO_PROXY") or "").replace(",", " ").split()
    return (
        _is_loopback(host)
        or exempt == ["*"]
        or any(_has_name(name, host) or _has_address(name, host) for name in exempt)
    )


def _is_loopback(host: str) -> bool:
    return _has_name("localhost", host) or any(_has_address(each, host) for each in _LOOPBACK)


def _has_name(domain: str, host: str) -> bool:
    """True if the host is a domain, such as ``example.com`` or ``.example.com``, or within it."""
    return f".{host}".endswith(f".{domain.lower().strip('.')}")


def _has_address(network: str, host: str) -> bool:
    """True if the host is an address in a network such as ``10.0.0.0/8``."""
    try:
        return ip_address(host) in ip_network(network.strip("[]"), strict=False)
    except ValueError:
        return False


def _proxy(said: str, source: str) -> Proxy:
    address = said.strip() if "://" in said else f"http://{said.strip()}"
    url = _url(address)
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


def _url(address: str) -> httpx2.URL | None:
    """Parse the address of a proxy, and complete its port; ``None`` if that is wrong."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme)
        url = httpx2.URL(address).copy_with(port=port)
    except (ValueError, httpx2.InvalidURL):
        return None
    # A password with an unquoted / or # begins the path: what is before that is no host.
    return url if url.host and "@" not in f"{parts.path}{parts.query}{parts.fragment}" else None


# --- certificates


def certificates(environ: Mapping[str, str], server: Provider) -> ssl.SSLContext:
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
    if server.client_certificate:
        _load_own(context, server.client_certificate, server.client_key)
    return context


def _load_own(context: ssl.SSLContext, file: str, key_file: str | None) -> None:
    expected = "a certificate and its key in PEM form, without a password"
    source = "client_certificate in config.toml"
    for each in filter(None, [key_file, file]):
        with _usable(each, source, expected), Path(each).open("rb"):
            pass
    with _usable(file, source, expected):
        # Without a password here, the library would ask for one on the terminal.
        context.load_cert_chain(file, key_file, password="")


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
