"""Markdown, code and notices drawn as strips."""
