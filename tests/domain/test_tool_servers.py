"""What servers ask: read, bounded, and answered."""

import json

import pytest

from tests.samples import rows
from tests.tables import each_row
from tui.domain.tool_servers import MOST_FIELDS, MOST_OPTIONS, Field, read_question


def form(**properties):
    return {"message": "Well?", "requestedSchema": {"type": "object", "properties": properties}}


def field(schema, *, required=False) -> Field:
    asked = form(it=schema)
    asked["requestedSchema"]["required"] = ["it"] if required else []
    (read,) = read_question("files", asked).fields
    return read


_NO_DEFAULTS = [
    ({"type": "number", "default": 10**400}, "number", {}, None),
    ({"type": "string", "default": "x" * 1_000_000}, "string", {}, None),
]


@each_row("schema, kind, options, default", [*rows(__file__, "form_fields"), *_NO_DEFAULTS])
def test_a_field_of_each_type_has_its_choices_and_a_default_that_fits(
    schema, kind, options, default
):
    read = field(schema)
    default = tuple(default) if isinstance(default, list) else default
    assert (read.kind, read.default) == (kind, default)
    assert {each.value: each.title for each in read.options} == options


@each_row(
    "schema, entered, value",
    [
        ({"type": "integer"}, "7", 7),
        ({"type": "number"}, "7.5", 7.5),
        ({"type": "string"}, "", None),
        ({"type": "boolean"}, False, False),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ("b",), ["b"]),
    ],
)
def test_an_entry_becomes_a_value_of_its_type(schema, entered, value):
    assert field(schema).value(entered) == value


@each_row(
    "schema, entered, said",
    [
        ({"type": "integer"}, "7.5", "a whole number"),
        ({"type": "integer"}, "9" * 400, "a whole number"),
        ({"type": "number"}, "nan", "a number"),
        ({"type": "string"}, "", "fill it in"),
        ({"type": "string", "enum": ["a"]}, "b", "one of those"),
    ],
)
def test_an_entry_that_does_not_fit_is_refused_with_the_reason(schema, entered, said):
    with pytest.raises(ValueError, match=said):
        field(schema, required=True).value(entered)


def test_words_of_the_server_are_sanitised_and_bounded():
    asked = form(**{"\x1b[31mred": {"type": "string", "description": "\u202e" + "x" * 1_000_000}})
    read = read_question("files", {**asked, "message": "\x1b]0;title\x07" + "y" * 1_000_000})

    words = (read.message, read.fields[0].title, read.fields[0].about)
    assert not any("\x1b" in each or "\u202e" in each for each in words)
    assert max(map(len, words)) < 10_000
    assert read.fields[0].name == "\x1b[31mred"


@each_row(
    "asked",
    [
        {},
        form(**{f"f{n}": {"type": "string"} for n in range(MOST_FIELDS + 1)}),
        form(it={"type": "string", "enum": [str(n) for n in range(MOST_OPTIONS + 1)]}),
        form(it={"type": "object", "properties": {}}),
        form(it={"type": "array", "items": {"type": "string"}}),
        form(it="a string"),
        {"message": "", "requestedSchema": {"properties": ["it"]}},
        {"mode": "url", "url": "javascript:alert(1)"},
        {"mode": "url", "url": "https://example.org/\u202e"},
        {"mode": "url", "url": "file:///etc/passwd"},
    ],
)
def test_a_question_that_cannot_be_shown_is_an_error(asked):
    with pytest.raises(ValueError, match=r"."):
        read_question("files", asked)


def test_an_address_is_kept_as_it_is():
    address = "https://example.org/pay?id=1"
    asked = json.loads(json.dumps({"mode": "url", "url": address, "message": "Pay"}))
    read = read_question("files", asked)
    assert (read.kind, read.address, read.message) == ("address", address, "Pay")
