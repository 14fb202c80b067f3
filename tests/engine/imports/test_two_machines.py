"""Conversations that are told apart without an id of their own, and those of two machines."""

import itertools
import json

import pytest

from tests.importers.tables import written
from tui.domain.journal.message import Message
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.importers.readers import reader

ROLES = ["user", "assistant"]
ALPHA = ["alpha q", "alpha a"]
BETA = ["beta q", "beta a", "beta q2"]


def vendors(*talks, **fields):
    """A file in the form of the vendors."""
    return json.dumps(
        [
            {"messages": [{"role": ROLES[n % 2], "content": text} for n, text in enumerate(talk)]}
            | fields
            for talk in talks
        ]
    )


def shared(*talks):
    """A file in the form of ShareGPT."""
    speakers = ["human", "gpt"]
    turns = [
        [{"from": speakers[n % 2], "value": text} for n, text in enumerate(talk)] for talk in talks
    ]
    return json.dumps([{"id": str(n), "conversations": each} for n, each in enumerate(turns)])


FORMS = [(reader("messages"), vendors), (reader("sharegpt"), shared)]


@pytest.fixture(params=FORMS, ids=["vendors", "sharegpt"])
def form(request):
    return request.param


@pytest.fixture
def take(store, clock, tmp_path, form):
    """Writes a file and imports it; gives the number of new messages."""

    def taken(*talks, name="chat.json"):
        kind, written = form
        path = tmp_path / name
        path.write_text(written(*talks))
        plan = make_plan(store, Wanted(paths=(path,)), readers=[kind])
        counts = [program.new_sessions for program in plan.programs]
        outcome = run(store, plan, clock=clock)
        assert counts == [program.added for program in outcome.programs]
        return sum(each.messages for each in outcome.programs)

    return taken


@pytest.fixture
def stored(store):
    """Lists the words of all sessions."""

    def words():
        found = {line.id for line in store.imports() if line.id}
        ids = [each.id for each in store.entries(found)]
        return sorted(
            [each.text for each in store.journal(one).records() if isinstance(each, Message)]
            for one in ids
        )

    return words


@pytest.mark.parametrize(
    ("files", "counts", "words"),
    [
        ([[ALPHA], [BETA]], [2, 3], [ALPHA, BETA]),
        ([[ALPHA, BETA], [BETA, ALPHA]], [5, 0], [ALPHA, BETA]),
        ([[BETA[:1]], [BETA[:2]], [BETA]], [1, 1, 1], [BETA]),
        ([[["hi", "hello", "one"]], [["hi"], ["hi", "other"], ["hi", "hello", "two"]]], [3, 5],
         [["hi", "hello", "one"], ["hi", "hello", "two"], ["hi", "other"]]),
        ([[["q", "a", "q2", "a2"]], [["q", "a", "other", "a3"]]], [4, 4],
         [["q", "a", "other", "a3"], ["q", "a", "q2", "a2"]]),
    ],
    ids=["written anew", "in another order", "growing", "a short one among longer ones", "edited"],
)  # fmt: skip
def test_of_a_file_that_changes_each_conversation_is_kept_once(take, stored, files, counts, words):
    assert [take(*talks) for talks in files] == counts
    assert stored() == words


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_conversations_that_begin_alike_stay_apart(take, stored, order):
    talks = [["hi", "hello", last] for last in ("one", "two", "three")]
    take(*talks)
    assert take(*[talks[n] for n in order]) == 0
    assert take(*talks, name="copy.json") == 0
    for number, talk in enumerate(talks):
        assert take(talk, name=f"{number}.json") == 0
    assert stored() == sorted(talks)


@pytest.mark.parametrize("purged", [False, True])
def test_a_deleted_conversation_stays_away_and_others_come(store, take, stored, purged):
    one = ["hi", "hello", "one"]
    take(one)
    (deleted,) = {line.id for line in store.imports() if line.id}
    store.delete(deleted)
    if purged:
        store.purge(deleted)
    assert take(["hi", "hello", "two"], [*one, "more"], BETA) == 6
    assert stored() == [BETA, *([] if purged else [one]), ["hi", "hello", "two"]]


def test_the_chats_of_aider_are_known_in_any_place(store, clock, tmp_path):
    text = "\n# aider chat started at 2026-01-02 03:04:05\n\n#### Why?\n\nSo.\n"
    counts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        path = tmp_path / name / ".aider.chat.history.md"
        path.write_text(text)
        plan = make_plan(store, Wanted(paths=(path,)), readers=[reader("aider")])
        counts.append(run(store, plan, clock=clock).programs[0].messages)
    assert counts == [2, 0]


