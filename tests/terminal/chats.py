"""The real program with a model of the test's own, and what it left on disk."""

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.providers.chat_server import ChatServer, Reply
from tests.terminal.program import Program
from tui.domain.journal.message import Message
from tui.domain.journal.session import Draft, SessionEntry
from tui.storage import locks
from tui.storage.drafts import Drafts
from tui.storage.file_store import FileStore
from tui.storage.protocol import KEPT, SessionFilter

PROMPT = "/ commands · @ files"
MODEL = "local:parrot"

# A closed port: no Ollama of the developer's answers.
_NO_OLLAMA = "http://127.0.0.1:9"
_INSTALLED = shutil.which("sibyl-tui", path=str(Path(sys.executable).parent))
SIBYL = (_INSTALLED,) if _INSTALLED else (sys.executable, "-m", "tui")
"""The program as it was installed with this Python; the module where it was not."""

# No test of something else sets sessions aside.
_KEEP_ALL = "[retention]\nbacklog_limit = 0\nmax_age_days = 0\n"


class Chats:
    """Starts the program; its model says what ``replies`` tell it to, its data are in ``root``."""

    def __init__(self, start: Callable[..., Program], home: Path, servers: ExitStack) -> None:
        self._start = start
        self._home = home
        self._servers = servers
        self.config = home / "config.toml"
        self.config.write_text(_KEEP_ALL, "utf-8")
        self.root = home / "data" / "sibyl"
        self.project = home / "project"
        self.server: ChatServer | None = None

    def answer(self, *replies: Reply, model: str = MODEL) -> ChatServer:
        """Connect a server that answers so, from the next start on."""
        self.server = self._servers.enter_context(ChatServer(*replies))
        name = model.removeprefix("local:")
        self.config.write_text(
            f"model = {_quoted(model)}\n[providers.local]\n"
            f"base_url = {_quoted(self.server.base_url)}\nmodels = [{_quoted(name)}]\n{_KEEP_ALL}",
            "utf-8",
        )
        return self.server

    def altered(self, names: str, *arguments: str, **options) -> Program:
        """Start the program as ``tests.terminal.altered`` changes it; it needs no server."""
        module = (sys.executable, "-m", "tests.terminal.altered", names)
        return self(*arguments, **{"command": module, **options})

    def launch(self, *arguments: str, command: Sequence[str] = SIBYL, **options) -> Program:
        """Start it, and wait for nothing."""
        changes = options.pop("environment", {})
        environment = {"SIBYL_CONFIG": str(self.config), "OLLAMA_HOST": _NO_OLLAMA, **changes}
        return self._start(*command, *arguments, environment=environment, **options)

    def __call__(self, *arguments: str, wait: bool = True, **options) -> Program:
        """Start it, and wait until it takes what is typed."""
        program = self.launch(*arguments, **options)
        if wait:
            program.until(rf"session-\d+|{PROMPT}")
        return program

    # What is on disk

    @property
    def store(self) -> FileStore:
        return FileStore(self.root)

    @property
    def entries(self) -> Sequence[SessionEntry]:
        return self.store.list(SessionFilter(statuses=KEPT), None, 100).entries

    @property
    def only(self) -> str:
        """The id of the one session there is."""
        (entry,) = self.entries
        return entry.id

    def messages(self, session_id: str = "") -> Sequence[Message]:
        return self.store.journal(session_id or self.only).load().all_messages

    def said(self, session_id: str = "") -> list[tuple[str, str, str | None]]:
        """Role, text and status of each message."""
        found = self.messages(session_id)
        return [(message.role, message.text, message.status) for message in found]

    def draft(self, session_id: str) -> Draft | None:
        return Drafts(self.root).load(session_id)

    def unsent(self, session_id: str) -> list[str]:
        """What stands in its prompt the next time, and what is offered besides."""
        drafts = Drafts(self.root)
        kept = [drafts.load(session_id), *(each for _, each in drafts.aside(session_id))]
        return [each.text for each in kept if each is not None]

    def is_held(self, session_id: str) -> bool:
        path = self.root / "locks" / f"{session_id}.lock"
        return locks.holder_of(path) is not None


def words_shown(program: Program) -> int:
    """How many words of what the altered program's model says have come, as far as can be seen.

    To be waited for by ``>``: those that were there move out of sight.
    """
    return max([0, *(int(number) + 1 for number in re.findall(r"\bw(\d+)\b", program.text))])


def _quoted(text: str) -> str:
    """A string of TOML."""
    escaped = "".join(f"\\u{ord(c):04X}" if ord(c) < 0x20 or c in '"\\\x7f' else c for c in text)
    return f'"{escaped}"'
