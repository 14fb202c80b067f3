"""The kinds of pictures that models take, and their limits."""

PICTURE_BYTES = 5_000_000
"""The size limit of one picture: the largest vendors refuse more."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}


def media_type_of(data: bytes) -> str | None:
    """Recognise a picture by its first bytes, whatever its name; ``None`` if it is none."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in _BEGINNINGS if data.startswith(beginning)), None)


def file_ending(data: bytes) -> str:
    """Choose the ending of a picture's file name by its bytes; ``.bin`` if it is none."""
    return _ENDINGS.get(media_type_of(data) or "", ".bin")
