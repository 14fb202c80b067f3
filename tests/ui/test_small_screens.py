"""The program on the smallest screen that it is made for: 40 columns and 10 rows."""

import pytest

from tests.ui.screen import (
    Shown,
    conversation,
    have_answered,
    question,
    rows,
    send,
    terminal_rows,
    wait_for_answer,
)
from tests.waiting import until
from tui.domain.screen_sizes import LEAST_COLUMNS, LEAST_ROWS

pytestmark = pytest.mark.full

SIZE = (LEAST_COLUMNS, LEAST_ROWS)


def bottom(app):
    """The last row of the terminal."""
    return terminal_rows(app)[-1]


def screen_text(app):
    return "\n".join(terminal_rows(app))


@pytest.fixture
async def small(world):
    """A program with an answer on the smallest screen."""
    w = world(["See [here](https://one.example) and [there](https://two.example)."])
    async with w.running(size=SIZE) as (app, pilot):
        await have_answered(w, pilot, "Where?", "See here")
        yield app, pilot


def saved(app):
    session_id = app.workspace.current.id.removeprefix("session-")
    return session_id in bottom(app) and "saved " in bottom(app)


async def test_what_covers_the_conversation_names_its_keys_and_leaves_the_last_row(small):
    app, pilot = small
    for keys, words in (
        (["f1"], "↑ ↓ scroll · Esc close"),
        (["ctrl+p"], "Esc close"),
        (["ctrl+f"], "Esc Close"),
        (["slash", *"theme", "enter"], "Enter choose · Esc back"),
        (["f5"], "Enter choose · Esc close"),
        (["f7"], "Enter choose · Esc close ─"),
        (["f8"], "↑ ↓ scroll · Esc close"),
        (["f6", "o"], "Enter choose · Esc back"),
    ):
        await pilot.press(*keys)
        await until(lambda: app.screen is not app.chat, f"another screen after {keys}")
        await until(lambda words=words: words in screen_text(app), f"{words} after {keys}")
        await until(lambda: saved(app), "the status line")
        await pilot.press("escape")
        await until(lambda: app.screen is app.chat, f"the way back after {keys}")


@pytest.mark.fast
async def test_a_question_fits_and_leaves_the_last_row(small):
    app, pilot = small
    await send(pilot, "/delete")
    await question(app)
    await until(lambda: "Yes (y)" in screen_text(app) and "No (n)" in screen_text(app))
    await until(lambda: saved(app), "session and save state in the last row")
    await pilot.press("escape")


@pytest.mark.fast
async def test_the_list_comes_over_the_conversation_which_keeps_its_width(small):
    app, pilot = small
    width = app.chat.transcript.size.width
    await pilot.press("ctrl+b")
    await until(lambda: app.chat.sidebar.rows.has_focus and app.chat.sidebar.size.width)
    assert app.chat.transcript.size.width == width == LEAST_COLUMNS
    assert len(rows(app)) == 1
    await pilot.press("enter", "x")
    await until(lambda: not app.chat.sidebar.display and app.chat.prompt.text == "x")


# Smaller than it is made for: it need not be of use, but it lives.

TALL = [(4, 30), (2, 30), (1, 30), (1, 1)]
TINY = [(columns, rows) for rows in range(1, 6) for columns in range(1, 21)]
MARKDOWN = (
    "See **here** 日本語\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nprint(1)\n```\n\n- > one"
)
PLACES = {
    "prompt": [],
    "text": [*"some words that wrap"],
    "completion": ["slash"],
    "conversation": ["f6"],
    "find": ["ctrl+g", *"he"],
    "links": ["f6", "o"],
    "sidebar": ["ctrl+b"],
    "filter": ["ctrl+b", "slash"],
    "rename": ["ctrl+b", "r"],
    "delete": ["ctrl+b", "d"],
    "todos": ["ctrl+t"],
    "history": ["ctrl+r"],
    "help": ["f1"],
    "picker": ["f2"],
    "connect": ["f5"],
    "models": ["f7"],
    "notices": ["f8"],
    "palette": ["ctrl+p"],
    "search": ["ctrl+f", *"here"],
    "tools": ["slash", *"tools", "enter"],
    "import": ["slash", *"import", "enter"],
    "themes": ["slash", *"theme", "enter"],
}


@pytest.mark.parametrize(
    ("keys", "sizes"),
    [
        pytest.param(PLACES["prompt"], TALL, marks=pytest.mark.fast, id="few"),
        *(pytest.param(keys, TINY, id=place) for place, keys in PLACES.items()),
    ],
)
async def test_every_size_that_a_terminal_is_given_lives(running, keys, sizes):
    async with running([MARKDOWN], size=(100, 30)) as (w, app, pilot):
        await have_answered(w, pilot, "Where?", "See here")
        await pilot.press(*keys)
        for size in [*sizes, *TALL, (100, 1)]:
            await pilot.resize_terminal(*size)
            await until(lambda size=size: app.screen.size == size, f"the size {size}")
        await pilot.resize_terminal(100, 30)
        await until(lambda: app.screen.size == (100, 30), "the first size")
        await pilot.press("escape", "escape", "escape")
        await until(lambda: "See here" in conversation(app), Shown(app))


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([(1, 1), (4, 5)], marks=pytest.mark.fast, id="few"),
        *(pytest.param(TINY[row * 20 : row * 20 + 20], id=f"{row + 1} rows") for row in range(5)),
    ],
)
async def test_every_size_lives_from_the_start_and_takes_what_is_typed(world, sizes):
    for size in sizes:
        w = world([MARKDOWN])
        async with w.running(size=size) as (app, pilot):
            await send(pilot, "A question")
            await until(lambda w=w: w.model.requests, "the request")
            await wait_for_answer(w)
            await pilot.press(*"typed")
            await until(lambda app=app: app.chat.prompt.text == "typed")
