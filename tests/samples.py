"""Tables of cases that stand beside a test, in ``samples/NAME.jsonl``: a row a line."""

import json
from pathlib import Path


def rows(test, name):
    """The rows of a table; ``test`` is the file of the test."""
    lines = Path(test).with_name("samples").joinpath(f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in lines.removesuffix("\n").split("\n")]
