"""Records of a journal, and the session that they fold to."""
