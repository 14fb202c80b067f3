import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.journal import todo
from tui.domain.journal.records import DamagedRecord, Todos, decode, encode
from tui.domain.journal.todo import TodoItem
from tui.domain.text import make_visible
from tui.errors import UsageError


@pytest.mark.parametrize("status", ["pending", "in_progress", "completed"])
def test_a_to_do_is_pending_in_progress_or_completed(status):
    todos = Todos(items=(TodoItem(content="write", status=status, active_form="writing"),))
    assert decode(encode(todos)[:-1]) == todos


@each_row("status", ["done", "", "Pending", None])
def test_a_to_do_of_another_status_is_damage(status):
    todos = Todos(items=(TodoItem(content="write", status=status, active_form="writing"),))
    with pytest.raises(DamagedRecord):
        decode(encode(todos)[:-1])


def test_a_to_do_cannot_be_changed():
    item = TodoItem(content="write", status="pending", active_form="writing")
    with pytest.raises(AttributeError):
        item.status = "completed"


def items(*statuses):
    return tuple(
        TodoItem(f"thing {n}", status, f"doing {n}") for n, status in enumerate(statuses, 1)
    )


THREE = items("completed", "in_progress", "pending")


def test_what_is_added_comes_last_and_what_is_removed_is_gone():
    assert todo.add(THREE, "more") == (*THREE, TodoItem("more", "pending", "more"))
    assert todo.remove(THREE, 2) == (THREE[0], THREE[2])


@pytest.mark.parametrize("status", ["pending", "in_progress", "completed"])
def test_an_item_gets_another_status_and_nothing_else_changes(status):
    changed = todo.mark(THREE, 2, status)
    assert [item.status for item in changed] == ["completed", status, "pending"]
    assert [item.content for item in changed] == [item.content for item in THREE]


@each_row("number", [0, -1, 4, 10**6])
def test_a_number_that_no_item_has_is_told_with_those_that_there_are(number):
    for change in (todo.remove, lambda items, n: todo.mark(items, n, "completed")):
        with pytest.raises(UsageError, match=r"There is no to-do .* \(1 to 3\)\."):
            change(THREE, number)
    with pytest.raises(UsageError, match=r"^No to-dos\.$"):
        todo.remove((), number)


def test_an_item_that_is_too_long_is_refused_and_the_longest_is_not():
    longest = "語" * todo.ITEM_CHARACTERS
    assert todo.add((), longest)[0].content == longest
    with pytest.raises(UsageError, match="500 characters"):
        todo.add((), longest + "語")
    with pytest.raises(UsageError, match="at most 100"):
        todo.add(items(*["pending"] * todo.MOST_ITEMS), "one more")


@each_row("text", ["", "  ", "\n\t", "\u200b", "\u200d \u200b"])
def test_a_text_that_shows_nothing_says_nothing(text):
    assert todo.says_nothing(text)
    assert not any(map(todo.says_nothing, ["a", "語", "\x1b", "é"]))


def test_a_listing_has_numbers_signs_progress_and_active_forms():
    assert [item.words for item in THREE] == ["thing 1", "doing 2", "thing 3"]
    assert TodoItem("write", "in_progress", " ").words == "write"

    assert todo.listing(THREE).splitlines() == [
        "To-dos: 1 of 3 done, 1 in progress",
        "  1. [x] thing 1",
        "  2. [>] doing 2",
        "  3. [ ] thing 3",
    ]


@given(any_text())
def test_a_listing_has_a_line_an_item_and_nothing_a_terminal_obeys(text):
    listing = todo.listing((TodoItem(text, "pending", text), *THREE))
    assert len(listing.split("\n")) == 5
    assert make_visible(listing) == listing


CHANGES = st.one_of(
    st.tuples(st.just("add"), st.text(min_size=1, max_size=8)),
    st.tuples(st.sampled_from(["in_progress", "completed", "remove"]), st.integers(-1, 6)),
)


@given(st.lists(CHANGES))
def test_whatever_is_done_to_a_list_it_is_what_a_plain_list_would_be(changes):
    there, plain = (), []
    for verb, what in changes:
        if verb == "add":
            there, plain = todo.add(there, what), [*plain, (what, "pending")]
            continue
        change = todo.remove if verb == "remove" else lambda i, n, s=verb: todo.mark(i, n, s)
        if not 1 <= what <= len(plain):
            with pytest.raises(UsageError):
                change(there, what)
            continue
        there = change(there, what)
        if verb == "remove":
            del plain[what - 1]
        else:
            plain[what - 1] = (plain[what - 1][0], verb)
    assert [(item.content, item.status) for item in there] == plain
