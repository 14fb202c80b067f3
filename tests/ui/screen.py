"""What a reader of the screen sees and does."""

import time

from textual import events
from textual._context import visible_screen_stack
from textual.keys import _character_to_key

from tests.ui.world import World
from tests.visible_text import visible_text
from tests.waiting import until
from tui.screens.page import HelpScreen, ReportScreen, page_of
from tui.widgets.key_line import KeyLine
from tui.widgets.prompt.top_border import TopBorder

_NAMES = {
    " ": "space",
    "/": "slash",
    ":": "colon",
    "#": "number_sign",
    "-": "minus",
    ".": "full_stop",
}


async def send(pilot, text, *, shows="", says=""):
    """Type a text and press Enter, as it stands on screen.

    Waits until the conversation shows a text, or a notice says one, that is given.
    """
    for character in text:
        pilot.app.post_message(events.Key(_character_to_key(character), character))
    await pilot.pause()
    await press(pilot, "enter", shows=shows, says=says)


async def press(pilot, *keys, shows="", says=""):
    """Press keys, until the conversation shows a text, or a notice says one, that is given."""
    await pilot.press(*keys)
    await until(lambda: shows in conversation(pilot.app), shows)
    await until(lambda: says in notices(pilot.app), says)


def type_at_once(app, keys, *, in_one_read=False):
    """Type letters, and ``<keys>`` by name, none of which waits for what those before it do."""
    read_at = time.monotonic()
    while keys:
        name, keys = keys[0], keys[1:]
        if name == "<":
            name, _, keys = keys.partition(">")
        character = name if len(name) == 1 else None
        key = events.Key(_NAMES.get(name, name), character)
        if in_one_read:
            key.time = read_at
        app.post_message(key)


def paste(app, text):
    app.post_message(events.Paste(text))


async def wait_for_answer(world: World):
    """Until nothing goes on in the session on screen, and that is told."""
    await until(lambda: not world.workspace.current.activity.running, "the end of the answer")
    await until(lambda: not world.workspace.current.unsaved, "the last save")


async def answered(world: World, app, text):
    """Until an answer is on screen and nothing goes on any more."""
    await until(lambda: text in conversation(app), text)
    await wait_for_answer(world)


async def have_answered(world: World, pilot, text, shows=""):
    """Send a prompt, and wait for its answer."""
    await send(pilot, text, shows=shows)
    await wait_for_answer(world)


def lines(app):
    """The rows of the conversation that are on screen."""
    return [line.rstrip() for line in visible_text(app.chat.transcript)]


def terminal_rows(app):
    """The rows of the terminal, with what is below a dialog."""
    # Without it, Textual would paint the dialog over nothing, and keep that for later frames.
    visible_screen_stack.set(app._background_screens)
    return [strip.text for strip in app.screen._compositor.render_strips()]


class Shown:
    """The rows of the terminal, for the words of a failure."""

    def __init__(self, app):
        self._app = app

    def __str__(self):
        place = self._app.chat.conversation.place
        return "\n".join([f"{place}, focus: {self._app.focused}", *terminal_rows(self._app)])


def conversation(app):
    """The same as one text."""
    return "\n".join(lines(app))


def words(app):
    """The same without its line breaks: what is said, however it is wrapped."""
    return " ".join(conversation(app).split())


def notices(app):
    """All notices of this run, the newest first, as one text."""
    log = app.controllers.notices.log.newest_first
    return "\n".join(f"{each.title} {each.notice.text}".strip() for each in log)


def newest_notice(app):
    """The newest notice of this run, another object also for an equal one; None without any."""
    return next(iter(app.controllers.notices.log.newest_first), None)


def report(app):
    """The report that is open, or an empty text."""
    return text_of(app.screen) if isinstance(app.screen, ReportScreen) else ""


def text_of(page):
    """The whole text of a page or of the help."""
    shown = page_of(page.sections, 100) if isinstance(page, HelpScreen) else page.lay_out(115)
    return shown.plain


def notice(app):
    """The notice or hint that has its line now."""
    lines = app.screen.query(KeyLine) or app.chat.query(KeyLine)
    current = lines.first().notices.current
    return current.text if current else ""


def key_line(app):
    """The line of keys, or what is shown in its place."""
    found = app.screen.query(KeyLine) or app.chat.query(KeyLine)
    return found.first().render_line(0).text


def status(app):
    strip = app.chat.status_bar.render_line(0)
    return strip.text


def activity(app):
    """The top border of the prompt, where the activity line stands."""
    return app.chat.prompt.query_one(TopBorder).render_line(0).text


def rows(app):
    """The ids in the sidebar, from the top."""
    return [row.id for row in app.chat.rows.rows] if app.chat.rows else []


def mark(app, session_id):
    """What the sidebar says that is going on in a session."""
    return {row.id: row.mark.value for row in app.chat.rows.rows}.get(session_id)


async def question(app):
    """Until a question is on screen and takes answers; gives all that it says."""
    await until(lambda: getattr(app.screen, "can_be_answered", False), "the question")
    return "\n".join(str(part.content) for part in app.screen.query("VerticalScroll Static"))


async def answer(app, pilot, *keys, asked=""):
    """Press keys at a question, once it is on screen and says what is given."""
    assert asked in await question(app)
    await pilot.press(*keys)


async def highlight(app, session_id):
    """Put the keys and the highlight on a session's row."""
    app.chat.sidebar.focus()
    await until(lambda: app.chat.sidebar.has_focus_within, "the focus")
    app.chat.sidebar.rows.highlight(session_id)


async def go_to(app, pilot, session_id, shows=""):
    """Choose a session in the sidebar; waits until the conversation shows a text of it."""
    app.chat.sidebar.focus()
    app.chat.sidebar.rows.highlight(session_id)
    await pilot.press("enter")
    await until(lambda: shows in conversation(app), shows)


async def close(app, pilot):
    """Close what is over the conversation."""
    await pilot.press("escape")
    await until(lambda: app.screen is app.chat, "the chat")
