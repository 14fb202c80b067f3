"""Widgets: they show values, and post messages about what the user does."""
