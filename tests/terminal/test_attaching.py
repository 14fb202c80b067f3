"""Files of a prompt on a real terminal: after a kill, and before a secret is sent."""

import signal

import pytest

from tests.providers.chat_server import answers
from tests.terminal.endings import quit_at_once
from tui.storage.drafts import Drafts

pytestmark = pytest.mark.full


@pytest.fixture
def shop(chats):
    chats.answer(answers("Fine."))
    (chats.project / "a.txt").write_text("text of a")
    (chats.project / ".env").write_text("KEY=1")
    return chats


def asked(shop):
    return str([request.body for request in shop.server.requests])


@pytest.mark.fast
def test_after_a_kill_pasted_words_are_still_text(shop):
    page = "".join(f"{number} see @.env\r" for number in range(15))
    program = shop()
    program.type(f"@a.txt \x1b[200~{page}\x1b[201~")
    program.until("pasted 15 lines")
    drafts = Drafts(shop.root)
    program.until(lambda _: any("@.env" in f.read_text() for f in drafts.files()), "the draft")
    program.signal(signal.SIGKILL)
    program.wait()
    program = shop()
    program.until("pasted 15 lines")
    program.until("attached: a.txt 9 bytes")
    program.type("\r")
    program.until("Fine.")
    assert "text of a" in asked(shop)
    assert "KEY=1" not in asked(shop)
    quit_at_once(program)


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_ask_names_a_secret_on_the_terminal_and_sends_it_if_told_to(shop, answer, code):
    program = shop.launch("ask", "-f", ".env", "Check")
    program.until(r"Send \.env to local:parrot\?")
    program.type(f"{answer}\r")
    assert program.wait() == code
    assert ("KEY=1" in asked(shop)) == (answer == "y")
