"""The choice of a dialect; only the library of the chosen one is imported."""

from tui.providers.catalog import ModelChoice
from tui.providers.dialect import Dialect
from tui.providers.extras import require_extra


def dialect_of(choice: ModelChoice) -> Dialect:
    """Create the dialect of the chosen server.

    Raises ``ModelUnavailable`` if its extra is missing.
    """
    require_extra(choice.dialect, choice.provider)
    match choice.dialect:
        case "anthropic":
            from tui.providers.anthropic_dialect import AnthropicDialect

            return AnthropicDialect(choice)
        case "responses":
            from tui.providers.responses_dialect import ResponsesDialect

            return ResponsesDialect(choice)
        case "google":
            from tui.providers.google_dialect import GoogleDialect

            return GoogleDialect(choice)
        case "mistral":
            from tui.providers.mistral_dialect import MistralDialect

            return MistralDialect(choice)
        case "bedrock":
            from tui.providers.bedrock_dialect import BedrockDialect

            return BedrockDialect(choice)
        case _:
            from tui.providers.openai_dialect import OpenAIDialect

            return OpenAIDialect(choice)
