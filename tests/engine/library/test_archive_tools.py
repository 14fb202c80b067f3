"""What agents are told of the sessions."""

import os

import pytest

from tests.builders import answer, appended, user
from tests.failing import raiser
from tests.planted import KEYS, TOKEN
from tests.tables import each_row
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Opened, Reset
from tui.domain.timestamps import utc_now
from tui.engine.library.archive_tools import MESSAGE_CHARACTERS, PAGE_CHARACTERS, ArchiveTools
from tui.errors import ServerUnreachable, SessionDamaged
from tui.storage.file_store import FileStore
from tui.storage.postgres.store import PostgresStore


def open_file_store(tmp_path, request):
    return FileStore(tmp_path / "data")


def open_server(tmp_path, request):
    return PostgresStore(request.getfixturevalue("postgres"), utc_now)


@pytest.fixture(params=[open_file_store, open_server], ids=["files", "server"])
def any_store(tmp_path, request):
    store = request.param(tmp_path, request)
    yield store
    store.close()


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "data")


def saved(store, *texts, scope="project:/shop", records=()):
    """A session of these texts, user and model in turn; gives its id."""
    lease = store.create(scope, "/shop", "offline:guide")
    messages = [
        Message(
            f"m{n}", "assistant" if n % 2 else "user", text, f"2026-01-11T14:30:{n % 60:02d}.000Z"
        )
        for n, text in enumerate(texts)
    ]
    store.append(lease, [Opened(at="2026-01-11T14:30:00.000Z"), *messages, *records])
    lease.release()
    return lease.session_id


def asker(store, **options):
    calls = {
        each.name: each.call for each in ArchiveTools(store, "project:/shop", **options).tools()
    }

    def ask(name, **arguments):
        result = calls[name](arguments)
        return result.text if result.structured is None else result.structured

    ask.text = lambda name, **arguments: calls[name](arguments).text
    return ask


def shown(page):
    return [each["message"] for each in page["messages"]]


# --- search and list


def test_a_hit_leads_to_the_messages_around_it(any_store):
    saved(any_store, "hello", "there")
    there = saved(any_store, "one", "two", "the needle", "four", "five")
    ask = asker(any_store)
    (hit,) = ask("search_sessions", query="needle")["hits"]
    assert hit == {
        "session": there,
        "title": "one",
        "project": "/shop",
        "program": "",
        "message": "m2",
        "role": "user",
        "time": "2026-01-11T14:30:02.000Z",
        "text": "the needle",
    }
    page = ask("read_session", session=hit["session"], message=hit["message"], limit=3)
    assert (shown(page), page["earlier"], page["later"]) == (
        ["m1", "m2", "m3"],
        "before m1",
        "after m3",
    )
    assert page["messages"][1]["text"].endswith("\n\nthe needle")


def test_the_text_says_the_same_with_the_ids_that_other_tools_take(store):
    there = saved(store, "the needle", "found")
    ask = asker(store)
    about = f"session: {there} · title: the needle · project: /shop · message: m0 · role: user"
    assert ask.text("search_sessions", query="needle").splitlines() == [
        "total: 1",
        "",
        f"{about} · time: 2026-01-11T14:30:00.000Z",
        "the needle",
    ]
    read = ask.text("read_session", session=there, message="m1")
    assert read.startswith(f"session: {there} · title: the needle · project: /shop · created: ")
    answer = "message: m1 · role: assistant · time: 2026-01-11T14:30:01.000Z\n## Assistant"
    assert f"\n\n{answer}" in read
    assert read.endswith("\n\nfound")


def test_a_page_of_hits_continues_the_one_before_while_sessions_grow(any_store):
    there = saved(any_store, *(f"needle {n}" for n in range(12)))
    ask = asker(any_store)
    page, seen = ask("search_sessions", query="needle", limit=5), []
    seen += [each["message"] for each in page["hits"]]
    while page["cursor"]:
        appended(any_store, there, user(f"new{len(seen)}", "needle needle"))
        page = ask("search_sessions", query="needle", limit=5, cursor=page["cursor"])
        seen += [each["message"] for each in page["hits"]]
    # The title is a hit of a name only where it was given.
    assert sorted(seen) == sorted(f"m{n}" for n in range(12))


