"""One odd record or file never takes anything away from other sessions."""

import json
import os

import pytest

from tests.builders import Story, answer, user
from tui.domain.journal.records import encode
from tui.storage import locks

HUGE = 10**309
ODD = "session-20260111-153000-000009"
FILE = {"type": "file", "path": "a.py", "text": "words of a file", "size": HUGE}


def line(**fields):
    return json.dumps(fields).encode() + b"\n"


def message(**fields):
    known = {"type": "message", "id": "odd", "role": "user", "content": "odd words"}
    return line(**known | {"timestamp": "2026-01-11T14:30:00.000Z"} | fields)


def state(**fields):
    counts = {"prompt_count": 1, "message_count": 1, "total_count": 1, "offsets": {}}
    return line(**{"type": "state", "name": "", "updated_at": "x"} | counts | fields)


RECORDS = {
    "a file too large": message(content=[FILE]),
    "a picture of negative size": message(content=[FILE | {"type": "image", "size": -1}]),
    "a piece at no place": line(type="partial", message_id="p", at=HUGE, text="x"),
    "an empty id": message(id=""),
    "an empty id of a piece": line(type="partial", message_id="", at=0, text="x"),
    "a count of many digits": state(message_count=HUGE),
    "an offset of many digits": state(offsets={"summary": HUGE}),
    "a temperature that is none": line(type="settings", temperature=float("nan")),
    "an infinite limit": line(type="settings", max_tokens=HUGE),
    "a ledger of many digits": line(
        type="import", at="x", program="p", source_id="x", path="x", read=HUGE
    ),
}
TIMES = ["2286-11-20T17:46:40.000Z", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00Z"]


@pytest.fixture
def odd(data, saved):
    """Writes a session with odd lines beside a healthy one, and gives the healthy one's id."""

    def write(*lines, first=b""):
        healthy = saved("healthy words", "an answer")
        story = Story(ODD, scope="project:/shop", ordinal=2).opened().user("whole words")
        story.data = (first or story.lines[0]) + story.data[len(story.lines[0]) :] + b"".join(lines)
        (data / "sessions" / f"{ODD}.jsonl").write_bytes(story.data)
        return healthy

    return write


def all_listed(sibyl):
    return {each["id"] for each in sibyl("sessions", "list", "--json").json}


def found_in(sibyl, words):
    return {each["session_id"] for each in sibyl("sessions", "search", "--json", words).json}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_an_odd_record_is_damage_and_takes_nothing_away(record, odd, sibyl, tmp_path):
    healthy = odd(record, encode(answer("m8", "more words")))
    assert all_listed(sibyl) == {healthy, ODD}
    assert found_in(sibyl, "words") == {healthy, ODD}
    assert found_in(sibyl, '"more words"') == {ODD}
    exported = sibyl("sessions", "export", "--all", "--output", tmp_path / "out")
    assert exported.code == 0
    assert f"1 damaged record skipped in {ODD}" in exported.err
    assert len(os.listdir(tmp_path / "out")) == 2
    examined = sibyl("doctor")
    assert examined.code == 2
    assert f"1 damaged record skipped in {ODD}" in examined.out


@pytest.mark.parametrize("time", TIMES)
def test_a_time_far_away_keeps_no_session_from_being_found(time, odd, sibyl, data, zone):
    zone("JST-9")
    healthy = odd(message(timestamp=time))
    os.utime(data / "sessions" / f"{ODD}.jsonl", ns=(10**19, 10**19))
    assert all_listed(sibyl) == {healthy, ODD}
    assert found_in(sibyl, "words") == {healthy, ODD}
    assert sibyl("sessions", "show", ODD).code == 0


def test_a_number_that_no_session_has_keeps_nothing_from_being_copied(odd, sibyl, data, tmp_path):
    first = json.loads(Story(ODD).lines[0]) | {"ordinal": 2**63}
    healthy = odd(first=line(**first))
    copied = sibyl("sessions", "copy", "--from", data, "--to", tmp_path / "copy")
    assert (copied.code, "Copied 2 sessions" in copied.out) == (0, True)
    assert {each.stem for each in tmp_path.glob("copy/sessions/*")} == {healthy, ODD}


def test_an_empty_id_in_a_session_with_versions_locks_nobody_out(odd, sibyl):
    odd(message(id=""), encode(user("m8", "edited words", after="m0001")))
    answered = sibyl("ask", "--session", ODD, "--model", "offline:guide", "help")
    assert answered.code == 0
    assert f"1 damaged record skipped in {ODD}" in answered.err


def test_an_error_that_nobody_foresaw_is_that_of_its_session(odd, sibyl, monkeypatch, tmp_path):
    healthy = odd(message())

    def fail(text):
        if text == "odd words":
            raise OverflowError
        return 0

    monkeypatch.setattr("tui.domain.journal.fold.damaged_blocks", fail)
    assert all_listed(sibyl) == {healthy, ODD}
    assert found_in(sibyl, "healthy") == {healthy}
    exported = sibyl("sessions", "export", "--all", "--output", tmp_path / "out")
    assert (exported.code, ODD in exported.err) == (1, True)
    assert len(os.listdir(tmp_path / "out")) == 1
    assert f"unreadable: sessions/{ODD}.jsonl" in sibyl("doctor").out


def test_one_session_that_cannot_be_purged_keeps_no_other_from_it(odd, sibyl, data):
    healthy = odd()
    for session_id in (healthy, ODD):
        sibyl("sessions", "delete", session_id, "--yes")
    lock = locks.take(data / "locks" / f"{healthy}.lock")
    purged = sibyl("sessions", "purge", "--yes")
    lock.release()
    assert (purged.code, "Purged 1 session." in purged.out) == (1, True)
    assert healthy in purged.err
    assert [each.stem for each in data.glob("trash/*")] == [healthy]
