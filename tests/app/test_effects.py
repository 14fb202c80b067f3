from types import SimpleNamespace

from tui.app.effects import EffectRunner
from tui.commands.effects import Exit, Say
from tui.domain.views.notice import Notice


class Controllers:
    """Notes what is shown of effects."""

    def __init__(self):
        self.shown = []
        self.presenter = SimpleNamespace(
            say=lambda notice: self.shown.append(notice.text),
            show_notices=lambda: None,
            show_status=lambda: self.shown.append("status"),
        )
        self.session_list = SimpleNamespace(show=lambda: self.shown.append("list"))


def runner(controllers):
    app = SimpleNamespace(exit=lambda: controllers.shown.append("exit"))
    return EffectRunner(app, None, controllers, lambda: None)


async def test_effects_update_the_status_bar_and_the_list():
    controllers = Controllers()
    await runner(controllers).carry_out([Say(Notice("Saved."))])
    assert controllers.shown == ["Saved.", "status", "list"]


async def test_nothing_is_shown_of_a_program_that_ends():
    controllers = Controllers()
    await runner(controllers).carry_out([Exit(), Say(Notice("Saved."))])
    assert controllers.shown == ["exit"]
