"""Cost of answers in time, tokens and money; money and time are never stored."""

import math
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import takewhile

import msgspec

from tui.domain.journal.message import ImageBlock, Message, TokenUsage
from tui.domain.journal.records import CountedRequest
from tui.domain.providers import is_guide
from tui.domain.text import cut_middle, make_visible_line, make_visible_name
from tui.domain.timestamps import parse_utc


class AnswerCost(msgspec.Struct, frozen=True):
    """The cost of an answer of this run, as far as it is known."""

    seconds: float | None = None
    dollars: float | None = None
    """The price by the vendor's list."""


class ContextUse(msgspec.Struct, frozen=True):
    """The use of a model's context window by the last answer and what came before."""

    tokens: int
    window: int
    """The size of the window, in tokens."""

    @property
    def percent(self) -> int:
        """The used share of the window."""
        return round(self.tokens * 100 / self.window)


class ModelUsage(msgspec.Struct, frozen=True):
    """The tokens of a session's requests to one model."""

    model: str
    """Empty if unknown."""
    requests: int
    uncounted: int
    """The requests whose tokens the server did not count."""
    usage: TokenUsage
    dollars: float | None = None
    """The price by the vendor's list; ``None`` if that does not have the model."""


class SessionUsage(msgspec.Struct, frozen=True):
    """The tokens of all requests of a session, by model."""

    models: tuple[ModelUsage, ...]
    price_date: date | None = None
    """The date of the price list; ``None`` if nothing is priced."""

    @property
    def dollars(self) -> float | None:
        """The price of everything that has one."""
        priced = [each.dollars for each in self.models if each.dollars is not None]
        return sum(priced) if priced else None

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models whose tokens were counted, but have no price."""
        models = (each for each in self.models if each.dollars is None)
        return tuple(each.model for each in models if each.usage.total)


def context_tokens(messages: Sequence[Message], through: str, model: str) -> int | None:
    """The tokens of the context after the last answer of a model; ``None`` if unknown.

    ``messages`` are live; those up to the one called ``through`` are summarised.
    """
    sent = takewhile(lambda each: each.id != through, reversed(messages))
    answers = (m for m in sent if m.role == "assistant" and not is_guide(m.model))
    # One that was stopped or failed may have no counts; those of the answer before it still hold.
    last = next((each for each in answers if each.usage or not each.status), None)
    return last.usage.total if last and last.usage and last.model == model else None


def usage_of(model: str, requests: Sequence[CountedRequest]) -> ModelUsage:
    """Add the tokens of requests to one model."""
    counted = [each.usage for each in requests if each.usage]
    return ModelUsage(model, len(requests), len(requests) - len(counted), total(counted))


def total(usages: Iterable[TokenUsage]) -> TokenUsage:
    """Add token counts."""
    # A tuple for each of 50,000 would start a garbage collection, which the screen waits for.
    every, names = tuple(usages), TokenUsage.__struct_fields__
    return TokenUsage(*(sum(getattr(each, name) for each in every) for name in names))


def token_words(usage: TokenUsage) -> str:
    """Format the tokens sent and received, and those of them that were cached."""
    sent = f"{usage.input_tokens:,} token{'' if usage.input_tokens == 1 else 's'} sent"
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{sent}{cached}, {usage.output_tokens:,} received"


def money(dollars: float) -> str:
    """Format dollars, rounded up: two decimal places, four below one dollar."""
    places = 4 if dollars < 1 else 2
    return f"${math.ceil(dollars * 10**places - 1e-6) / 10**places:,.{places}f}"


def seconds_words(seconds: float) -> str:
    """Format a duration."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


PARTED = " · "
"""The separator of details."""

_NAME_CHARACTERS = 120


def details(message: Message, cost: AnswerCost | None = None) -> str:
    """Format local time with zone, model, status, size, tokens, cost and id in one line."""
    size, cost = len(message.typed_text), cost or AnswerCost()
    moment = parse_utc(message.timestamp)
    attached: list[str] = []
    for each in message.attachments:
        # Kind, name and size; of a picture also the beginning of its hash.
        words = cut_middle(make_visible_name(each.label[1:-1]), _NAME_CHARACTERS)
        attached.append(f"{words}, {each.sha256[:12]}" if isinstance(each, ImageBlock) else words)
    parts = [
        f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}" if moment else "time unknown",
        make_visible_line(message.model or ""),
        make_visible_line(message.status or ("complete" if message.role == "assistant" else "")),
        f"{size:,} character" + ("" if size == 1 else "s"),
        *attached,
        "" if cost.seconds is None else f"took {seconds_words(cost.seconds)}",
        token_words(message.usage) if message.usage else "",
        "" if cost.dollars is None else money(cost.dollars),
        make_visible_line(message.id),
    ]
    return PARTED.join(part for part in parts if part)


def cost_words(answers: Sequence[Message], costs: Sequence[AnswerCost | None]) -> Sequence[str]:
    """Format what the messages of one answer took, as far as it is known of each of them."""
    known = [each or AnswerCost() for each in costs]
    seconds = [each.seconds for each in known if each.seconds is not None]
    dollars = [each.dollars for each in known if each.dollars is not None]
    usages = [each.usage for each in answers if each.usage]
    added = total(usages)
    words = {
        seconds_words(sum(seconds)): seconds,
        f"{added.input_tokens:,} tokens in, {added.output_tokens:,} out": usages,
        money(sum(dollars)): dollars,
    }
    return [each for each, known_of in words.items() if len(known_of) == len(answers)]
