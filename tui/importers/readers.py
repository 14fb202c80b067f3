"""The table of readers; each is imported when it is asked for."""

from importlib import import_module

from tui.importers.protocol import Reader

PROGRAMS: dict[str, str] = {
    "sibyl": "sibyl",
    "jidocode": "jidocode",
    "agent-q": "agent_q",
    "picoclaw": "picoclaw",
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "copilot-cli": "copilot_cli",
    "vscode": "vscode",
    "pi": "pi",
    "opencode": "opencode",
    "llm": "llm",
    "oterm": "oterm",
    "elia": "elia",
    "goose": "goose",
    "crush": "crush",
    "cursor-cli": "cursor_cli",
    "vibe": "vibe",
    "cline": "cline",
    "roo-code": "roo_code",
    "gptme": "gptme",
    "aider": "aider",
    "continue": "continue_dev",
    "jan": "jan",
    "parllama": "parllama",
    "aichat": "aichat",
    "chatgpt": "chatgpt",
    "claude-ai": "claude_ai",
    "open-webui": "open_webui",
    "librechat": "librechat",
    "chatbot-ui": "chatbot_ui",
    "sharegpt": "sharegpt",
    "messages": "plain_messages",
}
"""Module of each program's reader, by the name of the program, in the order of the screen.

The first that recognises a file reads it: ``messages``, which takes many, is the last.
"""


def reader(program: str) -> Reader:
    """Import the reader of a program; its module has it as ``READER``."""
    found: Reader = import_module(f"tui.importers.{PROGRAMS[program]}").READER
    return found


def readers() -> list[Reader]:
    """Import all readers."""
    return [reader(program) for program in PROGRAMS]
