"""The tools that the user has allowed for longer than one call."""

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from tui.domain.tool_approval import ToolApproval
from tui.storage import tool_approvals

Standing = Literal["allowed", "changed", "unknown"]
"""``changed``: the user has allowed it as it was before."""


class ToolApprovals:
    """Keeps what is allowed until the program ends, and reads and writes what is for good.

    The file is read for each call: what another program has withdrawn is not allowed here either.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Without a ``file`` nothing is allowed for longer than this program runs."""
        self._file = file
        self._until_quit: set[ToolApproval] = set()

    @property
    def until_quit(self) -> frozenset[ToolApproval]:
        """The tools that are allowed until the program ends."""
        return frozenset(self._until_quit)

    async def kept(self) -> tuple[ToolApproval, ...]:
        """The tools that are allowed for good. Raises ``StorageError``."""
        if self._file is None:
            return ()
        return await asyncio.to_thread(tool_approvals.read, self._file)

    async def standing(self, tool: ToolApproval) -> Standing:
        """Look a tool up. Raises ``StorageError`` if that takes a file that cannot be trusted."""
        if tool in self._until_quit:
            return "allowed"
        known = {*await self.kept(), *self._until_quit}
        if tool in known:
            return "allowed"
        return "changed" if any(map(tool.is_of, known)) else "unknown"

    def allow_until_quit(self, tool: ToolApproval) -> None:
        """Allow a tool until the program ends."""
        self._until_quit.add(tool)

    async def allow_always(self, tool: ToolApproval) -> None:
        """Allow a tool for good. Raises ``StorageError``, and then until the program ends."""
        self._until_quit.add(tool)
        if self._file is not None:
            await asyncio.to_thread(tool_approvals.allow, self._file, tool)
            # The file alone counts: another program may withdraw it.
            self._until_quit.discard(tool)

    async def withdraw(self, tools: Collection[ToolApproval]) -> None:
        """Allow some tools no more. Raises ``StorageError``; this program asks even then."""
        self._until_quit = {each for each in self._until_quit if not any(map(each.is_of, tools))}
        if self._file is not None:
            await asyncio.to_thread(tool_approvals.withdraw, self._file, tools)

    async def withdraw_all(self) -> None:
        """Allow no tool any more. Raises ``StorageError``."""
        self._until_quit.clear()
        if self._file is not None:
            await asyncio.to_thread(tool_approvals.withdraw_all, self._file)
