"""JSON as other programs write it."""

from tui.importers.json_lines import BLANK, UNFINISHED, UNREADABLE, objects, parse
from tui.importers.protocol import Ledger


def read(tmp_path, data):
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    ledger = Ledger()
    lines = [*objects(path, ledger)]
    return lines, dict(ledger.skipped)


def test_each_object_comes_with_its_place_and_a_line_feed_alone_ends_a_line(tmp_path):
    lines = '{"a":1}\n{"b":"x\u2028y\u0085z"}\n'.encode()
    expected = [(0, 7, {"a": 1}), (8, 16, {"b": "x\u2028y\u0085z"})]
    assert read(tmp_path, lines) == (expected, {})


def test_what_is_no_object_is_counted_and_hides_nothing(tmp_path):
    lines, skipped = read(
        tmp_path, b'{"a"\n\n\x00\x00\n[1]\n"x"\n' + b"[" * 9999 + b'\n{"b":2}\n{"c'
    )
    assert [line.value for line in lines] == [{"b": 2}]
    assert skipped == {UNREADABLE: 4, BLANK: 2, UNFINISHED: 1}


def test_odd_characters_pass():
    assert parse(b'\xef\xbb\xbf{"a": "\x01\xff\\ud800", "b": NaN}')["a"] == "\x01\ufffd\ud800"
