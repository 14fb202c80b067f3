"""Pictures of the screen, compared with those in ``snapshots/``.

Renewed with ``pytest tests/snapshots --update-snapshots``. A difference is printed as the lines of
the screen that changed, else as the cells whose colours did; the picture that was seen lies beside
the other, ending in ``.seen.svg``.
"""

import asyncio
import difflib
import html
import itertools
import re
import time
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from tests.ui.world import World
from tui.domain.journal.records import new_message_id, new_session_id

PLACE = Path(__file__).parents[2] / "snapshots"
SECONDS = 20.0
"""Until a picture that differs is another one, and not one that is still being painted."""
_CHECKSUM = re.compile(r"terminal-\d+-")
_RECT = re.compile(
    r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="24.65"[^>]*/>'
)
_STYLE = re.compile(r"\.terminal-(r\d+) \{ (.*?)\}")
_STYLED = re.compile(
    r'<text class="terminal-(r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"'
)
_TEXT = re.compile(r'<text class="[^"]*-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')


@pytest.fixture(autouse=True)
def pinned(monkeypatch):
    """The same clock, zone, ids, colours and cursor on every machine."""
    numbers = itertools.count(1)
    for each in (Input, TextArea):
        monkeypatch.setattr(each.cursor_blink, "_default", value=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(
        "tui.storage.file_holding.new_session_id",
        lambda now, _: new_session_id(now, next(numbers)),
    )
    tokens = itertools.count(1)
    monkeypatch.setattr(
        "tui.engine.sessions.open_session.new_message_id",
        lambda now, _: new_message_id(now, f"{next(tokens):08x}"),
    )
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def world(tmp_path):
    return lambda *answers: World(tmp_path / "data", *answers)


@pytest.fixture
def same_picture(compare):
    """Waits until the screen shows the picture of this name, and no notice hangs over it."""

    async def same_picture(pilot, name):
        notices = pilot.app.chat.key_line.notices
        while notices.current is not None:
            notices._advance()
        await pilot.pause()
        await compare(pilot.app, name)

    return same_picture


@pytest.fixture
def compare(request):
    """Waits until an application shows the picture of this name."""

    async def compare(app, name):
        path = PLACE / f"{name}.svg"
        if request.config.getoption("--update-snapshots"):
            PLACE.mkdir(exist_ok=True)
            path.write_text(_picture(app), "utf-8")
            return
        assert path.exists(), f"{path.name} is not there: run with --update-snapshots"
        wanted, end = path.read_text("utf-8"), time.monotonic() + SECONDS
        while _joined(seen := _picture(app)) != _joined(wanted):
            if time.monotonic() > end:
                path.with_suffix(".seen.svg").write_text(seen, "utf-8")
                pytest.fail(_difference(wanted, seen), pytrace=False)
            await asyncio.sleep(0.05)

    return compare


def _picture(app):
    return _CHECKSUM.sub("terminal-", app.export_screenshot(title="sibyl-tui"))


def _joined(svg):
    """A picture with its backgrounds as stretches: piece by piece or not, they look the same."""
    stretches: dict[tuple[str, str], list[list[float]]] = {}
    for fill, x, y, width in _RECT.findall(svg):
        row = stretches.setdefault((y, fill), [])
        start, end = float(x), float(x) + float(width)
        if row and abs(row[-1][1] - start) < 0.1:
            row[-1][1] = end
        else:
            row.append([start, end])
    cells = {
        key: [(round(start), round(end)) for start, end in row] for key, row in stretches.items()
    }
    return _RECT.sub("", svg), cells


def lines(svg):
    """The text of a picture, line by line."""
    rows = {}
    for x, y, text in _TEXT.findall(svg):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    return ["".join(text for _, text in sorted(rows[y])) for y in sorted(rows)]


def _difference(wanted, seen):
    changed = list(difflib.unified_diff(lines(wanted), lines(seen), "kept", "seen", lineterm=""))
    return (
        "\n".join(changed or _looks_changed(wanted, seen)) or "Something beside the text differs."
    )


def _looks_changed(wanted, seen):
    """The stretches of cells that look otherwise, with both looks."""
    before, after, rows = looks(wanted), looks(seen), lines(seen)
    changed = [cell for cell in sorted({*before, *after}) if before.get(cell) != after.get(cell)]
    # Of cells side by side the column grows as their number does.
    for _, run in itertools.groupby(
        enumerate(changed),
        lambda each: (each[1][0], each[1][1] - each[0], before.get(each[1]), after.get(each[1])),
    ):
        (row, first), *others = [cell for _, cell in run]
        last = others[-1][1] if others else first
        was, now = before.get((row, first)), after.get((row, first))
        where = f"row {row}, columns {first} to {last}"
        yield f"{where}: {was} became {now} in {rows[row - 1].strip()!r}"


def looks(svg):
    """The look of each cell by its row and column, both from 1: its text and its background."""
    styles, cells = dict(_STYLE.findall(svg)), {}
    for style, x, y, width in _STYLED.findall(svg):
        for column in _columns(x, width):
            cells[round((float(y) - 20) / 24.4) + 1, column] = styles[style].strip()
    for fill, x, y, width in _RECT.findall(svg):
        for column in _columns(x, width):
            cell = round((float(y) - 1.5) / 24.4) + 1, column
            cells[cell] = f"{cells.get(cell, 'nothing')} on {fill}"
    return cells


def _columns(x, width):
    first = round(float(x) / 12.2) + 1
    return range(first, first + round(float(width) / 12.2))
