"""Which of the signs in a prompt refer: those that the user typed, however the text is edited."""

import pytest
from textual import events

from tests.waiting import until
from tui.domain.references import OWN_SIGN
from tui.widgets.prompt import Prompt

PASTED = {
    "page": "\n".join(f"{number} see @b.txt, (@c.txt) or @~/.ssh/id_rsa" for number in range(20)),
    "b": "see @b.txt",
    "sign": "@",
    "c": "c.txt ",
    "mark": f"{OWN_SIGN}b.txt ",
    "x": "x@b.txt",
    "rest": ".txt",
    "long": "c.txt " + "x" * 2000,
}


async def type_in(app, pilot, text):
    """Type a text; ``{...}`` in it is pasted, ``<...>`` a key."""
    while text:
        key, text = text[0], text[1:]
        if key == "{":
            name, _, text = text.partition("}")
            app.editor.post_message(events.Paste(PASTED[name]))
            await pilot.pause()
            continue
        if key == "<":
            key, _, text = text.partition(">")
        await pilot.press(key)


@pytest.mark.parametrize(
    ("keys", "own"),
    [
        ("@a.txt {page}", {"@a.txt"}),
        ("{page} and @a.txt", {"@a.txt"}),
        ("{page}", set()),
        ("{b}", set()),
        ("{b}<left><left><left><left><left><left><left>", set()),
        ("{b}<backspace>t", set()),
        ("{x}<home><delete>", set()),
        ("{sign}a.txt", set()),
        ("{sign}{c}", set()),
        ("{mark}", set()),
        ("@{c}", {"@c.txt"}),
        ("@{long}", set()),
        ("{c}<home>@", {"@c.txt"}),
        ("@a{rest}", {"@a.txt"}),
        ("@a.txt <ctrl+z>{b}", set()),
        ("@a.txt {b}<ctrl+z><ctrl+z><ctrl+y><ctrl+y>", {"@a.txt"}),
        ("@a.txt <ctrl+u>{b} <ctrl+y>", {"@a.txt"}),
        ("{b} <ctrl+u><ctrl+y>", set()),
        ("{page}<ctrl+o>", set()),
    ],
)
async def test_only_a_sign_of_the_users_own_refers(running, keys, own):
    async with running() as (app, pilot):
        await type_in(app, pilot, keys)
        await pilot.press("enter")
        await until(lambda: app.submitted, "the prompt")
        assert [each.own for each in app.posted if isinstance(each, Prompt.Submitted)] == [own]
