"""The tests' own server, as a process of its own: what the tests of the command line rely on."""

import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

Start = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.providers.chat_server", *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield start
    for process in running:
        process.communicate()
        assert process.returncode == 0


def asked(
    base_url: str, path: str = "/v1/chat/completions", end: str = "/v1"
) -> http.client.HTTPResponse:
    assert base_url.endswith(end)
    host = base_url.removeprefix("http://").removesuffix(end)
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.request("POST", path, json.dumps({"model": "m"}))
    return connection.getresponse()


def test_it_prints_its_address_and_serves_until_its_input_ends(start: Start, tmp_path: Path):
    log = tmp_path / "requests.jsonl"
    _, base_url = start("--scenario", "normal", "--log", str(log))
    with asked(base_url) as response:
        assert response.status == 200
        assert response.read().endswith(b"data: [DONE]\n\n")
    assert json.loads(log.read_text())["body"] == {"model": "m"}


def test_a_line_on_its_input_opens_the_gates(start: Start):
    process, base_url = start("--scenario", "slow")
    with asked(base_url) as response:
        while b"Slowly" not in response.readline():
            pass
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert b"but surely." in response.read()


def test_replies_are_taken_in_turn(start: Start):
    _, base_url = start("--scenario", "429-then-fine")
    statuses: list[int] = []
    for _ in range(3):
        with asked(base_url) as response:
            statuses.append(response.status)
            response.read()
    assert statuses == [429, 200, 200]


def test_it_speaks_anthropics_dialect_too(start: Start):
    _, address = start("--scenario", "normal", "--dialect", "anthropic")
    with asked(address, "/v1/messages", end="") as response:
        lines = response.read().splitlines()
    names = [line.removeprefix(b"event: ") for line in lines if line.startswith(b"event:")]
    assert names[:3] == [b"message_start", b"ping", b"content_block_start"]
    assert names[-3:] == [b"content_block_stop", b"message_delta", b"message_stop"]
