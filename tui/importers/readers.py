"""The table of readers; each is imported when it is asked for."""

from functools import cache
from importlib import import_module

from tui.importers.protocol import Reader

PROGRAMS: dict[str, str] = {
    "sibyl": "ancestors.Sibyl",
    "jidocode": "ancestors.JidoCode",
    "agent-q": "ancestors.AgentQ",
    "picoclaw": "vendor_sessions.PicoClaw",
    "claude-code": "claude_code.READER",
    "codex": "codex.READER",
    "gemini-cli": "gemini_cli.READER",
    "qwen-code": "block_sessions.QwenCode",
    "copilot-cli": "copilot_cli.READER",
    "vscode": "vscode.VsCode",
    "pi": "pi.READER",
    "kilo": "opencode.Kilo",
    "opencode": "opencode.OpenCode",
    "llm": "chat_tables.Llm",
    "oterm": "chat_tables.Oterm",
    "elia": "chat_tables.Elia",
    "kimi": "kimi.Kimi",
    "goose": "agent_tables.Goose",
    "amp": "block_sessions.Amp",
    "droid": "block_sessions.Droid",
    "zed": "agent_tables.Zed",
    "crush": "agent_tables.Crush",
    "cursor": "cursor.Cursor",
    "cursor-cli": "cursor.CursorCli",
    "vibe": "vendor_sessions.Vibe",
    "cline": "cline.Cline",
    "roo-code": "cline.RooCode",
    "kilo-code": "cline.KiloCode",
    "gptme": "chat_files.Gptme",
    "aider": "aider.READER",
    "continue": "vendor_sessions.Continue",
    "jan": "chat_files.Jan",
    "lm-studio": "chat_files.LmStudio",
    "anything-llm": "chat_tables.AnythingLlm",
    "parllama": "vendor_sessions.Parllama",
    "aichat": "vendor_sessions.AiChat",
    "chatgpt": "service_exports.ChatGpt",
    "claude-ai": "service_exports.ClaudeAi",
    "gemini-apps": "service_exports.GeminiApps",
    "deepseek": "service_exports.DeepSeek",
    "grok": "service_exports.Grok",
    "open-webui": "chat_apps.OpenWebUi",
    "librechat": "chat_apps.LibreChat",
    "lobechat": "chat_backups.LobeChat",
    "chatbox": "chat_backups.Chatbox",
    "cherry-studio": "chat_backups.CherryStudio",
    "nextchat": "chat_backups.NextChat",
    "typingmind": "chat_backups.TypingMind",
    "chatbot-ui": "plain_messages.ChatbotUi",
    "sharegpt": "plain_messages.ShareGpt",
    "messages": "plain_messages.PlainMessages",
}
"""Module and name of each program's reader, in the order of the screen.

The first that recognises a file reads it: ``messages``, which takes many, is the last.
"""


@cache
def reader(program: str) -> Reader:
    """Import the reader of a program."""
    module, _, name = PROGRAMS[program].partition(".")
    found = getattr(import_module(f"tui.importers.{module}"), name)
    made: Reader = found if isinstance(found, Reader) else found().reader()
    return made


def readers() -> list[Reader]:
    """Import all readers."""
    return [reader(program) for program in PROGRAMS]
