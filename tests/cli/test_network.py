"""``ask`` in a network with a proxy and a certificate authority of its own."""

import pytest

from tests.providers.authority import Authority
from tests.providers.chat_server import ChatServer, answers
from tests.providers.relay import ForwardProxy

NAME = "model.example"


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def configured(config):
    """A configuration with a server that only a proxy knows."""

    def configure(proxy=""):
        config.write_text(
            f'model = "far:m"\n{proxy}\n[providers.far]\nbase_url = "https://{NAME}/v1"\n'
            "retries = 0\n"
        )

    return configure


def test_the_answer_comes_through_the_proxy_of_the_environment(
    sibyl, configured, authority, monkeypatch
):
    configured()
    with (
        ChatServer(answers("Hello.")) as server,
        ForwardProxy(server.port, authority.server(NAME), user="me:secret") as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@{proxy.place}")
        monkeypatch.setenv("SSL_CERT_FILE", authority.file)
        result = sibyl("ask", "Hello?")
        assert len(server.requests) == 1
    assert (result.code, result.out) == (0, "Hello.\n")
    assert set(proxy.log) == {f"CONNECT {NAME}:443"}


def test_the_proxy_of_the_configuration_is_in_no_message_with_its_password(
    sibyl, configured, authority, tmp_path
):
    place = tmp_path / "debug.log"
    with ChatServer(models=["m"]) as server, ForwardProxy(server.port, refuses=403) as proxy:
        configured(f'proxy = "http://me:secret@{proxy.place}"')
        result = sibyl("ask", "Hello?", f"--debug={place}")
    assert result.code == 1
    assert f"The proxy {proxy.place} (from proxy in config.toml) refused" in result.err
    assert f"far at {NAME}:https through {proxy.place}" in place.read_text("utf-8")
    assert "secret" not in result.err + place.read_text("utf-8")
