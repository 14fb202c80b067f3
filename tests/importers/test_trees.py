"""The order in which a tree of messages is written, and its turns as linked messages."""

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import each_row
from tui.importers.protocol import ForeignMessage
from tui.importers.trees import AGAIN, Node, TreeTurn, in_order, linked, with_unique_ids

names = st.sampled_from("abcdefgh")


def ids(nodes):
    return [node.id for node in nodes]


A, B, C = Node("a", ""), Node("b", "a"), Node("c", "b")


@each_row(
    "nodes, leaf, ordered",
    [
        ([A, B, C], "c", [A, B, C]),
        ([A, B, Node("c", "a")], "b", [A, Node("c", "a"), B]),
        # What follows the shown end is kept beside a copy of it.
        ([A, B, C], "b", [A, B, C, Node("b" + AGAIN, "a")]),
        ([C, B, A], "c", [A, B, C]),
        ([Node("a", "gone")], "a", [A]),
    ],
)
def test_parents_come_first_and_the_shown_branch_ends_last(nodes, leaf, ordered):
    assert list(in_order(nodes, leaf)) == ordered


@given(st.lists(st.builds(Node, names, st.one_of(names, st.just(""), st.just("gone")))), names)
def test_any_links_give_a_tree_with_each_message_once(nodes, leaf):
    ordered = list(in_order(nodes, leaf))
    seen = {""}
    for node in ordered:
        assert node.parent in seen
        assert node.id not in seen
        seen.add(node.id)
    assert {node.id for node in nodes} == {each for each in ids(ordered) if AGAIN not in each}
    if leaf in ids(nodes):
        assert ordered[-1].id in (leaf, leaf + AGAIN)


def turn(name, parent="", *more):
    return TreeTurn(
        name, parent, tuple(ForeignMessage(each, "user", each) for each in (name, *more))
    )


@each_row(
    "turns, leaf, expected",
    [
        # Messages of a turn follow each other.
        ([turn("a"), turn("b", "a", "b1", "b2"), turn("c", "b")], "",
         "a: b:a b1:b b2:b1 c:b2"),
        # What follows a turn left out follows the one before it, also in a loop.
        ([turn("a"), TreeTurn("x", "a"), TreeTurn("y", "x"), turn("b", "y")], "", "a: b:a"),
        ([TreeTurn("x", "y"), TreeTurn("y", "x"), turn("a", "x")], "", "a:"),
        # The branch of the leaf comes last, repeated if others follow it.
        ([turn("a"), turn("b1", "a"), turn("b2", "a"), TreeTurn("end", "b1")], "end",
         "a: b2:a b1:a"),
        ([turn("a"), turn("b", "a", "b1"), turn("c", "b")], "b",
         "a: b:a b1:b c:b1 b~again:a b1~again:b~again"),
        # Ids that a damaged source repeats get a number.
        ([turn("a"), TreeTurn("b", "a", (ForeignMessage("a", "user", ""),)), turn("c", "b")], "",
         "a: a~2:a c:a~2"),
    ],
)  # fmt: skip
def test_turns_become_linked_messages(turns, leaf, expected):
    assert " ".join(f"{each.id}:{each.parent}" for each in linked(turns, leaf)) == expected


def test_an_id_that_is_repeated_often_or_has_a_number_already_stays_unique():
    names = ["a", "a", "a~3", "a", "a", "a~3"]
    items = list(with_unique_ids(ForeignMessage(name, "user", "") for name in names))
    assert [item.id for item in items] == ["a", "a~2", "a~3", "a~4", "a~5", "a~3~2"]
