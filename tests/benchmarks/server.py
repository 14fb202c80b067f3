"""A model's server that says so many tokens a second, in a process of its own.

``python -m tests.benchmarks.server RATE KIND BYTES`` prints its address, and serves until its
standard input is closed. What it says is Markdown in blocks, or one fence of code.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice

from tests.benchmarks.programs import ROOT
from tests.providers.chat_server import ChatServer, Exchange, Reply

TOKEN = 5
"""Characters of a token."""

LAST_WORDS = "(all was said)"
_PARAGRAPH = (
    "## Part {n}\n\nThe **first** request renews the token, and the `second` one still carries the"
    " old one. Neither of them is wrong by itself: the server takes both in their order.\n\n"
    "- keep the old token for as long as a request may take\n- compare the ids, *not* the tokens\n"
    "- log what was refused\n\n```python\ndef part_{n}(request):\n    return load(request)\n```\n\n"
)
_CODE = "    value_{n} = compute(value_{n}, 'with a text', 42)  # and say why, number {n}\n"


def markdown(size: int) -> str:
    """An answer of about so many characters, in blocks."""
    return _context_use("", _PARAGRAPH, size)


def fence(size: int) -> str:
    """An answer that is one block of code, which never closes before its end."""
    return _context_use("```python\n", _CODE, size) + "```\n"


KINDS = {"markdown": markdown, "fence": fence}


@contextmanager
def serving(rate: int, kind: str, size: int) -> Iterator[str]:
    """The address of a server that answers each request so."""
    command = [sys.executable, "-m", "tests.benchmarks.server", str(rate), kind, str(size)]
    server = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield server.stdout.readline().strip()
    finally:
        server.communicate()


def says(text: str, rate: int) -> Reply:
    """The text, token by token, at an even pace, and the last words."""
    tokens = [text[start : start + TOKEN] for start in range(0, len(text), TOKEN)]

    def reply(exchange: Exchange) -> None:
        exchange.begin(usage=True)
        begin = time.perf_counter()
        for place, token in enumerate(tokens):
            time.sleep(max(0.0, begin + place / rate - time.perf_counter()))
            exchange.text(token)
        exchange.text(f"\n{LAST_WORDS}")
        exchange.end()

    return reply


def _context_use(head: str, piece: str, size: int) -> str:
    pieces = (piece.format(n=number) for number in count())
    return (head + "".join(islice(pieces, size // len(piece) + 1)))[:size] + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rate", type=int)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("size", type=int)
    chosen = parser.parse_args()
    with ChatServer(says(KINDS[chosen.kind](chosen.size), chosen.rate)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
