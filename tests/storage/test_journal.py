"""Reading journals: whole, from the end, page by page, and what a list needs."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import Story, answer, at, every_kind, header, piece, texts, user
from tests.examples import examples
from tests.storage.stories import any_text, blocks_of, chain, load, messages_of, reading, stories
from tests.tables import each_row
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import VERSION, Offsets, Settings, State, Summary, encode
from tui.domain.journal.session import joined
from tui.domain.journal.todo import TodoItem
from tui.errors import StorageError
from tui.storage.file_store import FileStore

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


def as_json_reads(value):
    """A high and a low surrogate side by side are one character to every JSON reader."""
    return json.loads(json.dumps(value))


# --- round trips


@given(text=any_text, other=any_text)
def test_any_text_comes_back_as_it_was(text, other):
    story = Story().user(text).answer(other).summary(text).todos(text, other).state(text)
    session = load(story.data)
    assert session.damaged == 0
    assert texts(session.loaded_messages) == as_json_reads([text, other])
    assert session.summary.text == as_json_reads(text)
    assert [item.content for item in session.todos] == as_json_reads([text, other])
    assert session.name == as_json_reads(text)


@each_row(
    "text, read",
    [
        *((text, text) for text in ("\0", "a\r\nb\rc\n", "\u2028\u2029\x85\x9b", "\ud800")),
        *((text, text) for text in ("\udfff\ud800", "🎉", "日本語", "\ufeff")),
        ("\ud83c\udf89", "🎉"),
    ],
)
def test_text_that_trips_others_comes_back_as_it_was(text, read):
    assert texts(load(Story().user(text).data).loaded_messages) == [read]


@given(content=st.none() | any_text | st.lists(anything, max_size=3), arguments=anything)
def test_any_content_and_any_arguments_come_back_as_they_were(content, arguments):
    calls = (ToolCall("t1", "tool", arguments),)
    story = Story().answer(content, tool_calls=calls, context_snapshot=arguments)
    message = load(story.data).loaded_messages[0]
    assert message.content == as_json_reads(content)
    assert message.tool_calls[0].arguments == as_json_reads(arguments)
    assert message.context_snapshot == as_json_reads(arguments)


@given(text=any_text)
def test_a_record_is_one_line_that_every_reader_takes_for_one(text):
    line = Story().user(text).lines[-1]
    assert line.endswith(b"\n")
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line)["content"] == as_json_reads(text)


def test_unknown_records_and_fields_are_skipped_and_are_no_damage():
    story = Story().raw(b'{"type":"novel","text":"\\ud800"}\n')
    story.raw(encode(user("m1")).replace(b'"content"', b'"new":{"a":[]},"\\ud800":1,"content"'))
    session = load(story.data)
    assert texts(session.loaded_messages) == ["hello"]
    assert session.damaged == 0


# --- damage


def test_damaged_lines_are_counted_and_hide_nothing_else():
    story = Story().user("one").raw(b"\n").raw(b"{torn\n").raw(b"\xff\xfe\n").raw(b"[]\n")
    story.raw(b'{"type":"message","id":5}\n').raw(b'{"no":"type"}\n').user("two")
    session = load(story.data)
    assert texts(session.loaded_messages) == ["one", "two"]
    assert session.damaged == 6


@pytest.mark.parametrize(
    "line",
    [b"[" * 100_000, b'{"a":' * 50_000, b'{"type":"message","id":' + b"1" * 5000 + b"}"],
)
def test_lines_made_to_break_readers_are_only_damage(line):
    session = load(Story().user("one").raw(line + b"\n").user("two").data)
    assert (texts(session.loaded_messages), session.damaged) == (["one", "two"], 1)


def test_a_torn_line_full_of_quotes_takes_no_longer_than_its_length():
    # Looking for the end of its string from every quote would take the age of the universe.
    torn = b'{"type":"message","content":"' + b"[{" * 150 + b'\\"' * 2_000_000
    assert load(Story().user("one").data + torn).damaged == 1


def test_a_torn_last_line_is_damage_only_when_nobody_is_writing_it():
    data = Story().user("one").data + encode(answer("m2"))[:-20]
    for held, damaged in ((False, 1), (True, 0)):
        with reading(data, held=held) as journal:
            assert journal.load().damaged == damaged
            assert journal.tail(5).session.damaged == damaged
            assert texts(journal.tail(5).session.loaded_messages) == ["one"]


def test_a_whole_last_line_without_its_newline_counts_once_its_writer_is_gone():
    data = Story().user("one").state().data + encode(answer("m2")).removesuffix(b"\n")
    with reading(data) as journal:
        assert texts(journal.load().loaded_messages) == ["one", "hi"]
        assert texts(journal.tail(1).session.loaded_messages) == ["hi"]
        assert texts(journal.page(journal.tail(1).cursor, 1).entries) == ["one"]
        assert journal.load().damaged == journal.tail(5).session.damaged == 0


@each_row(
    "line",
    [
        *(b"garbage\n", b"\n", b"\0" * 50 + b"\n"),
        *(encode(header(version=version)) for version in (0, -1, -(10**30))),
    ],
)
def test_a_damaged_first_line_is_made_up_for_from_elsewhere(line):
    story = Story()
    damaged = line + story.user("one").state("Tale").data.split(b"\n", 1)[1]
    with reading(damaged) as journal:
        for session in (journal.load(), journal.tail(5).session):
            assert (session.id, session.header.scope) == ("tale", "guessed")
            assert (texts(session.loaded_messages), session.name) == (["one"], "Tale")
            assert session.damaged == 1


@each_row(
    "line, version",
    [
        (encode(header(version=7)), 7),
        (b'{"type":"session","version":7}\n', 7),
        (b'{"type":"session","version":7,"id":5,"scope":["new"]}\n', 7),
        (encode(header(version=0)), VERSION),
        (encode(header(version=-1)), VERSION),
    ],
)
def test_a_newer_version_is_known_whatever_else_its_first_line_says_and_none_below_one(
    line, version
):
    with reading(line + encode(user("m1"))) as journal:
        assert journal.header().version == version


def test_an_empty_file_is_a_session_of_which_nothing_is_known():
    with reading(b"") as journal:
        assert journal.load().entries == journal.tail(5).session.entries == ()
        assert journal.header().scope == "guessed"
        assert journal.name() == ""


# --- tail and pages

KNOWN_AT_THE_END = (
    *("header", "name", "model", "prompt_count", "message_count", "total_count", "summary"),
    *("todos", "settings", "offsets", "interrupted", "arriving", "updated_at", "last_record_at"),
)


def without_summaries(entries):
    """Entries without the marks that may stand beside a version, or not."""
    return [entry for entry in entries if not isinstance(entry, Summary)]


@examples(3)
@given(
    story=stories(),
    first=st.integers(0, 6),
    size=st.integers(1, 5),
    block=st.integers(1, 300),
    held=st.booleans(),
)
def test_a_tail_and_its_pages_are_the_whole_file(story, first, size, block, held):
    with blocks_of(block), reading(story.data, held=held) as journal:
        whole = journal.load()
        entries, _ = chain(journal, first, size)
    assert without_summaries(entries) == without_summaries(whole.entries)
    assert whole.damaged == 0


@examples(3)
@given(
    story=stories(),
    place=st.integers(0, 30),
    size=st.integers(1, 4),
    block=st.integers(1, 300),
    held=st.booleans(),
)
def test_from_around_any_message_pages_give_what_the_whole_file_gives(
    story, place, size, block, held
):
    with blocks_of(block), reading(story.data, held=held) as journal:
        session = journal.load()
        whole = session.entries
        # Of an answer that is not finished there is no message yet.
        found = [
            m
            for m in messages_of(whole)
            if b'"type":"message","id":"%b"' % m.id.encode() in story.data
        ]
        if not found:
            return
        message = found[place % len(found)]
        around = journal.around(message.id, size - 1, size)
        entries, earlier, later = around.entries, around.earlier, around.later
        while later is not None:
            page = journal.page_after(later, size)
            entries, later = joined(entries, page), page.cursor
        while earlier is not None:
            page = journal.page(earlier, size)
            entries, earlier = (*page.entries, *entries), page.cursor
    assert without_summaries(entries) == without_summaries(whole)
    assert session.parents or entries == whole


@given(story=stories(), count=st.integers(0, 6), block=st.integers(1, 300), held=st.booleans())
def test_a_tail_knows_of_a_session_what_the_whole_file_says(story, count, block, held):
    with blocks_of(block), reading(story.data, held=held) as journal:
        whole, tail = journal.load(), journal.tail(count).session
        assert journal.name() == whole.name
    for known in KNOWN_AT_THE_END:
        assert getattr(tail, known) == getattr(whole, known), known
    last = len(whole.loaded_messages)
    assert tail.loaded_messages == whole.loaded_messages[last - min(count, last) :]


@examples(2)
@given(story=stories(), held=st.booleans())
def test_the_counts_of_a_file_are_those_of_its_messages(story, held):
    session = load(story.data, held=held)
    arriving = [message for message in session.loaded_messages if message.id in session.arriving]
    replaced = {message.replaces for message in arriving} - {None}
    if not replaced:
        assert session.message_count == len(session.loaded_messages) - len(arriving)
    assert session.message_count >= 0
    assert len({message.id for message in session.all_messages}) == len(session.all_messages)


@examples(2)
@given(story=stories(), place=st.integers(0, 30), block=st.integers(1, 300))
def test_since_is_what_the_whole_file_has_after_a_message(story, place, block):
    with blocks_of(block), reading(story.data) as journal:
        live = journal.load().loaded_messages
        everything = messages_of(journal.load().entries)
        for message in everything[place : place + 1]:
            found = [each.id for each in live].index(message.id) + 1 if message in live else 0
            assert journal.since(message.id) == live[found:]
        assert journal.since(None) == journal.since("nowhere") == live


def test_an_answer_stands_where_it_began_and_not_where_it_ended():
    story = Story().user("go").pieces("a").summary("meanwhile").end("ab").state()
    with reading(story.data) as journal:
        kinds = [type(entry) for entry in journal.tail(1).session.entries]
        assert kinds == [type(entry) for entry in journal.load().entries[1:]] == [Message, Summary]


def test_what_was_written_twice_counts_once_and_no_piece_needs_the_first():
    two = piece("a", 4, "two ")
    story = Story().user().add(piece("a", 0, "one "), two, two, piece("a", 8, "three"))
    assert texts(load(story.data).loaded_messages) == ["hello", "one two three"]
    with reading(Story().user().add(two, piece("a", 8, "three")).state().data) as journal:
        assert texts(journal.load().loaded_messages) == ["hello", "two three"]
        assert texts(journal.tail(1).session.loaded_messages) == ["two three"]
    story = Story().user("one").answer("two")
    session = load(story.raw(story.lines[-2]).raw(story.lines[-1]).state().data)
    assert (texts(session.loaded_messages), session.message_count) == (["one", "two"], 2)


def test_a_retry_that_is_still_arriving_hides_what_it_replaces_on_earlier_pages_too():
    story = Story().user("go").answer("failed").state()
    story.pieces("again", replaces=story.last)
    for held in (True, False):
        with reading(story.data, held=held) as journal:
            tail = journal.tail(1)
            assert texts(tail.session.loaded_messages) == ["again"]
            assert texts(journal.page(tail.cursor, 5).entries) == ["go"]


def test_many_retries_stay_hidden_on_every_page():
    story = Story().user("go").answer("no")
    for _ in range(1500):
        story.answer("no", replaces=story.last)
    story.user("so?").state()
    with reading(story.data) as journal:
        entries, _ = chain(journal, 1, 1)
    assert texts(entries) == ["go", "no", "so?"]


@each_row(
    "cursor",
    ["null", "{}", "[]", "[0]", "[true,[],[]]", "[1.5,[],[]]", "[-1,[],[]]", "[0,0,0]", '"0"'],
)
def test_a_cursor_that_is_none_or_beyond_the_file_is_refused(cursor):
    data = every_kind().data
    with reading(data) as journal:
        beyond = journal.tail(1).cursor
        with pytest.raises(StorageError):
            journal.page(cursor, 5)
    with reading(data[:100]) as journal, pytest.raises(StorageError, match="changed"):
        journal.page(beyond, 5)


@given(place=st.integers(0, len(every_kind().data)))
def test_a_cursor_in_the_middle_of_a_line_is_only_damage(place):
    with reading(every_kind().data) as journal:
        page = journal.page(json.dumps([place, [], []]), 100)
        assert page.cursor is None
        assert page.damaged <= 2  # the cut line, and the one made for this


# --- offsets are hints


def stated(name, live, total, offsets):
    return State(
        name=name,
        model="m",
        prompt_count=total,
        message_count=live,
        total_count=total,
        updated_at=at(),
        offsets=offsets,
    )


def with_offsets(offsets, *, reset=False):
    """A journal whose only state says where summary and to-dos are, far before its end."""
    story = Story().user("one").summary("short").todos("write").answer("two").todos("write", "send")
    story.user("three")
    if reset:
        story.reset()
    honest = json.loads(story.state("Tale").lines[-1])["offsets"]
    story.data = story.data.removesuffix(story.lines.pop())
    story.raw(encode(stated("Tale", 0 if reset else 3, 3, offsets(honest, story))))
    for number in range(4, 9):
        story.user(str(number))
    return story


@each_row(
    "offsets",
    [
        lambda honest, story: Offsets(**honest),
        lambda honest, story: Offsets(summary=0, todos=0),
        lambda honest, story: Offsets(summary=honest.get("summary"), todos=len(story.data)),
        lambda honest, story: Offsets(summary=10**15, todos=-5),
        lambda honest, story: Offsets(summary=honest["todos"], todos=honest["todos"] + 3),
        lambda honest, story: Offsets(summary=2**70, todos=-(2**70)),
        lambda honest, story: Offsets(summary=len(story.data) + 100, todos=len(story.data) + 100),
    ],
)
@each_row("count", [1, 5, 6, 100])
def test_offsets_that_lead_astray_change_nothing(offsets, count):
    story = with_offsets(lambda honest, story: offsets({"summary": 0, **honest}, story))
    with reading(story.data) as journal:
        tail = journal.tail(count).session
        assert [item.content for item in tail.todos] == ["write", "send"]
        assert tail.summary.text == "short"
        assert tail.message_count == journal.load().message_count == 8


def test_to_dos_are_found_before_a_reset_although_the_offsets_lead_astray():
    story = with_offsets(lambda honest, story: Offsets(todos=5), reset=True)
    with reading(story.data) as journal:
        session = journal.tail(2).session
        assert [item.content for item in session.todos] == ["write", "send"]
        assert session.summary is None
        assert session.message_count == journal.load().message_count == 5


@pytest.mark.parametrize("count", [1, 5, 100])
def test_settings_before_the_state_of_an_older_program_are_found(count):
    story = Story().user("one").settings(temperature=0.5).state().settings(pinned=True).state()
    story.user("two").raw(encode(stated("Tale", 2, 2, Offsets()))).user("three").user("four")
    with reading(story.data) as journal:
        assert journal.tail(count).session.settings == Settings(pinned=True)
        assert journal.tail(count).session.offsets == journal.load().offsets
        assert journal.ends()[0].settings.pinned


@each_row(
    "first, offsets, settings",
    [
        ("set", Offsets(settings=7), Settings(pinned=True)),
        # As an older program wrote it, which knew no settings.
        ("", Offsets(), Settings()),
    ],
)
def test_settings_are_found_although_their_offset_leads_astray(first, offsets, settings):
    story = Story().settings(pinned=True) if first else Story().user('what is "settings"?')
    story.user("one").user("two").raw(encode(stated("Tale", 2, 2, offsets)))
    with reading(story.user("three").data) as journal:
        assert journal.tail(1).session.settings == settings
        assert first or journal.tail(1).session.offsets == Offsets(settings=None)


# --- reading no more than needed


class Reads:
    def __init__(self, monkeypatch):
        self.bytes, self.calls = 0, 0
        pread = os.pread

        def counted(descriptor, size, place):
            data = pread(descriptor, size, place)
            self.bytes += len(data)
            self.calls += 1
            return data

        monkeypatch.setattr(os, "pread", counted)


@pytest.fixture(scope="module")
def long_journal(tmp_path_factory):
    """20 MB of messages with a state now and then, to-dos and a summary near the beginning."""
    story = Story().user("first").todos("early").summary("early")
    line = encode(user("m", "x" * 1000))
    lines, size = [story.data], len(story.data)
    for number in range(19_000):
        lines.append(line.replace(b'"m"', b'"n%d"' % number))
        size += len(lines[-1])
        if number % 60 == 59:
            offsets = Offsets(todos=story.data.index(b'{"type":"todos'), settings=None)
            lines.append(encode(stated("Long", number + 2, number + 2, offsets)))
    path = tmp_path_factory.mktemp("long") / "sessions" / "long.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(lines))
    assert path.stat().st_size > 20_000_000
    return path


@pytest.fixture
def long_store(long_journal):
    return FileStore(long_journal.parents[1])


@pytest.mark.parametrize(
    "read",
    [
        lambda store: store.journal("long").tail(20),
        lambda store: store.journal("long").since("n18990"),
        lambda store: store.entry("long"),
        lambda store: store.resolve("Long", "s"),
        lambda store: store.lease("long").release(),
    ],
)
def test_the_end_of_a_long_journal_is_read_without_the_rest(long_store, read, monkeypatch):
    reads = Reads(monkeypatch)
    read(long_store)
    assert reads.bytes < 500_000
    assert reads.calls < 60


def test_the_end_of_a_long_journal_says_what_the_whole_says(long_store):
    tail, whole = long_store.journal("long").tail(20).session, long_store.journal("long").load()
    assert tail.loaded_messages == whole.loaded_messages[-20:]
    assert tail.todos == whole.todos == (TodoItem("early", "pending", "doing early"),)
    assert tail.message_count == whole.message_count == 19_001


@each_row("count, last", [(20, "n18979"), (9_000, "n9999")])
def test_a_page_anywhere_reads_only_its_surroundings(long_store, monkeypatch, count, last):
    cursor = long_store.journal("long").tail(count).cursor
    with monkeypatch.context() as patch:
        reads = Reads(patch)
        assert long_store.journal("long").page(cursor, 20).entries[-1].id == last
    assert reads.bytes < 500_000


# --- what a list needs


@examples(1)
@given(story=stories(), block=st.integers(1, 300))
def test_the_ends_of_a_file_say_what_a_list_shows(story, block):
    with blocks_of(block), reading(story.data) as journal:
        whole, (end, first_prompt) = journal.load(), journal.ends()
        assert (end.name, end.message_count) == (whole.name, whole.message_count)
        assert end.closed_at == whole.closed_at or end.closed_at is None
        prompts = [m.text for m in whole.all_messages if m.role == "user" and m.text.strip()]
        if whole.name.strip():
            assert first_prompt == ""
        elif prompts:
            assert first_prompt == prompts[0]


# --- cut at every byte

WHOLE = every_kind()
ENDS = [0]
for _line in WHOLE.lines:
    ENDS.append(ENDS[-1] + len(_line))


def acknowledged(cut):
    """The lines that were whole before a cut, and whether a torn one follows them."""
    count = max(number for number, end in enumerate(ENDS) if end <= cut)
    rest = WHOLE.data[ENDS[count] : cut]
    whole_record = rest == WHOLE.lines[count][:-1] if count < len(WHOLE.lines) else False
    return WHOLE.lines[:count] + ([rest] if whole_record else []), bool(rest) and not whole_record


@pytest.mark.full
@pytest.mark.parametrize("held", [False, True])
def test_a_journal_cut_at_any_byte_loses_only_its_torn_line(held):
    for cut in range(len(WHOLE.data) + 1):
        lines_kept, torn = acknowledged(cut)
        if held:
            lines_kept = [line for line in lines_kept if line.endswith(b"\n")]
        expected = load(b"".join(lines_kept), held=held)
        with reading(WHOLE.data[:cut], held=held) as journal:
            session, tail = journal.load(), journal.tail(3).session
            assert session.entries == expected.entries, cut
            assert (session.name, session.todos) == (expected.name, expected.todos), cut
            assert session.damaged == int((torn and not held) or not lines_kept), cut
            assert tail.damaged == session.damaged, cut
            assert tail.loaded_messages == session.loaded_messages[-3:], cut
            assert tail.message_count == session.message_count, cut
            assert journal.ends()[0].message_count == session.message_count, cut
            assert chain(journal, 2, 2)[0] == session.entries, cut


@examples(1.5)
@given(
    number=st.integers(1, len(WHOLE.lines) - 1),
    place=st.integers(0, 400),
    byte=st.binary(min_size=1, max_size=1),
)
def test_a_byte_overwritten_costs_at_most_its_line(number, place, byte):
    line = WHOLE.lines[number]
    place %= len(line)
    spoilt = line[:place] + byte + line[place + 1 :]
    data = b"".join([*WHOLE.lines[:number], spoilt, *WHOLE.lines[number + 1 :]])
    # A newline overwritten joins two lines; one written into a line makes two of it.
    neighbours = {number, number + 1} if place == len(line) - 1 else {number}
    others = [json.loads(each) for n, each in enumerate(WHOLE.lines) if n not in neighbours]
    with reading(data) as journal:
        session = journal.load()
        journal.tail(3)
        journal.ends()
        chain(journal, 2, 2)
    ids = {message.id for message in session.all_messages}
    replaced = {each.get("replaces") for each in map(json.loads, WHOLE.lines)}
    expected = {each["id"] for each in others if each["type"] == "message"} - replaced
    hidden = {message.replaces for message in session.all_messages}
    assert expected - hidden <= ids
    assert session.damaged <= 2


@examples(1.5)
@given(
    order=st.permutations(range(len(WHOLE.lines))),
    count=st.integers(0, len(WHOLE.lines)),
    garbage=st.lists(st.binary(max_size=60), max_size=3),
    block=st.integers(1, 300),
)
def test_lines_lost_shuffled_and_strewn_with_garbage_are_read_without_fail(
    order, count, garbage, block
):
    kept = [WHOLE.lines[number] for number in order[:count]]
    data = b"".join(kept) + b"\n".join(garbage)
    with blocks_of(block), reading(data) as journal:
        session = journal.load()
        messages = {line["id"] for line in map(json.loads, kept) if line["type"] == "message"}
        hidden = {line.get("replaces") for line in map(json.loads, kept)}
        assert messages - hidden <= {message.id for message in session.all_messages}
        for last in (0, 1, 3, 50):
            journal.tail(last)
        journal.ends()
        journal.name()
        journal.since("m0005")
        chain(journal, 1, 1)


@given(garbage=st.binary(max_size=200), block=st.integers(1, 64))
def test_garbage_is_a_session_with_nothing_but_damage(garbage, block):
    with blocks_of(block), reading(garbage) as journal:
        session = journal.load()
        journal.tail(3)
        journal.ends()
        assert session.id == "tale"
        assert session.damaged <= garbage.count(b"\n") + 1


# --- versions


def with_versions():
    """Two questions; the first answer was made again, streamed, and gone on from."""
    story = Story().user("one").answer("a").user("two").answer("b").summary().state()
    story.pieces("ag", after="m0001").add(Summary("", "")).state()
    return story.end("again", after="m0001").state().user("three").state()


def test_a_file_with_versions_cut_at_any_byte_has_one_of_them_and_no_mixture():
    story = with_versions()
    old = ["m0001", "m0002", "m0003", "m0004"]
    new = ["m0001", "m0005", "m0006"]
    for cut in range(len(story.lines[0]), len(story.data) + 1):
        with reading(story.data[:cut]) as journal:
            whole, tail = journal.load(), journal.tail(10).session
            ids = [message.id for message in whole.loaded_messages]
            assert ids == old[: len(ids)] or (len(ids) > 1 and ids == new[: len(ids)]), cut
            assert tail.loaded_messages == whole.loaded_messages, cut
            assert tail.message_count == whole.message_count == len(ids), cut
            assert tail.summary == whole.summary, cut
            assert chain(journal, 1, 1)[0] == whole.entries, cut


@each_row("hint", [0, 7, 10**12, -1, None])
def test_a_message_is_found_although_the_offset_of_it_leads_astray(hint):
    story = Story().user("one").answer("a").user("two").answer("b")
    story.raw(encode(answer("m9", after="m0001", after_at=hint)))
    story.raw(encode(stated("Tale", 2, 5, Offsets(settings=None))))
    with reading(story.data) as journal:
        messages = journal.tail(5).session.loaded_messages
        assert [message.id for message in messages] == ["m0001", "m9"]


def test_a_version_of_a_long_journal_is_read_without_what_it_skips(
    long_journal, long_store, monkeypatch
):
    own = long_journal.read_bytes()
    try:
        lease = long_store.lease("long")
        new = answer("again", after="n9")
        long_store.append(lease, [new, stated("Long", 12, 19_002, Offsets())])
        lease.release()
        reads = Reads(monkeypatch)
        tail = long_store.journal("long").tail(5).session
        assert [each.id for each in tail.loaded_messages] == ["n6", "n7", "n8", "n9", "again"]
        assert reads.bytes < 2_000_000
    finally:
        long_journal.write_bytes(own)


@pytest.mark.parametrize("reset", [None, 0, 40])
def test_a_state_that_is_wrong_about_the_reset_hides_nothing_before_it(reset):
    story = Story().user("old").answer("before").reset().user("new").answer("live")
    story.raw(encode(user("m9", "another beginning", after="")))
    story.raw(encode(stated("Tale", 1, 5, Offsets(reset=reset, settings=None))))
    with reading(story.data) as journal:
        tail = journal.tail(1)
        assert [each.text for each in tail.session.loaded_messages] == ["another beginning"]
        earlier = journal.page(tail.cursor, 9).entries
        assert [each.text for each in earlier if isinstance(each, Message)] == ["old", "before"]


@pytest.mark.parametrize("count", [0, 1, 99])
def test_a_state_that_counts_wrong_cuts_no_earlier_end(count):
    story = Story().user("one").answer("two").user("three").answer("four")
    story.raw(encode(stated("Tale", count, count, Offsets(settings=None))))
    with reading(story.data) as journal:
        assert texts(journal.tail(9, "m0003").session.loaded_messages) == ["one", "two", "three"]


@pytest.mark.parametrize("after", ["m0001", "", "unknown"])
def test_versions_without_valid_hints_are_read_in_linear_time(after, monkeypatch):
    reads = Reads(monkeypatch)

    def read(count):
        before = reads.bytes
        lines = (encode(answer(f"v{number}", after=after, after_at=3)) for number in range(count))
        with reading(Story().user("question").data + b"".join(lines)) as journal:
            ids = [each.id for each in journal.tail(1).session.loaded_messages]
            assert ids == [f"v{count - 1}"]
            middle = f"v{count // 2}"
            assert middle in [m.id for m in journal.around(middle, 1, 1).entries]
        return reads.bytes - before

    # Were it quadratic, it would be sixteen times as much.
    assert read(4000) < 8 * read(1000)
