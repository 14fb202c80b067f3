"""Servers that are asked through a proxy, and what is said where that fails."""

import base64
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.authority import Authority
from tests.providers.chat_server import ChatServer, refuses, sends
from tests.providers.conftest import KEY, Ask
from tests.providers.relay import ForwardProxy, SocksProxy, TlsFront
from tui.domain.providers import Provider
from tui.errors import ModelError

PLAIN = "http://model.example:8080/v1"
PAGE = b"<!doctype html><title>Log in</title>"
SECURE = "https://model.example/v1"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(models=["m"], key=KEY) as server:
        yield server


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """One that is trusted."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", authority.file)
    return authority


async def failed(ask: Ask, proxy: ForwardProxy | str, address: str = PLAIN) -> str:
    place = proxy if isinstance(proxy, str) else proxy.root
    with pytest.raises(ModelError) as caught:
        await ask(Provider("far", base_url=address, proxy=place))
    return str(caught.value)


class TestAServer:
    async def test_is_asked_through_the_proxy_of_the_configuration(self, ask: Ask, server):
        with ForwardProxy(server.port) as proxy:
            await ask(Provider("far", base_url=PLAIN, proxy=proxy.root))
        assert len(proxy.log) == 1
        assert f" {PLAIN}/" in proxy.log[0]

    async def test_is_asked_through_the_proxy_of_the_environment(
        self, ask: Ask, server, monkeypatch
    ):
        with ForwardProxy(server.port) as proxy:
            monkeypatch.setenv("http_proxy", proxy.root)
            await ask(Provider("far", base_url=PLAIN))
        assert len(proxy.log) == 1

    async def test_is_asked_through_a_tunnel_if_it_speaks_tls(
        self, ask: Ask, server, authority, monkeypatch
    ):
        tls = authority.server("model.example")
        with ForwardProxy(server.port, tls) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.root)
            await ask(Provider("far", base_url=SECURE))
        assert proxy.log == ["CONNECT model.example:443"]
        # The proxy is not told the key.
        assert KEY not in proxy.heads[0]

    async def test_of_this_machine_is_asked_directly(self, ask: Ask, server, monkeypatch):
        with ForwardProxy(server.port) as proxy:
            for name in ("http_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.root)
            await ask(Provider("near", base_url=server.base_url, proxy=proxy.root))
        assert proxy.log == []

    async def test_is_asked_through_a_proxy_that_speaks_socks(self, ask: Ask, server):
        with SocksProxy(server.port) as proxy:
            await ask(Provider("far", base_url=PLAIN, proxy=proxy.root))
        assert proxy.log == ["model.example:8080"]

    @pytest.mark.parametrize("address", [PLAIN, SECURE])
    async def test_is_asked_through_a_proxy_that_speaks_tls_itself(
        self, ask: Ask, server, authority, address: str
    ):
        tls = authority.server("model.example") if address == SECURE else None
        with (
            ForwardProxy(server.port, tls) as proxy,
            TlsFront(proxy.port, authority.server("127.0.0.1")) as front,
        ):
            await ask(Provider("far", base_url=address, proxy=f"https://{front.place}"))
        assert len(proxy.log) == 1

    @pytest.mark.parametrize("address", [PLAIN, SECURE])
    async def test_is_asked_with_the_user_of_the_proxy(
        self, ask: Ask, server, authority, address: str
    ):
        tls = authority.server("model.example") if address == SECURE else None
        with ForwardProxy(server.port, tls, user="me:pa#ss") as proxy:
            place = f"http://me:pa%23ss@{proxy.place}"
            await ask(Provider("far", base_url=address, proxy=place))
        assert all(
            "proxy-" not in name
            for each in server.questions + server.requests
            for name in each.headers
        )


class TestAProxy:
    @pytest.mark.parametrize("address", [PLAIN, SECURE])
    async def test_that_wants_a_user_is_told(self, ask: Ask, server, address: str):
        with ForwardProxy(server.port, user="me:secret") as proxy:
            said = await failed(ask, proxy, address)
            assert len(proxy.log) == 1
        assert said == (
            f"The proxy {proxy.place} (from proxy in config.toml) requires a user and a password"
            " (status 407). Write them into its address: http://USER:PASSWORD@HOST:PORT"
        )

    @pytest.mark.parametrize("address", [PLAIN, SECURE])
    async def test_that_refuses_the_user_is_told_without_the_password(
        self, ask: Ask, server, address: str
    ):
        with ForwardProxy(server.port, user="me:secret") as proxy:
            said = await failed(ask, f"http://me:guessed@{proxy.place}", address)
        assert said == (
            f"The proxy {proxy.place} (from proxy in config.toml) refused the user and password of"
            " its address (status 407)."
        )

    @pytest.mark.parametrize(
        ("address", "status", "words"),
        [
            (SECURE, 403, "refused to connect to model.example (status 403)."),
            (SECURE, 502, "could not connect to model.example (status 502)."),
            (PLAIN, 403, "or model.example:8080 behind it, refused the request (status 403)."),
            (PLAIN, 503, "or model.example:8080 behind it, failed (status 503)."),
        ],
    )
    async def test_that_refuses_is_told(
        self, ask: Ask, server, address: str, status: int, words: str
    ):
        with ForwardProxy(server.port, refuses=status) as proxy:
            said = await failed(ask, proxy, address)
        assert said.startswith(f"The proxy {proxy.place} (from proxy in config.toml)")
        assert said.endswith(words)

    async def test_that_does_not_run_is_told(self, ask: Ask):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            place = f"127.0.0.1:{gone.getsockname()[1]}"
        assert await failed(ask, f"http://me:secret@{place}") == (
            f"The proxy {place} (from proxy in config.toml) refused the connection. Is it running?"
        )

    async def test_that_nobody_knows_is_told(self, ask: Ask, monkeypatch):
        def unknown(*_: object, **__: object) -> None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        assert (await failed(ask, "http://me:secret@proxy.example:3128")).startswith(
            "The name of the proxy proxy.example:3128 (from proxy in config.toml) was not found."
        )

    @pytest.mark.parametrize("address", [PLAIN, SECURE])
    async def test_that_hangs_up_is_told(self, ask: Ask, server, address: str):
        with ForwardProxy(server.port, dies_after=0) as proxy:
            said = await failed(ask, proxy, address)
        assert f"through the proxy {proxy.place} (from proxy in config.toml)." in said

    @pytest.mark.parametrize("address", [PLAIN, SECURE])
    async def test_that_hangs_up_in_the_middle_is_told(
        self, ask: Ask, server, authority, address: str
    ):
        tls = authority.server("model.example") if address == SECURE else None
        with ForwardProxy(server.port, tls, dies_after=90) as proxy:
            said = await failed(ask, proxy, address)
        assert " closed the connection " in said
        assert f"through the proxy {proxy.place} (from proxy in config.toml)." in said

    async def test_behind_which_a_server_fails_is_told(self, ask: Ask, authority):
        down = refuses(502, "Down.")
        tls = authority.server("model.example")
        with ChatServer(down, lists=[down]) as server, ForwardProxy(server.port, tls) as proxy:
            said = await failed(ask, proxy, SECURE)
        assert "failed with status 502" in said
        assert "It says: Down." in said
        assert said.endswith(f" through the proxy {proxy.place} (from proxy in config.toml).")

    async def test_has_a_password_that_is_not_shown_where_somebody_repeats_it(self, ask: Ask):
        basic = base64.b64encode(b"me:pa#ssword").decode()
        repeats = refuses(400, f"pa#ssword pa%23ssword {basic}")
        with ChatServer(repeats, lists=[repeats]) as server, ForwardProxy(server.port) as proxy:
            said = await failed(ask, f"http://me:pa%23ssword@{proxy.place}")
        assert "It says: [key] [key] [key]" in said

    async def test_that_opens_tls_is_told_as_an_authority_that_is_not_trusted(
        self, ask: Ask, server, tmp_path: Path
    ):
        tls = Authority(tmp_path).server("model.example")
        with ForwardProxy(server.port, tls) as proxy:
            said = await failed(ask, proxy, SECURE)
            assert len(proxy.log) == 1
        assert said == (
            "The certificate of model.example is not trusted on this machine (unable to get local"
            " issuer certificate). If your network has a certificate authority of its own, name"
            " its file in SSL_CERT_FILE. model.example is asked through the proxy"
            f" {proxy.place} (from proxy in config.toml)."
        )


class TestALoginPage:
    async def test_in_place_of_a_reply_is_told(self, ask: Ask):
        with ChatServer(sends(PAGE, "text/html"), lists=[sends(PAGE, "text/html")]) as server:
            said = await failed(ask, "", server.base_url)
        assert f"127.0.0.1:{server.port} sent a web page instead of " in said
        assert "or a login page of the network or a proxy is in the way." in said

    @pytest.mark.parametrize("page", [PAGE.decode(), ""])
    async def test_that_a_reply_leads_to_is_told(self, ask: Ask, page: str):
        moved = refuses(302, body=page, Location="http://login.example/")
        with ChatServer(moved, lists=[moved]) as server:
            said = await failed(ask, "", server.base_url)
        assert "redirects to http://login.example/. If that is right," in said
        assert said.endswith(" If it is a login page of the network, open that in a browser first.")

    async def test_that_the_network_requires_is_told(self, ask: Ask):
        page = refuses(511, body=PAGE.decode())
        with ChatServer(page, lists=[page]) as server:
            said = await failed(ask, "", server.base_url)
            assert len(server.requests + server.questions) == 1
        assert said == (
            f"The network on the way to 127.0.0.1:{server.port} requires a login (status 511). Open"
            " its login page in a browser."
        )

    async def test_with_which_somebody_refuses_is_no_refusal_of_the_key(self, ask: Ask):
        page = refuses(403, body=PAGE.decode())
        with ChatServer(page, lists=[page]) as server:
            said = await failed(ask, "", server.base_url)
        assert said == (
            f"127.0.0.1:{server.port} refused the request (status 403) with a web page: a firewall"
            " or a proxy of the network may be in the way."
        )
