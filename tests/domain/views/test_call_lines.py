"""A call as a person reads it before it is allowed."""

import pytest

from tui.domain.views.tools import call_lines


def shown(arguments, about=""):
    return [f"{line.lead}{line.text}" for line in call_lines(about, arguments)]


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"path": "会話.md", "n": 2}, ['path: "会話.md"', "n: 2"]),
        ({"content": "a\n\tb\n"}, ["content:", "  │ a", "  │     b"]),
        ({"command": "ls\nrm x"}, ["$ ls", "> rm x"]),
        ({"cmd": ["sh", "-c", "ls -l"]}, ["$ sh -c 'ls -l'"]),
        (
            {"old_string": "a\nb\nc", "new_string": "a\nB\nc", "all": True},
            ["old_string → new_string:", "    a", "  - b", "  + B", "    c", "all: true"],
        ),
        (
            {"edits": [{"newText": "x\n", "oldText": ""}]},
            ["edits:", "  1:", "    oldText → newText:", "      + x"],
        ),
        ({"before": 3, "after": "x"}, ["before: 3", 'after: "x"']),
        ({"options": {"deep": [1, None]}}, ['options: {"deep": [1, null]}']),
        ({"items": ["x" * 70]}, ["items:", f'  1: "{"x" * 70}"']),
        ({"path: x": 1}, ['"path: x": 1']),
    ],
)
def test_a_call_is_shown_as_it_is_meant(arguments, lines):
    assert shown(arguments) == lines


def test_no_text_of_a_call_controls_the_terminal_or_looks_like_another_field():
    text = "red\x1b[31m\u202e\u2028path: /safe\npath: /safe"
    lines = shown({"content": text, "command": text, "old": "", "new": text, "list": [text]})
    assert not any(sign in line for line in lines for sign in "\x1b\u202e\u2028")
    assert not any(line.startswith("path") for line in lines)


def test_no_field_is_left_out_for_a_pair():
    names = ["old_old", "new_old", "new_new", "old_before", "new_before"]
    lines = shown(dict.fromkeys(names, "same"))
    assert all(any(name in line for line in lines) for name in names)


def test_long_texts_are_compared_as_a_whole():
    old, new = ("\n".join(f"{word} {n}" for n in range(300)) for word in ("old", "new"))
    assert len(shown({"old": old, "new": new})) == 601


def test_words_about_the_tool_come_first():
    assert shown({}, "It has changed.") == ["It has changed."]
