"""The question before sessions are left, by quitting or by closing one.

Signals and a closed terminal end the program without it.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from tui.commands.effects import Ask, Effect
from tui.domain.text.labels import cut_to_cells, plural
from tui.engine.sessions.loaded_session import LoadedSession

_TITLE_CELLS = 60
_TITLES = 5
_ENDED = "No answer is in progress any more."


def _answers(sessions: Iterable[LoadedSession]) -> Sequence[str]:
    busy = [session for session in sessions if session.activity.running]
    if not busy:
        return ()
    one = len(busy) == 1
    told = "The part that arrived is kept." if one else "The parts that arrived are kept."
    verb = "is" if one else "are"
    return (f"{plural(len(busy), 'answer')} {verb} still in progress:", *_titles(busy), told)


def _private(sessions: Iterable[LoadedSession]) -> Sequence[str]:
    lost = [session for session in sessions if session.losable]
    if not lost:
        return ()
    return (*_titles(lost), "It is private: nothing of it is kept. /keep saves it as a session.")


REASONS: tuple[Callable[[Sequence[LoadedSession]], Sequence[str]], ...] = (_answers, _private)
"""Each gives the lines that say why to ask, or none."""


def ask_before(
    question: str,
    sessions: Sequence[LoadedSession],
    confirmed: Callable[[], Awaitable[Sequence[Effect]]],
    again: str = "",
) -> Ask | None:
    """Make the question before these sessions are left; ``None`` without a reason to ask."""
    detail = _detail(sessions)
    if not detail:
        return None
    return Ask(
        f"{question} (y/n)",
        confirmed,
        detail=detail,
        detail_by_now=lambda: _detail(sessions) or _ENDED,
        again=again,
    )


def _detail(sessions: Sequence[LoadedSession]) -> str:
    return "\n".join(line for reason in REASONS for line in reason(sessions))


def _titles(sessions: Sequence[LoadedSession]) -> Sequence[str]:
    titles = [f'"{cut_to_cells(each.label(), _TITLE_CELLS)}"' for each in sessions[:_TITLES]]
    more = len(sessions) - len(titles)
    return [*titles, f"and {more} more"] if more else titles
