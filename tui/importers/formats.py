"""Programs that keep records: a class for each, whose attributes name its places and fields.

The engine finds and reads, makes headings and messages, links what is a tree, and counts. What a
program does in its own way, its class overrides.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from tui.domain.journal.message import Role, TokenUsage
from tui.importers import protocol as p
from tui.importers import trees
from tui.importers.contents import summary, title, todos, usage_beside_cache
from tui.importers.databases import OpenDatabase, Row, has, opened, schema
from tui.importers.json_elements import beginning, content, has_key, records
from tui.importers.json_lines import UNREADABLE, items_in, object_if_there, object_in, objects
from tui.importers.json_paths import objects_at, text_at, time_at, value_at
from tui.importers.made_ids import MadeIds, first_ids
from tui.importers.message_blocks import Blocks, Piece, messages, unknown
from tui.importers.two_passes import OBJECTS, Place, read_again

Paths = tuple[str, ...]
"""Where a field may be, see ``json_paths``; nowhere if there is none."""
SPEAKERS: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
WITHOUT_MESSAGES = "conversation without messages"


class Talk(msgspec.Struct):
    """A conversation of a source, before its messages are read."""

    path: Path
    facts: p.Json
    records: Callable[[p.Ledger], Iterable[p.Json]]
    name: str = ""
    """Its id, if its facts have none."""
    ledger: p.Ledger = msgspec.field(default_factory=p.Ledger)
    """Counts of what was read already."""


class Reading(msgspec.Struct):
    """A conversation while its messages are made."""

    talk: Talk
    heading: p.Heading
    ledger: p.Ledger
    ids: MadeIds
    last: str = ""
    """The id of the last message."""
    known: dict[str, str] = {}
    """What a program has to keep in mind: names by names."""

    def skip(self, reason: str) -> tuple[()]:
        """Count a record as skipped for a reason: it makes no message."""
        self.ledger.skipped[reason] += 1
        return ()


class Format(Blocks):
    """A program that keeps records."""

    program: ClassVar[str]
    title: ClassVar[str]
    revision = 0
    kin = ""
    several = False
    folders: tuple[str, ...] = ()
    """Folders of its sources, below the home directory."""
    patterns: tuple[str, ...] = ()
    """Match the sources in such a folder."""
    suffix = ""
    marks: ClassVar[tuple[bytes, ...]]
    """Keys by which its JSON is told from others, if nothing else does."""
    mark_of_others = b""
    """A key by which JSON with all of these is another program's."""
    sub_agents = ""
    """The folder in a session's own with those of its sub-agents."""

    source_id: Paths = ("id",)
    name: Paths = ("title",)
    project: Paths = ()
    created: Paths = ("created_at",)
    updated: Paths = ("updated_at",)
    model: Paths = ("model",)
    version: Paths = ()
    sub_agent: Paths = ()
    """Fields that only conversations of sub-agents have, or that are true of these."""
    compared = 0
    """Messages by which it is known, if its id may be another conversation's, too."""

    role: Paths = ("role",)
    roles: ClassVar[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "tool": "tool"}
    message_id: Paths = ()
    own_ids = False
    """True if the ids of messages that follow each other are unique in all conversations."""
    made_of: tuple[str, ...] = ()
    """Fields that make the id of a record without one; if none is named, its role and content."""
    content: Paths = ("content",)
    time: Paths = ("created_at",)
    said_by: Paths = ("model",)
    thoughts: Paths = ()
    """Fields that have thinking, which may be all that a message has."""
    reasons: ClassVar[Mapping[str, str]] = {}
    """The reasons to skip records of some types or roles."""
    without_words = "empty message"
    """The reason to skip one that says nothing."""
    todos: Paths = ()
    """Names the to-do list of a conversation."""
    todo_fields: tuple[str, ...] = ("content",)
    """Names what an item says, and its words while it is in progress."""
    one_model = False
    """True if the model of the conversation says what names no other."""
    finish: Paths = ()
    statuses: ClassVar[Mapping[str, str]] = {}
    ends: ClassVar[Mapping[str, str]] = {}
    """Statuses by the fields that are true of such an answer."""
    failure: Paths = ()
    """Names the error of an answer that failed."""
    sent: Paths = ()
    received: Paths = ()
    cached: Paths = ()
    cache_written: Paths = ()
    """Token counts; those of the cache are named where the ones that were sent leave them out."""
    summary: tuple[str, object] | tuple[()] = ()
    """The field and the value of it that a record has which sums up those before it."""
    parent: Paths = ()
    """Names the message that one follows, where these are a tree."""
    local_ids = False
    """True if the ids of messages in a tree are unique in their conversation alone."""
    follows_on = False
    """True if a message that names none follows the one before it."""
    shown: Paths = ()
    """Names the message that ends the branch that was shown, if not the last one does."""
    may_be_a_line = False
    """True if messages of which none names another follow each other as they stand."""

    def reader(self) -> p.Reader:
        """The reader of the program."""
        return p.Reader(
            self.program,
            self.title,
            self.find,
            self.recognises,
            self.read,
            revision=self.revision,
            kin=self.kin,
            several=self.several,
            exported=type(self).find is Format.find and not self.folders,
            parts=self.parts,
        )

    def find(self, places: p.Places) -> Iterator[p.Source]:
        """The sources in their usual places; an export has none: the user names the file."""
        for folder in self.folders:
            yield from places.sources(places.home / folder, *self.patterns, parts=self.parts)

    def parts(self, path: Path) -> Iterable[Path]:
        return (path,)

    def recognises(self, path: Path, head: bytes) -> bool:
        if not path.name.endswith(self.suffix):
            return False
        start, others = beginning(path, head), self.mark_of_others
        return has_key(start, *self.marks) and not (others and has_key(start, others))

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        """The conversations of a source."""
        raise NotImplementedError

    def read(self, source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
        for talk in self.talks(source, ledger):
            is_sub_agent = self.sub_agents in talk.path.parts[-3:-1]
            if reason := self.left_out(talk.facts) or ("sub-agent" if is_sub_agent else ""):
                counts = p.Ledger()
                ledger.skipped[reason] += sum(1 for _ in talk.records(counts)) + counts.read
                ledger.skipped.update(counts.skipped)
                ledger.add(talk.ledger)
                continue
            heading = self.heading(talk)
            if self.compared and not heading.beginning:
                ids = first_ids(self.items(talk, heading, p.Ledger()), self.compared)
                heading = replace(heading, beginning=ids)
            items = partial(self.items, talk, heading, talk.ledger)
            yield p.Conversation(heading, items, talk.ledger)

    def left_out(self, facts: p.Json) -> str:
        """The reason to leave a conversation out; else ``""``."""
        return "sub-agent" if any(value_at(facts, path) for path in self.sub_agent) else ""

    def heading(self, talk: Talk) -> p.Heading:
        facts = talk.facts
        names = (title(text_at(facts, path)) for path in self.name)
        folder, version = text_at(facts, *self.project), value_at(facts, *self.version)
        # Also on a machine of another kind.
        is_absolute = folder.startswith("/") or PureWindowsPath(folder).is_absolute()
        return p.Heading(
            source_id=text_at(facts, *self.source_id) or talk.name or "unnamed",
            name=next(filter(None, names), ""),
            project_path=folder if is_absolute else "",
            created_at=time_at(facts, *self.created),
            updated_at=time_at(facts, *self.updated),
            model=text_at(facts, *self.model),
            version=str(version) if isinstance(version, str | int) else "",
        )

    def items(self, talk: Talk, heading: p.Heading, ledger: p.Ledger) -> Iterator[p.Item]:
        """The messages of a conversation, and whatever else it has."""
        ids = MadeIds(heading.source_id, are_own=self.own_ids)
        reading = Reading(talk, heading, ledger, ids)
        yield from self.tree(reading) if self.parent else trees.with_unique_ids(self.line(reading))
        yield from self.ending(reading)

    def line(self, reading: Reading) -> Iterator[p.Item]:
        """The messages of records that follow each other."""
        for record in reading.talk.records(reading.ledger):
            said = self.said(record, "", reading)
            if said and self.sums_up(record, reading):
                text = "\n\n".join(each.content or "" for each in said)
                yield from summary(text, self.through(record, reading), reading.ids)
                continue
            yield from said
            reading.last = said[-1].id if said else reading.last

    def tree(self, reading: Reading) -> Iterator[p.Item]:
        """The messages of records that form a tree."""
        turns = list(self.turns(reading))
        known = {turn.id for turn in turns}
        if turns and self.may_be_a_line and not any(turn.parent in known for turn in turns):
            befores = ["", *(turn.id for turn in turns)]
            line = (turn._replace(parent=each) for turn, each in zip(turns, befores, strict=False))
            return trees.linked(line, turns[-1].id)
        return trees.linked(turns, self.leaf(reading, turns))

    def turns(self, reading: Reading) -> Iterator[trees.TreeTurn]:
        """The records of a tree with their messages."""
        name = ""
        for number, record in enumerate(reading.talk.records(reading.ledger)):
            before, name = name, self.turn_id(record, number, reading)
            parent = self.turn_before(record, before, reading)
            said = self.said(record, name, reading)
            if said and reading.last and parent and self.sums_up(record, reading):
                text = "\n\n".join(each.content or "" for each in said)
                yield trees.TreeTurn(name, parent, (p.ForeignSummary(text, ""),))
                continue
            yield trees.TreeTurn(name, parent, said)
            reading.last = said[-1].id if said else reading.last

    def turn_id(self, record: p.Json, number: int, reading: Reading) -> str:
        """The id of a record of a tree, which has a number in its source."""
        known = self.id_in_tree(record, self.message_id, reading)
        return known or f"{reading.heading.source_id}-{number}"

    def id_in_tree(self, record: p.Json, fields: Paths, reading: Reading) -> str:
        """The id of a message, or ``""``, as it is named in a tree."""
        if not self.local_ids:
            return text_at(record, *fields)
        known = value_at(record, *fields)
        return "" if known in (None, "") else f"{reading.heading.source_id}/{known}"

    def turn_before(self, record: p.Json, before: str, reading: Reading) -> str:
        """The record that one follows; ``before`` is the one before it in the source."""
        if self.follows_on and value_at(record, *self.parent) is None:
            return before
        return self.id_in_tree(record, self.parent, reading)

    def leaf(self, reading: Reading, turns: list[trees.TreeTurn]) -> str:
        """The turn that ends the branch that was shown."""
        named = self.id_in_tree(reading.talk.facts, self.shown, reading)
        is_known = any(turn.id == named for turn in turns)
        return named if is_known or not turns else turns[-1].id

    def sums_up(self, record: p.Json, reading: Reading) -> bool:
        """True for a record that stands for those before it."""
        return bool(self.summary) and value_at(record, self.summary[0]) == self.summary[1]

    def through(self, record: p.Json, reading: Reading) -> str:
        """The last message that such a record stands for."""
        return reading.last

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        """To-dos and settings."""
        if self.todos and (listed := objects_at(reading.talk.facts, *self.todos)):
            yield todos(listed, *self.todo_fields)

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        """The messages of a record, which is counted; without a name it is given an id."""
        role = self.role_of(record)
        if role is None:
            return reading.skip(self.reason_without_role(record))
        whole = self.whole(record, name or self.id_of(record, reading), role, reading)
        pieces = list(self.pieces(record, whole, reading))
        # A tool says its results only.
        whole = replace(whole, role="user") if role == "tool" else whole
        said = messages(whole, pieces)
        if not said and (whole.error or whole.status == "failed"):
            said = (replace(whole, content="", error=whole.error or "failed"),)
        reading.ledger.count(said, "" if said else self.reason_without_words(record))
        return said

    def role_of(self, record: p.Json) -> Role | None:
        return self.roles.get(text_at(record, *self.role))

    def reason_without_role(self, record: p.Json) -> str:
        role, kind = text_at(record, *self.role), text_at(record, "type")
        if role in ("system", "developer"):
            return "system prompt"
        if reason := self.reasons.get(kind) or self.reasons.get(role):
            return reason
        if not record:
            return UNREADABLE
        return unknown("record", kind) if kind and role in ("", kind) else "unknown role"

    def reason_without_words(self, record: p.Json) -> str:
        thinks = any(map(record.get, self.thoughts))
        thinks = thinks or self.thinks(value_at(record, *self.content))
        return "thinking" if thinks else self.without_words

    def whole(self, record: p.Json, name: str, role: Role, reading: Reading) -> p.ForeignMessage:
        """What the messages of a record have in common."""
        time, counts = time_at(record, *self.time), self.usage(record)
        message = p.ForeignMessage(name, role, None, time, usage=counts)
        if role != "assistant":
            return message
        model = self.model_of(record) or (reading.heading.model if self.one_model else "")
        status, error = self.end(record)
        return replace(message, status=status, error=error, model=model or None)

    def id_of(self, record: p.Json, reading: Reading) -> str:
        """The id of a record; of one without, it is made of what it says."""
        known = value_at(record, *self.message_id)
        if isinstance(known, str | int) and known != "":
            return reading.ids.within(str(known))
        said = value_at(record, *self.role), value_at(record, *self.content)
        return reading.ids.make(*(map(record.get, self.made_of) if self.made_of else said))

    def model_of(self, record: p.Json) -> str:
        """The model that an answer names."""
        return text_at(record, *self.said_by)

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        """The status of an answer, and its error."""
        if error := text_at(record, *self.failure):
            return "failed", error
        marked = (status for field, status in self.ends.items() if record.get(field) is True)
        return next(marked, None) or self.statuses.get(text_at(record, *self.finish)), None

    def usage(self, record: p.Json) -> TokenUsage | None:
        if not self.sent:
            return None
        fields = self.sent, self.received, self.cached, self.cache_written
        return usage_beside_cache(*(value_at(record, *each) for each in fields))

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        """What a record says."""
        return self.pieces_in(value_at(record, *self.content), whole.id, reading.ledger)


class Database(Format):
    """A program that keeps its conversations in a database."""

    several = True
    known_by: ClassVar[Mapping[str, tuple[str, ...]]]
    """Tables, and their columns, that tell its databases from others."""
    talk_table: str
    talk_columns: tuple[str, ...]
    talk_order: tuple[str, ...] = ("id",)
    message_table: str
    message_columns: tuple[str, ...]
    message_order: tuple[str, ...] = ("id",)
    talk_key: str
    """The column of messages that has the id of their conversation."""
    named_by: tuple[str, ...] = ()
    """Columns that name a conversation, if its id is no text."""

    def recognises(self, path: Path, head: bytes) -> bool:
        tables = schema(path, head)
        return all(has(tables, table, *columns) for table, columns in self.known_by.items())

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        order = self.talk_order
        with opened(source.path) as database:
            for row in database.rows(self.talk_table, self.talk_columns, ledger, order=order):
                name = "-".join(str(row.get(column)) for column in self.named_by)
                yield Talk(source.path, row, partial(self.rows, database, row), name)

    def rows(self, database: OpenDatabase, row: Row, ledger: p.Ledger) -> Iterator[p.Json]:
        """The records of the messages of a conversation."""
        columns, order = self.message_columns, self.message_order
        equal = {self.talk_key: row.get("id")}
        rows = database.rows(self.message_table, columns, ledger, equal=equal, order=order)
        return map(self.record, rows)

    def record(self, row: Row) -> p.Json:
        """The record of a message, from its row."""
        return row


class JsonFile(Format):
    """A program that keeps each conversation in a file: an object with an array of records."""

    records_key = "messages"

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        counts = p.Ledger()
        fields, found = content(source.path, self.records_key, counts)
        facts = self.facts_of(source.path, fields)
        records, name = self.records_of(facts, found), source.path.stem
        yield Talk(source.path, facts, lambda _: records, name, counts)

    def facts_of(self, path: Path, fields: p.Json) -> p.Json:
        """The facts of a conversation, from its file and those beside it."""
        return fields

    def records_of(self, facts: p.Json, found: list[p.Json]) -> list[p.Json]:
        """The records of a conversation, from those of its file."""
        return found


class FolderFormat(Format):
    """A program that keeps each conversation in a folder: lines of records, and its facts."""

    lines_name = "messages.jsonl"
    facts_name: str

    def parts(self, path: Path) -> Iterable[Path]:
        folder = path if path.is_dir() else path.parent
        return folder / self.lines_name, folder / self.facts_name

    def sources(self, paths: Iterable[Path]) -> Iterator[p.Source]:
        """The sources of the folders that some files are in, if they have all parts."""
        for path in paths:
            if all(part.is_file() for part in self.parts(path)):
                yield p.Source.of(path if path.is_dir() else path.parent, *self.parts(path))

    def recognises(self, path: Path, head: bytes) -> bool:
        folder = path.parent if path.name == self.lines_name else path
        return (folder / self.lines_name).is_file() and (folder / self.facts_name).is_file()

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        lines, facts = self.parts(source.path)
        read = partial(line_values, lines)
        yield Talk(lines, object_if_there(facts), read, lines.parent.name)


class LogFormat(Format):
    """A program that appends records to a file of lines, which form a tree.

    The file is read for its facts, for its tree, and each record again for its words: these are
    never all in memory.
    """

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        read = partial(line_values, source.path)
        facts = self.facts_in(read(p.Ledger()))
        yield Talk(source.path, facts, read, source.path.stem)

    def facts_in(self, records: Iterable[p.Json]) -> p.Json:
        """The facts of a conversation, from all of its records."""
        raise NotImplementedError

    def tree(self, reading: Reading) -> Iterator[p.Item]:
        unused = replace(reading, ledger=p.Ledger())
        turns: dict[str, trees.TreeTurn] = {}
        parents, kept = dict[str, str](), dict[str, list[Place]]()
        before = ""
        with read_again(reading.talk.path, OBJECTS) as record_at:

            def said(name: str) -> Iterator[trees.Said]:
                first, *summaries = map(record_at, kept[name])
                yield from self.said(first, name, unused)
                for each in summaries:
                    yield p.ForeignSummary(self.summary_in(each, unused), "")

            for number, line in enumerate(objects(reading.talk.path, reading.ledger)):
                record, place = line.value, Place(line.offset, line.length)
                name = self.turn_id(record, number, reading)
                if name in turns:
                    reading.ledger.skipped["duplicate"] += 1
                    continue
                above = self.turn_before(record, before, reading)
                # Of a file that has lost a part, what is left follows what is before that.
                parents[name] = before if above and above not in turns else above
                before, later = name, ()
                if self.sums_up(record, reading):
                    reading.ledger.read += 1
                    if through := trees.nearest(name, parents, kept):
                        kept[through].append(place)
                elif self.said(record, name, reading):
                    kept[name], later = [place], trees.Later(partial(said, name))
                turns[name] = trees.TreeTurn(name, parents[name], later)
            yield from trees.linked(turns.values(), self.leaf(reading, list(turns.values())))

    def summary_in(self, record: p.Json, reading: Reading) -> str:
        """The text of a record that sums up those before it."""
        raise NotImplementedError


class Export(Format):
    """A service that exports conversations: records of any number in a file."""

    several = True
    within: tuple[str, ...] = ()
    """Names of the array of conversations, where it is in an object."""
    listed: Paths = ("messages",)

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        for record in records(source, ledger, self.within):
            chats = list(self.chats(record))
            for chat in chats:
                yield from self.talks_of(source.path, chat, ledger)
            if not chats:
                ledger.skipped["unknown format"] += 1

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        """The conversations of a record: mostly it is one itself."""
        return (record,)

    def talks_of(self, path: Path, record: p.Json, ledger: p.Ledger) -> Iterator[Talk]:
        """The conversation of a record, if it has messages."""
        if found := self.messages_of(record):
            yield Talk(path, record, lambda _: found)
        else:
            ledger.skipped[WITHOUT_MESSAGES] += 1

    def messages_of(self, record: p.Json) -> list[p.Json]:
        """The messages of a conversation; an empty object for what is none."""
        found = [object_in(each) for each in items_in(value_at(record, *self.listed))]
        return found if any(found) else []


def line_values(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    """The objects of a file of lines."""
    return (line.value for line in objects(path, ledger))
