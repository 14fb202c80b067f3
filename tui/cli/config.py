"""``sibyl-tui config``: the settings in force, the path of the file, and an example."""

import os
from argparse import Namespace

from tui.cli import output
from tui.config import Flags, load_settings, paths
from tui.config.writing import as_toml, example


def run(chosen: Namespace) -> int:
    """Print the result of the verb; only ``show`` reads the file and reports its errors."""
    file = paths.config_file(os.environ)
    match chosen.command:
        case "config path":
            output.put_line(str(file))
        case "config example":
            output.put(example())
        case _:
            flags = Flags(model=chosen.model, scope=chosen.scope, store=chosen.store)
            output.put(as_toml(load_settings(file, os.environ, flags)))
    return 0
