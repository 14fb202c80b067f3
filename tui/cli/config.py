"""``sibyl-tui config`` and ``completion``: settings in force, and scripts for shells."""

import os
from argparse import Namespace
from contextlib import suppress

from tui.cli import console
from tui.cli.parser import build
from tui.config import paths
from tui.config.loading import Flags, load_settings
from tui.config.writing import as_toml, example
from tui.domain.timestamps import utc_now
from tui.errors import ModelUnavailable
from tui.providers.catalog import Catalog
from tui.storage.stores import open_store


def run(chosen: Namespace) -> int:
    """Print the result of the command; only ``show`` reads the file and reports its errors."""
    file = paths.config_file(os.environ)
    match chosen.command:
        case "completion":
            import shtab

            console.put_line(shtab.complete(build(), chosen.shell))
        case "config path":
            console.put_line(str(file))
        case "config example":
            console.put(example())
        case _:
            flags = Flags(model=chosen.model, scope=chosen.scope, store=chosen.store)
            settings = load_settings(file, os.environ, flags)
            # Settings that the screen would not start with are refused here, too.
            from tui.app.appearance import Appearance, check_appearance

            root = paths.data_directory(os.environ, chosen.data_dir)
            open_store(settings.config.store or "", root, utc_now)
            with suppress(ModelUnavailable):
                Catalog(settings, os.environ, lambda _: None).choose()
            check_appearance(Appearance.of(settings))
            console.put(as_toml(settings))
    return 0
