"""What servers were heard to send, and what becomes of it: ``samples/*.txt``.

A record is ``# name``, the very bytes, and ``= result``; bytes that are no text stand as ``%0D``.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes


def samples(name: str) -> Iterator[tuple[str, bytes, str]]:
    """The name, the bytes and the result of each record in a file."""
    whole = Path(__file__).with_name("samples").joinpath(f"{name}.txt").read_bytes()
    for record in whole.removesuffix(b"\n").split(b"\n# ")[1:]:
        named, _, rest = record.partition(b"\n")
        body, _, result = rest.rpartition(b"\n= ")
        yield unquote(named.decode()), unquote_to_bytes(body), unquote(result.decode())
