"""ChatGPT's export: its tree of messages and its tools."""

import json

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, read_all, samples
from tests.importers.spoken import check_read, children, trees
from tui.importers.chatgpt import READER

SAMPLES = samples("chatgpt-export/**/*.json")


def node(name, parent, role, text, children=(), **message):
    """A node of the mapping, with a message of plain text."""
    content = {"content_type": "text", "parts": [text]}
    said = {"id": name, "author": {"role": role}, "content": content, "create_time": 1700000000.5}
    return {"id": name, "parent": parent, "children": list(children), "message": said | message}


def root(*children):
    return {"id": "root", "parent": None, "children": list(children), "message": None}


def export(folder, *conversations, name="conversations.json"):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(conversations))
    return path


def conversation(*nodes, current="", **fields):
    mapping = {each["id"]: each for each in nodes}
    return {
        "title": "Trees",
        "create_time": 1700000000.25,
        "update_time": 1700000100,
        "mapping": mapping,
        "current_node": current,
        "conversation_id": "c1",
        **fields,
    }


def asked(**fields):
    """A question with two answers, the second of which is shown."""
    return conversation(
        root("q"),
        node("q", "root", "user", "Why?", ["a1", "a2"]),
        node("a1", "q", "assistant", "Because."),
        node("a2", "q", "assistant", "For reasons.", metadata={"model_slug": "gpt-4"}),
        **{"current": "a2", **fields},
    )


def nodes_in(path):
    """Count the nodes of all conversations."""
    return sum(len(each.get("mapping") or [None]) for each in json.loads(path.read_bytes()))


def roles_in(path):
    """The roles of those who said something."""
    nodes = [n for each in json.loads(path.read_bytes()) for n in each.get("mapping", {}).values()]
    messages = [each["message"] for each in nodes if each.get("message")]
    with_words = [each for each in messages if any(each["content"].get("parts") or ())]
    return {each["author"]["role"] for each in with_words} & {"user", "assistant"}


def said(reading):
    return [(message.role, message.content) for message in reading.messages]


@pytest.mark.parametrize("path", SAMPLES)
def test_reads_the_samples_of_others(path):
    reading = check(READER, path, nodes_in)
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert {message.role for message in reading.messages} >= roles_in(path)
    assert all(message.timestamp for message in reading.messages)


@pytest.mark.full
@pytest.mark.parametrize("path", SAMPLES)
def test_survives_damaged_samples(path, tmp_path):
    check_mutants(READER, path, tmp_path)


def test_gives_the_facts_of_a_conversation(tmp_path):
    path = export(tmp_path / "export", asked(default_model_slug="gpt-4o"))
    heading, items = check(READER, path, nodes_in).conversations[0]
    assert (heading.source_id, heading.name, heading.model) == ("c1", "Trees", "gpt-4o")
    assert heading.created_at == "2023-11-14T22:13:20.250Z"
    assert heading.updated_at == "2023-11-14T22:15:00.000Z"
    assert items[-1].model == "gpt-4"


def test_shows_the_branch_of_the_current_node(tmp_path):
    path = export(tmp_path / "export", asked(current="a1"))
    reading = check(READER, path, nodes_in)
    assert [message.id for message in reading.messages] == ["q", "a2", "a1"]
    assert [message.parent for message in reading.messages] == ["", "q", "q"]


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_shows_the_last_child_where_the_current_node_is_unknown(tmp_path, current):
    path = export(tmp_path / "export", asked(current=current))
    assert read_all(READER, path).messages[-1].id == "a2"


def test_reads_a_conversation_whose_nodes_form_a_loop(tmp_path):
    looped = conversation(
        node("a", "b", "user", "One", ["b"]), node("b", "a", "assistant", "Two", ["a"])
    )
    reading = check(READER, export(tmp_path / "export", looped), nodes_in)
    assert {content for _, content in said(reading)} == {"One", "Two"}


def test_counts_what_is_left_out_by_its_reason(tmp_path):
    thoughts = {"content_type": "thoughts", "thoughts": []}
    context = {"content_type": "user_editable_context", "user_profile": "me"}
    path = export(
        tmp_path / "export",
        conversation(
            root("s"),
            node("s", "root", "system", "Be nice.", ["i"]),
            node("i", "s", "user", "", ["h"], content=context),
            node("h", "i", "user", "hidden", ["q"], weight=0),
            node("q", "h", "user", "Why?", ["t"]),
            node("t", "q", "assistant", "", ["a"], content=thoughts),
            node("a", "t", "assistant", "Because."),
            current="a",
        ),
        {"id": "empty", "title": None},
    )
    reading = read_all(READER, path)
    assert said(reading) == [("user", "Why?"), ("assistant", "Because.")]
    assert reading.messages[1].parent == "q"
    assert reading.ledger.skipped == {
        "node without a message": 1,
        "system prompt": 1,
        "custom instructions": 1,
        "hidden message": 1,
        "thinking": 1,
        "conversation without messages": 1,
    }


