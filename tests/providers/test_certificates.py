"""Certificates of servers, and of this side: which are trusted, and what is said of the others."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.authority import Authority
from tests.providers.chat_server import ChatServer
from tests.providers.conftest import KEY, Ask
from tests.providers.relay import TlsFront
from tui.domain.providers import Provider
from tui.errors import ModelError

HERE = "127.0.0.1"


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


async def failed(ask: Ask, provider: Provider) -> str:
    with pytest.raises(ModelError) as caught:
        await ask(provider)
    return str(caught.value)


class TestAServerIsTrusted:
    async def test_if_its_authority_is_in_the_file_that_the_environment_names(
        self, ask: Ask, server, authority: Authority
    ):
        with TlsFront(server.port, authority.server(HERE)) as front:
            await ask(Provider("far", base_url=front.base_url))
        assert server.questions + server.requests

    async def test_if_its_authority_is_in_a_directory_that_the_environment_names(
        self, ask: Ask, server, tmp_path: Path, monkeypatch
    ):
        authority = Authority(tmp_path)
        os.symlink(authority.file, tmp_path / f"{authority.hashed_name}.0")
        monkeypatch.setenv("SSL_CERT_DIR", f"/not/there{os.pathsep}{tmp_path}")
        with TlsFront(server.port, authority.server(HERE)) as front:
            await ask(Provider("far", base_url=front.base_url))
        assert server.questions + server.requests


class TestACertificateIsRefused:
    async def test_because_nobody_here_knows_its_authority(self, ask: Ask, server, tmp_path: Path):
        with TlsFront(server.port, Authority(tmp_path).server(HERE)) as front:
            said = await failed(ask, Provider("far", base_url=front.base_url))
        assert said == (
            f"The certificate of {front.place} is not trusted on this machine (unable to get local"
            " issuer certificate). If your network has a certificate authority of its own, name"
            " its file in SSL_CERT_FILE."
        )

    async def test_because_it_has_expired(self, ask: Ask, server, authority: Authority):
        with TlsFront(server.port, authority.server(HERE, ended=True)) as front:
            said = await failed(ask, Provider("far", base_url=front.base_url))
        assert said.startswith(f"The certificate of {front.place} has expired, or the date of this")

    async def test_because_it_is_another_servers(self, ask: Ask, server, authority: Authority):
        with TlsFront(server.port, authority.server("other.example")) as front:
            said = await failed(ask, Provider("far", base_url=front.base_url))
        assert said == (
            f"The certificate of {front.place} is that of another server. Check the address; if"
            " your network has a login page, open that first."
        )


class TestAServerWithoutTls:
    async def test_is_told(self, ask: Ask, server, authority: Authority):
        address = server.base_url.replace("http:", "https:")
        said = await failed(ask, Provider("far", base_url=address))
        assert "does not speak TLS. Try its address with http:// and not https://." in said


class TestAFile:
    async def test_of_authorities_that_is_not_there_is_told_with_its_variable(
        self, ask: Ask, server, monkeypatch
    ):
        monkeypatch.setenv("SSL_CERT_FILE", "/not/there.pem")
        assert await failed(ask, Provider("far", base_url="https://model.example/v1")) == (
            "The file /not/there.pem (from SSL_CERT_FILE) cannot be used: No such file or"
            " directory."
        )

    async def test_of_authorities_that_has_none_is_told(
        self, ask: Ask, tmp_path: Path, monkeypatch
    ):
        file = tmp_path / "empty.pem"
        file.write_text("nothing")
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        assert await failed(ask, Provider("far", base_url="https://model.example/v1")) == (
            f"The file {file} (from SSL_CERT_FILE) cannot be used: expected certificates in PEM"
            " form."
        )

    async def test_that_is_wrong_does_no_harm_without_tls(self, ask: Ask, server, monkeypatch):
        monkeypatch.setenv("SSL_CERT_FILE", "/not/there.pem")
        await ask(Provider("near", base_url=server.base_url))

    @pytest.mark.parametrize("wrong", ["certificate", "key"])
    async def test_of_a_client_that_is_not_there_is_told(
        self, ask: Ask, authority: Authority, wrong: str
    ):
        certificate, key = authority.client()
        os.remove(certificate if wrong == "certificate" else key)
        said = await failed(
            ask,
            Provider(
                "far",
                base_url="https://model.example/v1",
                client_certificate=certificate,
                client_key=key,
            ),
        )
        assert said == (
            f"The file {certificate if wrong == 'certificate' else key} (from client_certificate"
            " in config.toml) cannot be used: No such file or directory."
        )

    async def test_of_a_client_without_its_key_is_told(self, ask: Ask, authority: Authority):
        certificate, _ = authority.client()
        address = "https://model.example/v1"
        said = await failed(ask, Provider("far", base_url=address, client_certificate=certificate))
        assert said.endswith("expected a certificate and its key in PEM form, without a password.")


class TestAServerThatWantsACertificate:
    async def test_gets_the_configured_one(self, ask: Ask, server, authority: Authority):
        certificate, key = authority.client()
        with TlsFront(server.port, authority.server(HERE, clients=True)) as front:
            await ask(
                Provider(
                    "far",
                    base_url=front.base_url,
                    client_certificate=certificate,
                    client_key=key,
                )
            )
        assert server.questions + server.requests

    async def test_is_told_if_there_is_none(self, ask: Ask, server, authority: Authority):
        with TlsFront(server.port, authority.server(HERE, clients=True)) as front:
            said = await failed(ask, Provider("far", base_url=front.base_url))
        assert said == (
            f"{front.place} requires a certificate of this machine. Name its file as"
            " client_certificate in config.toml."
        )

    async def test_is_told_if_it_refuses_the_one_it_gets(
        self, ask: Ask, server, authority: Authority, tmp_path_factory
    ):
        certificate, key = Authority(tmp_path_factory.mktemp("other")).client()
        with TlsFront(server.port, authority.server(HERE, clients=True)) as front:
            provider = Provider(
                "far", base_url=front.base_url, client_certificate=certificate, client_key=key
            )
            said = await failed(ask, provider)
        assert said.startswith(f"{front.place} refused the certificate of this machine (")
