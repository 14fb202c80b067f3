"""Slash commands: coroutines that return effects for the screen."""