def test_a_list_continues_after_its_last_session_while_others_are_used(any_store):
    ids = [saved(any_store, f"session {n}") for n in range(7)]
    ask = asker(any_store)
    page, seen = ask("list_sessions", limit=3), []
    while True:
        seen += [each["session"] for each in page["sessions"]]
        if not page["cursor"]:
            break
        saved(any_store, records=[user("n1", "another", 40 * 86400)])
        page = ask("list_sessions", limit=3, cursor=page["cursor"])
    assert sorted(seen) == sorted(ids)


def test_a_list_is_narrowed_to_a_project(store, tmp_path):
    (tmp_path / "farm" / ".git").mkdir(parents=True)
    (tmp_path / "farm" / "field").mkdir()
    saved(store, "elsewhere")
    here = saved(store, "here", scope=f"project:{tmp_path / 'farm'}")
    named = saved(store, "named", scope="garden")

    def listed(options, **arguments):
        sessions = asker(store, **options)("list_sessions", **arguments)["sessions"]
        return [each["session"] for each in sessions]

    assert listed({}, project=str(tmp_path / "farm" / "field")) == [here]
    assert listed({}, project="garden") == listed({"narrowed": "garden"}) == [named]
    assert asker(store)("list_sessions", project="/nowhere")["notice"] == "No sessions."


def test_the_archive_is_searched_and_listed_and_the_trash_never(any_store):
    archived, trashed = saved(any_store, "needle one"), saved(any_store, "needle two")
    ask = asker(any_store)
    assert len(ask("search_sessions", query="needle")["hits"]) == 2
    any_store.archive(archived)
    any_store.delete(trashed)
    assert [hit["session"] for hit in ask("search_sessions", query="needle")["hits"]] == [archived]
    assert [each["session"] for each in ask("list_sessions")["sessions"]] == [archived]
    assert shown(ask("read_session", session=archived)) == ["m0"]
    for target in (trashed, trashed[:-1], "#2", "needle two"):
        assert ask("read_session", session=target).startswith("Session not found: ")
    assert ask("read_session", session=trashed, message="m0", offset=3).startswith("Session not f")


def test_a_hit_in_a_session_that_goes_to_the_trash_is_not_on_a_later_page(store):
    ids = [saved(store, "needle", "needle") for _ in range(2)]
    ask = asker(store)
    page = ask("search_sessions", query="needle", limit=1)
    for each in ids:
        store.delete(each)
    later = ask("search_sessions", query="needle", limit=10, cursor=page["cursor"])
    assert (later["hits"], later["notice"]) == ([], "Nothing found.")


def test_titles_and_beginnings_of_ids_mean_a_session_as_everywhere(store):
    there = saved(store, "Fix the login bug", "Done.")
    saved(store, "Fix the logout")
    ask = asker(store)
    for target in (there, there[:-2], "Fix the login"):
        assert ask("read_session", session=target)["session"] == there
    assert ask("read_session", session="Fix the").startswith('Several sessions match "Fix the":\n')
    for target in ("private-0123456789", "nothing", "../../etc/passwd", "\x00"):
        assert ask("read_session", session=target).startswith("Session not found: ")


# --- reading


@pytest.mark.parametrize("way", ["forwards", "backwards"])
def test_every_message_is_reached_in_pages(any_store, way):
    there = saved(any_store, *(f"message {n}" for n in range(23)))
    ask, seen, go_on = asker(any_store), [], "later" if way == "forwards" else "earlier"
    asked = {"direction": "after"} if way == "forwards" else {}
    while True:
        page = ask("read_session", session=there, limit=5, **asked)
        seen = seen + shown(page) if way == "forwards" else shown(page) + seen
        if way == "backwards":
            # As new ones come, the earlier ones stay where they are.
            appended(any_store, there, user(f"new{len(seen)}", "more"))
        if page[go_on] is None:
            break
        direction, _, message = page[go_on].partition(" ")
        asked = {"direction": direction, "message": message}
    assert seen == [f"m{n}" for n in range(23)]


