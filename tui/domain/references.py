"""References in a prompt: ``@path`` or ``@"path with blanks"`` at the beginning of a word.

A reference counts only if its thing exists, which nobody knows here, and if its ``@`` is the user's
own: typed, completed or dropped. Everything else with an ``@`` is plain text, above all what was
pasted. The editor has another character for such an ``@`` (a *marked* text), so that undo, cut and
put back need no bookkeeping. Everywhere else a prompt goes with its *own words*, those that are
references of the user's: in the queue by prompt, in a draft on disk for all of it, in a journal by
the attachments. A word that is not among them refers to nothing, so that what is lost is safe.
"""

import re
from collections.abc import Collection, Iterator

import msgspec

from tui.domain.text import late_pattern, make_visible_name

SIGN = "@"
OWN_SIGN = "\ufdd0"
"""The user's own ``@`` in a marked text: a noncharacter, which no other text needs."""
NO_WORDS: frozenset[str] = frozenset()
_PUNCTUATION = ".,;:!?)]}>'\"`"
_MOST_TRIMMED = 8
"""Characters that are left out one by one, before all of the punctuation is."""
_KEPT_DIGITS = 16

# The literal comes first, so that a long text is searched for it alone.
_SIGN = r"@(?<![^\s(\[{<'\"`]@)"
_PLAIN = r'[^\s"@]\S*'
# A backslash always takes the next character with it: otherwise a long row of them could be read
# in exponentially many ways.
_QUOTED = r'(?:\\[^\n]|[^"\\\n])'
_REFERENCE = late_pattern(rf'{_SIGN}(?:"({_QUOTED}+)"|({_PLAIN}))')
_UNFINISHED = late_pattern(rf'{_SIGN}(?:"({_QUOTED}*)|({_PLAIN}|))\Z')
_ESCAPED = late_pattern(r'\\(["\\])')
_TO_ESCAPE = late_pattern(r'["\\]')
_NEEDS_NO_QUOTES = late_pattern(_PLAIN)
_NOT_TYPED = late_pattern("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_KEPT = late_pattern(rf"image-([0-9a-f]{{{_KEPT_DIGITS}}})\.png")


class Reference(msgspec.Struct, frozen=True):
    """A place in a text that may refer to a file, a folder or a picture."""

    start: int
    """The place of the ``@``."""
    end: int
    path: str
    """As written, without the ``@``, quotes and escapes."""
    quoted: bool = False

    @property
    def candidates(self) -> tuple[str, ...]:
        """The paths that may be meant, best first: punctuation behind a word may belong to it."""
        trimmed = self.path.rstrip(_PUNCTUATION)
        if self.quoted or not trimmed:
            return (self.path,)
        shortest = max(len(trimmed), len(self.path) - _MOST_TRIMMED)
        ends = range(len(self.path), shortest - 1, -1)
        return tuple(dict.fromkeys([*(self.path[:end] for end in ends), trimmed]))

    @property
    def names(self) -> frozenset[str]:
        """The names that an attachment may have in a message."""
        return frozenset(map(make_visible_name, self.candidates))


def references(text: str, own: Collection[str] | None = None) -> Iterator[Reference]:
    """Find the references in a text, in order; with ``own`` only those among these words."""
    found = map(_found, _REFERENCE.finditer(text))
    return found if own is None else (each for each in found if _word(text, each) in own)


def words_in(text: str) -> frozenset[str]:
    """The words of a text that are references if they are the user's own."""
    return frozenset(_word(text, each) for each in references(text)) if SIGN in text else NO_WORDS


def words_naming(text: str, names: Collection[str]) -> frozenset[str]:
    """The words of a text that refer to one of these names."""
    found = (each for each in references(text) if not each.names.isdisjoint(names))
    return frozenset(_word(text, each) for each in found)


def mark(text: str, own: Collection[str]) -> str:
    """Mark the references of a text that are among the user's own words."""
    text = without_marks(text)
    for each in references(text, own) if own else ():
        text = f"{text[: each.start]}{OWN_SIGN}{text[each.start + 1 :]}"
    return text


def without_marks(text: str) -> str:
    """Replace what would be a mark in a foreign text."""
    return text.replace(OWN_SIGN, "\ufffd")


def unmarked(text: str) -> str:
    """Show the marks of a text as the ``@`` that they are."""
    return text.replace(OWN_SIGN, SIGN)


def own_words(marked: str) -> frozenset[str]:
    """The words of a marked text that are the user's own references."""
    if OWN_SIGN not in marked:
        return NO_WORDS
    text = unmarked(marked)
    own = (each for each in references(text) if marked[each.start] == OWN_SIGN)
    return frozenset(_word(text, each) for each in own)


def unfinished_reference(text: str) -> Reference | None:
    """Find the reference that is still typed at the end of a text, without its last quote."""
    # Most texts have none: the search would try each place of a long row.
    match = _UNFINISHED.search(text, text.rfind("\n") + 1) if SIGN in text else None
    return _found(match) if match else None


def reference_to(path: str) -> str | None:
    """Write the reference to a path; ``None`` for a name that nobody can type.

    Those have control characters, or bytes that are not UTF-8.
    """
    if not path or _NOT_TYPED.search(path):
        return None
    if _NEEDS_NO_QUOTES.fullmatch(path) and path[-1] not in _PUNCTUATION:
        return SIGN + path
    escaped = _TO_ESCAPE.sub(r"\\\g<0>", path)
    return f'{SIGN}"{escaped}"'


def reference_to_picture(sha256: str) -> str:
    """Write the reference to a picture that only the store has."""
    return f"{SIGN}image-{sha256[:_KEPT_DIGITS]}.png"


def kept_picture(path: str) -> str | None:
    """The first digits of the hash in the path of a picture that only the store has."""
    match = _KEPT.fullmatch(path)
    return match[1] if match else None


def _word(text: str, reference: Reference) -> str:
    return text[reference.start : reference.end]


def _found(match: re.Match[str]) -> Reference:
    quoted, plain = match.groups()
    if quoted is None:
        return Reference(match.start(), match.end(), plain)
    return Reference(match.start(), match.end(), _ESCAPED.sub(r"\1", quoted), quoted=True)
