"""Results of calls as text for a model."""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from tui.domain.text.safe_text import without_surrogates
from tui.domain.tool_servers import ToolResult
from tui.files import size_words

LONGEST_RESULT = 100 * 1024
"""In bytes."""

_ABOUT = frozenset({"_meta", "isError", "structuredContent"})


def result_of(raw: Mapping[str, Any], without_secrets: Callable[[str], str] = str) -> ToolResult:
    """The text of a result: its texts, labels of its other parts, else its structure as JSON."""
    content = raw.get("content")
    parts = cast("list[object]", content) if isinstance(content, list) else [content]
    texts = [_text(part) for part in parts if part is not None]
    structure = raw.get("structuredContent")
    if "content" not in raw and structure is None:
        structure = {key: value for key, value in raw.items() if key not in _ABOUT} or None
    if structure is not None and not any(_is_text(part) for part in parts):
        texts.append(_json(structure))
    failed = raw.get("isError") is True
    text = "\n".join(texts) or ("It failed, and said nothing." if failed else "")
    return ToolResult(bounded(without_secrets(text)), failed=failed)


def bounded(text: str) -> str:
    """Cut a text at the limit, and say so at its end."""
    data = without_surrogates(text).encode()
    if len(data) <= LONGEST_RESULT:
        return data.decode()
    kept = data[:LONGEST_RESULT].decode("utf-8", "ignore")
    return f"{kept}\n[Cut: the first {size_words(LONGEST_RESULT)} of {size_words(len(data))}.]"


def _is_text(part: object) -> bool:
    match part:
        case str() | {"type": "text"} | {"text": str()}:
            return True
        case _:
            return False


def _text(part: object) -> str:
    match cast("str | dict[str, Any]", part):
        case str(text) | {"type": "text", "text": str(text)}:
            return text
        case {"type": "text", "text": value}:
            return _json(value)
        case {"type": "image" | "audio" as kind, **about}:
            return f"[{kind}{_kind_words(about)}]"
        case {"type": "resource", "resource": {"text": str(text), **about}}:
            return f"[resource {about.get('uri', '')}]\n{text}"
        case {"type": "resource", "resource": {**about}}:
            return f"[resource {about.get('uri', '')}{_kind_words(about)}]"
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[resource {uri}]"
        case {"text": str(text), **about}:
            kind = about.get("type")
            return text if kind is None else f"[{kind}]\n{text}"
        case {"type": str(kind)}:
            return f"[content of an unknown kind: {kind}]"
        case _:
            return _json(part)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _kind_words(about: Mapping[str, Any]) -> str:
    kind = about.get("mimeType")
    return f": {kind}" if isinstance(kind, str) else ""
