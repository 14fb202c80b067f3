"""Answers that a service exports as HTML, as the Markdown that they were."""

import re
from html.parser import HTMLParser

_SPACES = re.compile(r"\s+")
_BLOCKS = {"p", "div", "ul", "ol", "table", "blockquote", "pre", "hr", "section", "article"}
_HEADING = re.compile(r"h([1-6])")
_LANGUAGE = re.compile(r"(?:^|\s)lang(?:uage)?-([\w+#.-]+)")
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
_UNSEEN = {"script", "style"}
_DEEPEST = 8
_MOST = 1024 * 1024
"""Characters that are converted: the parser may take a time that grows faster than its text."""


def markdown(html: str) -> str:
    """Convert HTML to Markdown; tags of no known meaning leave their words.

    A text that is far longer than answers are stays as it is.
    """
    if len(html) > _MOST:
        return html
    parser = _Markdown()
    parser.feed(html)
    parser.close()
    return "".join(parser.parts).strip()


class _Markdown(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._newlines = 2
        """At the end of what was written; the beginning counts as a paragraph's."""
        self._lists: list[int] = []
        """The number of the last item of each list; 0 of one without numbers."""
        self._links: list[str] = []
        self._quotes = self._unseen = self._cells = self._rows = 0
        self._in_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag in _UNSEEN:
            self._unseen += 1
        elif heading := _HEADING.fullmatch(tag):
            self._break(2)
            self._write("#" * int(heading[1]) + " ")
        elif tag in _BLOCKS:
            self._open_block(tag, named)
        elif tag == "br":
            self._write("\n")
        elif tag == "li":
            self._item()
        elif tag == "tr":
            self._break(1)
            self._cells = 0
        elif tag in ("td", "th"):
            self._cells += 1
            self._write("| " if self._cells == 1 else " | ")
        elif tag == "a":
            self._links.append(named.get("href", ""))
            self._write("[" if self._links[-1] else "")
        elif tag == "img":
            self._write(f"[image: {named['alt']}]" if named.get("alt") else "[image]")
        elif tag == "code":
            language = _LANGUAGE.search(named.get("class", ""))
            self._write((language[1] if language else "") + "\n" if self._in_code else "`")
        elif not self._in_code:
            self._write(_MARKS.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag == "pre" and self._in_code:
            self._break(1)
            self._in_code = False
            self._write("```")
            self._break(2)
        elif tag in _BLOCKS or _HEADING.fullmatch(tag):
            self._close_block(tag)
        elif tag == "tr" and self._cells:
            self._write(" |")
            self._rows += 1
            if self._rows == 1:
                self._write("\n" + "| --- " * self._cells + "|")
        elif tag == "a" and self._links:
            address = self._links.pop()
            self._write(f"]({address})" if address else "")
        elif tag == "code" and not self._in_code:
            self._write("`")
        elif not self._in_code:
            self._write(_MARKS.get(tag, ""))

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._in_code and self.parts[-1] == "```":
            self._write("\n")
        elif not self._in_code:
            data = _SPACES.sub(" ", data)
            data = data.lstrip() if self._newlines else data
        self._write(data)

    def _open_block(self, tag: str, named: dict[str, str]) -> None:
        self._quotes += tag == "blockquote"
        # What a list has is no paragraph of its own.
        self._break(1 if self._lists else 2)
        if tag in ("ul", "ol"):
            start = named.get("start", "1")
            number = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 1
            self._lists.append(number if tag == "ol" else 0)
        elif tag == "pre":
            self._write("```")
            self._in_code = True
        elif tag == "hr":
            self._write("---")
            self._break(2)
        elif tag == "table":
            self._rows = 0

    def _close_block(self, tag: str) -> None:
        self._quotes -= tag == "blockquote" and self._quotes > 0
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        self._break(1 if self._lists else 2)

    def _item(self) -> None:
        self._break(1)
        number = self._lists[-1] if self._lists else 0
        if number:
            self._lists[-1] += 1
        depth = min(max(len(self._lists) - 1, 0), _DEEPEST)
        self._write("   " * depth + (f"{number}. " if number else "- "))
        self._newlines = 1

    def _break(self, lines: int) -> None:
        """End the line, and the paragraph if it is to be two lines."""
        self._write("\n" * (lines - self._newlines))

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._quotes and self._newlines and text.strip():
            self.parts.append("> " * min(self._quotes, _DEEPEST))
        self.parts.append(text)
        body = text.rstrip("\n")
        ends = len(text) - len(body)
        self._newlines = ends if body else self._newlines + ends
