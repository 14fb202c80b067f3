"""A local Ollama is found where it is said to be, and is not waited for."""

import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import pytest

from tests.providers.chat_server import ChatServer
from tui.providers.catalog import address_from_host, chat_models, first_model


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        (":8000", "http://127.0.0.1:8000/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("http://0.0.0.0:8000", "http://127.0.0.1:8000/v1"),
        ("[::]:8000", "http://127.0.0.1:8000/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("[::1]:8000", "http://[::1]:8000/v1"),
        ("big.example", "http://big.example:11434/v1"),
        ("http://big.example", "http://big.example/v1"),
        ("https://big.example", "https://big.example/v1"),
        ("https://big.example/ollama/", "https://big.example/ollama/v1"),
        ("http://big.example:8000/v1", "http://big.example:8000/v1"),
    ],
)
def test_a_host_means_an_address(host: str, address: str):
    assert address_from_host(host) == address


def test_a_host_that_cannot_be_looked_up_has_no_models_and_python_prints_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    printed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", printed.append)
    assert chat_models("http://a..b/v1", deadline=30) == ()
    assert printed == []


@pytest.mark.parametrize(
    ("models", "found"),
    [
        (["qwen3:4b", "nomic-embed-text", "llama3.2:3b"], ("qwen3:4b", "llama3.2:3b")),
        (["nomic-embed-text", "qwen3"], ("qwen3",)),
        (["nomic-embed-text"], ()),
        ([], ()),
    ],
)
def test_its_chat_models_are_known_in_its_own_order(models: list[str], found: tuple[str, ...]):
    with ChatServer(ollama_models=models) as server:
        assert chat_models(server.base_url, deadline=30) == found
        assert first_model(server.base_url, deadline=30) == next(iter(found), None)


def test_none_is_found_where_nobody_listens():
    assert first_model("http://127.0.0.1:1/v1") is None


@pytest.mark.parametrize("drop", [b"", b"x"])
def test_one_that_says_nothing_or_next_to_nothing_is_not_waited_for(drop: bytes):
    ended = threading.Event()

    def drip(server: socket.socket) -> None:
        # The first connection only finds out whether anybody listens.
        server.accept()[0].close()
        connection, _ = server.accept()
        with connection:
            while not ended.wait(0.02):
                with suppress(OSError):
                    connection.sendall(drop)

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        dripping = threading.Thread(target=drip, args=(server,))
        dripping.start()
        found = first_model(f"http://127.0.0.1:{server.getsockname()[1]}/v1", deadline=0.1)
        ended.set()
        dripping.join()
    # Were it waited for, it would be for ever.
    assert found is None


@pytest.mark.parametrize(
    "listed",
    [
        [],
        {},
        {"models": 3},
        {"models": [3, {}, {"name": 5}]},
        {"models": [{"name": "all-minilm", "details": {"family": "bert"}}]},
        {"models": {"a": 1}},
        "x",
        None,
    ],
)
def test_a_list_without_a_chat_model_has_none(listed: Any):
    with ChatServer(facts={"/api/tags": lambda: listed}) as server:
        assert chat_models(server.base_url, deadline=30) == ()
        assert server.questions


def test_where_nobody_listens_no_library_is_needed_to_find_that_out():
    code = (
        "import sys\n"
        "from tui.providers.catalog import first_model\n"
        "before = {*sys.modules}\n"
        "assert first_model('http://127.0.0.1:1/v1', 30) is None\n"
        "print(*{*sys.modules} - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= {"encodings.idna", "stringprep", "unicodedata"}
