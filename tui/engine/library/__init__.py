"""All sessions on disk: pages of the list, archive and trash, retention, search."""
