"""Any record comes back from its line as it was, and what is unknown is passed over."""

import json
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.builders import answer, user
from tests.domain.journal_lines import FORK_LINES, LINES, line_of, saying
from tests.samples import rows
from tests.strategies import any_text, as_read, json_values, messages, records
from tests.tables import each_row
from tui.domain.journal import records as module
from tui.domain.journal.message import TokenUsage, ToolCall
from tui.domain.journal.records import (
    NO_OFFSETS,
    SESSION_NUMBERS,
    CountedRequest,
    Offsets,
    Opened,
    Reset,
    State,
    Summary,
    Titled,
    by_model,
    counted_requests,
    decode,
    encode,
    is_session_id,
    may_answer,
    new_message_id,
    new_session_id,
)
from tui.domain.json_text import check_limits

# --- any record


@given(records())
def test_any_record_is_read_as_it_was_written(record):
    # Their forms say more than equality: 1 is equal to 1.0 and to True.
    assert repr(decode(line_of(record))) == repr(record)


@given(records())
def test_a_record_is_one_line_of_utf_8_for_every_reader_of_lines(record):
    line = encode(record)
    assert line.endswith(b"\n")
    assert len(line.decode("utf-8").splitlines()) == 1
    assert not set(line.decode("utf-8")[:-1]) & {
        *map(chr, range(0x20)),
        *map(chr, range(0x80, 0xA0)),
    }


@given(records())
def test_any_reader_of_json_reads_the_same(record):
    value = json.loads(encode(record), parse_constant=pytest.fail)
    assert value == json.loads(json.dumps(msgspec.to_builtins(record)))


def test_text_is_stored_as_typed_and_two_halves_of_a_character_as_the_character():
    assert "会話 😀 é".encode() in encode(saying("会話 😀 é"))
    assert decode(line_of(saying("\ud83d\ude00"))).text == "😀" == as_read("\ud83d\ude00")


@each_row("harmful", ["\x00", "\n", "\r", "\x1b", "\x85", "\x9b", "\u2028", "\u2029"])
def test_what_splits_lines_or_speaks_to_terminals_is_stored_escaped(harmful):
    line = line_of(saying(harmful))
    assert harmful.encode() not in line
    assert decode(line).text == harmful


def test_absent_fields_are_not_written_but_null_content_and_empty_offsets():
    assert line_of(Opened(at="now")) == b'{"type":"opened","at":"now"}'
    state = State(
        name="", prompt_count=0, message_count=0, total_count=0, updated_at="", offsets=Offsets()
    )
    assert b'"content":null' in encode(saying(None))
    assert b'"message_count":0' in encode(state)
    assert b'"offsets":{"summary":null,"todos":null,"reset":null}' in encode(state)
    known = msgspec.structs.replace(state, offsets=NO_OFFSETS)
    assert b'"reset":null,"settings":null}' in encode(known)


def test_a_foreign_number_too_large_for_any_machine_can_be_read_and_written_again():
    line = line_of(saying(["Infinity"])).replace(b'["', b'[1e400,-1e400,"')
    again = line_of(decode(line))
    assert json.loads(again, parse_constant=pytest.fail) == json.loads(line)


def test_token_counts_of_a_later_version_are_read_as_far_as_they_are_known():
    counts = '{"input_tokens":1,"output_tokens":2,"thought_tokens":3}'
    line = line_of(saying("x"))[:-1] + f',"usage":{counts}}}'.encode()
    assert decode(line).usage == TokenUsage(1, 2)


@each_row(
    "odd",
    [
        '{"input_tokens":-1,"output_tokens":2}',
        '{"input_tokens":"12","output_tokens":2}',
        '{"input_tokens":1.5,"output_tokens":2}',
        json.dumps({"input_tokens": 10**400, "output_tokens": 2}),
        '{"prompt_tokens":1,"completion_tokens":2}',
        "[1,2]",
        '"12"',
    ],
)
def test_odd_token_counts_cost_no_words(odd):
    line = line_of(saying("x"))[:-1] + f',"usage":{odd}}}'.encode()
    assert (decode(line).text, decode(line).usage) == ("x", None)
    summary = decode(f'{{"type":"summary","text":"s","through":"m","usage":{odd}}}'.encode())
    assert (summary.text, summary.usage) == ("s", None)


