"""The README as the page of the package, where relative links lead nowhere."""  # noqa: INP001

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_HERE = r"(?!https?:|#)"


class PackagePage(MetadataHookInterface):
    """Links lead to the files of the version that is built, pictures come from there."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme."""
        place = f"sibyl-tui/sibyl-tui/{{}}v{metadata['version']}/"
        page = f"https://github.com/{place.format('blob/')}"
        raw = f"https://raw.githubusercontent.com/{place.format('')}"
        text = Path(self.root, "README.md").read_text("utf-8")
        text = re.sub(rf"(!\[[^]]*\]\(){_HERE}", rf"\1{raw}", text)
        text = re.sub(rf"(\]\(){_HERE}", rf"\1{page}", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
