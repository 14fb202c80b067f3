"""How many examples a property is tried with: a share of what the tier's profile has."""

from hypothesis import settings


def examples(factor: float) -> settings:
    """Multiply the profile's number of examples, which is 100 in the full tier."""
    return settings(max_examples=max(1, round(settings.default.max_examples * factor)))
