"""Export files: the objects of plain JSON."""

from tui.importers.json_elements import beginning, has_key, records
from tui.importers.protocol import Ledger, Source


def test_a_file_is_read_from_its_beginning(tmp_path):
    (tmp_path / "a.json").write_text('[{"n": 1}, {"n": 2}]')
    assert list(records(Source.of(tmp_path / "a.json"), Ledger())) == [{"n": 1}, {"n": 2}]


def test_only_json_has_a_beginning(tmp_path):
    for head in (b'{"a": 1}', b'\xef\xbb\xbf [ {"a": 1}', b"[\n", b"{}"):
        assert beginning(tmp_path / "a", head) == head
    for head in (b'x = {"a": 1}', b"{ a: 1 }", b'json.dump([{"a": 1}])', b""):
        assert beginning(tmp_path / "a", head) == b""


def test_a_key_is_no_text():
    assert has_key(b'{"a" : "b"}', b"a")
    assert not has_key(b'{"a" : "b"}', b"b")
