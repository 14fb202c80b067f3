"""The messages that a model is sent: history, window, missing results."""
