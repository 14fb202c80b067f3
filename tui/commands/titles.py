"""Titles of sessions in messages."""

import asyncio

from tui.commands.context import CommandContext


async def title_of(context: CommandContext, session_id: str) -> str:
    """Quote the title of a session. Raises ``SessionNotFound``."""
    known = context.workspace.switcher.find(session_id)
    if known is not None:
        return f'"{known.label()}"'
    entry = await asyncio.to_thread(context.workspace.reader.entry, session_id)
    return f'"{entry.label}"'
