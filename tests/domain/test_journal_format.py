"""Journals of version 1 are read for ever, and written as they were."""

import json

from tests.builders import facts
from tests.domain.journal_lines import BLOCK_LINES, FIXTURES, FORK_LINES, LINES, line_of
from tests.tables import each_row
from tui.domain.journal import records
from tui.domain.journal.message import FileBlock, ImageBlock
from tui.domain.journal.records import decode

# What the lines of the fixtures have meant since version 1: a kind of record, and its fields that
# are not as they are by default. Lines may be added, never changed: somebody's journals are made
# of them.
MEANINGS = [
    json.loads(line)
    for name in ("meanings-v1", "meanings-v1-fork")
    for line in (FIXTURES / f"{name}.jsonl").read_text("utf-8").splitlines()
]


@each_row(
    "line, meaning",
    list(zip(LINES + FORK_LINES, MEANINGS, strict=True)),
)
def test_a_line_of_version_1_means_what_it_meant_and_is_written_as_it_was(line, meaning):
    record = decode(line)
    assert json.loads(json.dumps({type(record).__name__: facts(record)})) == meaning
    assert _without_null_offsets(line_of(record)) == _without_null_offsets(line)


def _without_null_offsets(line):
    """A line; of a ``state``, in which older programs left out what there is not, its fields."""
    if not line.startswith(b'{"type":"state"'):
        return line
    fields = json.loads(line)
    offsets = {key: place for key, place in fields["offsets"].items() if place is not None}
    return {**fields, "offsets": offsets}


def test_the_fixtures_have_every_kind_of_record_with_every_field():
    known = {
        (kind, field) for kind in records._KINDS for field in records._KINDS[kind].__struct_fields__
    }
    found = {
        (value["type"], field) for value in map(json.loads, LINES + FORK_LINES) for field in value
    }
    assert known == {(kind, field) for kind, field in found if field != "type"}


EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
BLOCKS = (
    FileBlock(name="auth.py", text="def login():\n    …\n", size=21),
    FileBlock(name="src/", text="auth.py\n", size=2, cut=True, folder=True),
    ImageBlock(name="photo.png", media_type="image/png", sha256=EMPTY_SHA256, size=120000),
)


def test_the_blocks_of_a_message_mean_what_they_meant_and_are_written_as_they_were():
    message = decode(BLOCK_LINES[1])
    assert message.attachments == BLOCKS
    assert message.typed_text == "See @auth.py, @src/ and @photo.png"
    assert [line_of(decode(line)) for line in BLOCK_LINES] == BLOCK_LINES


def test_a_block_of_another_form_is_neither_a_file_nor_a_picture_and_is_kept():
    message = decode(BLOCK_LINES[2])
    assert message.attachments == ()
    assert message.text == "text\n[audio]\n[image]\n[file]"
    assert line_of(message) == BLOCK_LINES[2]
