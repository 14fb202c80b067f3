"""Histories of aider."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.samples import check, check_mutants, read_all, samples
from tests.strategies import any_text
from tui.importers.aider import READER
from tui.importers.protocol import Places

HISTORY = """
# aider chat started at 2026-06-09 14:01:00

> Aider v0.86.1  
> Main model: claude-sonnet-4 with diff edit format  
> Added a.py to the chat.  

#### add a retry  
#### to the webhook  

I will add it:

a.py
```python
# aider chat
> not output
#### not a prompt
```

> Tokens: 5,244 sent, 604 received. Cost: $0.02 request, $0.02 session.  
> Applied edit to a.py  

#### /diff  

#### /ask is it > done?  

Yes.
> Tokens: 1k sent, 6 received.

# aider chat started at 2026-06-09 15:30:00

> Aider v0.86.1  

# aider chat started at 2026-06-10 09:00:00

#### thanks 😀  

"""  # noqa: W291


@pytest.fixture(autouse=True)
def east(monkeypatch):
    """A machine an hour east of Greenwich: the times of chats are local."""
    monkeypatch.setenv("TZ", "UTC-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def written(home, text=HISTORY, project="work/shop"):
    path = home / project / ".aider.chat.history.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    return path


def said(reading):
    return [[(each.role, each.content) for each in items] for _, items in reading.conversations]


def test_histories_near_home_are_found_and_the_one_that_is_named(tmp_path):
    paths = [written(tmp_path, project=project) for project in ("", "shop", "work/shop")]
    written(tmp_path, project=".cache/x")
    places = Places(tmp_path, {})
    assert [source.path for source in READER.find(places)] == paths
    named = tmp_path / "a" / "b" / "c" / "history.md"
    named.parent.mkdir(parents=True)
    named.write_text(HISTORY)
    places = Places(tmp_path, {"AIDER_CHAT_HISTORY_FILE": str(named)})
    assert [source.path for source in READER.find(places)] == [named, *paths]
    assert READER.recognises(named, named.read_bytes()[:200])


def test_each_chat_is_a_conversation_of_its_project(tmp_path):
    path = written(tmp_path)
    reading = check(READER, path)
    answer = "I will add it:\n\na.py\n```python\n# aider chat\n> not output\n#### not a prompt\n```"
    assert said(reading) == [
        [
            ("user", "add a retry\nto the webhook"),
            ("assistant", answer),
            ("user", "is it > done?"),
            ("assistant", "Yes."),
        ],
        [("user", "thanks 😀")],
    ]
    (first, _), (second, _) = reading.conversations
    assert first.project_path == second.project_path == str(path.parent)
    assert (first.created_at, first.model) == ("2026-06-09T13:01:00.000Z", "claude-sonnet-4")
    assert first.source_id != second.source_id
    assert reading.ledger.skipped["command"] == 1


def test_a_grown_history_keeps_the_ids_of_what_it_had(tmp_path):
    before = read_all(READER, written(tmp_path)).messages
    after = read_all(READER, written(tmp_path, HISTORY + "You are welcome.\n")).messages
    assert [message.id for message in after[: len(before)]] == [message.id for message in before]
    assert after[-1].content == "You are welcome."


def test_a_fence_that_is_left_open_hides_no_other_chat(tmp_path):
    text = HISTORY.replace("```\n\n>", "\n\n>")
    assert said(read_all(READER, written(tmp_path, text)))[1] == [("user", "thanks 😀")]


def test_lines_before_the_first_chat_are_read(tmp_path):
    path = written(tmp_path, "#### hi  \n\nHello.\n" + HISTORY)
    reading = check(READER, path)
    assert said(reading)[0] == [("user", "hi"), ("assistant", "Hello.")]
    assert reading.conversations[0][0].created_at is None


@pytest.mark.parametrize("path", samples("aider/**/*.md", "aider/**/.aider*.md"))
def test_samples_are_read_whole(path, tmp_path):
    assert check(READER, path).messages
    check_mutants(READER, path, tmp_path)


@pytest.mark.full
def test_mutants_do_not_fail(tmp_path):
    check_mutants(READER, written(tmp_path), tmp_path / "copy")


@given(st.lists(any_text(6).map(lambda text: text.encode("utf-8", "replace").decode()), max_size=4))
def test_any_prompts_come_back(tmp_path_factory, prompts):
    prompts = [f"word {prompt}." for prompt in prompts]
    lines = "".join(
        "".join(f"#### {line}  \n" for line in prompt.split("\n")) + "\nYes.\n\n"
        for prompt in prompts
    )
    path = written(
        tmp_path_factory.getbasetemp(), f"# aider chat started at 2026-06-09 14:01:00\n{lines}"
    )
    reading = check(READER, path)
    found = [each.content for each in reading.messages if each.role == "user"]
    assert found == prompts
