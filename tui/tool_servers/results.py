"""Results of calls as text for a model."""

import json
from collections.abc import Mapping
from typing import Any, cast

from tui.domain.text.safe_text import without_surrogates
from tui.domain.tool_servers import ToolResult
from tui.files import size_words

LONGEST_RESULT = 100 * 1024
"""In bytes."""


def result_of(raw: Mapping[str, Any]) -> ToolResult:
    """The text of a result: its texts, labels of its other parts, else its structure as JSON."""
    content = raw.get("content")
    listed = cast("list[object]", content) if isinstance(content, list) else []
    parts = [cast("dict[str, Any]", part) for part in listed if isinstance(part, dict)]
    texts = [_text(part) for part in parts]
    structure = raw.get("structuredContent")
    if structure is not None and all(part.get("type") != "text" for part in parts):
        texts.append(json.dumps(structure, ensure_ascii=False))
    return ToolResult(bounded("\n".join(texts)), failed=raw.get("isError") is True)


def bounded(text: str) -> str:
    """Cut a text at the limit, and say so at its end."""
    data = without_surrogates(text).encode()
    if len(data) <= LONGEST_RESULT:
        return data.decode()
    kept = data[:LONGEST_RESULT].decode("utf-8", "ignore")
    return f"{kept}\n[Cut: the first {size_words(LONGEST_RESULT)} of {size_words(len(data))}.]"


def _text(part: Mapping[str, Any]) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind}:
            return f"[{kind}{_kind_words(part)}]"
        case {"type": "resource", "resource": {"text": str(text), **about}}:
            return f"[resource {about.get('uri', '')}]\n{text}"
        case {"type": "resource", "resource": {**about}}:
            return f"[resource {about.get('uri', '')}{_kind_words(about)}]"
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[resource {uri}]"
        case _:
            return "[content of an unknown kind]"


def _kind_words(about: Mapping[str, Any]) -> str:
    kind = about.get("mimeType")
    return f": {kind}" if isinstance(kind, str) else ""
