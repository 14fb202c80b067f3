"""``sibyl-tui config``: what is set, where, and what could be."""

import os
from argparse import Namespace

from tui.cli import output
from tui.config import Flags, load_settings, paths
from tui.config.writing import as_toml, example


def run(chosen: Namespace) -> int:
    """Print what the verb asks for; only ``show`` needs a file without mistakes."""
    file = paths.config_file(os.environ)
    match chosen.command:
        case "config path":
            output.put_line(str(file))
        case "config example":
            output.put(example())
        case _:
            flags = Flags(model=chosen.model, scope=chosen.scope)
            output.put(as_toml(load_settings(file, os.environ, flags)))
    return 0
