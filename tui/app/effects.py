"""Execution of effects: the values that commands return for the screen."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from textual.app import App

from tui.app.input_queue import InputQueue
from tui.app.wiring import Controllers
from tui.commands import effects
from tui.commands.effects import Effect, carried_out
from tui.commands.leaving import ask_before


class EffectRunner:
    """Carries out effects; ``turn_help`` opens or closes the help."""

    def __init__(
        self,
        app: App[Any],
        queue: InputQueue,
        controllers: Controllers,
        turn_help: Callable[[], object],
    ) -> None:
        self._app = app
        self._queue = queue
        self._controllers = controllers
        self._turn_help = turn_help

    async def carry_out(self, wanted: Sequence[Effect]) -> None:
        """Carry out effects in order, then update status bar and list, unless the program ends."""
        for effect in wanted:
            await self._carry_out(effect)
            if isinstance(effect, effects.Exit):
                return
        # Not with those of the next command, which may have run by the next frame.
        self._controllers.presenter.show_notices()
        self._controllers.presenter.show_status()
        self._controllers.session_list.show()

    async def _carry_out(self, effect: Effect) -> None:
        match effect:
            case effects.Say(notice):
                self._controllers.presenter.say(notice)
            case effects.ShowSession():
                self._controllers.search.close()
                await self._controllers.navigation.show_session()
                self._app.run_worker(
                    self._controllers.session_list.show_scope, name="list the project's sessions"
                )
            case effects.CopyText(text):
                self._controllers.clipboard.start(text, self._controllers.presenter.say)
            case effects.ShowTodos() | effects.FocusPrompt() | effects.PastePicture():
                self._use_prompt(effect)
            case (
                effects.AskAgain()
                | effects.EditQuestion()
                | effects.RetryTurn()
                | effects.Compact()
            ):
                await self._ask_model(effect)
            case (
                effects.OpenHelp()
                | effects.OpenReport()
                | effects.OpenNotices()
                | effects.OpenSearch()
                | effects.OpenConnect()
                | effects.OpenImport()
                | effects.OpenModels()
                | effects.OpenThemes()
                | effects.OpenTools()
                | effects.OpenPicker()
                | effects.EditPrompt()
            ):
                self._open(effect)
            case effects.Ask() | effects.LeavePrivate():
                self._ask(effect)
            case effects.MovedSession() | effects.Later():
                self._app.run_worker(
                    partial(self._carry_out_later, effect), name="finish the command"
                )
            case effects.Exit():
                self._app.exit()

    def _use_prompt(self, effect: effects.UsingPrompt) -> None:
        match effect:
            case effects.FocusPrompt():
                self._controllers.presenter.focus_prompt()
            case effects.PastePicture():
                self._app.run_worker(self._controllers.prompt_files.paste_picture, name="paste")
            case effects.ShowTodos():
                self._controllers.presenter.show_prompt()

    async def _ask_model(self, effect: effects.Asking) -> None:
        if isinstance(effect, effects.AskAgain | effects.EditQuestion):
            await self._controllers.versions.carry_out(effect)
        else:
            await self._controllers.prompt.ask_model(effect)

    def _ask(self, effect: effects.Ask | effects.LeavePrivate) -> None:
        question = effect if isinstance(effect, effects.Ask) else self._question(effect)
        if question is not None:
            self._queue.call_when_handled(partial(self._controllers.confirmations.ask, question))

    def _question(self, effect: effects.LeavePrivate) -> effects.Ask | None:
        leave = partial(self._leave_private, effect)
        return ask_before("Leave this session?", (effect.loaded,), leave)

    async def _leave_private(self, effect: effects.LeavePrivate) -> Sequence[Effect]:
        context = self._controllers.commands
        await context.stop(effect.loaded)
        with context.workspace.switcher.letting_go(effect.loaded):
            return await effect.work()

    def _open(self, effect: effects.Opening | effects.OpeningDialog) -> None:
        match effect:
            case effects.OpenPicker(view, everywhere, text):
                self._controllers.picker.open(view, everywhere=everywhere, text=text)
            case effects.OpenHelp():
                self._turn_help()
            case effects.OpenReport(report):
                self._controllers.notices.open_report(report)
            case effects.OpenNotices():
                self._controllers.notices.toggle_list()
            case effects.OpenSearch():
                self._controllers.search.open()
            case effects.EditPrompt():
                self._controllers.external_editor.start()
            case _:
                self._open_dialog(effect)

    def _open_dialog(self, effect: effects.OpeningDialog) -> None:
        match effect:
            case effects.OpenConnect():
                self._controllers.connect.open()
            case effects.OpenImport(path):
                self._controllers.imports.open(path)
            case effects.OpenModels(text):
                self._controllers.model_picker.open(text)
            case effects.OpenThemes():
                self._controllers.themes.pick()
            case effects.OpenTools():
                self._controllers.tools.open()

    async def _carry_out_later(self, effect: effects.MovedSession | effects.Later) -> None:
        if isinstance(effect, effects.MovedSession):
            await self._controllers.session_list.show_moved(effect.session_id)
            return
        await self.carry_out(await carried_out(effect.work))
        await self._controllers.session_list.refresh()
