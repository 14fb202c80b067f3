"""A private session of the real program: however it ends, nothing of it is on a disk."""

import signal

import pytest

from tests.providers.chat_server import Gate, answers, answers_at
from tests.terminal.endings import assert_whole

SECRET = "xyzzyplugh"
pytestmark = pytest.mark.full


def on_disk(home):
    """All that is in files below the home, and their names: data, state, config, temporary."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


@pytest.fixture
def private(chats, private_home):
    """The program in a private session: a prompt answered, an answer arriving, a draft typed."""
    chats.answer(answers(f"It is {SECRET}."), answers_at(Gate(), f"Again {SECRET}, ", "and on."))
    temporary = private_home / "tmp"
    temporary.mkdir()
    program = chats("--private", wait=False, environment={"TMPDIR": str(temporary)})
    program.until("PRIVATE, not saved")
    program.type(f"What is {SECRET}?\r")
    program.until(f"It is {SECRET}")
    program.type(f"Once more {SECRET}\r")
    program.until(f"Again {SECRET}")
    program.type(f"not sent {SECRET}")
    program.until(f"not sent {SECRET}")
    return program


def leave(program, way):
    match way:
        case "ctrl+q":
            program.press("ctrl+q")
            program.until("nothing of it is kept")
            program.press("ctrl+q")
        case "closed":
            program.hang_up()
        case _:
            program.signal(way)
    program.wait()


@pytest.mark.parametrize(
    "way",
    ["ctrl+q", "closed", pytest.param(signal.SIGTERM, marks=pytest.mark.fast), signal.SIGKILL],
)
def test_nothing_of_it_is_on_disk(private, private_home, chats, way):
    assert SECRET.encode() not in on_disk(private_home)
    leave(private, way)
    assert SECRET.encode() not in on_disk(private_home)
    assert b"private-" not in on_disk(private_home)
    assert chats.entries == ()


def test_a_signal_asks_nothing_and_tells_nothing_of_it(private, chats):
    private.signal(signal.SIGTERM)
    assert private.wait() == 128 + signal.SIGTERM
    assert_whole(private)
    assert "Resume with" not in private.text
