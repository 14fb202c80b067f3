"""The moving picture of the README: ``python -m tests.picture`` films the real program."""
