"""The way to a server: its proxy, chosen as curl does, certificates, and what is said of each."""

import base64
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.authority import Authority
from tests.providers.chat_server import ChatServer, refuses, sends
from tests.providers.conftest import KEY, Ask
from tests.providers.relay import ForwardProxy, SocksProxy, TlsFront
from tests.samples import rows
from tests.tables import each_row
from tui.domain.providers import Provider
from tui.errors import ModelError, ModelUnavailable
from tui.providers.network import proxy_for, route_to

PLAIN = "http://model.example:8080/v1"
SECURE = "https://model.example/v1"
HERE = "127.0.0.1"
PASSWORD = "pa%23ss"
PROXY = f"http://user:{PASSWORD}@proxy.example:3128"
PAGE = "<!doctype html><title>Log in</title>"
UNTRUSTED = (
    "is not trusted on this machine (unable to get local issuer certificate). If your network has"
    " a certificate authority of its own, name its file in SSL_CERT_FILE."
)
WANTS_USER = (
    "The proxy FROM requires a user and a password (status 407). Write them into its address:"
    " http://USER:PASSWORD@HOST:PORT"
)
REFUSED_USER = "The proxy FROM refused the user and password of its address (status 407)."
FIREWALL = (
    "HOST refused the request (status 403) with a web page: a firewall or a proxy of the"
    " network may be in the way."
)
OTHER_SERVER = (
    "is that of another server. Check the address; if your network has a login page, open that"
    " first."
)
both = pytest.mark.parametrize("address", [PLAIN, SECURE])


@each_row("address, environ, configured, proxy", rows(__file__, "proxies"))
def test_a_proxy_is_that_of_the_configuration_else_of_the_environment_but_for_what_is_exempt(
    address: str, environ: dict[str, str], configured: str | None, proxy: str | None
):
    found = proxy_for(address, environ, configured)
    assert (found and str(found)) == proxy
    # The user and the password of its address may have odd characters.
    assert not found or not found.url.username or found.url.password == "pa#ss"


class TestTheAddressOfAProxy:
    @each_row(
        "said",
        [
            "http://",
            "http://user:word@proxy.example:99999999",
            "http://user:1234/word@proxy.example:3128",
            "http://user:12#word@proxy.example:3128",
            "ftp://user:word@proxy.example",
            "http://[::zz]:1",
            "socks4://proxy.example",
            "::",
        ],
    )
    def test_that_is_wrong_is_refused_without_quoting_it(self, said):
        with pytest.raises(ModelUnavailable, match=r"proxy \(from ALL_PROXY\) cannot be") as caught:
            proxy_for(SECURE, {"ALL_PROXY": said})
        assert "word" not in str(caught.value).replace("password", "")
        assert "1234" not in str(caught.value)

    def test_that_is_for_socks_names_what_it_lacks(self, monkeypatch):
        monkeypatch.setattr("tui.providers.network.find_spec", lambda _: None)
        with pytest.raises(ModelUnavailable, match=r'--python \S+ install "sibyl-tui\[socks\]"'):
            proxy_for(SECURE, {"ALL_PROXY": "socks5://user:word@proxy.example"})

    def test_is_shown_without_user_and_password(self):
        route = route_to(Provider("far", base_url=SECURE, proxy=PROXY), {})
        assert str(route.proxy) == "proxy.example:3128 (from proxy in config.toml)"
        assert "proxy.example:3128" in repr(route)
        for word in ("user", "ss@", PASSWORD, "pa#ss"):
            assert word not in repr(route) + str(route.proxy) + route.first + route.through


# --- servers that are really asked


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


@pytest.fixture
def failed(ask: Ask):
    """``await failed(proxy, address)``: what is said; FROM stands for the proxy and its source."""

    async def failed(proxy: ForwardProxy | str | None, address: str = PLAIN, **fields: str) -> str:
        place = proxy.root if isinstance(proxy, ForwardProxy) else proxy
        with pytest.raises(ModelError) as caught:
            await ask(Provider("far", base_url=address, proxy=place, **fields))
        name = (place or "").rpartition("/")[2].rpartition("@")[2]
        return str(caught.value).replace(f"{name} (from proxy in config.toml)", "FROM")

    return failed


