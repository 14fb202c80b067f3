from tests.tables import each_row
from tests.visible_text import visible_text
from tests.widgets.transcript.conftest import answered, asked
from tui.widgets.transcript.rich_markdown import Link, link_at, links_of, trimmed

TEXT = """\
See [the notes](https://example.com/notes), <https://example.org> and
https://example.net/a_(b). Not [this](javascript:alert) nor [that](file:///etc/passwd).

```sh
curl https://code.example/x
```
"""


def targets(text):
    return [link.target for link in links_of(answered(text))]


def test_links_are_those_of_the_web_in_their_order():
    assert targets(TEXT) == [
        "https://example.com/notes",
        "https://example.org",
        "https://example.net/a_(b)",
        "https://code.example/x",
    ]


def test_a_host_of_other_letters_is_shown_as_it_is_asked_for():
    assert targets("[bank](https://b\u0430nk.example/)") == ["https://xn--bnk-6cd.example/"]


def test_the_same_target_is_there_once():
    assert targets("https://a.example https://a.example") == ["https://a.example"]


@each_row(
    "written, meant",
    [
        ("https://a.b/c.", "https://a.b/c"),
        ("https://a.b/c).", "https://a.b/c"),
        ("https://a.b/c_(d)", "https://a.b/c_(d)"),
        ("https://a.b/?q=1,", "https://a.b/?q=1"),
    ],
)
def test_what_ends_the_sentence_is_no_part_of_an_address(written, meant):
    assert trimmed(written) == meant


def test_a_word_of_a_row_tells_which_link_is_meant():
    one, two = Link("https://a.example/one", "first"), Link("https://b.example/two", "second")
    row = "   first (https://a.example/one) and second"
    assert link_at((one, two), row, 4) == [one]
    assert link_at((one, two), row, 15) == [one]
    assert link_at((one, two), row, len(row) - 1) == [two]
    assert not link_at((one, two), row, row.index("and"))


async def test_o_asks_for_the_links_of_the_message_at_the_cursor(opened):
    async with opened(asked("https://user.example"), answered(TEXT)) as (app, pilot):
        await pilot.press("o")
        assert len(app.links[0]) == 4
        await pilot.press("k", "k", "o")
        assert app.links[1] == [("https://user.example", "https://user.example")]


async def test_a_click_asks_for_the_link_under_it_only(opened):
    async with opened(answered("See [the notes](https://example.com/notes) now.")) as (app, pilot):
        y = next(y for y, row in enumerate(visible_text(app.transcript)) if "notes" in row)
        row = visible_text(app.transcript)[y]
        for cell in (row.index("now"), 0):
            await pilot.click(app.transcript, offset=(cell, y))
        assert not app.links
        await pilot.click(app.transcript, offset=(row.index("example"), y))
        assert app.links == [[("https://example.com/notes", "the notes")]]
