"""Words about imports."""

from collections.abc import Mapping

from tui.domain.text.labels import plural

_UNIT = 1000.0


def bytes_words(count: int) -> str:
    """Format a number of bytes: ``310.2 MB``."""
    size, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < _UNIT:
            break
        size, unit = size / _UNIT, larger
    return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def skipped_words(read: int, skipped: Mapping[str, int], most: int | None = None) -> str:
    """Tell what became of the records of a source: ``5 records read, 3 skipped (3 thinking)``.

    At most ``most`` reasons are named.
    """
    words = f"{plural(read, 'record')} read"
    if not skipped:
        return words
    by_number = sorted(skipped.items(), key=lambda each: (-each[1], each[0]))
    reasons = ", ".join(f"{count} {reason}" for reason, count in by_number[:most])
    if most is not None and len(by_number) > most:
        reasons += f", {sum(count for _, count in by_number[most:])} others"
    return f"{words}, {sum(skipped.values())} skipped ({reasons})"
