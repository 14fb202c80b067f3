"""The words of Mistral, as the tests' own server says them."""

from tests.providers.speech import OpenAIExchange, chunk


class MistralExchange(OpenAIExchange):
    """Chat completions, with thinking as a piece of the content."""

    def thinking(self, piece: str) -> None:
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": piece}]}
        self.event(chunk({"content": [thought]}))
