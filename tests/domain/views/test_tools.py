"""The lines of the list of tools, and those of a call."""

from tests.engine.scripted_servers import offered
from tests.samples import rows
from tests.tables import each_row
from tui.domain.tool_servers import ServerStatus, ToolApproval
from tui.domain.views.tools import Allowed, ListedTool, call_lines, tool_rows

READ = ToolApproval("files", "read_file", "1")
READY = ServerStatus("files", "ready", tools=(offered(),))


def listed(*statuses, own=(), off=(), **allowed):
    rows = tool_rows(own, statuses, off, Allowed(**allowed))
    return [f"{row.mark or ' '} {row.text} | {row.note}" for row in rows]


def test_the_program_s_own_come_first_then_each_server_with_its_tools():
    own = (ListedTool("write_todos", "write_todos", "Replace the list.", None),)
    assert listed(READY, ServerStatus("git", "failed", "no such program"), own=own) == [
        "● write_todos | asks nothing · Replace the list.",
        "  files | ready, 1 tool",
        "●   read_file | Read a file.",
        "  git | failed: no such program",
    ]


def test_a_tool_says_if_it_is_off_or_for_how_long_it_is_allowed():
    assert listed(READY, off=("files__read_file",))[1] == "○   read_file | off · Read a file."
    assert "always allowed" in listed(READY, always=(READ,))[1]
    assert "allowed until you quit" in listed(READY, until_quit=(READ,))[1]
    changed = ToolApproval("files", "read_file", "0")
    assert "changed since you allowed it" in listed(READY, always=(changed,))[1]


def test_an_approval_of_a_tool_that_is_not_there_is_listed_to_be_withdrawn():
    gone = ToolApproval("git", "log", "1")
    rows = tool_rows((), (READY,), (), Allowed(always=(READ, gone), until_quit=(gone,)))
    assert [row.approval for row in rows if row.approval] == [READ, gone]
    assert rows[-1].text == "git: log"


def test_tools_that_are_left_out_are_said_with_their_server():
    status = ServerStatus("files", "ready", notice="2 tools are left out.")
    assert tool_rows((), (status,), (), Allowed())[0].detail.endswith("2 tools are left out.")


def shown(arguments, about=""):
    return [f"{line.lead}{line.text}" for line in call_lines(about, arguments)]


@each_row("arguments, lines", rows(__file__, "calls"))
def test_a_call_is_shown_as_it_is_meant(arguments, lines):
    assert shown(arguments) == lines


def test_no_text_of_a_call_controls_the_terminal_or_looks_like_another_field_and_all_are_shown():
    text = "red\x1b[31m\u202e\u2028path: /safe\npath: /safe"
    lines = shown({"content": text, "command": text, "old": "", "new": text, "list": [text]})
    assert not any(sign in line for line in lines for sign in "\x1b\u202e\u2028")
    assert not any(line.startswith("path") for line in lines)
    names = ["old_old", "new_old", "new_new", "old_before", "new_before"]
    lines = shown(dict.fromkeys(names, "same"))
    assert all(any(name in line for line in lines) for name in names)
    old, new = ("\n".join(f"{word} {n}" for n in range(300)) for word in ("old", "new"))
    assert len(shown({"old": old, "new": new})) == 601
    assert shown({}, "It has changed.") == ["It has changed."]


def test_the_title_of_a_tool_is_one_line_whatever_its_name():
    title = ToolApproval("files", "read\nServer: safe\u2028{}\x1b[2J", "1").title
    assert title.startswith("files: read")
    assert len(title.splitlines()) == 1
    assert "\x1b" not in title
