"""The tools that are set up: what is kept of them, and what is not."""

import pytest

from tests.engine.scripted_servers import ScriptedServers, set_up
from tui.config.loading import load_tools
from tui.config.settings_schema import ToolServerSettings
from tui.errors import ConfigError

SERVER = ToolServerSettings(command=("time",))


async def test_a_server_that_cannot_be_kept_is_ended_and_the_file_left_as_it_is(tmp_path):
    file = tmp_path / "tools.toml"
    file.write_text("damaged")
    setup, trial = set_up(file=tmp_path / "config.toml"), ScriptedServers()
    with pytest.raises(ConfigError):
        await setup.keep("time", SERVER, trial)
    assert trial.closed == 1
    assert file.read_text() == "damaged"
    assert setup.kept_server("time") is None


async def test_what_another_window_has_kept_meanwhile_stays(tmp_path):
    one, other = (set_up(file=tmp_path / "config.toml") for _ in range(2))
    await one.switch("read_file", on=True)
    await other.switch("list_files", on=True)
    assert load_tools(tmp_path / "tools.toml").tools.enabled == ("read_file", "list_files")
    await one.switch("read_file", on=False)
    assert load_tools(tmp_path / "tools.toml").tools.enabled == ("list_files",)
    assert [each.definition.name for each in one.own_in_use("/shop")] == ["list_files"]
