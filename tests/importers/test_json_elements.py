"""Objects of a huge JSON file: one at a time, and on behind what is damaged."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import any_text, json_values
from tests.tables import each_row
from tui.importers import json_elements
from tui.importers.json_elements import beginning, elements, has_key, records
from tui.importers.protocol import Ledger, Source


def values(*arguments):
    return [each.value for each in elements(*arguments)]


def read(text, within=(), ledger=None):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return values(io.BytesIO(data), ledger or Ledger(), within)


class Slow(io.BytesIO):
    """A stream that gives few bytes at a time, as one that is unpacked does."""

    def read(self, size=-1):
        return super().read(min(size, 7))


OBJECTS = st.lists(st.dictionaries(any_text(4), json_values(), max_size=4), max_size=5)
"""As exports have them: any texts, brackets and quotes too."""


@given(objects=OBJECTS, indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_reads_what_a_parser_reads(objects, indent, ascii_only):
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_only)
    data = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    ledger = Ledger()
    assert values(Slow(data.encode()), ledger) == json.loads(data)
    assert not ledger.skipped


@each_row(
    "text",
    [
        '[{"a": 1}, {"a": 2}]',
        '\ufeff[{"a": 1}, {"a": 2}]',
        '{"version": 1, "items": [{"a": 1}, {"a": 2}]}',
        '{"folders": [{}], "items": [{"a": 1}, {"a": 2}]}',
        '{"a": 1}\n{"a": 2}\n',
    ],
)
def test_finds_the_objects_wherever_their_array_is(text):
    assert read(text, ["items"]) == [{"a": 1}, {"a": 2}]


@each_row(
    "text",
    [
        '[{"a": 1}][{"a": 2}]',
        '[{"a": 1}]\n[{"a": 2}]\n',
        '[{"a": 1}]], {"a": 2}]',
        '[[{"a": 1}], [{"a": 2}]]',
        '{"items": [{"a": 1}]}\n{"items": [{"a": 2}]}',
        '{"items": [{"a": 1}], "b": {"c": [{}]}}{"v": 1, "items": [{"a": 2}], "b": [{}]}',
        '{"items": [{"a": 1}]], {"a": 2}]}',
        '[{"a": 1}] {"folders": [{}], "items": [{"a": 2}]}',
        '{"a": 1}[{"a": 2}]',
    ],
)
def test_reads_on_behind_an_array(text):
    ledger = Ledger()
    assert read(text, ["items"], ledger) == [{"a": 1}, {"a": 2}]
    assert values(Slow(text.encode()), ledger, ["items"]) == [{"a": 1}, {"a": 2}]
    assert not ledger.skipped


def test_tells_arrays_and_what_is_between_damaged_objects_apart():
    text = '{"a": 0, "b": 0}{"a": 1, "b": 0}[{"a": 2, "b": 0}, {"a": 3, b}, {"a": 4, "b": 0}]'
    found = elements(io.BytesIO(f"{text}[]".encode()), Ledger())
    outside, also_outside, before, behind = found
    assert outside[1:] == also_outside[1:]
    assert before.array == behind.array != outside.array
    assert before.damage < behind.damage


@each_row(
    "damaged",
    [
        '{"id": "b", "text": "x", "more": {"id": 1}',
        '{"id": "b", "text": "x", "more": nonsense}',
        '{"id": "b", "text": "x, "more": {"id": 1}}',
        '{"id": "b", "text": "x", "more": ]}',
        '{"id": "b", "text": "x", "more": ' + "[" * 300 + "]" * 300 + "}",
    ],
)
def test_reads_on_behind_a_damaged_object(damaged):
    ledger = Ledger()
    one, *others = (json.dumps({"id": name, "text": "x"}) for name in "acd")
    found = read(f"[{one}, {damaged}, {', '.join(others)}]", ledger=ledger)
    assert [value["id"] for value in found] == ["a", "c", "d"]
    assert ledger.skipped.total() == 1


@each_row(
    "text, value, skipped",
    [
        ('{"a": {"items": []}}', {"a": {"items": []}}, {}),
        ('[1, {"a": 1}, null, "x", [2]]', {"a": 1}, {"unreadable line": 4}),
        ('[{"id": "a"}, {"id": "b", "te', {"id": "a"}, {"unfinished line": 1}),
    ],
)
def test_counts_what_is_no_object_or_is_cut_off(text, value, skipped):
    ledger = Ledger()
    assert read(text, ["items"], ledger) == [value]
    assert ledger.skipped == skipped


@pytest.mark.parametrize("large", ['"' + "x" * 5000 + '"', "[" + '"x", ' * 2000 + "1]"])
def test_passes_over_an_object_that_is_too_large(monkeypatch, large):
    monkeypatch.setattr(json_elements, "LINE_BYTES", 1000)
    monkeypatch.setattr(json_elements, "_BLOCK", 100)
    monkeypatch.setattr(json_elements, "HEAD_BYTES", 100)
    ledger = Ledger()
    text = '[{"id": 1, "t": 2}, {"id": 2, "t": ' + large + '}, {"id": 3, "t": 4}]'
    found = read(text, ledger=ledger)
    assert [value["id"] for value in found] == [1, 3]
    assert ledger.skipped == {"record over 64 MiB": 1}


def test_needs_memory_for_one_object_only():
    class Endless(io.RawIOBase):
        """An array of 24 MiB, made while it is read."""

        sent = 0

        def read(self, size=-1):
            self.sent += size
            return (b"[" if self.sent == size else b"") + b'{"a": "%s"},' % (b"x" * 1000) * (
                size // 1010 if self.sent < 24 * 1024 * 1024 else 0
            )

    tracemalloc.start()
    count = sum(1 for _ in elements(Endless(), Ledger()))  # pyright: ignore[reportArgumentType]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count > 20_000
    assert most < 12 * 1024 * 1024


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
