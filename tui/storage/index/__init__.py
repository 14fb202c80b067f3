"""The search index ``<data>/index.sqlite3``, which can be deleted at any time."""
