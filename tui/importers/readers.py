"""The table of readers; each is imported when it is asked for."""

from importlib import import_module

from tui.importers.protocol import Reader

PROGRAMS: dict[str, str] = {
    "sibyl": "sibyl",
    "jidocode": "jidocode",
    "agent-q": "agent_q",
    "picoclaw": "vendor_sessions.PICOCLAW",
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "qwen-code": "qwen",
    "copilot-cli": "copilot_cli",
    "vscode": "vscode",
    "pi": "pi",
    "kilo": "opencode.KILO",
    "opencode": "opencode",
    "llm": "llm",
    "oterm": "chat_tables.OTERM",
    "elia": "chat_tables.ELIA",
    "kimi": "kimi",
    "goose": "goose",
    "amp": "block_sessions.AMP",
    "droid": "block_sessions.DROID",
    "zed": "zed",
    "crush": "crush",
    "cursor": "cursor",
    "cursor-cli": "cursor_cli",
    "vibe": "vendor_sessions.VIBE",
    "cline": "cline.CLINE",
    "roo-code": "cline.ROO_CODE",
    "kilo-code": "cline.KILO_CODE",
    "gptme": "gptme",
    "aider": "aider",
    "continue": "vendor_sessions.CONTINUE",
    "jan": "jan",
    "lm-studio": "lm_studio",
    "anything-llm": "anything_llm",
    "parllama": "vendor_sessions.PARLLAMA",
    "aichat": "aichat",
    "chatgpt": "chatgpt",
    "claude-ai": "claude_ai",
    "gemini-apps": "gemini_apps",
    "deepseek": "deepseek",
    "grok": "grok",
    "open-webui": "open_webui",
    "librechat": "librechat",
    "lobechat": "chat_backups.LOBECHAT",
    "chatbox": "chat_backups.CHATBOX",
    "typingmind": "chat_backups.TYPINGMIND",
    "chatbot-ui": "plain_messages.CHATBOT_UI",
    "sharegpt": "plain_messages.SHAREGPT",
    "messages": "plain_messages",
}
"""Module of each program's reader, by the name of the program, in the order of the screen.

It is called ``READER`` there, or as it says behind a dot.

The first that recognises a file reads it: ``messages``, which takes many, is the last.
"""


def reader(program: str) -> Reader:
    """Import the reader of a program."""
    module, _, name = PROGRAMS[program].partition(".")
    found: Reader = getattr(import_module(f"tui.importers.{module}"), name or "READER")
    return found


def readers() -> list[Reader]:
    """Import all readers."""
    return [reader(program) for program in PROGRAMS]
