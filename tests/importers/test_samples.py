"""The harness of samples: it accepts a right reader and finds the faults of wrong ones."""

import json

import pytest

from tests.importers.samples import check, check_junk_lines, check_mutants
from tui.importers.json_lines import objects
from tui.importers.protocol import Conversation, ForeignMessage, Heading, Ledger, Reader


def reader(items):
    def read(source, _):
        ledger = Ledger()
        heading = Heading(source.path.name)
        yield Conversation(heading, lambda: items(source.path, ledger), ledger)

    return Reader("mine", "Mine", lambda _: iter(()), lambda *_: True, read)


def messages(path, ledger):
    for line in objects(path, ledger):
        if line.value.get("id") is None:
            ledger.skipped["no id"] += 1
            continue
        ledger.read += 1
        yield ForeignMessage(str(line.value["id"]) + str(line.offset), "user", "text")


@pytest.fixture
def path(tmp_path):
    """A file of some messages."""
    folder = tmp_path / "source"
    folder.mkdir()
    path = folder / "a.jsonl"
    lines = [json.dumps({"id": f"the {n}", "text": "words"}) for n in range(5)]
    path.write_text("\n".join(lines))
    return path


def test_a_reader_that_counts_everything_passes(path):
    assert len(check(reader(messages), path).messages) == 5


def test_a_record_that_is_not_counted_is_found(path):
    with pytest.raises(AssertionError):
        check(reader(lambda path, _: messages(path, Ledger())), path)


def test_a_changed_source_is_found(path):
    def changed(path, ledger):
        path.with_suffix(".lock").touch()
        return messages(path, ledger)

    with pytest.raises(AssertionError, match="changed"):
        check(reader(changed), path)


@pytest.mark.full
def test_a_lenient_reader_survives_all_mutants(path, tmp_path):
    check_mutants(reader(messages), path, tmp_path)


def test_a_reader_that_fails_on_damage_is_found(path, tmp_path):
    def strict(path, _):
        return iter([json.loads(line) for line in path.read_text().split("\n")][:0])

    with pytest.raises(AssertionError, match="mine"):
        check_mutants(reader(strict), path, tmp_path)


def test_a_reader_that_stops_at_damage_is_found(path, tmp_path):
    def until_damage(path, ledger):
        for message in messages(path, ledger):
            if ledger.skipped:
                return
            yield message

    with pytest.raises(AssertionError):
        check_junk_lines(reader(until_damage), path, tmp_path)
