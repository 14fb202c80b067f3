"""The turns of a store of Cursor's command line, whose words are in protobuf's wire format.

The root refers to turns, a turn to a prompt and to the steps of its answer; the numbers of the
fields are those that Cursor's agent has used since March 2026.
"""

from collections.abc import Callable, Iterator

from tui.importers.protocol import Json, Ledger

_TURNS = 8
_AGENT_TURN = 1
_PROMPT, _STEP = 1, 2
_TEXT = 1
_STEPS = {2: "tool call", 3: "thinking"}
"""Kinds of steps whose contents are not known."""
_FIXED = {1: 8, 5: 4}
"""Bytes of a value by its wire type."""


def turns(root: str, read: Callable[[str], bytes], ledger: Ledger) -> Iterator[Json]:
    """Read the prompts and answers below a root, as messages with ``role`` and ``content``."""
    for turn in _all(read(root), _TURNS):
        for agent_turn in _all(read(turn.hex()), _AGENT_TURN):
            for prompt in _all(agent_turn, _PROMPT):
                yield {"role": "user", "content": _text(read(prompt.hex()))}
            for step in _all(agent_turn, _STEP):
                yield from _answer(read(step.hex()), ledger)


def _answer(step: bytes, ledger: Ledger) -> Iterator[Json]:
    for number, value in _fields(step):
        if number == _TEXT:
            yield {"role": "assistant", "content": _text(value)}
        else:
            ledger.skipped[_STEPS.get(number, "unknown record")] += 1


def _text(data: bytes) -> str:
    return b"".join(_all(data, _TEXT)).decode("utf-8", "replace")


def _all(data: bytes, wanted: int) -> list[bytes]:
    return [value for number, value in _fields(data) if number == wanted]


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that are bytes, with their numbers; of damaged data, those before the damage."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            _, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            yield number, data[at : at + length]
            at += length
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends; at most the ten bytes that 64 bits take."""
    value = 0
    for shift, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value, at + shift + 1
    return 0, len(data)
