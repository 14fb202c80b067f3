"""Slash commands: coroutines that work on the engine, and speak to a shell."""