def test_reads_what_is_sent_to_a_tool_as_a_call_and_its_answer_as_the_result(tmp_path):
    code = {"content_type": "code", "language": "unknown", "text": '{"size": "1024x1024"}'}
    output = {"content_type": "execution_output", "text": "4"}
    path = export(
        tmp_path / "export",
        conversation(
            root("q"),
            node("q", "root", "user", "Draw", ["c"]),
            node("c", "q", "assistant", "", ["d"], recipient="dalle.text2im", content=code),
            node("d", "c", "assistant", "2 + 2", ["r2"], recipient="python"),
            node("r2", "d", "tool", "", ["r1"], content=output, weight=0,
                 author={"role": "tool", "name": "python"}),
            node("r1", "r2", "tool", "Done.", ["a"],
                 author={"role": "tool", "name": "dalle.text2im"}),
            node("a", "r1", "assistant", "Here."),
            current="a",
        ),
    )  # fmt: skip
    _, call, other, result, drawn, _ = check(READER, path, nodes_in).messages
    assert (call.content, call.tool_calls[0].name) == (None, "dalle.text2im")
    assert call.tool_calls[0].arguments == {"size": "1024x1024"}
    assert other.tool_calls[0].arguments == {"_raw": "2 + 2"}
    assert (result.content, result.tool_call_id) == ("4", other.tool_calls[0].id)
    assert (drawn.content, drawn.tool_call_id) == ("Done.", call.tool_calls[0].id)


def test_keeps_a_result_without_a_call(tmp_path):
    alone = conversation(root("r"), node("r", "root", "tool", "4"), current="r")
    message = check(READER, export(tmp_path / "export", alone), nodes_in).messages[0]
    assert (message.role, message.tool_call_id) == ("tool", "r-0")


def test_says_what_a_picture_was(tmp_path):
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file://1", "size_bytes": 42},
        {"content_type": "audio_transcription", "text": "spoken"},
        "Look",
    ]
    content = {"content_type": "multimodal_text", "parts": parts}
    attached = {
        "attachments": [
            {"name": "cat.png", "mimeType": "image/png", "size": 42},
            {"name": "notes.pdf", "mimeType": "application/pdf", "size": 7},
        ]
    }
    path = export(
        tmp_path / "export",
        conversation(node("q", None, "user", "", content=content, metadata=attached)),
    )
    assert check(READER, path, nodes_in).messages[0].content == (
        "[image: 42 bytes]\n\nspoken\n\nLook\n\n[file: notes.pdf, application/pdf, 7 bytes]"
    )


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"status": "in_progress"}, "interrupted"),
        ({"metadata": {"finish_details": {"type": "max_tokens"}}}, "truncated"),
        ({"metadata": {"finish_details": {"type": "stop"}}}, None),
    ],
)
def test_marks_answers_that_did_not_end_well(tmp_path, fields, status):
    path = export(tmp_path / "e", conversation(node("a", None, "assistant", "So", **fields)))
    assert check(READER, path, nodes_in).messages[0].status == status


def test_reads_conversations_that_stand_in_an_object(tmp_path):
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps({"version": 2, "conversations": [asked(), 7]}))
    reading = read_all(READER, path)
    assert len(reading.conversations) == 1
    assert reading.ledger.skipped["unreadable line"] == 1


@given(tree=trees())
def test_reads_back_any_tree(tmp_path_factory, tree):
    spoken, leaf = tree
    nodes = [
        node(each.id, each.parent or "root", each.role, each.text, children(spoken, each.id))
        for each in spoken
    ]
    path = export(
        tmp_path_factory.mktemp("e"),
        conversation(root(*children(spoken, "")), *nodes, current=leaf),
    )
    check_read(read_all(READER, path).messages, spoken, leaf)


def test_nodes_that_only_name_their_parents_end_with_the_last_answer(tmp_path):
    nodes = [node("a", None, "user", "Why?"), node("b", "a", "assistant", "Because.")]
    bare = [{key: value for key, value in each.items() if key != "children"} for each in nodes]
    reading = check(READER, export(tmp_path / "e", conversation(*bare)), nodes_in)
    assert said(reading) == [("user", "Why?"), ("assistant", "Because.")]
