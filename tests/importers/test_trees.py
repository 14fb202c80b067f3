"""The order in which a tree of messages is written."""

from hypothesis import given
from hypothesis import strategies as st

from tui.importers.trees import AGAIN, Node, in_order

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
