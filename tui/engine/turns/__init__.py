"""A turn: a prompt, its answer, tool calls, and summaries."""
