"""The program over the real models of a bare machine, and what its connection screen shows."""

from pathlib import Path

from msgspec.structs import replace
from textual import events

from tests.ui.world import PLACE, World
from tests.visible_text import visible_text
from tests.waiting import until
from tui.config.loading import load_settings
from tui.providers.source import ModelSource
from tui.screens.models import ConnectScreen

KEY = "sk-pasted-0123456789abcdef"
NOWHERE = "127.0.0.1:9"


class BareMachine(World):
    """A world whose models are connected on the screen; the servers of vendors are given."""

    def __init__(self, root: Path, **environ: str) -> None:
        super().__init__(root)
        self.environ = {"OLLAMA_HOST": NOWHERE, **environ}
        self.config = root.parent / "config"
        self.restart()

    def restart(self) -> None:
        """Read what is on disk, as the next start does."""
        settings = load_settings(self.config / "config.toml", {})
        self.models = ModelSource(settings, self.environ, find_ollama=lambda _: ())
        self.place = replace(PLACE, model=self.models.first().name)


def shown(app) -> str:
    """What the connection screen says and offers."""
    screen = app.screen
    box = screen.query_one("#chooser")
    lines = visible_text(screen.choices) if screen.choices.display else []
    return "\n".join([str(box.border_title), str(screen.words.content), *lines])


async def opened(app, pilot) -> ConnectScreen:
    """Press F5, and wait until it is there."""
    await pilot.press("f5")
    await until(lambda: isinstance(app.screen, ConnectScreen) and app.screen.choices.size, "F5")
    return app.screen


async def choose(app, pilot, title: str) -> None:
    """Choose a line of the list."""
    titles = [choice.text for choice in app.screen.choices.lines]
    steps = titles.index(title) - app.screen.choices.place
    for _ in range(abs(steps)):
        await pilot.press("down" if steps > 0 else "up")
    assert app.screen.choices.highlighted.text == title
    await pilot.press("enter")


async def paste(app, pilot, text: str) -> None:
    """Paste into whatever has the keys."""
    app.post_message(events.Paste(text))
    await pilot.pause()


async def step(app, name: str) -> None:
    """Until a step is asked for."""
    await until(lambda: getattr(app.screen, "step", "") == name, f"the step {name}")


async def enter(app, pilot, text: str, then: str = "") -> None:
    """Paste what a step asks for and press Enter, until the step that follows."""
    await paste(app, pilot, text)
    await pilot.press("enter")
    if then:
        await step(app, then)


async def enter_model(app, pilot, letters: str = "") -> None:
    """Choose the first of the models that have these letters, until the screen is gone."""
    await step(app, "model")
    await pilot.press(*letters, "enter")
    await until(lambda: app.screen is app.chat, "the chat")
