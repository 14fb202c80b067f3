"""Incomplete Markdown, drawn as what it most likely becomes.

Emphasis, code and links have their style from the first letter on: raw marks would stand there
until the closing one, and then all of the text would jump. Ambiguous marks are hidden until they
are decided; only marks are ever left out or put back, never letters.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from markdown_it.rules_inline import StateInline, autolink, backtick, image, link
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

from tui.widgets.transcript.rich_markdown import RichMarkdown, make_parser

_LONGEST = 240
"""The distance, in characters, within which a closing mark is expected."""

_LONGEST_TARGET = 2000

# Escapes, entities, marks, and the beginnings of links and images.
_UNDECIDED = re.compile(r"(?<!\\)(?:\\\\)*(\\|&#?\w{0,8}|(?:[*_~`!<]|\[)+)\Z", re.ASCII)
_NO_TEXT = re.compile(r"[ \t>|:-]*")
_CODE = re.compile(r"(?<!`)(?:`(?=[^`\s])[^`\n]*|``(?=[^`\s])(?:[^`\n]|`(?!`))*)\Z")
_NO_LABEL = re.compile(r"\[(?:[^\w`*]|\d|[xX](?:\]|\Z))")
_TARGET = re.compile(r"\(\s*\S*(?:\s+[\"'(][^\n]*)?\Z")
_ADDRESS = re.compile(r"<(https?://[^\s<>]*)\Z", re.IGNORECASE)
_NO_WORD = re.compile(r"[\s.,;:!?/=)\]}+\-|&%$@#<>\\^]")


class StreamingMarkdown(RichMarkdown):
    """A block of Markdown that is still arriving."""

    @staticmethod
    def parse(source: str) -> list[Token]:
        """The tokens, with open marks in the last text closed."""
        tokens = RichMarkdown.parse(source)
        last = next((each for each in reversed(tokens) if each.content.strip()), None)
        if last is not None and last.type == "inline" and _is_at_end(last, source):
            # Without marks at the end whose meaning depends on the next character.
            text = last.content.rstrip()
            if found := _UNDECIDED.search(text):
                text = text[: found.start(1)].rstrip()
            last.children = PARSER.inline.parse(text, PARSER, {}, [])
            for each in last.children:
                # As the parser does with a whole text: escapes and entities.
                each.type = "text" if each.type == "text_special" else each.type
        return tokens


def _is_at_end(token: Token, source: str) -> bool:
    """True if a text is the end of what has arrived: a cell or a title may be complete."""
    lines = source.rstrip().split("\n")
    # The rule that was added below a table's heading.
    while len(lines) > 1 and _NO_TEXT.fullmatch(lines[-1]):
        lines.pop()
    return lines[-1].rstrip().endswith(token.content.rpartition("\n")[2].rstrip())


def _backtick(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- as the parser calls it
    found = _CODE.match(state.src, state.pos, state.posMax)
    if found is None or len(found[0]) > _LONGEST:
        return backtick(state, silent)
    if not silent:
        token = state.push("code_inline", "code", 0)
        token.content = found[0].lstrip("`")
        token.markup = found[0].removesuffix(token.content)
    state.pos = state.posMax
    return True


def _link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- as the parser calls it
    if link(state, silent):
        return True
    if state.src[state.pos] != "[" or state.linkLevel:
        return False
    end = _end_of_label(state, state.pos)
    # A done list item, an index and a source number have brackets, too.
    before = state.src[state.pos - 1] if state.pos else " "
    is_other = before.isalnum() or before in ")]_`" or _NO_LABEL.match(state.src, state.pos)
    if end is None or is_other:
        return False
    if not silent:
        position, state.pos, state.posMax = state.posMax, state.pos + 1, end
        state.push("u_open", "u", 1)
        state.linkLevel += 1
        state.md.inline.tokenize(state)
        state.linkLevel -= 1
        state.push("u_close", "u", -1)
        state.posMax = position
    state.pos = state.posMax
    return True


def _image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- as the parser calls it
    if image(state, silent):
        return True
    if not state.src.startswith("![", state.pos):
        return False
    end = _end_of_label(state, state.pos + 1)
    if end is None:
        return False
    if not silent:
        words = state.src[state.pos + 2 : end]
        closed = "]" if end < state.posMax else ""
        state.push("text", "", 0).content = f"[image: {words}{closed}"
    state.pos = state.posMax
    return True


def _end_of_label(state: StateInline, start: int) -> int | None:
    """The end of the text of a link or image without a target yet; none for others."""
    end = state.md.helpers.parseLinkLabel(state, start, disableNested=True)
    if end < 0:
        label = state.src[start : state.posMax]
        is_open = "\n" not in label and "]" not in label and len(label) <= _LONGEST
        return state.posMax if is_open else None
    rest = state.src[end + 1 : state.posMax]
    if not rest:
        return end
    is_open = rest.count("(") > rest.count(")") and len(rest) <= _LONGEST_TARGET
    return end if is_open and _TARGET.match(rest) else None


def _autolink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- as the parser calls it
    found = _ADDRESS.match(state.src, state.pos, state.posMax)
    if found is None:
        return autolink(state, silent)
    if not silent:
        state.push("u_open", "u", 1)
        state.push("text", "", 0).content = found[1]
        state.push("u_close", "u", -1)
    state.pos = state.posMax
    return True


def _close_pairs(state: StateInline) -> None:
    """Close each opening mark at the end of the text.

    A mark inside a closed pair stays open: nothing can close it any more.
    """
    delimiters, closed_until = state.delimiters, -1
    opened: list[int] = []
    for place, each in enumerate(delimiters):
        if each.end >= 0:
            closed_until = max(closed_until, each.end)
        elif each.open and place > closed_until and _begins_a_word(state, each):
            opened.append(place)
    for place in reversed(opened):
        opening = delimiters[place]
        token = state.push("text", "", 0)
        token.content = state.tokens[opening.token].content
        opening.end = len(delimiters)
        closing = replace(opening, token=len(state.tokens) - 1, end=-1, open=False, close=True)
        delimiters.append(closing)


def _begins_a_word(state: StateInline, mark: Delimiter) -> bool:
    """True if a mark looks like emphasis, not like a product, pattern or argument."""
    before, run, after = _around(state.tokens, mark.token)
    if len(after) > _LONGEST:
        return False
    if before[-1:].isascii() and (before[-1:].isalnum() or re.search(r"\w\($", before)):
        return False
    return len(run) > 1 or not _NO_WORD.match(after)


def _around(tokens: Sequence[Token], place: int) -> tuple[str, str, str]:
    """The text before a run of marks, the run, and all text after it."""
    mark = tokens[place].content[0]
    begin = end = place
    while begin and tokens[begin - 1].content and not tokens[begin - 1].content.strip(mark):
        begin -= 1
    while end < len(tokens) and tokens[end].content and not tokens[end].content.strip(mark):
        end += 1
    before = tokens[begin - 1].content if begin else ""
    run = "".join(token.content for token in tokens[begin:end])
    return before, run, "".join(token.content for token in tokens[end:])


PARSER = make_parser()
for _name, _rule in {
    "backticks": _backtick,
    "link": _link,
    "image": _image,
    "autolink": _autolink,
}.items():
    PARSER.inline.ruler.at(_name, _rule)
PARSER.inline.ruler2.after("balance_pairs", "close_pairs", _close_pairs)
