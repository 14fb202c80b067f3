"""Sources that grow, are cut, damaged or not where they were: what no case of ``sources`` holds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.samples import SOURCES, check, laid_out, read_all
from tests.strategies import any_text
from tui.files import UnfitFile
from tui.importers import cursor
from tui.importers.protocol import Ledger, Places, Source
from tui.importers.readers import reader


@pytest.fixture
def source(tmp_path):
    """Gives the source of a case, laid out in a home directory of its own."""

    def lay_out(program, case):
        _, (source, *_) = laid_out(SOURCES / program / f"{case}.jsonl", tmp_path / "home")
        return source

    return lay_out


def test_a_cut_session_of_aichat_is_read_as_far_as_it_goes(source):
    path = source("aichat", "a-session-is-read-whole")
    text = path.read_text()
    for cut in range(200, len(text), 13):
        path.write_text(text[:cut])
        assert read_all(reader("aichat"), path).messages


def test_a_grown_history_of_aider_keeps_the_ids_of_what_it_had(source):
    path = source("aider", "each-chat-is-a-conversation-of-its-project")
    before = read_all(reader("aider"), path).messages
    path.write_text(path.read_text() + "You are welcome.\n")
    after = read_all(reader("aider"), path).messages
    assert [message.id for message in after[: len(before)]] == [message.id for message in before]
    assert after[-1].content == "You are welcome."


@given(st.lists(any_text(6).map(lambda text: text.encode("utf-8", "replace").decode()), max_size=4))
def test_any_prompts_of_aider_come_back(tmp_path_factory, prompts):
    prompts = [f"word {prompt}." for prompt in prompts]
    lines = "".join(
        "".join(f"#### {line}  \n" for line in prompt.split("\n")) + "\nYes.\n\n"
        for prompt in prompts
    )
    path = tmp_path_factory.mktemp("e") / ".aider.chat.history.md"
    path.write_text(f"# aider chat started at 2026-06-09 14:01:00\n{lines}", newline="")
    messages = check(reader("aider"), path).messages
    assert [each.content for each in messages if each.role == "user"] == prompts


def test_a_backup_of_cherry_studio_with_its_databases_says_so_under_any_name(tmp_path):
    for name in ("metadata.json", "metadata (1).json"):
        path = tmp_path / name
        path.write_text(
            '{\n  "version": 6,\n  "timestamp": 1796000000000,\n  "appName": "Cherry Studio"\n}'
        )
        assert reader("cherry-studio").recognises(path, path.read_bytes())
        with pytest.raises(UnfitFile, match="its own databases"):
            list(reader("cherry-studio").read(Source.of(path), Ledger()))


def test_the_databases_of_projects_that_crush_knows_are_found(tmp_path):
    (tmp_path / "bread" / ".crush").mkdir(parents=True)
    (tmp_path / "bread" / ".crush" / "crush.db").touch()
    index = tmp_path / "crush" / "projects.json"
    index.parent.mkdir()
    projects = [{"path": str(tmp_path / name), "data_dir": ".crush"} for name in ("bread", "gone")]
    index.write_text(json.dumps({"projects": projects}))
    places = Places(tmp_path, {"XDG_DATA_HOME": str(tmp_path)})
    (found,) = reader("crush").find(places)
    assert found.path == tmp_path / "bread" / ".crush" / "crush.db"


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_damaged_turns_of_cursor_do_no_harm(root, step):
    blobs = {"a": root}
    read = list(cursor.turns("a", lambda name: blobs.get(name, step), Ledger()))
    assert {each["role"] for each in read} <= {"user", "assistant"}


def test_a_session_of_opencode_has_the_size_and_the_parts_of_its_messages(source, tmp_path):
    path = source("opencode", "gives-the-facts-of-a-session-stored")
    (found,) = reader("opencode").find(Places(tmp_path / "home", {}))
    parts = list(reader("opencode").parts(path))
    names = [str(each.relative_to(path.parents[2])) for each in parts if each.is_file()]
    assert sorted(names) == [
        "message/ses_1/m1.json",
        "message/ses_1/m2.json",
        "part/m1/prt_000.json",
        "part/m2/prt_000.json",
        "session/global/ses_1.json",
    ]
    assert found.size == sum(each.stat().st_size for each in parts if each.is_file())


def test_a_file_of_picoclaw_is_read_without_what_is_beside_it(source):
    path = source("picoclaw", "a-session-is-read-whole-new")
    path.with_name(f"{path.stem}.meta.json").unlink()
    ((heading, items),) = check(reader("picoclaw"), path).conversations
    assert (heading.source_id, len(items)) == (path.stem, 5)


def test_a_sub_agent_of_claude_code_is_left_to_its_reader(tmp_path):
    path = tmp_path / "agent-1.jsonl"
    path.write_text(json.dumps({"parentUuid": None, "isSidechain": True, "type": "user"}))
    path.with_name("agent-1.meta.json").write_text("{}")
    assert not reader("picoclaw").recognises(path, path.read_bytes())


@pytest.fixture
def sibyl(source):
    """Reads the session of Sibyl with another text; given its own, it gives it."""
    path = source("sibyl", "a-session-is-read-whole")
    text = path.read_text()

    def read(change):
        path.write_text(change(text), newline="")
        return read_all(reader("sibyl"), path)

    return text, read


def test_all_whole_messages_of_a_cut_file_of_sibyl_are_read(sibyl):
    text, read = sibyl
    ends = [text.index(end) + len(end) for end in ('23Z")', "nil)))", 'tc_1")', '27Z")')]
    for cut in range(0, len(text), 7):
        messages = read(lambda text, cut=cut: text[:cut]).messages
        assert len(messages) == sum(cut >= end for end in ends), text[:cut]


@pytest.mark.parametrize("damage", ['"out', 'out"', "(((((", "#<", "(" * 1000, "\x00", ")))))"])
def test_damage_to_one_message_of_sibyl_hides_no_other(sibyl, damage):
    _, read = sibyl
    reading = read(lambda text: text.replace('"out"', damage))
    assert {message.content for message in reading.messages} >= {"done"}
    assert reading.ledger.total >= 4


def test_code_in_a_file_of_sibyl_is_not_run(sibyl, tmp_path):
    _, read = sibyl
    mark = tmp_path / "ran"
    assert read(lambda text: text.replace("#<hash", f'#.(open "{mark}") #<hash')).messages
    assert not mark.exists()


def test_another_form_of_sibyl_is_counted(sibyl):
    _, read = sibyl
    assert read(lambda _: "(:other 1)").ledger.skipped["unknown format"] == 1
