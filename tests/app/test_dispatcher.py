import asyncio
from types import SimpleNamespace

from tui.app.dispatcher import AppShell


async def test_notices_status_and_list_are_shown_anew_behind_a_command():
    shown = []
    controllers = SimpleNamespace(
        presenter=SimpleNamespace(
            say=lambda words, _: shown.append(words),
            show_todos=lambda: shown.append("to-dos"),
            show_notices=lambda: shown.append("notices"),
            show_status=lambda: shown.append("status"),
        ),
        session_list=SimpleNamespace(show=lambda: shown.append("list")),
    )
    app = SimpleNamespace(run_worker=lambda work, name: asyncio.ensure_future(work()))

    async def save(shell):
        shell.say("Saved.")

    await AppShell(app, None, controllers, None, None).start(save)()
    assert shown == ["Saved.", "notices", "to-dos", "status", "list"]
