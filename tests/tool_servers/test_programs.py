"""Servers that are programs: start, calls, end, and the faults that they may have."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from tests.samples import rows
from tests.tables import each_row
from tests.tool_servers.conftest import RawServer, RunRaw, tool
from tests.waiting import is_running, until
from tui.domain.tool_servers import ToolResult
from tui.tool_servers import server as one_server
from tui.tool_servers.server import LONGEST_RESULT

A, B, C = map(tool, "abc")


class TestAServer:
    async def test_is_started_once_when_it_is_first_needed_and_offers_its_tools(
        self, raw_server: RunRaw
    ):
        async with raw_server(tools=[tool("echo", description="Repeats.")]) as raw:
            assert (raw.status.state, raw.processes) == ("not started", [])

            status, _ = await asyncio.gather(raw.start(), raw.start())
            await raw.start()

            assert len(raw.processes) == 1
            assert (status.state, status.notice) == ("ready", "")
            assert [(each.server, each.called, each.description) for each in status.tools] == [
                ("raw", "raw__echo", "Repeats.")
            ]

    @each_row(
        "plan, names, notice",
        [
            ({"pages": [[A], [B], [C]]}, ["a", "b", "c"], ""),
            # A cursor that does not advance.
            ({"pages": [[A], [B]], "cursors": ["1", "1"]}, ["a", "b"], ""),
            (
                {"pages": [[A], []], "broken": ["1"]},
                ["a"],
                "Its list of tools ends early, after 1: page is broken.",
            ),
            ({"refuse": ["tools/list"]}, [], ""),
        ],
    )
    async def test_may_list_its_tools_in_pages_or_has_none(
        self, raw_server: RunRaw, plan: dict, names: list[str], notice: str
    ):
        async with raw_server(**plan) as raw:
            before = raw.methods.count("tools/list")
            status = await raw.start()
            asked = raw.methods.count("tools/list") - before
        assert (status.state, status.notice) == ("ready", notice)
        assert [each.name for each in status.tools] == names
        assert asked == len(plan.get("pages", ["one"]))

    @each_row(
        "about",
        [
            {"protocolVersion": "2027-01-01"},
            {"capabilities": None, "serverInfo": None},
            {"capabilities": {"tools": True}, "serverInfo": "raw"},
        ],
    )
    async def test_that_describes_itself_oddly_is_used(self, raw_server: RunRaw, about: dict):
        async with raw_server(about=about) as raw:
            assert (await raw.start()).state == "ready"

    async def test_has_the_default_variables_and_its_own_only_and_its_folder(
        self,
        raw_server: RunRaw,
        monkeypatch: pytest.MonkeyPatch,
        private_home: Path,
        tmp_path: Path,
    ):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-ours")
        for settings, expected in (({}, private_home), ({"cwd": str(tmp_path)}, tmp_path)):
            async with raw_server({"env": {"AT": "abc"}, **settings}) as raw:
                await raw.start()
                variables, folder = json.loads((await raw.call("environment")).text)
            assert variables["AT"] == "abc"
            assert "OPENAI_API_KEY" not in variables
            assert folder == str(expected)

    async def test_reads_its_list_anew_when_that_has_changed(self, raw: RawServer):
        old = raw.tool("echo")

        await raw.call("change", tools=[tool("echo", description="Now it deletes.")])
        await until(lambda: len(raw.status.tools) == 1)

        result = await raw.servers.call(old, {})
        assert raw.tool("echo").fingerprint != old.fingerprint
        assert result.failed
        assert "has changed since it was offered" in result.text

    async def test_whose_new_list_cannot_be_read_offers_nothing(
        self, raw: RawServer, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(one_server, "_LIST_SECONDS", 0.1)

        await raw.call("change", tools=[], to_mute=["tools/list"])
        await until(lambda: raw.status.notice)

        assert (raw.status.state, raw.status.tools) == ("ready", ())
        assert raw.status.notice == "Its list of tools has changed, and cannot be read."

    @each_row(
        "method, params",
        [
            ("sampling/createMessage", {"messages": [], "maxTokens": 1}),
            ("elicitation/create", {"message": "Password?", "requestedSchema": {}}),
            ("roots/list", {}),
            ("unknown/method", {}),
        ],
    )
    async def test_is_refused_its_own_requests(self, raw: RawServer, method: str, params: dict):
        result = await raw.call("ask", method=method, params=params)

        assert json.loads(result.text)["message"]


class TestACall:
    async def test_that_takes_too_long_is_cancelled_and_the_session_lives(self, raw_server: RunRaw):
        async with raw_server({"timeout": 0.2}) as raw:
            await raw.start()

            result = await raw.call("silent")

            assert result.failed
            assert result.text == "silent did not answer within 0.2 seconds, and was cancelled."
            await until(lambda: "notifications/cancelled" in raw.methods)
            while (await raw.call("echo")).failed:
                """It may be too slow, too."""
            assert len(raw.processes) == 1

    async def test_that_is_cancelled_is_cancelled_at_the_server(self, raw: RawServer):
        call = asyncio.create_task(raw.call("silent"))
        await until(lambda: "tools/call" in raw.methods)

        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        await until(lambda: "notifications/cancelled" in raw.methods)
        assert not (await raw.call("echo")).failed

    async def test_is_sent_whole_and_beside_others_unless_no_message_can_have_its_arguments(
        self, raw: RawServer
    ):
        first, second = await asyncio.gather(
            raw.call("echo", a=[1, "é\x1b\0", "\ud800"]), raw.call("echo", b={})
        )
        assert (json.loads(first.text), first.failed) == ({"a": [1, "é\x1b\0", "\ufffd"]}, False)
        assert json.loads(second.text) == {"b": {}}
        large = await asyncio.gather(*(raw.call("echo", a="x" * 1_000_000) for _ in "ab"))
        assert [result.failed for result in large] == [False, False]
        deep: list = []
        for _ in range(100_000):
            deep = [deep]
        assert await raw.call("echo", a=deep) == ToolResult(
            "The arguments are no JSON that can be sent.", failed=True
        )

    async def test_gives_what_the_server_says_or_why_it_refuses(self, raw: RawServer, capfd):
        assert await raw.call("error", message="No such file") == ToolResult(
            "No such file", failed=True
        )
        # With noise on standard error.
        assert (await raw.call("chatter")).text == "done"
        assert capfd.readouterr() == ("", "")
        large = (await raw.call("huge", size=5 * 1024 * 1024)).text
        assert len(large) < LONGEST_RESULT + 100
        assert large.endswith("[Cut: the first 100 KiB of 5 MiB.]")

    async def test_whose_result_is_enormous_ends_the_server_which_begins_anew(self, raw: RawServer):
        echo = raw.tool("echo")
        result = await raw.call("huge", size=100 * 1024 * 1024)
        assert result.failed
        assert "ended during the call. It sent a message of more than 8 MB." in result.text
        assert not (await raw.servers.call(echo, {})).failed
        assert len(raw.processes) == 2

    @each_row("words", rows(__file__, "odd_replies"))
    async def test_whose_reply_has_an_odd_form_is_understood(self, raw: RawServer, words: str):
        assert await raw.call("write", words=words) == ToolResult("done")

    @each_row(
        "words",
        [
            '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "te\n',
            "{'jsonrpc': '2.0', 'id': ID, 'result': None}\n",
            '{"jsonrpc": "2.0", "result": }\n',
            '{"jsonrpc": "2.0", "id": ID, "resLog: a line\nult": {}}\n',
            '{"jsonrpc": "2.0", "id": ID, "result": ' + "[" * 100_000 + "]" * 100_000 + "}\n",
            '{"jsonrpc": "2.0", "id": ID, "result": ' + "9" * 10_000 + "}\n",
        ],
    )
    async def test_whose_reply_cannot_be_read_is_told_at_once(self, raw: RawServer, words: str):
        unreadable = ToolResult("Its reply cannot be read", failed=True)
        assert await raw.call("write", words=words) == unreadable
        assert not (await raw.call("echo")).failed


class TestAServerThatDies:
    async def test_tells_its_last_words_and_is_started_once_again_and_by_a_restart(
        self, raw: RawServer
    ):
        echo, die = raw.tool("echo"), raw.tool("die")
        died = await raw.servers.call(die, {"words": "Traceback:\n\x1b[31mOutOfCheese: +++"})
        again = await raw.servers.call(die, {"words": "Again.", "code": 4})
        refused = await raw.servers.call(echo, {})
        assert died.failed
        assert "ended with exit code 3: ␛[31mOutOfCheese: +++." in died.text
        assert "ended with exit code 4: Again." in again.text
        assert "The tool server raw is not running. It ended with exit code 4" in refused.text
        assert (raw.status.state, len(raw.processes)) == ("failed", 2)

        assert (await raw.servers.restart("raw")).state == "ready"
        # It may do so again after each call that it has answered.
        for _ in range(3):
            await raw.servers.call(die, {})
            assert not (await raw.servers.call(echo, {})).failed

    @pytest.mark.parametrize(
        ("call", "arguments", "words"),
        [
            ("close", {"descriptor": 0}, "It closed its input or output."),
            ("close", {"descriptor": 1}, "It closed its input or output."),
            ("nag", {}, "It asks and asks, and does not read the answers."),
        ],
    )
    async def test_so_far_that_no_call_can_be_made_is_told_and_ended(
        self, raw: RawServer, call: str, arguments: dict, words: str
    ):
        assert words in (await raw.call(call, **arguments)).text
        await until(lambda: not any(map(is_running, raw.processes)))

    async def test_by_a_signal_is_told(self, raw: RawServer):
        os.kill(raw.processes[0], signal.SIGKILL)

        await until(lambda: raw.status.state == "stopped")

        assert raw.status.reason == "It ended by signal 9."


class TestAStart:
    @each_row("settings, plan, reason", rows(__file__, "failed_starts"))
    async def test_that_fails_says_why_without_a_value_of_env(
        self, raw_server: RunRaw, settings: dict, plan: dict, reason: str
    ):
        async with raw_server(settings, **plan) as raw:
            status = await raw.start()
        assert status.state == "failed"
        assert status.reason.startswith(reason)

    @pytest.mark.parametrize(
        ("limit", "seconds", "plan", "reason"),
        [
            ("GIVE_UP_SECONDS", 0.5, {"silent": True}, "It did not answer."),
            (
                "_LIST_SECONDS",
                0.1,
                {"mute": ["tools/list"]},
                "It did not list its tools: it did not answer in time.",
            ),
        ],
    )
    async def test_that_is_not_answered_in_time_fails(
        self,
        raw_server: RunRaw,
        monkeypatch: pytest.MonkeyPatch,
        limit: str,
        seconds: float,
        plan: dict,
        reason: str,
    ):
        monkeypatch.setattr(one_server, limit, seconds)
        async with raw_server(**plan) as raw:
            status = await raw.start()
        assert (status.state, status.reason) == ("failed", reason)

    async def test_that_takes_long_goes_on_and_fails_in_the_end(
        self, raw_server: RunRaw, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(one_server, "START_SECONDS", 0.1)
        async with raw_server(silent=True) as raw:
            late = await raw.start()
            again = await raw.start()
            refused = await raw.servers.restart("raw")

            assert (late.state, again.state, refused.state) == ("starting",) * 3
            assert late.reason == "It has not answered for 0.1 seconds."

    async def test_twice_at_once_leaves_one_process(self, raw_server: RunRaw):
        async with raw_server() as raw:
            await asyncio.gather(*(raw.servers.restart("raw") for _ in range(3)))

            await until(lambda: sum(map(is_running, raw.processes)) == 1)
            assert raw.status.state == "ready"

    async def test_with_lines_that_are_no_messages_succeeds(self, raw_server: RunRaw, capfd):
        async with raw_server(noise=["Starting …", "{}", '{"level": "info"}', ""]) as raw:
            status = await raw.start()

            assert status.state == "ready"
            assert capfd.readouterr() == ("", "")

    async def test_hides_every_value_of_env_in_results(self, raw_server: RunRaw):
        env = {"PLACE": 'a "place"', "KEY": "first line\nsecond line", "PIN": "1", "NO": "    "}
        async with raw_server({"env": env}) as raw:
            await raw.start()

            echoed = await raw.call("echo", a='a "place", second line,     1')
            failed = await raw.call("error", message='a "place" is unknown')

            assert json.loads(echoed.text) == {"a": "[hidden], [hidden],     1"}
            assert failed.text == "[hidden] is unknown"


class TestTheEnd:
    @pytest.mark.parametrize("plan", [{}, {"child": True}, {"ignore_end": True}])
    async def test_leaves_no_process(self, raw_server: RunRaw, plan: dict):
        async with raw_server(**plan) as raw:
            await raw.start()

            await raw.servers.close()

            assert raw.status.state == "stopped"
            assert raw.processes
            await until(lambda: not any(map(is_running, raw.processes)))

    async def test_kills_a_server_that_ignores_its_signal(self, raw_server: RunRaw):
        async with raw_server(ignore_end=True, ignore_term=True, child=True) as raw:
            await raw.start()
            call = asyncio.create_task(raw.call("silent"))
            await until(lambda: "tools/call" in raw.methods)

            await raw.servers.close()

            await until(lambda: not any(map(is_running, raw.processes)))
            assert (await call).failed

    async def test_kills_the_children_of_a_server_that_was_killed(self, raw_server: RunRaw):
        async with raw_server(child=True) as raw:
            await raw.start()
            child, parent = raw.processes
            os.kill(parent, signal.SIGKILL)

            await until(lambda: raw.status.state == "stopped")

            await until(lambda: not is_running(child))

    async def test_comes_while_a_server_starts(self, raw_server: RunRaw):
        async with raw_server(silent=True) as raw:
            start = asyncio.create_task(raw.start())
            await until(lambda: "initialize" in raw.methods)

            await raw.servers.close()

            assert (await start).state == "stopped"
            await until(lambda: not any(map(is_running, raw.processes)))

    async def test_is_final(self, raw: RawServer):
        echo = raw.tool("echo")
        await raw.servers.close()

        assert (await raw.start()).state == "stopped"
        assert (await raw.servers.call(echo, {})).failed
        assert len(raw.processes) == 1
