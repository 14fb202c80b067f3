"""Parts of a request that a model or its server refused; later requests go without them."""

import re
from collections.abc import Iterator
from typing import Literal

from tui.providers.protocol import ModelRequest

Part = Literal["tools", "system prompt"]

_NOT_TAKEN = re.compile(
    r"(?:not|n't|un)[ -]?(?:be )?(?:support|allow|available|enabled|implement)"
    r"|requires? --|support tool",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b|\bfunction[ -]?call", re.IGNORECASE)
_SYSTEM = re.compile(r"\b(?:system|developer) (?:role|message|prompt|instruction)", re.IGNORECASE)
# Roles do alternate: a template that counts the system prompt is the one to say so.
_ODD_ROLES = re.compile(r"roles must alternate", re.IGNORECASE)


class PartRefused(Exception):
    """A server refused a part of a request."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)
        self.part: Part = part


class RefusedParts:
    """The refused parts of one model's requests, for as long as the program runs."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._parts: set[Part] = set()

    def add(self, part: Part) -> None:
        """Note a refusal."""
        self._parts.add(part)

    def left_out(self, request: ModelRequest) -> ModelRequest:
        """The same request without them."""
        if "tools" in self._parts:
            request = request.without_tools()
        return request.without_system_prompt() if "system prompt" in self._parts else request

    def notices(self, request: ModelRequest) -> Iterator[str]:
        """Describe for the user what is left out of a request."""
        if request.tools and "tools" in self._parts:
            yield (
                f"{self._model} does not take tools: asked without them. To switch them off for"
                f' it, add tools = false to [models."{self._model}"] in config.toml.'
            )
        if request.system_prompt and "system prompt" in self._parts:
            yield f"{self._model} does not take a system prompt: sent it with the first message."


def part_refused(said: str, request: ModelRequest) -> Part | None:
    """Find the part of a request that a server's message refuses."""
    if request.system_prompt and _ODD_ROLES.search(said):
        return "system prompt"
    if not _NOT_TAKEN.search(said):
        return None
    if request.tools and _TOOLS.search(said):
        return "tools"
    return "system prompt" if request.system_prompt and _SYSTEM.search(said) else None
