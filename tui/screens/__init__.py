"""Screens: the chat screen, and dialogs over it."""
