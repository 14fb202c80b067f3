"""Servers by the library of the protocol, as most are."""

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tui.config.settings_schema import ToolServerSettings
from tui.domain.tool_servers import OfferedTool, ServerStatus
from tui.tool_servers.server import McpServers

SDK = str(Path(__file__).with_name("sdk_server.py"))


async def check(servers: McpServers) -> None:
    (status,) = await servers.start()
    tools = {tool.name: tool for tool in status.tools}

    added = await servers.call(tools["add"], {"a": 1, "b": 2})
    wrong = await servers.call(tools["add"], {"a": "one"})
    failed = await servers.call(tools["fail"], {})

    assert tools["add"].description == "Add two numbers."
    assert set(tools["add"].parameters["properties"]) == {"a", "b"}
    assert (added.text, added.failed) == ("3", False)
    assert (wrong.failed, "valid integer" in wrong.text) == (True, True)
    assert (failed.failed, "fail" in failed.text) == (True, True)


async def test_a_program(capfd: pytest.CaptureFixture[str]):
    servers = McpServers({"sdk": ToolServerSettings(command=(sys.executable, SDK))})
    try:
        await check(servers)
    finally:
        await servers.close()
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def address(unused_tcp_port: int) -> Generator[str]:
    command = [sys.executable, SDK, str(unused_tcp_port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        yield f"http://127.0.0.1:{unused_tcp_port}/mcp"
        process.terminate()


async def test_an_address(address: str):
    servers = McpServers({"sdk": ToolServerSettings(url=address)})
    try:
        while (await servers.restart("sdk")).state != "ready":
            pass
        await check(servers)
    finally:
        await servers.close()


async def test_a_server_that_is_not_configured_has_no_tools():
    servers = McpServers({"a": ToolServerSettings(command=("a",))})
    tool = OfferedTool("b", "echo", "b__echo", "", {}, "")

    result = await servers.call(tool, {})

    assert servers.statuses() == (ServerStatus("a", "not started"),)
    assert (result.text, result.failed) == ("There is no tool server b.", True)
    with pytest.raises(KeyError):
        await servers.restart("b")
