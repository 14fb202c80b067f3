"""The tutorial, step by step: what it says to type is typed, what it shows is on the screen."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.providers.chat_server import ChatServer, Gate, answers, answers_at, calls_tools

pytestmark = pytest.mark.full

TUTORIAL = Path(__file__).parent.parent.parent / "docs/tutorial.md"
TEXT = TUTORIAL.read_text("utf-8")
MODEL = "qwen3:4b"


def block(name):
    """A block of code of the tutorial, by the marker before it."""
    return re.search(
        rf"^<!-- test: {name} -->\n```\w+\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL
    )[1]


def said(text):
    """A text that the tutorial has, so that a change of either is seen."""
    assert " ".join(text.split()) in " ".join(TEXT.split()), text
    return text


def shown(text):
    """What the tutorial says is on the screen, as a pattern for it."""
    return re.escape(said(text))


@pytest.fixture
def home(chats, private_home):
    project = private_home / "project"
    project.mkdir(exist_ok=True)
    subprocess.run(["sh", "-ec", block("sample")], check=True, cwd=project)
    (private_home / "dice.py").write_text(block("dice"), "utf-8")
    (project / "README.md").write_text("# Shop\n", "utf-8")
    return private_home


@pytest.fixture
def ollama():
    """An Ollama of the test's own, which answers as the reader's would."""
    gate = Gate()
    replies = (
        answers("Half a second."),
        answers("A whole one."),
        answers_at(gate, "one, two, three", " and so on"),
        calls_tools(("call_1", "list_files", ["{}"])),
        answers("There is README.md."),
        calls_tools(("call_2", "dice__roll", ['{"sides": 20}'])),
        answers("You rolled it."),
    )
    with ChatServer(*replies, ollama_models=[MODEL], models=[MODEL]) as server:
        yield server
        gate.open()


def test_what_was_said_elsewhere_is_found_continued_rescued_and_given_tools(chats, home, ollama):
    sample = str(home / "sample")
    looked = chats.launch("import", sample, "--dry-run")
    assert looked.wait() == 0
    assert "1 file, 1 new" in looked.text

    imported = chats.launch("import", sample)
    assert imported.wait() == 0
    for line in ("Claude Code: 1 session added, 2 messages", "2 records read"):
        assert said(line) in imported.text
    again = chats.launch("import", sample)
    assert again.wait() == 0
    assert said("nothing new") in again.text

    guide = chats()
    guide.until(shown("No model is connected yet. F5 connects one; until then the"))
    guide.type(said("How do I attach a picture?") + "\r")
    guide.until("From the manual:")
    guide.until("saved")
    guide.press("f1")
    guide.type(said("switch"))
    guide.until("show or switch the model")
    close(guide, "show or switch the model")
    guide.press("ctrl+q")
    assert guide.wait() == 0

    asked = {"OLLAMA_HOST": ollama.root}
    program = chats(environment=asked)
    find_and_connect(program)
    ask_and_ask_again(program)
    program.type(said("Count from 1 to 500, in words.") + "\r")
    program.until("one, two, three")
    program.type("half a sentence")
    drafts = chats.root / "drafts"
    program.until(
        lambda _: any("half a" in each.read_text() for each in drafts.glob("*.json")), "draft"
    )
    program.kill()

    back = chats("-r", environment=asked)
    back.until("Enter Open")
    back.press("enter")
    back.until(shown("■ interrupted"))
    back.until("half a sentence")
    back.press("escape", "escape")
    back.until(lambda screen: "half a sentence" not in screen.text, "an empty prompt")
    switch_on_and_ask(back)
    add_dice_and_roll(back, home)
    back.press("ctrl+q")
    assert back.wait() == 0

    exported = chats.launch("sessions", "export", "--all", "--output", str(home / "sessions"))
    assert exported.wait() == 0
    assert any("dead one" in path.read_text("utf-8") for path in (home / "sessions").glob("*.md"))


def close(program, text):
    program.press("escape")
    program.until(lambda screen: text not in screen.text, f"no {text}")


def find_and_connect(program):
    program.press("ctrl+f")
    program.type(said("dead one"))
    program.until(shown("1 match"))
    program.until(shown("from claude-code · archived"))
    program.press("enter")
    program.until("claude-sonnet-5-5")
    program.press("f5")
    program.until("Ollama +running")
    program.type(said("`oll`").strip("`"))
    program.until(lambda screen: "Anthropic" not in screen.text, "Ollama alone")
    program.press("enter")
    program.until(f"choose a model(?s:.*){MODEL}")
    program.press("enter")
    program.until("answers now")


def ask_and_ask_again(program):
    program.type(said("And how long should it pause?") + "\r")
    program.until(r"Half a second\.")
    program.until("tokens in")
    program.press("f6")
    program.until("Ask again")
    program.type("r")
    program.until("Ask again for this answer")
    program.press("enter")
    program.until(r"A whole one\.")
    program.until("version 2/2")
    program.type("[")
    program.until(r"Half a second\.")
    program.type("]")
    program.until(r"A whole one\.")
    close(program, "Ask again")


def switch_on_and_ask(program):
    program.type("/tools\r")
    program.until("○ list_files")
    program.press("down", "space")
    program.until("● list_files")
    close(program, "● list_files")
    program.type(said("Which files are here?") + "\r")
    program.until(shown("Allow list_files?"))
    program.until(shown("It shows the model the names of the files of this project."))
    program.until(shown("[o 1] Once  [u 2] Until I quit  [a 3] Always  [d n] Deny"))
    program.press("f3")
    program.type("o")
    program.until(r"There is README\.md")


def add_dice_and_roll(program, home):
    said("python3 ~/dice.py")
    program.type("/tools\r")
    program.until("○ read_file")
    program.type("n")
    program.until("Its command line")
    program.type("python3 ~/dice.py\r")
    program.until("The name of the server(?s:.*)dice")
    program.press("enter")
    program.until("A variable that it needs")
    program.press("enter")
    program.until(shown("Keep dice?"))
    program.until(shown("Server dice: ready, 1 tool."))
    program.press("enter")
    program.until("dice +ready, 1 tool")
    close(program, "○ read_file")
    program.type(said("Roll a die with 20 sides.") + "\r")
    program.until("Allow dice: roll")
    program.until(shown("sides: 20"))
    program.press("f3")
    program.type("o")
    program.until(r"You rolled it\.")
    program.until(r"roll result: \d+")
