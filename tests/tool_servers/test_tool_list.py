"""The list of a server's tools: what is offered, and what is left out."""

from tests.samples import rows
from tests.tables import each_row
from tests.tool_servers.conftest import tool
from tui.domain.tool_servers import OfferedTool
from tui.tool_servers.tool_list import (
    LONGEST_DESCRIPTION,
    LONGEST_SCHEMA,
    MOST_TOOLS,
    ToolList,
    read_tools,
)


def read(*listed: object, wanted: tuple[str, ...] = (), identity: str = "serve") -> ToolList:
    return read_tools("s", identity, listed, wanted)


def offered(listed: object, identity: str = "serve") -> OfferedTool:
    (only,) = read(listed, identity=identity).tools
    return only


def nested(depth: int) -> dict:
    schema: dict = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def test_a_plain_name_is_called_by_server_and_name():
    assert offered(tool("read_file-2")).called == "s__read_file-2"


@each_row("name", ["a.b", "a b", "lösche", "\x1b[2J", "x" * 200, "\ud800"])
def test_an_odd_name_is_called_by_safe_letters(name: str):
    called = offered(tool(name)).called
    assert called.isascii()
    assert called.replace("_", "").replace("-", "").isalnum()
    assert len(called) <= 64


def test_names_that_become_alike_stay_different():
    called = [
        each.called for each in read(*map(tool, ["a.b", "a b", "a_b", "y" * 70, "y" * 71])).tools
    ]
    assert len(set(called)) == 5


def test_of_two_tools_of_a_name_the_second_is_left_out():
    listed = read(tool("a", description="first"), tool("a", description="second"))
    assert [each.description for each in listed.tools] == ["first"]
    assert listed.notice == "Left out: a (another tool of this name is offered)."


def test_a_tool_that_is_listed_twice_is_offered_without_a_word():
    assert read(tool("a"), tool("a")) == read(tool("a"))


def test_of_many_tools_the_first_or_the_wanted_ones_are_offered_and_that_is_said():
    many = [tool(f"tool{number}") for number in range(10_000)]
    listed = read(*many)
    assert len(listed.tools) == MOST_TOOLS
    assert listed.notice == (
        "Only the first 128 tools are offered, 9,872 are left out."
        " Choose with tools = […] in [mcp.s]."
    )
    listed = read(*many, wanted=("tool499", "gone"))
    assert [each.name for each in listed.tools] == ["tool499"]
    assert listed.notice == "It has no tool gone."


def test_a_long_description_is_cut():
    description = offered(tool("a", description="x" * 1_000_000)).description
    assert len(description) == LONGEST_DESCRIPTION
    assert description.endswith("… (cut)")


NO_OBJECT = "its schema is not one of an object"
TOO_DEEP = "its schema is nested too deeply"
NO_NUMBER = "its schema has a number that is none"


@each_row(
    "schema, reason",
    [
        (5, NO_OBJECT),
        ([], NO_OBJECT),
        ("object", NO_OBJECT),
        (False, NO_OBJECT),
        ({"type": "string"}, NO_OBJECT),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, NO_OBJECT),
        (
            {"type": "object", "description": "x" * LONGEST_SCHEMA},
            "its schema has 64 KiB, more than can be sent",
        ),
        (nested(100), TOO_DEEP),
        (nested(5000), TOO_DEEP),
        ({"type": "object", "default": float("nan")}, NO_NUMBER),
        ({"type": "object", "default": float("inf")}, NO_NUMBER),
    ],
)
def test_a_tool_with_a_schema_that_is_of_no_use_is_left_out_by_name(schema: object, reason: str):
    listed = read(tool("bad", inputSchema=schema), tool("good"))
    assert [each.name for each in listed.tools] == ["good"]
    assert listed.notice == f"Left out: bad ({reason})."


@each_row("schema, plain", rows(__file__, "schemas"))
def test_a_schema_becomes_one_object_without_references(schema: object, plain: dict):
    assert offered(tool("a", inputSchema=schema)).parameters == plain


def test_a_schema_that_contains_itself_is_said_once():
    one = {"$ref": "#/$defs/Node"}
    node = {"type": "object", "properties": {"next": one}}
    schema = {"properties": {"n": one}, "$defs": {"Node": node}}
    assert offered(tool("a", inputSchema=schema)).parameters["properties"] == {
        "n": {"type": "object", "properties": {"next": {"type": "object"}}}
    }


def test_a_tool_whose_references_make_its_schema_huge_is_left_out():
    levels = {}
    for level in range(12):
        below = {"$ref": f"#/$defs/L{level + 1}"}
        levels[f"L{level}"] = {"properties": dict.fromkeys("abcdefgh", below)}
    schema = {"properties": {"a": {"$ref": "#/$defs/L0"}}, "$defs": levels}
    assert read(tool("a", inputSchema=schema)).notice == "Left out: a (its schema is too large)."


def test_secrets_in_the_words_of_a_tool_are_hidden():
    schema = {"properties": {"a": {"description": "not sk-key", "default": "sk-key"}}}
    listed = [tool("a", description="Uses sk-key.", inputSchema=schema)]
    (one,) = read_tools("s", "", listed, (), lambda said: said.replace("sk-key", "[hidden]")).tools
    assert one.description == "Uses [hidden]."
    assert one.parameters["properties"] == {"a": {"description": "not [hidden]"}}


def test_a_tool_that_runs_as_a_task_only_is_left_out():
    listed = read(
        tool("required", execution={"taskSupport": "required"}),
        tool("optional", execution={"taskSupport": "optional"}),
    )
    assert [each.name for each in listed.tools] == ["optional"]


def test_a_schema_without_a_type_is_one_of_an_object():
    schema = {"properties": {"a": {"type": "string"}}}
    assert offered(tool("a", inputSchema=schema)).parameters == {"type": "object", **schema}
    assert offered({"name": "a"}).parameters == {"type": "object", "properties": {}}


@each_row("listed", [None, 5, [], {}, {"name": 5}, {"name": " "}, {"name": "x" * 1000}])
def test_something_without_a_name_is_left_out(listed: object):
    assert read(listed).notice == ("Left out: 1 without a usable name.")


def test_a_long_list_of_the_unusable_is_shortened():
    listed = read(*(tool(f"a\n{number}", inputSchema=5) for number in range(5)))
    assert listed.notice.endswith("a 2 (its schema is not one of an object) and 2 more.")


def test_half_characters_become_whole():
    one = offered(tool("a", description="\ud800", inputSchema={"title": "\ud800"}))
    assert (one.description, one.parameters["title"]) == ("\ufffd", "\ufffd")


SAID = "x" * LONGEST_DESCRIPTION


@each_row(
    "one, other",
    [
        (offered(tool("a")), offered(tool("b"))),
        (offered(tool("a")), offered(tool("a", description="b"))),
        (offered(tool("a")), offered(tool("a", inputSchema={"type": "object", "title": "b"}))),
        (offered(tool("a")), offered(tool("a"), identity="other")),
        # Behind the cut.
        (offered(tool("a", description=f"{SAID}a")), offered(tool("a", description=f"{SAID}b"))),
    ],
)
def test_each_change_changes_the_fingerprint(one: OfferedTool, other: OfferedTool):
    assert one.fingerprint != other.fingerprint


def test_the_same_tool_has_the_same_fingerprint():
    schema = {"type": "object", "title": "t"}
    turned = dict(reversed(schema.items()))
    one, other = (offered(tool("a", inputSchema=each)) for each in (schema, turned))
    assert one.fingerprint == other.fingerprint
