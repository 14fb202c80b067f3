"""Prompt templates: the texts of the user's own slash commands."""

PLACEHOLDER = "{args}"


def filled(template: str, words: str) -> str:
    """Put words in the place of each ``{args}``; without one, after a blank line.

    Everything else in the template and in the words is plain text.
    """
    if PLACEHOLDER in template:
        return template.replace(PLACEHOLDER, words)
    return f"{template.rstrip()}\n\n{words}" if words else template
