"""Masks what looks like a key or a password in a text.

The beginnings of keys are from the rules of gitleaks 8 (config/gitleaks.toml, MIT licence), some
of vendors of models from the detectors of trufflehog. Bodies are taken more widely: a new form of a
key is rather masked than missed. Repetitions within a run are bounded, so that none takes long.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tui.domain.text import late_pattern

_KINDS: tuple[tuple[str, str, str], ...] = (
    # Kind, beginning, body.
    ("AWS key", "AKIA|ASIA|ABIA|ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("AWS key", "ABSK", r"[\w+/]{100,}"),
    ("Anthropic key", "sk-ant-", r"[\w-]{16,}"),
    ("OpenAI key", "sk-(?:proj|svcacct|admin)-", r"[\w-]{16,}"),
    # With digits: not the class of a style sheet.
    ("API key", "sk-", r"(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,}"),
    ("API key", "sk-", r"(?=[\w-]{0,60}\d[A-Za-z]+\d)[\w-]{24,}"),
    ("API key", "gsk_|hf_|api_org_|r8_|pplx-|xai-|nvapi-", r"[\w-]{30,}"),
    ("API key", "xkeysib-|PMAK-|NRAK-|pul-|pnu_|rdme_|rubygems_|dapi|lin_api_|ntn_", r"[\w-]{24,}"),
    ("API key", r"SG\.", r"[\w-]{16,80}\.[\w-]{16,}"),
    ("API key", "SK", r"[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
    ("GitHub token", "gh[oprsu]_|github_pat_", r"\w{30,}"),
    ("GitLab token", "gl(?:pat|cbt|dt|ffct|ft|imt|agent|oas|ptt|rt|soat)-", r"[\w.-]{20,}"),
    ("Google key", "AIza", r"[\w-]{35}(?![\w-])"),
    ("Google key", r"GOCSPX-|ya29\.", r"[\w-]{20,}"),
    ("Slack token", r"xox[abeoprs]-|xoxe\.xox[bp]-|xapp-", r"[\w-]{10,}"),
    ("Slack address", r"hooks\.slack\.com/(?:services|workflows|triggers)/", r"[\w+/]{20,}"),
    ("Stripe key", "[rs]k_(?:live|test|prod)_", r"\w{10,}"),
    ("npm token", "npm_", r"[A-Za-z0-9]{36}"),
    ("PyPI token", "pypi-AgE", r"[\w-]{50,}"),
    ("Docker token", "dckr_(?:pat|oat)_", r"[\w-]{20,}"),
    ("DigitalOcean token", "do[opr]_v1_", r"[a-f0-9]{64}"),
    ("Shopify token", "shp(?:at|ca|pa|ss)_", r"[a-fA-F0-9]{32}"),
    ("Square token", "sq0(?:atp|csp)-", r"[\w-]{22,}"),
    ("Grafana token", "gl(?:sa|c)_|eyJrIjoi", r"[\w+/]{32,}"),
    ("Vault token", r"hv[bs]\.", r"[\w-]{80,}"),
    ("token", r"sntry[su]_|pscale_(?:tkn|oauth|pw)_|fo1_|fm[12][ar]?_|dp\.pt\.", r"[\w.=+/-]{32,}"),
    ("token", "sha256~|LTAI|AKCp|EZ[AT]K|ops_eyJ|HRKU-AA|shippo_(?:live|test)_", r"[\w+/-]{20,}"),
    ("secret key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    ("Telegram token", r"(?<=\d:)AA", r"[\w-]{33}(?![\w-])"),
    ("JWT", "ey[A-Za-z0-9_-]{17,999}", r"\.ey[\w-]{17,9999}\.[\w-]{10,}"),
)  # fmt: skip
_APART = "(?<![A-Za-z0-9])"
_KEY = late_pattern(
    f"{_APART}(?:{'|'.join(f'((?:{begin}){body})' for _, begin, body in _KINDS)})", re.ASCII
)
# A key that was cut, as in a title.
_BEGUN = late_pattern(
    rf"{_APART}(?:{'|'.join(begin for _, begin, _ in _KINDS)})[\w.+/-]{{4,}}(?=…)", re.ASCII
)
_RUN = late_pattern(r"(?<![\w.~+/-])[\w.~+/-]{8,}={0,2}", re.ASCII)
_MIXED = late_pattern(r"[A-Za-z]\d{3}|\d{3}[A-Za-z]|\d[A-Za-z+]+\d")
_BETWEEN = late_pattern("[/._~-]")
# In front of a value: the name of a secret, and what assigns it.
_NAME = (
    r"(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|credentials?"
    r"|(?:api|access|account|auth|encryption|license|master|private|service|shared|signing|storage)"
    r"[ _.-]?key)"
)
_AROUND = " \t\r\n\"'`\\])"
_QUOTES = r"[\"'`\\\])]{0,3}"
_NAMED = late_pattern(
    rf"(?:{_NAME}[\w.-]{{0,20}}{_QUOTES}\s{{0,3}}(?::?=>?|:|>|\sis\s)\s{{0,3}}{_QUOTES}"
    rf"|--[\w-]*{_NAME}\s+{_QUOTES}|\bbearer\s+)$",
    re.IGNORECASE | re.ASCII,
)
_NAMED_BEFORE = 64
# Looked for first: much cheaper.
_ENDS_NAME = (":", "=", ">", " is", "bearer", "Bearer")
_PRIVATE_KEY = late_pattern(
    r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----)){16,20000}-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:\s|\\[nr])*[\w+/=]{16,}(?:\s|\\[nr]|[\w+/=]{16,})*…?)"
)
_IN_ADDRESS = late_pattern(r"(://[^\s/:@\"'<>]{0,80}:)[^\s/@\"'<>${*\[]{3,200}(?=@|…)")
_IN_HEADER = late_pattern(
    r"(uthorization[\"'\\]*\s*[:=]\s*[\"'\\]*(?:[Bb]asic|[Bb]earer|[Tt]oken)\s+)[\w.~+/-]{8,}=*"
)
_SUSPECT = late_pattern(r"^…\S{12}|\S{12}…$")


class Masked(NamedTuple):
    """A text, and how many secrets were masked in it."""

    text: str
    secrets: int


def mask_secrets(text: str) -> Masked:
    """Mask what looks like a secret, also the beginning of one that an ellipsis cuts off."""
    text, keys = _PRIVATE_KEY.subn(_mark("private key"), text)
    text, passwords = _IN_ADDRESS.subn(rf"\1{_mark('password')}", text)
    text, headers = _IN_HEADER.subn(rf"\1{_mark('secret')}", text)
    spans = list(_secrets(text))
    for begin, end, kind in reversed(spans):
        text = f"{text[:begin]}{_mark(kind)}{text[end:]}"
    return Masked(text, keys + passwords + headers + len(spans))


def may_show_secret(snippet: str) -> bool:
    """Tell whether a part of a text may be a part of a secret, which only the whole text shows."""
    runs = _RUN.findall(snippet)
    return bool(_SUSPECT.search(snippet)) or any(map(_is_mixed, runs)) or "PRIVATE KEY" in snippet


def _secrets(text: str) -> Iterator[tuple[int, int, str]]:
    """The spans and kinds of keys, and of values that are called a secret."""
    for run in _RUN.finditer(text):
        # As most words; no key is.
        if run[0].isalpha() and run[0].islower():
            continue
        begin, end = run.span()
        found = None
        for found in _KEY.finditer(text, begin, end):
            yield *found.span(), _KINDS[(found.lastindex or 1) - 1][0]
        if found or not _MIXED.search(run[0]):
            continue
        before = text[max(0, begin - _NAMED_BEFORE) : begin]
        may_be_named = before.rstrip(_AROUND).endswith(_ENDS_NAME) or "--" in before
        if may_be_named and _is_mixed(run[0]) and _NAMED.search(before):
            yield begin, end, "secret"
        elif text[end : end + 1] == "…" and (begun := _BEGUN.search(text, begin)):
            yield *begun.span(), "key"


def _is_mixed(run: str) -> bool:
    """Tell whether letters and digits alternate as in a value that a program has made."""
    parts = _BETWEEN.split(run)
    return any(len(part) >= 8 and _MIXED.search(part) is not None for part in parts)


def _mark(kind: str) -> str:
    return f"[masked {kind}]"
