"""Prompts: the files and pictures that they refer to."""
