"""Queries, matches and results."""
