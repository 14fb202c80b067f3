"""The proxy of a server: chosen as curl does, and never shown with its password."""

import pytest

from tui.domain.providers import Provider
from tui.errors import ModelUnavailable
from tui.providers.network import Proxy, Route, proxy_for, route_to

SECRET = "pa%23ss"
PROXY = f"http://user:{SECRET}@proxy.example:3128"


def chosen(address: str, proxy: str | None = None, **environ: str) -> Proxy | None:
    return proxy_for(address, environ, proxy)


class TestTheEnvironment:
    @pytest.mark.parametrize(
        ("address", "name", "is_used"),
        [
            ("https://model.example/v1", "https_proxy", True),
            ("https://model.example/v1", "HTTPS_PROXY", True),
            ("https://model.example/v1", "all_proxy", True),
            ("https://model.example/v1", "ALL_PROXY", True),
            ("https://model.example/v1", "http_proxy", False),
            ("http://model.example/v1", "http_proxy", True),
            ("http://model.example/v1", "ALL_PROXY", True),
            ("http://model.example/v1", "HTTPS_PROXY", False),
            # A web server sets it for its scripts, from a header of anybody's.
            ("http://model.example/v1", "HTTP_PROXY", False),
        ],
    )
    def test_names_the_proxy(self, address, name, is_used):
        proxy = chosen(address, **{name: PROXY})
        assert (proxy is not None) == is_used
        assert proxy is None or str(proxy) == f"proxy.example:3128 (from {name})"

    def test_counts_in_small_letters_first_and_for_all_last(self):
        proxy = chosen(
            "https://model.example/v1",
            ALL_PROXY="http://c:1",
            HTTPS_PROXY="http://b:1",
            https_proxy="http://a:1",
        )
        assert proxy is not None
        assert proxy.name == "a:1"

    def test_that_is_empty_names_none(self):
        proxy = chosen("https://model.example/v1", https_proxy="", ALL_PROXY="")
        assert proxy is None

    @pytest.mark.parametrize(
        ("said", "name"),
        [
            ("proxy.example:3128", "proxy.example:3128"),
            ("proxy.example", "proxy.example:1080"),
            ("http://[::1]:3128/", "[::1]:3128"),
            ("https://proxy.example", "proxy.example"),
            (PROXY, "proxy.example:3128"),
        ],
    )
    def test_may_leave_parts_of_the_address_out(self, said, name):
        proxy = chosen("https://model.example/v1", ALL_PROXY=said)
        assert proxy is not None
        assert proxy.name == name

    def test_quotes_odd_characters_of_a_password(self):
        proxy = chosen("https://model.example/v1", ALL_PROXY=PROXY)
        assert proxy is not None
        assert (proxy.url.username, proxy.url.password) == ("user", "pa#ss")


class TestAnException:
    @pytest.mark.parametrize(
        "address",
        [
            "http://localhost:11434/v1",
            "http://a.localhost/v1",
            "http://127.0.0.1:8080/v1",
            "http://127.1.2.3/v1",
            "https://[::1]/v1",
        ],
    )
    @pytest.mark.parametrize("configured", [None, PROXY])
    def test_is_this_machine(self, address, configured):
        assert chosen(address, configured, ALL_PROXY=PROXY) is None

    @pytest.mark.parametrize(
        ("exempt", "address", "is_direct"),
        [
            ("*", "https://model.example/v1", True),
            ("model.example", "https://model.example:8443/v1", True),
            ("example", "https://model.example/v1", True),
            (".example", "https://model.example/v1", True),
            ("MODEL.example", "https://Model.Example/v1", True),
            ("other.example, model.example", "https://model.example/v1", True),
            ("other.example model.example", "https://model.example/v1", True),
            ("del.example", "https://model.example/v1", False),
            ("a.model.example", "https://model.example/v1", False),
            ("192.0.2.7", "https://192.0.2.7/v1", True),
            ("192.0.2.0/24", "https://192.0.2.7/v1", True),
            ("192.0.2.0/30", "https://192.0.2.7/v1", False),
            ("[2001:db8::1]", "https://[2001:db8::1]/v1", True),
            ("2001:db8::/32", "https://[2001:db8::1]/v1", True),
            ("nonsense/99", "https://model.example/v1", False),
            ("", "https://model.example/v1", False),
        ],
    )
    @pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
    def test_is_what_the_environment_names(self, exempt, address, is_direct, name):
        assert (chosen(address, **{"ALL_PROXY": PROXY, name: exempt}) is None) == is_direct

    def test_holds_for_the_configured_proxy_as_well(self):
        assert chosen("https://model.example/v1", PROXY, no_proxy="example") is None


class TestTheConfiguration:
    def test_goes_before_the_environment(self):
        proxy = chosen("https://model.example/v1", "http://own.example:1", ALL_PROXY=PROXY)
        assert str(proxy) == "own.example:1 (from proxy in config.toml)"

    def test_may_say_that_there_is_none(self):
        assert chosen("https://model.example/v1", "", ALL_PROXY=PROXY) is None


class TestAnAddress:
    @pytest.mark.parametrize(
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
            chosen("https://model.example/v1", ALL_PROXY=said)
        assert "word" not in str(caught.value).replace("password", "")
        assert "1234" not in str(caught.value)

    def test_of_a_socks_proxy_names_what_it_lacks(self, monkeypatch):
        monkeypatch.setattr("tui.providers.network.find_spec", lambda _: None)
        with pytest.raises(ModelUnavailable, match=r'--python \S+ install "sibyl-tui\[socks\]"'):
            chosen("https://model.example/v1", ALL_PROXY="socks5://user:word@proxy.example")

    def test_is_shown_without_user_and_password(self):
        server = Provider("far", base_url="https://model.example/v1", proxy=PROXY)
        route: Route = route_to(server, {})
        assert "proxy.example:3128" in repr(route)
        for word in ("user", "ss@", SECRET, "pa#ss"):
            assert word not in repr(route) + str(route.proxy) + route.first + route.through


class TestASystemWithoutTls:
    def test_reads_no_certificates(self):
        server = Provider("near", base_url="http://127.0.0.1:1/v1")
        assert route_to(server, {"SSL_CERT_FILE": "/not/there.pem"}).proxy is None
