"""The dependencies of a command: settings, store and scope."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tui.cli import console
from tui.config import paths
from tui.config.loading import Flags, UserSettings, configured_levels, load_settings
from tui.domain.journal.records import VERSION
from tui.domain.journal.session import Session
from tui.domain.providers import is_guide
from tui.domain.text import damage_words
from tui.domain.timestamps import format_utc, utc_now
from tui.errors import ModelUnavailable, NewerVersion, UsageError
from tui.storage.protocol import KEPT, KEPT_OR_ARCHIVED, SessionFilter, SessionStore
from tui.storage.stores import open_store

if TYPE_CHECKING:
    # A search in a shell asks no model: half of its time were these and the loop that they need.
    from tui.engine.turns.tools import Tool
    from tui.engine.turns.turn import TurnSettings
    from tui.importers.protocol import Places
    from tui.providers.guide import PastHit
    from tui.providers.protocol import Model
    from tui.storage.state_files import KeptLists

_SEARCH_SECONDS = 2.0
_NUMBER_DIGITS = 7
_NO_MODEL = (
    "No model is connected. Connect one with F5 in sibyl-tui, set a variable such as"
    " OPENAI_API_KEY, or name one with --model; --model offline:guide asks the built-in guide."
)


def _project(scope: str | None) -> str:
    try:
        return str(paths.project_path(Path.cwd()))
    except OSError as error:
        # Only needed for the scope, unless that is given.
        if scope is not None:
            return ""
        raise UsageError(
            "The current directory no longer exists. Change to another, or add --scope NAME."
        ) from error


class Program(msgspec.Struct, frozen=True):
    """Settings, store and scope of a command."""

    environment: Mapping[str, str]
    settings: UserSettings
    store: SessionStore
    data_directory: Path
    scope: str
    narrowed: str | None
    """The scope to which lists are limited, if one was given; ``None`` lists all."""
    project_path: str
    data_dir: str | None
    """The value of ``--data-dir``, like ``model_flag`` for commands shown to the user."""
    model_flag: str | None = None
    store_flag: str | None = None
    """The value of ``--store``, which has no password."""
    clock: Callable[[], datetime] = utc_now

    @classmethod
    def from_arguments(cls, chosen: Namespace) -> "Program":
        """Create it from the parsed arguments. Raises ``ConfigError`` and ``UsageError``."""
        environment = dict(os.environ)
        # Only the full screen has this option.
        interval = getattr(chosen, "auto_save_interval", None)
        flags = Flags(chosen.model, chosen.scope, interval, chosen.store)
        settings = load_settings(paths.config_file(environment), environment, flags)
        project = _project(settings.scope)
        root = paths.data_directory(environment, chosen.data_dir)
        return cls(
            environment=environment,
            settings=settings,
            store=open_store(settings.config.store or "", root, utc_now),
            data_directory=root,
            scope=settings.scope or f"project:{project}",
            narrowed=settings.scope,
            project_path=project,
            data_dir=chosen.data_dir,
            model_flag=chosen.model,
            store_flag=chosen.store,
        )

    def model(self, proposed: str | None = None) -> "Model":
        """Select the model; ``proposed`` is the last model of a session. Prints notices.

        An unavailable model raises only when it is asked, after the prompt was saved. A program
        that reads the answer gets the built-in guide's only where that is named.
        """
        from tui.providers.catalog import Catalog
        from tui.providers.source import LazyModel, UnavailableModel

        try:
            choice, notices = Catalog(self.settings, self.environment).choose(proposed)
        except ModelUnavailable as error:
            return UnavailableModel(self.settings.model or proposed or "", error)
        if is_guide(choice.name) and not (self.settings.model or console.is_terminal(sys.stdout)):
            return UnavailableModel("", ModelUnavailable(_NO_MODEL))
        for notice in notices:
            console.tell(notice)
        return LazyModel(choice, self.recall, lists=self.kept_lists)

    @property
    def kept_lists(self) -> "KeptLists":
        """The lists of models that servers gave to an earlier run."""
        from tui.storage import state_files

        return state_files.KeptLists(paths.state_directory() / state_files.MODELS, self.clock)

    def recall(self, question: str) -> "Sequence[PastHit]":
        """Find past messages for a question to the built-in guide; blocks."""
        from tui.engine.library.loose_search import GuideRecall

        return GuideRecall(self.store, self.clock)(question)

    def turn_settings(self) -> "TurnSettings":
        """The configured settings of models, and the tools of a turn."""
        from tui.engine.turns.tools import ToolApprovals, Tools, ToolSetup
        from tui.engine.turns.turn import TurnSettings
        from tui.storage import state_files

        tools = Tools(
            ToolSetup(self.settings, self._own_tools),
            approvals=ToolApprovals(paths.state_directory() / state_files.APPROVALS),
        )
        return TurnSettings(partial(configured_levels, self.settings), tools)

    def _own_tools(self, project: str) -> "Sequence[Tool]":
        from tui.engine.library.loose_search import search_near
        from tui.engine.turns.built_in_tools import built_in_tools

        search = partial(search_near, partial(self.store.search, seconds=_SEARCH_SECONDS))
        return built_in_tools(search, self.clock, project)

    def places(self) -> "Places":
        """The places where other programs keep their sessions."""
        from tui.importers.protocol import Places

        return Places(Path.home(), self.environment, is_mac=sys.platform == "darwin")

    def now(self) -> str:
        """The time, as in a journal."""
        return format_utc(self.clock())

    def resolve(self, target: str, wanted: SessionFilter | None = None) -> str:
        """Resolve a target; a number is a row of ``sessions list``."""
        listed: Sequence[str] = ()
        is_number = target.isascii() and target.isdigit() and len(target) < _NUMBER_DIGITS
        if is_number and not wanted:
            # Only as far as the row that is meant.
            kept = SessionFilter(self.narrowed, KEPT)
            listed = [entry.id for entry in self.store.list(kept, None, int(target)).entries]
        among = wanted or SessionFilter(self.narrowed, KEPT_OR_ARCHIVED)
        return self.store.resolve(target, self.scope, listed=listed, wanted=among)

    def wanted(self, chosen: Namespace) -> str | None:
        """The session of ``--session`` or ``--continue``; ``None`` for a new one."""
        if chosen.session is not None:
            return self.resolve(chosen.session)
        return self.store.active(self.scope) if chosen.go_on else None

    def tell_condition(self, session: Session) -> None:
        """Print warnings about damage or a newer format of a session."""
        self.tell_damage(session.damaged, session.id)
        if session.header.version > VERSION:
            console.tell(str(NewerVersion(session.id, session.header.version)))

    def tell_damage(self, damaged: int, place: str) -> None:
        """Print how many records could not be read."""
        if damaged:
            console.tell(damage_words(damaged, place))