def test_pages_cross_a_reset(store):
    there = saved(
        store, "before", "it", records=[Reset(at="2026-01-11T15:00:00.000Z"), user("m2", "after")]
    )
    ask = asker(store)
    assert shown(ask("read_session", session=there)) == ["m2"]
    assert shown(ask("read_session", session=there, message="m2", direction="before")) == [
        "m0",
        "m1",
    ]
    assert ask("read_session", session=there)["earlier"] == "before m2"


def test_a_page_has_a_bound_and_what_does_not_fit_is_on_the_next(store):
    there = saved(store, *(str(n) * MESSAGE_CHARACTERS for n in range(9)))
    ask = asker(store)
    last = ask("read_session", session=there)
    assert sum(len(each["text"]) for each in last["messages"]) <= PAGE_CHARACTERS
    assert (shown(last)[-1], last["earlier"]) == ("m8", f"before {shown(last)[0]}")
    first = ask("read_session", session=there, direction="after")
    assert (shown(first)[0], first["later"]) == ("m0", f"after {shown(first)[-1]}")
    around = ask("read_session", session=there, message="m4")
    assert "m4" in shown(around)
    assert (around["earlier"], around["later"]) != (None, None)
    assert len(asker(store).text("read_session", session=there)) < 1.2 * PAGE_CHARACTERS


def test_a_long_message_is_cut_and_read_on(store):
    text = "".join(f"{n:07} " for n in range(6000))
    there = saved(store, text)
    ask = asker(store)
    (part,) = ask("read_session", session=there)["messages"]
    read = part["text"]
    while part["next_offset"] is not None:
        part = ask("read_session", session=there, message="m0", offset=part["next_offset"])
        assert len(part["text"]) <= PAGE_CHARACTERS
        read += part["text"]
    assert read.rstrip().endswith(f"\n\n{text.rstrip()}")


def test_calls_and_results_of_tools_are_read_and_control_characters_are_not(store):
    call = ToolCall("c1", "run", {"command": "ls \x1b[2J"})
    records = [
        answer("a1", "", tool_calls=(call,)),
        Message("t1", "tool", "files\u202e\r\nmore", "2026-01-11T15:00:00.000Z", tool_call_id="c1"),
    ]
    there = saved(store, "look", records=records)
    text = asker(store).text("read_session", session=there)
    assert "> run `" in text
    assert "files<U+202E>\nmore" in text
    assert "\x1b" not in text


def test_a_damaged_session_is_read_as_far_as_it_goes(store):
    there = saved(store, "one", "two", "three")
    path = store.location(there)
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data.replace(b'"two"', b'"tw'))
    page = asker(store)("read_session", session=there)
    assert shown(page) == ["m0", "m2"]
    assert page["notice"] == f"1 damaged record skipped in {there}; the file is unchanged"
    os.unlink(path)
    os.mkdir(path)
    assert asker(store)("read_session", session=there) == str(
        SessionDamaged(there, "it is not a regular file")
    )


@each_row(
    "tool, arguments, said",
    [
        ("read", {}, "Object missing required field `session`."),
        ("read", {"session": "x", "limit": 101}, "Expected `int` <= 100 - at `$.limit`."),
        ("read", {"session": "x", "limit": "10"}, "Expected `int`, got `str` - at `$.limit`."),
        ("read", {"session": "x", "direction": "up"}, "Invalid enum value 'up' - at `$.direction"),
        ("search", {"query": "before:soon"}, "before:soon is not a date. It needs a year"),
        ("search", {"query": "-> *"}, "Symbols alone are not searched."),
        ("search", {"query": ""}, "Symbols alone are not searched."),
    ],
)
def test_arguments_that_are_wrong_are_told(store, tool, arguments, said):
    name = {"read": "read_session", "search": "search_sessions"}[tool]
    assert asker(store)(name, **arguments).startswith(said)


@each_row("cursor", ["1-5", "x", "-1", "-", "1000", "٣"])
def test_a_cursor_that_is_none_is_told(store, cursor):
    ask = asker(store)
    assert "cursor" in ask("search_sessions", query="needle", cursor=cursor)
    assert isinstance(ask("list_sessions", cursor=cursor), str)


