"""What an Ollama says of its model, which the first request loads."""

from typing import Any

TRAINED = {"general.architecture": "qwen3", "qwen3.context_length": 40_960}


class OllamaFacts:
    """The facts of an Ollama with the model ``qwen3``; ``load`` gives it the window ``loaded``."""

    def __init__(self, loaded: int | None, parameters: str = "", *capabilities: str) -> None:
        self._loaded: int | None = None
        self._later = loaded
        self._shown: dict[str, Any] = {"parameters": parameters, "model_info": TRAINED}
        if capabilities:
            self._shown["capabilities"] = capabilities

    @property
    def facts(self) -> dict[str, Any]:
        """For a server of the tests."""
        return {"/api/ps": self._running, "/api/show": lambda: self._shown}

    def load(self) -> None:
        self._loaded = self._later

    def _running(self) -> dict[str, Any]:
        models = [{"name": "qwen3:latest", "context_length": self._loaded}] if self._loaded else []
        return {"models": models}
