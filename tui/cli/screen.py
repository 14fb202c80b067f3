"""``sibyl-tui``: the full screen."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from tui import first_frame, paths
from tui.cli import output
from tui.cli.program import Program
from tui.domain.notice import Notice
from tui.engine.open_session import Place
from tui.engine.session_list import SessionList
from tui.engine.workspace import Workspace
from tui.errors import UsageError
from tui.exit import FinalSave
from tui.providers.catalog import Missing
from tui.providers.source import ModelSource
from tui.storage.drafts import Drafts

_NO_MODEL = (
    "No model is connected yet: the offline guide answers. Ask it about sibyl-tui; what you"
    " write is kept."
)


def run(chosen: Namespace) -> int:
    """Show the screen until it is left, say what was saved, and give the exit code."""
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        raise UsageError("sibyl-tui needs a terminal; `sibyl-tui ask` works without one.")
    program = Program.from_arguments(chosen)
    models = ModelSource(program.settings, program.environment)
    models.look_for_ollama()
    workspace = _started(program, models, chosen)
    final_save = FinalSave(workspace, (paths.state_directory(), Path.home()), program.data_dir)
    try:
        return _shown(program, models, workspace, final_save)
    finally:
        final_save.run_at_once()
        first_frame.end()
        for line in final_save.lines:
            output.tell(line)


def _started(program: Program, models: ModelSource, chosen: Namespace) -> Workspace:
    """A workspace with its first session; nothing of the screen is imported for an error."""
    target = chosen.session
    session_id = program.resolve(target) if target is not None else None
    if chosen.go_on:
        session_id = program.store.active(program.scope)
    workspace = Workspace(
        program.store,
        Drafts(program.store.root),
        Place(program.scope, program.project_path, models.first().name),
        program.clock,
        models.proposed,
        program.settings.config.max_open_sessions,
    )
    if session_id is None:
        workspace.start_new()
    else:
        workspace.start_in(session_id)
    if models.missing:
        workspace.current.say(Notice(_welcome(models.missing)))
    return workspace


def _welcome(missing: Sequence[Missing]) -> str:
    """What was looked for to answer, and the line that would change it."""
    lines = [_NO_MODEL, "", "Looked for, and what would change it:"]
    for each in missing:
        first, *more = each.remedy.splitlines()
        lines.append(f"- {each.what.removesuffix('.')}:" + ("" if more else f" {first}"))
        lines += [f"      {line}" for line in each.remedy.splitlines() if more]
    return "\n".join(lines)


def _shown(
    program: Program, models: ModelSource, workspace: Workspace, final_save: FinalSave
) -> int:
    from tui.app import Parts, SibylApp

    app = SibylApp(
        Parts(
            workspace=workspace,
            sessions=SessionList(program.store, workspace.scope),
            models=models,
            turn_settings=program.turn_settings(),
            final_save=final_save,
            prepare_model=models.proposed(workspace.current.session.model)[0].prepare,
            auto_save_interval=program.settings.config.auto_save_interval,
        )
    )
    app.run()
    return app.return_code or int(final_save.failed)
