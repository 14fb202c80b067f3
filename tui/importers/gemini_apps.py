"""Gemini's conversations in Google's Takeout: a list of prompts with their answers, newest first.

It does not say which prompts belong together: those of one sitting are one conversation.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from tui.domain.timestamps import parse_utc
from tui.importers import protocol as p
from tui.importers.contents import joined, placeholder
from tui.importers.export_files import beginning, has_key, records
from tui.importers.formats import Export, Reading, Talk
from tui.importers.html_text import markdown
from tui.importers.json_lines import items_in, object_in, objects_in, text_in
from tui.importers.json_paths import objects_at, text_at, time_at
from tui.importers.made_ids import made_id

_SITTING = timedelta(minutes=30)
"""Between two prompts of one conversation at most, as in other readers of these files."""
_NAME = re.compile(r"\b(Gemini|Bard)\b")
_NAMED = re.compile(rb'"(?:header|products)"\s*:\s*(?:\[\s*)?"[^"]*(?:Gemini|Bard)')
_PROMPTED = re.compile(
    r"(Prompted with:|Asked (Gemini|Bard):|Prompted|Asked|Said|Branched|Answered"
    r"|Eingegebener Prompt:)\s"
)
_OTHER = re.compile(
    r"(Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned"
    r"|Renamed|Exported|Updated)\s"
)
_OTHER_ACTIVITY = "record of other activity"
_ATTACHED = re.compile(r"\s*(Attached \d+ files?|\d+ Datei(en|\(en\))? angehängt)\.?\s*\Z")


class GeminiApps(Export):
    """Gemini's apps, whose prompts are titles behind a verb, and whose answers are HTML."""

    program, title = "gemini-apps", "Gemini Apps"
    created = ("begun",)
    updated = ("ended",)
    model = ()
    source_id = ("begun",)

    def recognises(self, path: Path, head: bytes) -> bool:
        start = beginning(path, head)
        return has_key(start, b"header", b"title", b"time") and _NAMED.search(start) is not None

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        sitting: list[p.Json] = []
        for record in records(source, ledger):
            if not _is_ours(record):
                ledger.skipped[_OTHER_ACTIVITY] += 1
                continue
            if sitting and not _is_near(sitting[-1], record):
                yield _talk(source.path, sitting)
                sitting = []
            sitting.append(record)
        if sitting:
            yield _talk(source.path, sitting)

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        answer = joined(
            markdown(text_at(each, "html")) for each in objects_in(record.get("safeHtmlItem"))
        )
        text, time = text_at(record, "title"), time_at(record, "time")
        prompted = _PROMPTED.match(text)
        # Of a verb in another language, the answer says that it was a prompt.
        if _OTHER.match(text) or not (prompted or answer):
            reading.ledger.skipped[_OTHER_ACTIVITY] += 1
            return ()
        reading.ledger.read += 1
        files = [placeholder("file", each) for each in _files(record)]
        words = text[prompted.end() :] if prompted else text
        asked = joined([_ATTACHED.sub("", words) if files else words, *files])
        # Not of the conversation: a later export may have lost the prompt that began it.
        name = made_id(self.program, time, words)
        found = [p.ForeignMessage(name, "user", asked, time)] if asked else []
        if answer:
            found.append(p.ForeignMessage(f"{name}-answer", "assistant", answer, time))
        return tuple(found)


def _is_ours(record: p.Json) -> bool:
    labels = [record.get("header"), *items_in(record.get("products"))]
    return any(_NAME.search(text_in(label)) for label in labels)


def _is_near(one: p.Json, other: p.Json) -> bool:
    """True if two prompts are of one sitting."""
    times = [time for each in (one, other) if (time := time_at(each, "time"))]
    moments = [moment for time in times if (moment := parse_utc(time))]
    return any(abs(later - earlier) <= _SITTING for earlier, later in pairwise(moments))


def _talk(path: Path, sitting: list[p.Json]) -> Talk:
    ordered = sorted(sitting, key=lambda each: time_at(each, "time") or "")
    facts = {"begun": text_at(ordered[0], "time"), "ended": ordered[-1].get("time")}
    return Talk(path=path, facts=facts, records=lambda _: ordered)


def _files(record: p.Json) -> Iterator[str]:
    """The names of the files that a prompt came with."""
    listed = [record.get("imageFile"), *items_in(record.get("attachedFiles"))]
    listed += [each for each in objects_at(record, "subtitles") if "url" in each]
    names = [text_in(each) or text_at(object_in(each), "name", "url") for each in listed]
    return (name.removeprefix("- ").strip() for name in dict.fromkeys(names) if name)


READER = GeminiApps().reader()
