"""The order in which a tree of messages is written, and its turns as linked messages."""

from hypothesis import given
from hypothesis import strategies as st

from tui.importers.protocol import ForeignMessage
from tui.importers.trees import AGAIN, Node, TreeTurn, in_order, linked, with_unique_ids

names = st.sampled_from("abcdefgh")


def ids(nodes):
    return [node.id for node in nodes]


def test_a_conversation_without_branches_stays_as_it_is():
    nodes = [Node("a", ""), Node("b", "a"), Node("c", "b")]
    assert list(in_order(nodes, "c")) == nodes


def test_the_shown_branch_ends_last():
    nodes = [Node("a", ""), Node("b", "a"), Node("c", "a")]
    assert ids(in_order(nodes, "b")) == ["a", "c", "b"]


def test_what_follows_the_shown_end_is_kept_beside_a_copy_of_it():
    nodes = [Node("a", ""), Node("b", "a"), Node("c", "b")]
    assert list(in_order(nodes, "b")) == [*nodes, Node("b" + AGAIN, "a")]


def test_a_parent_comes_first_wherever_it_stands():
    assert ids(in_order([Node("c", "b"), Node("b", "a"), Node("a", "")], "c")) == ["a", "b", "c"]


def test_an_unknown_parent_counts_as_none():
    assert list(in_order([Node("a", "gone")], "a")) == [Node("a", "")]


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


def links(turns, leaf=""):
    return [(message.id, message.parent) for message in linked(turns, leaf)]


def test_messages_of_a_turn_follow_each_other():
    turns = [turn("a"), turn("b", "a", "b1", "b2"), turn("c", "b")]
    assert links(turns) == [("a", ""), ("b", "a"), ("b1", "b"), ("b2", "b1"), ("c", "b2")]


def test_what_follows_a_turn_left_out_follows_the_one_before_it():
    turns = [turn("a"), TreeTurn("x", "a"), TreeTurn("y", "x"), turn("b", "y")]
    assert links(turns) == [("a", ""), ("b", "a")]


def test_the_branch_of_the_leaf_comes_last():
    turns = [turn("a"), turn("b1", "a"), turn("b2", "a"), TreeTurn("end", "b1")]
    assert links(turns, "end") == [("a", ""), ("b2", "a"), ("b1", "a")]


def test_a_leaf_that_others_follow_is_repeated():
    turns = [turn("a"), turn("b", "a", "b1"), turn("c", "b")]
    assert links(turns, "b")[-2:] == [("b~again", "a"), ("b1~again", "b~again")]


def test_ids_that_a_damaged_source_repeats_get_a_number():
    twice = [turn("a"), TreeTurn("b", "a", (ForeignMessage("a", "user", ""),)), turn("c", "b")]
    assert links(twice) == [("a", ""), ("a~2", "a"), ("c", "a~2")]


def test_an_id_that_is_repeated_often_or_has_a_number_already_stays_unique():
    names = ["a", "a", "a~3", "a", "a", "a~3"]
    items = list(with_unique_ids(ForeignMessage(name, "user", "") for name in names))
    assert [item.id for item in items] == ["a", "a~2", "a~3", "a~4", "a~5", "a~3~2"]


def test_turns_left_out_that_follow_each_other_in_a_loop_are_passed():
    assert links([TreeTurn("x", "y"), TreeTurn("y", "x"), turn("a", "x")]) == [("a", "")]
