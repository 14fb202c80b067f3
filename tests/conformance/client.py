"""A client for the conformance suite of the Model Context Protocol: ``ask``, and its user.

The suite runs it with the address of a server as its last argument. A model on loopback calls each
tool of the server once; a user at a terminal allows the calls, takes the defaults of forms, and
signs in with a browser that follows the redirects. Prints all that the terminal showed.
"""

import json
import os
import pty
import select
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.providers.chat_server import ChatServer, Exchange, answers, calls_tools

ROOT = Path(__file__).parents[2]
# The document that the suite's servers know; any other client registers itself.
_DOCUMENT = "https://conformance-test.local/client-metadata.json"
_ANSWERS = {b"tells why):": b"y\n", b"n refuses:": b"y\n", b"]:\r": b"\n"}
_BROWSER = """#!{python}
import sys, urllib.request
urllib.request.urlopen(sys.argv[1]).read()
"""


def model(exchange: Exchange) -> None:
    """Call each tool once, then end."""
    body = exchange.request.body
    tools = [each["function"] for each in body.get("tools", ())]
    if not tools or body["messages"][-1]["role"] == "tool":
        return answers("Done.")(exchange)
    numbered = enumerate(tools)
    calls = [(f"c{n}", tool["name"], [json.dumps(_arguments(tool))]) for n, tool in numbered]
    return calls_tools(*calls)(exchange)


def _arguments(tool: dict) -> dict[str, object]:
    fit = {"number": 2, "integer": 2, "boolean": True, "string": "text"}
    properties = tool["parameters"].get("properties", {})
    return {name: fit.get(each.get("type"), {}) for name, each in properties.items()}


@contextmanager
def home(url: str, model_url: str) -> Iterator[dict[str, str]]:
    """The environment of a user with these settings, and with a browser."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    client = {
        "client_id": context.get("client_id", ""),
        "client_secret": context.get("client_secret", ""),
    }
    if os.environ.get("MCP_CONFORMANCE_SCENARIO") == "auth/basic-cimd":
        client = {"client_id": _DOCUMENT}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        browser = place / "xdg-open"
        browser.write_text(_BROWSER.format(python=sys.executable))
        browser.chmod(0o700)
        settings = {"url": url, **{key: value for key, value in client.items() if value}}
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        (place / "config.toml").write_text(
            f'model = "local:m"\n[providers.local]\nbase_url = "{model_url}"\n[mcp.suite]\n'
            + "\n".join(lines)
        )
        yield {
            "PATH": f"{folder}:/usr/bin:/bin",
            "HOME": folder,
            "DISPLAY": ":0",
            "LANG": "C.UTF-8",
            "SIBYL_CONFIG": str(place / "config.toml"),
            "PYTHONPATH": str(ROOT),
        }


def converse(command: list[str], environment: dict[str, str]) -> int:
    """Run a command on a terminal of its own, and answer what it asks; gives its exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(command[0], command, environment)
    unanswered = b""
    while True:
        select.select([terminal], [], [])
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            break
        sys.stdout.buffer.write(shown)
        sys.stdout.buffer.flush()
        unanswered += shown
        for question, answer in _ANSWERS.items():
            if question in unanswered:
                os.write(terminal, answer)
                unanswered = b""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> int:
    with ChatServer(model) as server, home(sys.argv[-1], server.base_url) as environment:
        return converse([sys.executable, "-m", "tui", "ask", "Go"], environment)


if __name__ == "__main__":
    sys.exit(main())