@pytest.mark.parametrize("odd", ["5", "true", '["high"]'])
def test_an_odd_effort_costs_no_other_setting(odd):
    settings = decode(f'{{"type":"settings","system_prompt":"Be brief","effort":{odd}}}'.encode())
    assert (settings.system_prompt, settings.effort) == ("Be brief", None)


# --- two ways of reading


_NUMBERS = [
    *("0", "-0", "-0.0", "1.0", "1e5", "1E-7", "1e400", "-1e400", "5e-324", "1e-400"),
    *("9223372036854775808", "-9223372036854775809", "18446744073709551616", "1" * 40),
    *("1.7976931348623159e308", "0.1000000000000000055", "1" * 4301, "NaN", "Infinity"),
    *("01", "1.", ".5", "+1", "0x1"),
]


def attempt(way, line):
    """What a way of reading gives, as text; ``None`` if it refuses the line."""
    with suppress(msgspec.MsgspecError, ValueError):
        return repr(way(line))


def strings():
    """JSON strings with and without escapes."""
    return st.builds(
        lambda text, escaped: _utf_8(json.dumps(text, ensure_ascii=escaped)),
        any_text(4),
        st.booleans(),
    )


def _utf_8(text):
    return text.encode("utf-8", "replace").decode()


def values():
    """JSON as text, with the numbers on which parsers differ."""
    numbers = st.sampled_from(_NUMBERS)
    leaves = numbers | strings() | json_values(2).map(json.dumps).map(_utf_8)
    return st.recursive(leaves, lambda inner: _arrays(inner) | _objects(inner), max_leaves=4)


def _arrays(inner):
    return st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")


def _objects(inner):
    names = st.sampled_from(['"a"', '"type"', '"\\u0061"']) | strings()
    return st.lists(st.tuples(names, inner), max_size=3).map(_object)


def _object(fields):
    return "{" + ",".join(f"{name}:{value}" for name, value in fields) + "}"


@st.composite
def doctored_lines(draw):
    """The line of a record with fields added, twice, in another order, or with other values."""
    fields = [
        (json.dumps(name), _utf_8(json.dumps(value)))
        for name, value in json.loads(draw(st.sampled_from(LINES + FORK_LINES))).items()
    ]
    names = st.sampled_from([name for name, _ in fields] + ['"future"', '"offsets"', '"\\ud800"'])
    fields += draw(st.lists(st.tuples(names, values()), max_size=2))
    return _object(draw(st.permutations(fields))).encode()


@given(doctored_lines())
@example(b'{"type":"reset","at":"a","at":"b"}')
@example(
    b'{"type":"message","id":"m","role":"user","content":[1e22,-0,-0.0,1e400],"timestamp":"t"}'
)
def test_what_the_fast_or_the_careful_way_takes_is_taken_and_they_agree(line):
    fast, careful = attempt(module._DECODER.decode, line), attempt(module._decode_carefully, line)
    assert fast is None or careful is None or fast == careful
    assert attempt(decode, line) == (attempt(check_limits, line) and (fast or careful))


@given(records())
def test_the_careful_way_takes_every_line_that_is_written(record):
    assert attempt(module._decode_carefully, line_of(record)) == repr(record)


@given(messages().filter(lambda message: "\\ud" not in repr(message)))
def test_the_fast_way_takes_every_message_without_lone_surrogates(message):
    assert attempt(module._DECODER.decode, line_of(message)) == repr(message)


# --- what is unknown


@each_row(
    "line",
    [
        b'{"type":"novel"}',
        b'{"type":"novel","at":[{"message_id":1}]}',
        b'{"type":"\\ud800"}',
        b'{"type":""}',
        b'{"at":"2026","type":"Message"}',
    ],
)
def test_a_record_of_an_unknown_type_is_none(line):
    assert decode(line) is None


@each_row(
    "unknown",
    [
        '"future":1',
        '"future":{"a":[1e400]}',
        '"\\ud800":"\\udfff"',
        '"é":[]',
        '"items":3',
        '"Type":"opened"',
    ],
)
def test_unknown_fields_are_passed_over(unknown):
    assert decode(f'{{"type":"reset",{unknown},"at":"now"}}'.encode()) == Reset(at="now")


