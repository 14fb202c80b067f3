"""What is no record is damage: one kind of error, whatever the line holds."""

import json
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.journal_lines import FORK_LINES, LINES, line_of, nested, saying
from tests.strategies import records
from tests.tables import each_row
from tui.domain import json_text
from tui.domain.journal import records as module
from tui.domain.journal.records import DamagedRecord, Reset, decode, encode
from tui.domain.json_text import DIGITS, LINE_BYTES
from tui.domain.text import damage_words

NO_UTF_8 = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf8\x88\x80\x80")

# --- what is damaged


@each_row("line", LINES + FORK_LINES)
def test_a_line_torn_anywhere_is_damage(line):
    for length in range(len(line)):
        with pytest.raises(DamagedRecord):
            decode(line[:length])


@given(records(), st.data())
def test_any_record_torn_anywhere_is_damage(record, data):
    line = line_of(record)
    with pytest.raises(DamagedRecord):
        decode(line[: data.draw(st.integers(0, len(line) - 1))])


@each_row("line", LINES)
def test_two_records_in_one_line_are_damage(line):
    with pytest.raises(DamagedRecord):
        decode(line + line)


@each_row(
    "line",
    [
        *Path(__file__).with_name("samples").joinpath("damaged.txt").read_bytes().split(b"\n"),
        b"\x00" * 512,
        b'{"type":"reset","at":"n\tw"}',
        "{'type':'reset','at':'now'}".encode("utf-16"),
        '{"type":"reset","at":"now"}'.encode("utf-16-le"),
        '{"type":"reset","at":"now"}'.encode("utf-32"),
        *(b'{"type":"reset","at":"' + odd + b'"}' for odd in NO_UTF_8),
        *(b"[" * 100_000, b'{"a":' * 100_000, b'{"type":"x","y":' + b"[" * 100_000),
    ],
)
def test_what_is_no_object_with_a_type_and_its_values_is_damage(line):
    with pytest.raises(DamagedRecord):
        decode(line)


def fields_of_a_wrong_type():
    """Each field of each kind of record, and values that it cannot have."""
    wrong = {
        "content": [1, True, {}],
        "metadata": [1, "x", []],
        "temperature": ["x", True, []],
        "offsets": [1, "x", []],
        "skipped": [1, "x", []],
    }
    for line in LINES + FORK_LINES:
        for name in json.loads(line):
            if name not in ("type", "context_snapshot", *module._INCIDENTAL):
                for value in wrong.get(name, [1.5, [1], {"x": 1}]):
                    yield line, name, value


@each_row("line, name, value", list(fields_of_a_wrong_type()))
def test_a_field_of_a_wrong_type_is_damage(line, name, value):
    with pytest.raises(DamagedRecord):
        decode(json.dumps(json.loads(line) | {name: value}).encode())


@each_row("line", LINES + FORK_LINES)
def test_a_record_without_a_field_that_it_must_have_is_damage(line):
    value = json.loads(line)
    kind = module._KINDS[value["type"]]
    optional = {field.name for field in msgspec.structs.fields(kind) if not field.required}
    for name in value.keys() - optional:
        with pytest.raises(DamagedRecord):
            decode(json.dumps({key: value[key] for key in value if key != name}).encode())


@given(
    st.binary(max_size=40) | st.text(alphabet='{}[]":,\\ntypeu1-. ', max_size=40).map(str.encode)
)
def test_garbage_is_damage_and_never_another_error(line):
    with suppress(DamagedRecord):
        assert decode(line) is None


@given(st.sampled_from(LINES), st.integers(0, 2000), st.binary(min_size=1, max_size=3))
def test_a_line_partly_overwritten_is_a_record_or_unknown_or_damage(line, place, bytes_):
    place %= len(line)
    with suppress(DamagedRecord):
        decode(line[:place] + bytes_ + line[place + len(bytes_) :])


# --- limits


def test_a_line_of_64_mib_is_a_record_and_one_byte_more_is_damage():
    line = b'{"type":"reset","at":"now"}'.ljust(LINE_BYTES)
    assert decode(line) == Reset(at="now")
    with pytest.raises(DamagedRecord, match="64 MiB"):
        decode(line + b" ")


def test_no_line_is_written_that_is_too_long_to_be_read(monkeypatch):
    record = saying("x" * 100)
    length = len(line_of(record))
    monkeypatch.setattr(json_text, "LINE_BYTES", length)
    assert decode(line_of(record)) == record
    monkeypatch.setattr(json_text, "LINE_BYTES", length - 1)
    with pytest.raises(DamagedRecord, match="64 MiB"):
        encode(record)


# The object of the record and its content are two of the levels.
@pytest.mark.parametrize("value", [nested(199), {"a": nested(198)}, nested(150, {"a": nested(48)})])
def test_200_levels_are_written_and_read(value):
    record = saying([], context_snapshot=value)
    assert decode(line_of(record)) == record


@pytest.mark.parametrize("value", [nested(200), {"a": nested(199)}, nested(150, {"a": nested(49)})])
def test_201_levels_are_neither_written_nor_read(value):
    with pytest.raises(DamagedRecord, match="200"):
        encode(saying([], context_snapshot=value))
    with pytest.raises(DamagedRecord, match="200"):
        decode(json.dumps({"type": "message", "context_snapshot": value}).encode())


def test_an_unknown_record_that_is_too_deep_is_damage():
    assert decode(json.dumps({"type": "novel", "x": nested(199)}).encode()) is None
    with pytest.raises(DamagedRecord, match="200"):
        decode(json.dumps({"type": "novel", "x": nested(200)}).encode())


@pytest.mark.parametrize(
    "odd", [nested(100_000), object(), 10**5000], ids=["deep", "no JSON", "digits"]
)
def test_what_no_reader_would_take_cannot_be_written(odd):
    with pytest.raises(DamagedRecord):
        encode(saying("x", metadata={"x": odd}))


@pytest.mark.parametrize(
    "torn", [b'"' + b"\\" * 200_000, b'{"a":"' + b'x"' * 100_000, b'"[' * 100_000]
)
def test_a_torn_line_full_of_quotes_costs_no_more_than_its_length(torn):
    # Time that grows with the square of the length would be hours here.
    with pytest.raises(DamagedRecord):
        decode(b"[" * 201 + torn)


# --- how it is told


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        (1, "1 damaged record skipped in tale; the file is unchanged"),
        (2, "2 damaged records skipped in tale; the file is unchanged"),
    ],
)
def test_damage_is_told_with_how_much_and_where(damaged, words):
    assert damage_words(damaged, "tale") == words


@each_row("digits", [DIGITS + 1, 4300, 100_000])
@each_row("before", [0, 1, 3999])
def test_a_number_of_thousands_of_digits_is_damage(digits, before):
    line = b'{"type":"reset","at":"%s","x":-%s}' % (b"7" * before, b"9" * digits)
    with pytest.raises(DamagedRecord, match="digits"):
        decode(line)
