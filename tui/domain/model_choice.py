"""The order of models in the picker: recently chosen ones, then those of each server."""

from collections.abc import Mapping, Sequence

from tui.domain.views.model_rows import ModelFacts, ModelRow

MOST_RECENT = 8


def arrange(
    listed: Mapping[str, Sequence[str]],
    recent: Sequence[str],
    current: str,
    facts: Mapping[str, ModelFacts],
) -> tuple[ModelRow, ...]:
    """Make the rows: recently chosen models of these servers first, then each server's list.

    ``listed`` are models by server. The current one is among the rows even if no server lists it.
    """
    known = [f"{server}:{model}" for server, models in listed.items() for model in models]
    usable = [name for name in recent if name.partition(":")[0] in listed][:MOST_RECENT]
    unlisted = [current] if current and current not in known else []
    names: dict[str, None] = dict.fromkeys([*usable, *unlisted, *known])
    return tuple(
        ModelRow(name, facts.get(name, ModelFacts()), name == current, name in usable)
        for name in names
    )


def matches(text: str, wanted: str) -> bool:
    """True if a text has all words of a filter, in any order and case."""
    folded = text.casefold()
    return all(word in folded for word in wanted.casefold().split())
