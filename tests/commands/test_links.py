from tui.commands.effects import CopyText
from tui.commands.links import ask_to_open, open_outside, opener

URL = "https://xn--bnk-7cd.example/a?b=c"


def test_the_question_says_the_whole_target_and_what_the_link_says():
    asked = ask_to_open(URL + "\x1b", "my bank")
    assert asked.question == f"Open {URL}\u241b ? (y/n)"
    assert "The link says: my bank" in asked.detail


def test_words_that_are_the_target_are_not_said_twice():
    assert "The link says" not in ask_to_open(URL, URL).detail


async def test_a_yes_opens_it_and_says_so():
    opened = []

    async def open_link(target):
        opened.append(target)
        return ""

    (said,) = await ask_to_open(URL, "", open_link).confirmed()
    assert opened == [URL]
    assert said.notice.text == f"Opened {URL}"


async def test_what_cannot_be_opened_is_copied():
    async def open_link(target):
        return "there is no desktop here to open it"

    said, copied = await ask_to_open(URL, "", open_link).confirmed()
    assert said.notice.severity == "warning"
    assert URL in said.notice.text
    assert copied == CopyText(URL)


def test_without_a_desktop_there_is_no_opener(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert opener({"DISPLAY": ":0"}, "linux") == ("xdg-open",)
    assert opener({}, "darwin") == ("open",)
    assert opener({"SSH_CONNECTION": "x"}, "darwin") == ()
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert opener({"DISPLAY": ":0"}, "linux") == ()


async def test_an_opener_that_fails_says_so(monkeypatch):
    monkeypatch.setattr("tui.commands.links.opener", lambda environment: ("false",))
    assert await open_outside(URL) == "false failed (1)"
    monkeypatch.setattr("tui.commands.links.opener", lambda environment: ("/no/such/opener",))
    assert "No such file" in await open_outside(URL)
