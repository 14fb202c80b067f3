"""Names that a model can have; a key that is typed or pasted in the place of one is none."""

import re

from tui.domain.text.patterns import late_pattern

LONGEST = 250

KEY = "This looks like a key, not like a model. F5 asks for keys, once a provider is chosen."
NO_NAME = "This cannot be the name of a model: it has blanks, is an address, or is too long."

_KEYS = late_pattern(
    r"sk[-_][\w-]{4}"
    r"|(?:rk|pk|csk|key|api|sess|pa)[-_](?=\D*\d)[\w-]{12,}$"
    r"|(?:gsk_|xai-|hf_|r8_|fw_|vck_|jina_|tgp_v1_|esecret_|nvapi-|glpat-|gh[a-z]_|github_pat_"
    r"|xox[a-z]-|AIza|AKIA|ASIA|ABSK|AQ\.|ya29\.|dapi|SG\.)[\w.+=-]{12,}$"
    r"|pplx-\w{20,}$"
    r"|eyJ[\w-]{8,}\."
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
    r"|(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9/+]{40}$"
    r"|(?:export\s+)?[A-Z][A-Z0-9_]{2,}\s*="
    r"|(?i:authorization|bearer|basic)[:\s]"
)
"""Keys of known providers, web tokens, UUIDs, and what stands before a key."""

_DIGEST = late_pattern(r"(?<=/)[^/:@]+[:@](?:sha256:)?[0-9a-f]{64}$")
_WITH_IDS = late_pattern(r"(?:[\w.-]+:)?(?:arn|ft):")
"""Names of models that have random parts."""
_CHANGE = late_pattern(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
"""Between letters and digits, and before a capital: often in random text, seldom in words."""


def refusal(name: str) -> str:
    """Say why a text cannot be the name of a model, without repeating it; empty if it can."""
    if looks_like_key(name[:LONGEST]):
        return KEY
    odd = len(name) > LONGEST or "://" in name or not name.isprintable() or " " in name.strip()
    return NO_NAME if odd else ""


def looks_like_key(text: str) -> bool:
    """Tell if a text is a key, or random like one; the name of a provider may be before it."""
    text = text.strip()
    provider, _, behind = text.partition(":")
    parts = (text, "" if "/" in provider else behind.strip())
    may_be_random = not _WITH_IDS.match(text)
    return any(_KEYS.match(each) or (may_be_random and _is_random(each)) for each in parts)


def _is_random(text: str) -> bool:
    runs = re.findall(r"[A-Za-z0-9+]+", _DIGEST.sub("", text))
    longest = max(runs, key=len, default="")
    if len(longest) >= 40 and not longest.isdigit():
        return True
    if len(longest) >= 20 and _changes(longest) >= 0.2 * len(longest):
        return True
    length = sum(map(len, runs))
    return length >= 32 and sum(map(_changes, runs)) >= 0.3 * length


def _changes(run: str) -> int:
    return len(_CHANGE.findall(run))
