"""Keys that a user chose: taken, or refused with what is wrong with them."""

import pytest
from textual.binding import Binding

from tui.errors import ConfigError
from tui.keymap import EVERYWHERE, checked_keymap

PLACES = {
    EVERYWHERE: [
        Binding("ctrl+n", "new", "New", id="new", priority=True),
        Binding("ctrl+s", "save", "Save", id="save", priority=True),
        Binding("escape", "stop", "Stop", id="stop"),
    ],
    "In the list": [
        Binding("slash", "filter", "Filter", id="list-filter"),
        Binding("escape", "clear", "Clear", id="list-clear"),
        Binding("d", "delete", "Delete"),
    ],
    "In the conversation": [Binding("slash", "find", "Find", id="find")],
}


def checked(**chosen):
    return checked_keymap(
        {k.replace("_", "-"): v for k, v in chosen.items()}, PLACES, "config.toml"
    )


@pytest.mark.parametrize("key", ["ctrl+t", "f5", "alt+left", "shift+f3", "ctrl+s,f2", "ctrl+/"])
def test_a_key_of_ones_own_is_taken(key):
    if key == "ctrl+s,f2":
        assert checked(new=key, save="f12") == {"new": key, "save": "f12"}
    else:
        assert checked(new=key) == {"new": key}


def test_two_actions_may_change_keys():
    assert checked(new="ctrl+s", save="ctrl+n") == {"new": "ctrl+s", "save": "ctrl+n"}


def test_the_same_key_may_mean_different_things_at_different_places():
    assert checked(list_filter="f", find="f") == {"list-filter": "f", "find": "f"}


def test_a_letter_is_a_key_where_nothing_is_typed():
    assert checked(list_filter="f") == {"list-filter": "f"}


@pytest.mark.parametrize(
    ("action", "key"), [("new", "ctrl+n"), ("stop", "escape"), ("list-clear", "escape,f5")]
)
def test_the_key_that_an_action_has_already_is_taken(action, key):
    assert checked(**{action: key}) == {action: key}


def test_a_letter_may_be_bound_everywhere_to_what_is_done_at_one_place_only():
    here = Binding("slash", "find_here", "Find", id="find", priority=True)
    places = {**PLACES, EVERYWHERE: [*PLACES[EVERYWHERE], here]}
    assert checked_keymap({"find": "f"}, places, "config.toml") == {"find": "f"}


def test_what_clashed_before_is_no_reason_to_refuse_another_key():
    assert checked(new="f5") == {"new": "f5"}


@pytest.mark.parametrize(
    ("chosen", "key", "words"),
    [
        ({"nwe": "ctrl+t"}, "keys.nwe", "unknown action; there are find, list-clear,"),
        ({"new": "crtl+t"}, "keys.new", 'expected a key, such as "ctrl+t" or "f5", not "crtl+t"'),
        ({"new": ""}, "keys.new", "expected a key"),
        ({"new": "ctrl+"}, "keys.new", "expected a key"),
        ({"new": "f5,,f6"}, "keys.new", "expected a key"),
        ({"new": "ctrl+n ctrl+t"}, "keys.new", "expected a key"),
        ({"new": "\x1b"}, "keys.new", "expected a key"),
        ({"new": "a"}, "keys.new", "a could not be typed any more"),
        ({"new": "/"}, "keys.new", "slash could not be typed any more"),
        ({"new": "会"}, "keys.new", "会 could not be typed any more"),
        ({"new": "enter"}, "keys.new", "enter could not be typed any more"),
        ({"new": "ctrl+s"}, "keys.new", "ctrl+s is the key of save already"),
        ({"new": "ctrl+s", "save": "ctrl+s"}, "keys.new", "ctrl+s is the key of save already"),
        ({"list-filter": "ctrl+s"}, "keys.list-filter", "ctrl+s is the key of save already"),
        ({"list-filter": "f5", "save": "f5"}, "keys.list-filter", "f5 is the key of save already"),
        ({"save": "escape"}, "keys.save", "escape is the key of stop already"),
    ],
)
def test_what_cannot_be_is_said_with_its_key(chosen, key, words):
    with pytest.raises(ConfigError) as raised:
        checked_keymap(chosen, PLACES, "config.toml")
    assert str(raised.value).startswith(f"config.toml: {key}: ")
    assert words in str(raised.value)
