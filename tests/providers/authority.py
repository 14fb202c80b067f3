"""A certificate authority made for a test, and what it certifies."""

import ssl
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import trustme

LONG_AGO = datetime(2020, 1, 2, tzinfo=UTC)


class Authority:
    """An authority that only those trust who read its ``file``."""

    def __init__(self, directory: Path) -> None:
        self._authority = trustme.CA()
        self._directory = directory
        self.file = str(directory / "authority.pem")
        self._authority.cert_pem.write_to_path(self.file)

    @property
    def hashed_name(self) -> str:
        """The name under which OpenSSL looks for it in a directory."""
        command = ["openssl", "x509", "-hash", "-noout", "-in", self.file]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def server(self, *names: str, ended: bool = False, clients: bool = False) -> ssl.SSLContext:
        """The side of a server with these names; with ``clients`` it wants certificates of them."""
        dates = {"not_before": datetime(2020, 1, 1, tzinfo=UTC), "not_after": LONG_AGO}
        certificate = self._authority.issue_cert(*names, **(dates if ended else {}))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)
        if clients:
            self._authority.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def client(self) -> tuple[str, str]:
        """The files of a client's certificate and of its key."""
        certificate = self._authority.issue_cert("me@example.com")
        file, key = self._directory / "client.pem", self._directory / "client.key"
        certificate.cert_chain_pems[0].write_to_path(file)
        certificate.private_key_pem.write_to_path(key)
        return str(file), str(key)
