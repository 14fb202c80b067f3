"""Questions on behalf of one server: its time limits stand still while the user is asked."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import msgspec

from tui.domain.server_questions import Answer, AskUser, ServerQuestion
from tui.domain.tool_servers import SignIns


class Inquiries(msgspec.Struct, eq=False):
    """Puts questions to the user, if there is one."""

    server: str
    ask: AskUser | None
    sign_ins: SignIns | None
    may_sign_in: bool
    """False while the user is busy with something else, and once a sign-in was given up."""
    _limits: dict[asyncio.Timeout, float] = {}
    _open: int = 0

    async def put(self, question: ServerQuestion) -> Answer | None:
        """Ask, and wait for the answer; ``None`` if it is refused, or nobody is there."""
        if self.ask is None:
            return None
        with self.paused():
            return await self.ask(question)

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncGenerator[None]:
        """Limit the time of something; raises ``TimeoutError``. It begins anew after a question."""
        async with asyncio.timeout(None if self._open else seconds) as limit:
            self._limits[limit] = seconds
            try:
                yield
            finally:
                del self._limits[limit]

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let all limits stand still."""
        self._open += 1
        self._reschedule()
        try:
            yield
        finally:
            self._open -= 1
            self._reschedule()

    def _reschedule(self) -> None:
        now = asyncio.get_running_loop().time()
        for limit, seconds in self._limits.items():
            if not limit.expired():
                limit.reschedule(None if self._open else now + seconds)
