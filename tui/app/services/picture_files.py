"""Files of pictures for the programs that show them; they are there until this program ends."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path


class PictureFiles:
    """Writes each picture to a folder of its own that only the user can enter."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._folders: list[Path] = []

    def write(self, name: str, data: bytes) -> Path:
        """Write a new file. Raises ``OSError``."""
        # Imported here: most runs open no picture.
        import tempfile

        # The user's directory of runtime files is in memory, and removed at log-out.
        room = self._environment.get("XDG_RUNTIME_DIR", "")
        is_there = Path(room).is_absolute() and os.access(room, os.W_OK | os.X_OK)
        folder = Path(tempfile.mkdtemp(prefix="sibyl-tui-", dir=room if is_there else None))
        self._folders.append(folder)
        path = folder / name
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(data)
        return path

    def remove(self) -> None:
        """Remove all files that were written."""
        while self._folders:
            shutil.rmtree(self._folders.pop(), ignore_errors=True)
