"""Readers of the conversations that other programs keep."""
