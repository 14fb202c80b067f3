"""Pictures of the screen, compared with those in ``snapshots/``.

Renewed with ``pytest tests/snapshots --update-snapshots``. A difference is printed as the lines of
the screen that changed; the picture that was seen lies beside the other, ending in ``.seen.svg``.
"""

import difflib
import html
import itertools
import re
import time
from pathlib import Path

import pytest

from tests.ui.world import World
from tui.domain.ids import new_message_id

PLACE = Path(__file__).parents[2] / "snapshots"
_CHECKSUM = re.compile(r"terminal-\d+-")
_RECT = re.compile(
    r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="24.65"[^>]*/>'
)
_TEXT = re.compile(r'<text class="[^"]*-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')


@pytest.fixture(autouse=True)
def pinned(monkeypatch):
    """The same clock, zone, ids, colours and cursor on every machine."""
    numbers = itertools.count(1)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr("tui.storage.file_store._random_number", lambda: next(numbers))
    tokens = itertools.count(1)
    monkeypatch.setattr(
        "tui.engine.open_session.new_message_id",
        lambda now, _: new_message_id(now, f"{next(tokens):08x}"),
    )
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def world(tmp_path):
    return lambda *answers: World(tmp_path / "data", *answers)


@pytest.fixture
def same_picture(request):
    """Compares what an application shows with a picture of this name."""

    def compare(app, name):
        seen = _CHECKSUM.sub("terminal-", app.export_screenshot(title="sibyl-tui"))
        path = PLACE / f"{name}.svg"
        if request.config.getoption("--update-snapshots"):
            PLACE.mkdir(exist_ok=True)
            path.write_text(seen, "utf-8")
            return
        assert path.exists(), f"{path.name} is not there: run with --update-snapshots"
        wanted = path.read_text("utf-8")
        if _joined(seen) != _joined(wanted):
            path.with_suffix(".seen.svg").write_text(seen, "utf-8")
            pytest.fail(_difference(wanted, seen), pytrace=False)

    return compare


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
    return "\n".join(changed) or "The text is the same; colours or places differ."
