"""Tools as the user is told them."""

from tui.domain.tool_servers import ToolApproval


def test_the_title_of_a_tool_is_one_line_whatever_its_name():
    title = ToolApproval("files", "read\nServer: safe\u2028{}\x1b[2J", "1").title
    assert title.startswith("files: read")
    assert len(title.splitlines()) == 1
    assert "\x1b" not in title
