"""Batches of moves, and the words of a move."""

from datetime import UTC, datetime

from tests.tables import each_row
from tui.domain.moves import Move, last_batch, move_words

NOW = datetime(2026, 1, 14, 8, tzinfo=UTC)


def move(session_id, batch, reason="user", source="sessions", target="archive"):
    return Move(session_id, source, target, "2026-01-11T08:00:00.000Z", reason, batch)


def test_the_last_batch_is_whole_in_its_order_and_without_what_an_undo_took_back():
    moves = [move("a", "1"), move("b", "2", "age"), move("c", "2", "age")]
    assert last_batch(moves) == tuple(moves[1:])
    undo = move("b", "2", "undo", "archive", "sessions")
    assert last_batch([moves[0], move("b", "2"), undo]) == (moves[0],)
    cleared = [move("a", "1", "clear"), move("b", "1", "clear"), move("b", "1", "undo")]
    assert last_batch(cleared) == (cleared[0],)
    # Two programs may write their batches by turns.
    moves = [move("a", "1", "age"), move("b", "2", "age"), move("c", "1", "age")]
    assert last_batch(moves, {("2", "b")}) == (moves[0], moves[2])


@each_row(
    "reason, target, words",
    [
        ("user", "archive", "archived 3 days ago"),
        ("age", "archive", "archived 3 days ago, not used for long"),
        ("backlog", "trash", "moved to the trash 3 days ago, beyond the limit of its project"),
        ("clear", "trash", "moved to the trash 3 days ago, with all closed sessions"),
        ("undo", "sessions", "restored 3 days ago, by an undo"),
    ],
)
def test_a_move_says_when_and_why(reason, target, words):
    assert move_words(move("a", "1", reason, target=target), NOW) == words
