"""Chats of parllama."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_mutants, read_all
from tui.importers.parllama import READER
from tui.importers.protocol import Places

ID = "0d1f6c1e9d5b4c5f8b1f0b8f4a3c2d1e"
MESSAGES = [
    {"id": "m0", "role": "system", "content": "Be brief.", "thinking": "", "images": None,
     "tool_calls": None},
    {"id": "m1", "role": "user", "content": "Look 😀", "thinking": "",
     "images": ["data:image/png;base64,aGVsbG8="], "tool_calls": None},
    {"id": "m2", "role": "assistant", "content": "A cat.", "thinking": "Hm.", "images": None,
     "tool_calls": None},
]  # fmt: skip
CHAT = {
    "id": ID,
    "_salt": None,
    "__key__": None,
    "name": "Cats",
    "name_generated": True,
    "last_updated": "2026-05-02T10:00:00+00:00",
    "llm_config": {"provider": "Ollama", "model_name": "llava", "temperature": 0.5},
    "messages": MESSAGES,
}


def written(home, chat=CHAT, folder=".local/share/parllama"):
    path = home / folder / "chats" / f"{ID}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(chat, indent=2, ensure_ascii=False))
    return path


def records(path):
    return len(json.loads(path.read_text())["messages"])


def test_chats_are_found_in_the_old_place_too(tmp_path):
    paths = [written(tmp_path), written(tmp_path, folder=".parllama")]
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == paths
    moved = Places(tmp_path / "no", {"PARLLAMA_DATA_DIR": str(paths[0].parents[1])})
    assert [source.path for source in READER.find(moved)] == paths[:1]
    assert READER.recognises(paths[0], paths[0].read_bytes()[:4096])


def test_a_chat_is_read_whole(tmp_path):
    reading = check(READER, written(tmp_path), records)
    ((heading, (question, answer)),) = reading.conversations
    assert (heading.source_id, heading.name, heading.model) == (ID, "Cats", "llava")
    assert heading.updated_at == "2026-05-02T10:00:00.000Z"
    assert question.content == "Look 😀\n\n[image: image/png, 5 bytes]"
    assert (answer.role, answer.content) == ("assistant", "A cat.")
    assert reading.ledger.skipped == {"system prompt": 1}


def test_a_chat_of_an_older_version_is_read(tmp_path):
    messages = [{"message_id": "m1", "role": "user", "content": "hi"}]
    old = {"session_id": ID, "session_name": "Old", "llm_model_name": "llama3",
           "last_updated": "2024-05-02T10:00:00", "messages": messages}  # fmt: skip
    ((heading, (message,)),) = check(READER, written(tmp_path, old), records).conversations
    assert (heading.source_id, heading.name, heading.model) == (ID, "Old", "llama3")
    assert message.id == f"{ID}/m1"


def test_a_configuration_in_text_is_read(tmp_path):
    chat = CHAT | {"llm_config": json.dumps(CHAT["llm_config"])}
    assert read_all(READER, written(tmp_path, chat)).conversations[0][0].model == "llava"


@pytest.mark.full
def test_mutants_do_not_fail(tmp_path):
    check_mutants(READER, written(tmp_path), tmp_path)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, said):
    messages = [
        {"id": f"m{n}", "role": role, "content": text} for n, (role, text) in enumerate(said)
    ]
    path = written(tmp_path_factory.getbasetemp(), CHAT | {"messages": messages})
    assert [(each.role, each.content) for each in check(READER, path, records).messages] == said