class TestAServer:
    @pytest.mark.parametrize("variable", [None, "http_proxy"])
    async def test_is_asked_through_the_proxy_of_configuration_or_environment(
        self, ask: Ask, server, monkeypatch, variable
    ):
        with ForwardProxy(server.port) as proxy:
            if variable:
                monkeypatch.setenv(variable, proxy.root)
            await ask(Provider("far", base_url=PLAIN, proxy=None if variable else proxy.root))
        (line,) = proxy.log
        assert f" {PLAIN}/" in line

    async def test_is_asked_through_a_tunnel_if_it_speaks_tls(
        self, ask: Ask, server, authority, monkeypatch
    ):
        with ForwardProxy(server.port, authority.server("model.example")) as proxy:
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

    @both
    async def test_is_asked_through_a_proxy_that_speaks_tls_itself(
        self, ask: Ask, server, authority, address: str
    ):
        tls = authority.server("model.example") if address == SECURE else None
        with (
            ForwardProxy(server.port, tls) as proxy,
            TlsFront(proxy.port, authority.server(HERE)) as front,
        ):
            await ask(Provider("far", base_url=address, proxy=f"https://{front.place}"))
        assert len(proxy.log) == 1

    @both
    async def test_is_asked_with_the_user_of_the_proxy(
        self, ask: Ask, server, authority, address: str
    ):
        tls = authority.server("model.example") if address == SECURE else None
        with ForwardProxy(server.port, tls, user="me:pa#ss") as proxy:
            place = f"http://me:pa%23ss@{proxy.place}"
            await ask(Provider("far", base_url=address, proxy=place))
        asked = server.questions + server.requests
        assert not any("proxy-" in name for each in asked for name in each.headers)


class TestAProxy:
    @both
    @pytest.mark.parametrize(("user", "said"), [("", WANTS_USER), ("me:guessed@", REFUSED_USER)])
    async def test_that_wants_another_user_is_told(self, failed, server, address, user, said):
        with ForwardProxy(server.port, user="me:secret") as proxy:
            assert await failed(f"http://{user}{proxy.place}", address) == said
            assert len(proxy.log) == 1

    @each_row(
        "address, status, words",
        [
            (SECURE, 403, " refused to connect to model.example (status 403)."),
            (SECURE, 502, " could not connect to model.example (status 502)."),
            (PLAIN, 403, ", or model.example:8080 behind it, refused the request (status 403)."),
            (PLAIN, 503, ", or model.example:8080 behind it, failed (status 503)."),
        ],
    )
    async def test_that_refuses_is_told(self, failed, server, address, status, words):
        with ForwardProxy(server.port, refuses=status) as proxy:
            assert await failed(proxy, address) == f"The proxy FROM{words}"

    async def test_that_does_not_run_is_told(self, failed):
        with socket.create_server((HERE, 0)) as gone:
            place = f"{HERE}:{gone.getsockname()[1]}"
        said = "The proxy FROM refused the connection. Is it running?"
        assert await failed(f"http://me:secret@{place}") == said

    async def test_that_nobody_knows_is_told(self, failed, monkeypatch):
        def unknown(*_: object, **__: object) -> None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        said = await failed("http://me:secret@proxy.example:3128")
        assert said.startswith("The name of the proxy FROM was not found.")

    @both
    @pytest.mark.parametrize("dies_after", [0, 90])
    async def test_that_hangs_up_is_told(self, failed, server, authority, address, dies_after):
        tls = authority.server("model.example") if address == SECURE and dies_after else None
        with ForwardProxy(server.port, tls, dies_after=dies_after) as proxy:
            said = await failed(proxy, address)
        assert " closed the connection " in said
        assert "through the proxy FROM." in said

    async def test_behind_which_a_server_fails_is_told(self, failed, authority):
        down = refuses(502, "Down.")
        tls = authority.server("model.example")
        with ChatServer(down, lists=[down]) as server, ForwardProxy(server.port, tls) as proxy:
            said = await failed(proxy, SECURE)
        assert "502" in said
        assert "It says: Down." in said
        assert said.endswith(" through the proxy FROM.")

    async def test_has_a_password_that_is_not_shown_where_somebody_repeats_it(self, failed):
        basic = base64.b64encode(b"me:pa#ssword").decode()
        repeats = refuses(400, f"pa#ssword pa%23ssword {basic}")
        with ChatServer(repeats, lists=[repeats]) as server, ForwardProxy(server.port) as proxy:
            said = await failed(f"http://me:pa%23ssword@{proxy.place}")
        assert "It says: [key] [key] [key]" in said

    async def test_that_opens_tls_is_told_as_an_authority_that_is_not_trusted(
        self, failed, server, tmp_path: Path
    ):
        with ForwardProxy(server.port, Authority(tmp_path).server("model.example")) as proxy:
            said = await failed(proxy, SECURE)
            assert len(proxy.log) == 1
        through = "model.example is asked through the proxy FROM."
        assert said == f"The certificate of model.example {UNTRUSTED} {through}"


NEEDS_LOGIN = (
    "The network on the way to HOST requires a login (status 511). Open its login page in a"
    " browser."
)
OPEN_IT = " If it is a login page of the network, open that in a browser first."