def test_a_store_that_fails_is_an_error_in_our_words(store, monkeypatch):
    monkeypatch.setattr(FileStore, "search", raiser(ServerUnreachable("timeout")))
    said = asker(store)("search_sessions", query="needle")
    assert said == "The store's server cannot be reached: timeout"


def test_nothing_is_leased_or_written_but_the_index(store, tmp_path):
    there = saved(store, "needle", "two")
    known = {path: path.stat().st_mtime_ns for path in store.root.rglob("*")}
    ask = asker(store)
    for name, arguments in (
        ("list_sessions", {}),
        ("read_session", {"session": there}),
        ("search_sessions", {"query": "needle"}),
    ):
        assert isinstance(ask(name, **arguments), dict)
    assert store.holder(there) is None
    new = {path.name for path in store.root.rglob("*") if path not in known}
    assert all(name.startswith("index.") for name in new)
    folders = {path for path in known if path.is_dir()}
    assert all(path.stat().st_mtime_ns == at for path, at in known.items() if path not in folders)
    # Of an empty data directory nothing is made.
    ask = asker(FileStore(tmp_path / "none"))
    assert ask("list_sessions")["notice"] == "No sessions."
    assert ask("search_sessions", query="needle")["notice"] == "Nothing found."
    assert not (tmp_path / "none").exists()


# --- secrets


@each_row("kind", KEYS)
def test_no_key_of_any_kind_is_given_away(store, kind):
    there = saved(store, f"My key is {KEYS[kind]}", f"So it is {KEYS[kind]}, and a word")
    ask = asker(store)
    told = [
        *(ask.text("search_sessions", query=query) for query in ("key", "word", "so")),
        ask.text("list_sessions"),
        ask.text("read_session", session=there),
        ask.text("read_session", session=there, message="m1", offset=1),
    ]
    secret = [line for line in KEYS[kind].replace("\\n", "\n").splitlines() if len(line) > 20]
    pieces = [line[place : place + 20] for line in secret for place in range(5, len(line) - 20, 5)]
    harmless = "-----", "PRIVATE KE", "https://hooks.slack.com"
    assert not [
        piece
        for piece in pieces
        if any(piece in text for text in told) and not any(part in piece for part in harmless)
    ]
    assert all("secrets_masked: " in text for text in told if "[masked " in text)


def test_how_many_were_masked_is_said_and_what_is_no_secret_is_found(store):
    commit = "207b397d4c1f0a9be2d3c4b5a6978877665544aa"
    there = saved(store, f"It broke in {commit} I think", f"{TOKEN} and {TOKEN}")
    ask = asker(store)
    assert ask("read_session", session=there)["secrets_masked"] == 2
    assert ask("list_sessions")["secrets_masked"] == 0
    assert "secrets_masked: 2" in ask.text("read_session", session=there)
    found = ask("search_sessions", query=commit)
    assert found["hits"][0]["text"] == f"It broke in {commit} I think"
    assert found["secrets_masked"] == 0


def test_a_key_cannot_be_found_out_by_searching_for_it(store):
    saved(store, f"Here is {TOKEN} for you", "thanks", f"the staging key is {TOKEN}")
    ask, half = asker(store), TOKEN[: len(TOKEN) // 2]
    for query in (f"{TOKEN[:8]}*", TOKEN, f"{TOKEN[4:9]}*", f"xylophone quagga {half}"):
        found = ask("search_sessions", query=query)
        assert (found["hits"], found["total"], found["notice"]) == ([], 0, "Nothing found.")
    (hit,) = ask("search_sessions", query=f"{TOKEN[4:9]}* here")["hits"]
    assert hit["text"] == "Here is [masked GitHub token] for you"


def test_where_little_has_all_words_messages_with_some_follow_and_say_so(any_store):
    there = saved(any_store, "login token staging cluster", "ok", "the staging cluster")
    found = asker(any_store)("search_sessions", query="login token staging cluster", limit=1)
    assert [(each["session"], each["message"]) for each in found["hits"]] == [(there, "m0")]
    assert "match" not in found["hits"][0]
    assert found["total"] == 2
    page = asker(any_store)("search_sessions", query="what about cluster xylophone staging")
    assert {(each["message"], each["match"]) for each in page["hits"]} == {
        ("m0", "some words"),
        ("m2", "some words"),
    }
