"""Conversations of two machines that have the same name there are two sessions here."""

import json

import pytest

from tests.importers.tables import written
from tui.domain.journal.message import Message
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.importers.readers import reader

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
