"""Turns of a tree as linked messages."""

from tui.importers.protocol import ForeignMessage
from tui.importers.trees import TreeTurn, linked, with_unique_ids


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
