"""The search index: ``<data>/index.sqlite3``, which can be thrown away at any time."""
