"""Text: control characters, cells, tokens and fences."""