@each_row(
    "reply, words",
    [
        (
            sends(PAGE.encode(), "text/html"),
            "a login page of the network or a proxy is in the way.",
        ),
        (refuses(302, body=PAGE, Location="http://login.example/"), OPEN_IT),
        (refuses(302, body="", Location="http://login.example/"), OPEN_IT),
        (refuses(511, body=PAGE), NEEDS_LOGIN),
        # No refusal of the key.
        (refuses(403, body=PAGE), FIREWALL),
    ],
)
async def test_a_login_page_in_place_of_a_reply_is_told(failed, reply, words):
    with ChatServer(reply, lists=[reply]) as server:
        said = await failed("", server.base_url)
        assert len(server.requests + server.questions) == 1
    assert said.replace(f"{HERE}:{server.port}", "HOST").endswith(words)


class TestAServerIsTrusted:
    @pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
    async def test_if_its_authority_is_in_the_file_or_a_directory_that_the_environment_names(
        self, ask: Ask, server, tmp_path: Path, monkeypatch, variable: str
    ):
        authority = Authority(tmp_path)
        os.symlink(authority.file, tmp_path / f"{authority.hashed_name}.0")
        places = {
            "SSL_CERT_FILE": authority.file,
            "SSL_CERT_DIR": f"/not/there{os.pathsep}{tmp_path}",
        }
        monkeypatch.setenv(variable, places[variable])
        with TlsFront(server.port, authority.server(HERE)) as front:
            await ask(Provider("far", base_url=front.base_url))
        assert server.questions + server.requests

    async def test_but_not_if_nobody_here_knows_its_authority(self, failed, server, tmp_path: Path):
        with TlsFront(server.port, Authority(tmp_path).server(HERE)) as front:
            said = await failed(None, front.base_url)
        assert said == f"The certificate of {front.place} {UNTRUSTED}"

    @each_row(
        "name, ended, words",
        [
            (HERE, True, "has expired, or the date of this machine is wrong: it is 20"),
            ("other.example", False, OTHER_SERVER),
        ],
    )
    async def test_but_not_with_a_wrong_certificate(
        self, failed, server, authority: Authority, name, ended, words
    ):
        with TlsFront(server.port, authority.server(name, ended=ended)) as front:
            said = await failed(None, front.base_url)
        assert said.startswith(f"The certificate of {front.place} {words}")

    async def test_but_not_without_tls(self, failed, server, authority: Authority):
        said = await failed(None, server.base_url.replace("http:", "https:"))
        assert "does not speak TLS. Try its address with http:// and not https://." in said


class TestAFileOfCertificates:
    async def test_that_cannot_be_used_is_told_with_its_variable_and_does_no_harm_without_tls(
        self, failed, ask: Ask, server, tmp_path: Path, monkeypatch
    ):
        file = tmp_path / "some.pem"
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        said = f"The file {file} (from SSL_CERT_FILE) cannot be used:"
        assert await failed(None, SECURE) == f"{said} No such file or directory."
        file.write_text("nothing")
        assert await failed(None, SECURE) == f"{said} expected certificates in PEM form."
        await ask(Provider("near", base_url=server.base_url))

    @pytest.mark.parametrize("wrong", [0, 1])
    async def test_of_a_client_that_is_not_there_is_told(
        self, failed, authority: Authority, wrong: int
    ):
        certificate, key = files = authority.client()
        said = await failed(None, SECURE, client_certificate=certificate)
        assert said.endswith("expected a certificate and its key in PEM form, without a password.")
        os.remove(files[wrong])
        assert await failed(None, SECURE, client_certificate=certificate, client_key=key) == (
            f"The file {files[wrong]} (from client_certificate in config.toml) cannot be used: No"
            " such file or directory."
        )


class TestAServerThatWantsACertificate:
    async def test_gets_the_configured_one(self, ask: Ask, server, authority: Authority):
        own = dict(zip(("client_certificate", "client_key"), authority.client(), strict=True))
        with TlsFront(server.port, authority.server(HERE, clients=True)) as front:
            await ask(Provider("far", base_url=front.base_url, **own))
        assert server.questions + server.requests

    @pytest.mark.parametrize("has_one", [False, True])
    async def test_is_told_if_there_is_none_or_it_refuses_that(
        self, failed, server, authority: Authority, tmp_path_factory, has_one
    ):
        certificate, key = Authority(tmp_path_factory.mktemp("other")).client()
        own = {"client_certificate": certificate, "client_key": key} if has_one else {}
        with TlsFront(server.port, authority.server(HERE, clients=True)) as front:
            said = await failed(None, front.base_url, **own)
        assert said.startswith(
            f"{front.place} refused the certificate of this machine ("
            if has_one
            else f"{front.place} requires a certificate of this machine. Name its file as"
            " client_certificate in config.toml."
        )
