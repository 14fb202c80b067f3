"""Hits as pieces of lines, in the cells there are."""

from datetime import UTC, datetime

from rich.cells import cell_len
from rich.style import Style

from tests.builders import at
from tui.domain.journal.session import SessionEntry
from tui.domain.search.query import Hit
from tui.domain.search.search_results import PreviewedMessage, SessionHits
from tui.domain.text import local_minute
from tui.widgets.search_hits import (
    answer_rows,
    author_line,
    heading_pieces,
    hit_pieces,
    in_sight,
    text_lines,
)
from tui.widgets.transcript.canvas import MEASURE, NAMES, Canvas

NOW = datetime(2026, 1, 11, tzinfo=UTC)


def session_hits(label, **fields):
    known = dict.fromkeys(("name", "scope", "project_path", "model", "created_at"), "")
    known |= {"updated_at": "", "last_used_at": "", "closed_at": None, "ordinal": 0}
    known |= {"active": False, "message_count": 0, "status": "closed"}
    return SessionHits("s", (), SessionEntry(id="s", label=label, **known | fields))


def text(pieces):
    return "".join(text for text, _ in pieces)


def test_the_first_mark_is_in_sight_in_a_line_that_begins_with_a_word_as_early_as_it_can():
    line = "長い文の前置き" * 6 + "検索" + "続き" * 9
    begin = line.index("検索")
    shown, marks = in_sight(line, [(begin, begin + 2)], 30)
    start, end = marks[0]
    assert shown[start:end] == "検索"
    assert cell_len(shown[:end]) <= 30
    line = "Question number 20: how do I name a session 20?"
    begin = line.index("session")
    shown, marks = in_sight(line, [(begin, begin + 7)], 40)
    assert shown == "…number 20: how do I name a session 20?"
    assert [shown[start:end] for start, end in marks] == ["session"]
    assert in_sight("a needle", [(2, 8)], 30) == ("a needle", [(2, 8)])


def test_a_hit_has_its_marks_apart_and_ends_in_an_ellipsis_where_it_has_no_room():
    hit = Hit("s", "m", "user", "", "a needle here", 1.0, ((2, 8),))
    pieces = list(hit_pieces(hit, NOW, 80))
    assert ("needle", "mark") in pieces
    assert text(pieces).endswith("a needle here")
    said = "a needle among so much hay that it goes on"
    hit = Hit("s", "m", "user", "", said, 1.0, ((2, 8), (27, 31)))
    pieces = list(hit_pieces(hit, NOW, 49))
    assert text(pieces).endswith("a needle among so much hay tha…")
    assert cell_len(text(pieces)) == 49
    assert [piece for piece, part in pieces if part == "mark"] == ["needle"]


def test_a_heading_names_project_and_program_also_beside_a_long_label():
    session = session_hits("長い名前" * 10, scope="project:/farm", status="archived")
    line = text(heading_pieces(session, NOW, 40))
    assert line.rstrip().endswith("· farm · archived")
    assert cell_len(line) == 40
    session = session_hits("Login", scope="project:/farm", imported_from="claude-code:1")
    line = text(heading_pieces(session, NOW, 60)).rstrip()
    assert line == " Login · farm · from claude-code · s"


def test_a_heading_has_size_and_creation_where_there_is_room():
    session = session_hits("Login", status="archived", created_at=at(), message_count=2)
    aside = f" · archived · s · 2 messages · created {local_minute(at())}"
    assert text(heading_pieces(session, NOW, 80)).rstrip() == f" Login{aside}"
    size = cell_len("Login" + aside) + 1
    assert text(heading_pieces(session, NOW, size)).rstrip() == f" Login{aside}"
    assert text(heading_pieces(session, NOW, size - 1)).rstrip() == " Login · archived · s"
    size = cell_len(" Login · archived · s") - 1
    assert text(heading_pieces(session, NOW, size)).rstrip() == " Login · archived"


def test_a_name_that_was_found_is_told_from_what_was_said():
    hit = Hit("s", None, None, "", "a needle", 3.0, ((2, 8),))
    assert text(hit_pieces(hit, NOW, 80)).split() == ["#", "name", "unknown", "a", "needle"]
    assert text(hit_pieces(hit, NOW, 40)).split() == ["#", "unknown", "a", "needle"]


def test_marks_are_found_again_in_rows_that_were_wrapped():
    said = "one two three four needle five\nsix needle"
    marks = tuple((said.index("needle", at), said.index("needle", at) + 6) for at in (0, 25))
    message = PreviewedMessage("user", "", said, marks, chosen=True)
    rows = [*text_lines(message, 12)]
    assert author_line(message, NOW)[0][1] == "chosen"
    marked = [piece for row in rows for piece in row if piece[1] == "mark"]
    assert marked == [("needle", "mark")] * 2
    assert " ".join(text(row).strip() for row in rows) == said.replace("\n", " ")


def test_what_was_said_around_a_hit_is_in_lines_that_an_eye_can_follow():
    message = PreviewedMessage("user", "", ("word " * 80).strip(), ((395, 399),), chosen=True)
    rows = [*text_lines(message, 240)]
    assert max(cell_len(text(row)) for row in rows) <= 2 + MEASURE
    assert " ".join(text(row).strip() for row in rows).split() == ["word"] * 80
    assert ("word", "mark") in rows[-1]


def test_code_in_a_preview_has_no_mark_that_copies_it():
    palette = dict.fromkeys(NAMES, Style())
    said = "Run:\n\n```sh\nls\n```"
    rows = [row.text.strip() for row in answer_rows(said, Canvas(40, palette, copies=False))]
    assert [row for row in rows if row] == ["Run:", "╭ sh", "│ ls"]
