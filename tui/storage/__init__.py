"""Storage of sessions: the protocol, its backends, and the search index."""