def test_an_answer_of_aider_that_was_still_being_written_grows(store, clock, stored, tmp_path):
    path = tmp_path / ".aider.chat.history.md"
    text = "\n# aider chat started at 2026-01-02 03:04:05\n\n#### Why?\n\n"
    for answer in ("So", "So is it.\n\n#### Really?\n\nYes.\n"):
        path.write_text(text + answer)
        run(store, make_plan(store, Wanted(paths=(path,)), readers=[reader("aider")]), clock=clock)
    assert stored() == [["Why?", "So", "So is it.", "Really?", "Yes."]]
    [session_id] = {line.id for line in store.imports() if line.id}
    live = store.journal(session_id).load().loaded_messages
    assert [each.text for each in live] == ["Why?", "So is it.", "Really?", "Yes."]


def aichat_session(talk):
    turns = [f"- role: {ROLES[n % 2]}\n  content: {text}\n" for n, text in enumerate(talk)]
    return "model: openai:gpt\nmessages:\n" + "".join(turns)


def gemini_checkpoint(talk):
    roles = ["user", "model"]
    return json.dumps(
        [{"role": roles[n % 2], "parts": [{"text": text}]} for n, text in enumerate(talk)]
    )


def goose_session(talk):
    turns = [
        {"role": ROLES[n % 2], "created": 1767312000, "content": [{"type": "text", "text": text}]}
        for n, text in enumerate(talk)
    ]
    return "\n".join(map(json.dumps, [{"working_dir": "/shop", "description": ""}, *turns]))


def copilot_history(talk):
    turns = [{"role": ROLES[n % 2], "content": text} for n, text in enumerate(talk)]
    return json.dumps({"sessionId": "s", "chatMessages": turns})


def claude_code_lines(talk):
    turns = [
        {"type": ROLES[n % 2], "message": {"role": ROLES[n % 2], "content": text}}
        for n, text in enumerate(talk)
    ]
    return "\n".join(map(json.dumps, turns))


@pytest.mark.parametrize(
    "form",
    [
        ("aichat", "temp.yaml", aichat_session),
        ("gemini-cli", "checkpoint-tag.json", gemini_checkpoint),
        ("goose", "20260101_1.jsonl", goose_session),
        ("copilot-cli", "session_s.json", copilot_history),
        ("claude-code", "session.jsonl", claude_code_lines),
    ],
)
@pytest.mark.parametrize("second", [BETA, ["alpha q", "another a"], ["alpha q", "a", "b", "c"]])
def test_no_word_is_lost_where_a_file_is_written_anew(store, clock, stored, tmp_path, form, second):
    program, name, written = form
    for talk in (ALPHA, second, ALPHA):
        (tmp_path / name).write_text(written(talk))
        plan = make_plan(store, Wanted(paths=(tmp_path / name,)), readers=[reader(program)])
        assert not run(store, plan, clock=clock).programs[0].failures
    assert {text for talk in stored() for text in talk} == {*ALPHA, *second}


GOOSE = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT);
"""


def of_goose(folder, *texts):
    blocks = [json.dumps([{"type": "text", "text": text}]) for text in texts]
    rows = [{"session_id": "1", "role": "user", "content_json": each} for each in blocks]
    session = {"id": "1", "name": "Bread", "session_type": "user"}
    return written(folder / "sessions.db", GOOSE, sessions=[session], messages=rows)


def of_gptme(folder, *texts):
    path = folder / "logs" / "shop" / "conversation.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        {"role": "user", "content": text, "timestamp": f"2026-01-0{day}T00:00:00"}
        for day, text in enumerate(texts, 1)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(("program", "write"), [("goose", of_goose), ("gptme", of_gptme)])
def test_they_stay_apart_and_grow_apart(store, clock, tmp_path, program, write):
    def take(machine, *texts):
        path = write(tmp_path / machine, *texts)
        plan = make_plan(store, Wanted(paths=(path,)), readers=[reader(program)])
        return run(store, plan, clock=clock).programs[0]

    assert take("one", "bread").added == 1
    assert take("two", "wine", "cheese").added == 1
    assert take("one", "bread", "butter").grown == 1
    assert take("two", "wine", "cheese", "figs").grown == 1
    assert take("three", "wine", "cheese", "figs").messages == 0
    ids = {line.id for line in store.imports() if line.id}
    said = [
        [each.text for each in store.journal(one).records() if isinstance(each, Message)]
        for one in ids
    ]
    assert sorted(said) == [["bread", "butter"], ["wine", "cheese", "figs"]]
