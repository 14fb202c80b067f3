"""Servers that are programs: start, calls, end."""

import json

from tests.tool_servers.conftest import RunRaw, is_running, tool


class TestAServer:
    async def test_is_started_when_it_is_first_needed_and_offers_its_tools(
        self, raw_server: RunRaw
    ):
        async with raw_server(tools=[tool("echo", description="Repeats.")]) as raw:
            before = raw.status

            status = await raw.start()

            assert (before.state, raw.processes[1:]) == ("not started", [])
            assert status.state == "ready"
            assert [(each.server, each.called) for each in status.tools] == [("raw", "raw__echo")]

    async def test_answers_a_call(self, raw_server: RunRaw):
        async with raw_server() as raw:
            await raw.start()

            result = await raw.call("echo", a=[1, "é\x1b"])

            assert (json.loads(result.text), result.failed) == ({"a": [1, "é\x1b"]}, False)

    async def test_ends_with_its_process(self, raw_server: RunRaw):
        async with raw_server() as raw:
            await raw.start()

            await raw.servers.close()

            assert raw.status.state == "stopped"
            assert not any(map(is_running, raw.processes))