@pytest.mark.parametrize(
    "line",
    [b'\xef\xbb\xbf{"type":"reset","at":"now"}', b' {"type" : "reset","at":"now"}\r'],
)
def test_a_byte_order_mark_and_blanks_are_passed_over(line):
    assert decode(line) == Reset(at="now")


def test_unknown_fields_within_known_ones_are_passed_over_and_names_of_any_kind_stay():
    call = '{"id":"c","name":"n","arguments":{"\\ud800":1},"\\ud800":2,"future":3}'
    line = line_of(saying("x"))[:-1] + f',"tool_calls":[{call}]}}'.encode()
    assert decode(line).tool_calls == (ToolCall(id="c", name="n", arguments={"\ud800": 1}),)
    metadata = {"\ud800": {"é": 1, "items": {"\udfff": 2}}}
    assert decode(line_of(saying("x", metadata=metadata))).metadata == metadata


NOW = datetime(2026, 1, 11, 14, 30, 22, 987654, UTC)


def test_sessions_and_messages_are_named_by_their_times(zone):
    zone("JST-9")
    assert new_session_id(NOW, 847) == "session-20260111-233022-000847"
    zone("JST-9")
    there = NOW.astimezone(timezone(timedelta(hours=-5)))
    assert new_message_id(there, "a1b2c3d4") == "20260111T143022987-a1b2c3d4"


@given(
    st.integers(0, 2**32).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.integers(0, SESSION_NUMBERS - 1),
)
def test_every_name_given_to_a_session_is_a_session_id(now, number):
    name = new_session_id(now, number)
    assert is_session_id(name)
    assert re.fullmatch(r"session-\d{8}-\d{6}-\d{6}", name)


@each_row("name", ["a", "0", "A.b_c-d", "a..b", "a" * 128, "session-1", "x-"])
def test_letters_digits_dots_underscores_and_hyphens_make_an_id(name):
    assert is_session_id(name)


@each_row("text", rows(__file__, "no_ids"))
def test_anything_else_is_refused(text):
    assert not is_session_id(text)


@given(any_text() | st.text(st.sampled_from("aZ9.-_/\\~ \n\x00é"), max_size=130))
def test_an_id_is_a_plain_file_name_of_its_folder(text):
    if is_session_id(text):
        assert text.isascii()
        assert 1 <= len(text) <= 128
        assert not set(text) & set("/\\~ \n\x00")
        assert text[0] not in ".-_"


def test_a_request_counts_once_though_its_record_is_repeated():
    records = [answer("a1"), user("u1"), answer("a1", model="m", usage=TokenUsage(3, 2))]
    expected = CountedRequest("a1", "m", records[-1].timestamp, TokenUsage(3, 2))
    assert counted_requests([*records, None]) == (expected,)
    used, later = TokenUsage(9, 1), TokenUsage(8, 2)
    summary = Summary("So far.", "u1", "m", used)
    titled = Titled("Two", "2026-01-11T14:30:00.000Z", "m", later)
    found = counted_requests([summary, Summary("So far.", "u1"), summary, titled])
    assert [(each.model, each.usage) for each in found] == [("m", used), ("m", later)]


def test_no_line_that_answers_a_request_is_passed_over_and_requests_are_grouped_by_model():
    lines = [*LINES, encode(Summary("x", "u1", usage=TokenUsage(1, 1)))]
    answering = [line for line in lines if counted_requests([decode(line.strip())])]
    assert len(answering) > 3
    assert all(map(may_answer, answering))

    records = [answer(f"a{number}", model="mn"[number % 2]) for number in range(5)]
    groups = by_model(counted_requests(records))
    assert {model: [each.id for each in group] for model, group in groups.items()} == {
        "m": ["a0", "a2", "a4"],
        "n": ["a1", "a3"],
    }


@each_row("record", [user("u1"), Summary("x", "u1"), None, answer("a1", model="offline:guide")])
def test_other_records_answer_nothing_and_the_guide_is_sent_no_request(record):
    assert counted_requests([record]) == ()
