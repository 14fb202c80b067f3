"""Servers of tools that the configuration names, in the program."""

import json
import sys

from tests.providers.chat_server import ChatServer, answers
from tests.tool_servers.conftest import RAW, is_running


def test_ask_offers_their_tools_and_ends_them(sibyl, tmp_path, config):
    log = tmp_path / "log"
    plan = json.dumps({"log": str(log), "ignore_end": True})
    with ChatServer(answers("Yes.")) as server:
        config.write_text(
            f'model = "local:m"\n[providers.local]\nbase_url = "{server.base_url}"\n'
            f"[mcp.raw]\ncommand = {json.dumps([sys.executable, RAW, plan])}\n"
        )

        asked = sibyl("ask", "Well?")

        (request,) = server.requests
    names = [tool["function"]["name"] for tool in request.body["tools"]]
    noted = [json.loads(line) for line in log.read_text().splitlines()]
    assert (asked.code, asked.out) == (0, "Yes.\n")
    assert "raw__echo" in names
    assert not any(is_running(line["pid"]) for line in noted if "pid" in line)
