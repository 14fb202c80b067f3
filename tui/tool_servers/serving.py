"""Serves tools of this program on standard input and output, by the library of the protocol."""

import logging
from collections.abc import Sequence
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)

import tui
from tui.domain.tool_servers import ServedTool
from tui.tool_servers import silence

_log = logging.getLogger(__name__)
_READING = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def serve(tools: Sequence[ServedTool], instructions: str) -> None:
    """Serve tools that only read until the client closes the standard input."""
    silence()
    try:
        anyio.run(_serve, {tool.name: tool for tool in tools}, instructions)
    except* BrokenPipeError:
        _log.info("the client is gone")


async def _serve(tools: dict[str, ServedTool], instructions: str) -> None:
    async def list_tools(_: object, __: object) -> ListToolsResult:
        described = [
            Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.parameters,
                annotations=_READING,
            )
            for tool in tools.values()
        ]
        return ListToolsResult(tools=described)

    async def call_tool(_: object, params: CallToolRequestParams) -> CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name}.")
        # One whose call was cancelled ends by itself.
        asked = params.arguments or {}
        result = await anyio.to_thread.run_sync(tool.call, asked, abandon_on_cancel=True)
        structured: Any = result.structured
        return CallToolResult(
            content=[TextContent(text=result.text)],
            structured_content=structured,
            is_error=structured is None,
        )

    server = Server[Any](
        "sibyl-tui",
        version=tui.__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
