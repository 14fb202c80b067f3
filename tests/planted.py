"""Made-up secrets of each kind. Put together here: a scanner of this repository finds none."""

import random
import string

_RANDOM = random.Random(20261127)
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + "234567"
_WORD = string.ascii_letters + string.digits
_BASE64 = _WORD + "+/"
_URL = _WORD + "-_"


def chars(length, letters=_WORD):
    return "".join(_RANDOM.choices(letters, k=length))


def block(kind, *lines, between="\n"):
    """A key in lines."""
    dashes = "-" * 5
    whole = f"{dashes}BEGIN {kind}{dashes}", *lines, f"{dashes}END {kind}{dashes}"
    return between.join(whole)


_LINES = [chars(64, _BASE64) for _ in range(4)]

TOKEN = "ghp" + "_" + chars(36)
KEYS = {
    "AWS": "AKIA" + chars(16, _UPPER),
    "Anthropic": "sk-" + f"ant-api03-{chars(93, _URL)}AA",
    "OpenAI": "sk-" + f"proj-{chars(74, _URL)}T3Blbk" + f"FJ{chars(74, _URL)}",
    "OpenAI, old": "sk-" + f"{chars(20)}T3Blbk" + f"FJ{chars(20)}",
    "OpenRouter": "sk-" + f"or-v1-{chars(64, _HEX)}",
    "DeepSeek": "sk-" + chars(32, _HEX),
    "Groq": "gsk" + f"_{chars(52)}",
    "xAI": "xai" + f"-{chars(80)}",
    "Hugging Face": "hf" + f"_{chars(34, string.ascii_letters)}",
    "Replicate": "r8" + f"_{chars(37)}",
    "GitHub": TOKEN,
    "GitHub, fine-grained": "github" + f"_pat_{chars(22)}_{chars(59)}",
    "GitLab": "glpat" + f"-{chars(20)}",
    "Slack": "xoxb" + f"-123456789012-123456789012-{chars(24)}",
    "Slack, address": "https://hooks.slack" + f".com/services/T{chars(8)}/B{chars(8)}/{chars(24)}",
    "Google": "AIza" + chars(35, _URL),
    "Google, client": "GOCSPX" + f"-{chars(28)}",
    "Stripe": "sk" + f"_live_{chars(24)}",
    "npm": "npm" + f"_{chars(36)}",
    "PyPI": "pypi" + f"-AgEIcHlwaS5vcmc{chars(80)}",
    "SendGrid": "SG" + f".{chars(22, _URL)}.{chars(43, _URL)}",
    "Twilio": "SK" + chars(32, _HEX),
    "Telegram": "123456789:" + f"AA{chars(33, _URL)}",
    "DigitalOcean": "dop" + f"_v1_{chars(64, _HEX)}",
    "Shopify": "shpat" + f"_{chars(32, _HEX)}",
    "Vault": "hvs" + f".{chars(95)}",
    "age": "AGE-SECRET" + f"-KEY-1{chars(58, _UPPER)}",
    "JWT": "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey" + f"JzdWIiOiIxMjM0In0.{chars(43, _URL)}",
    "RSA": block("RSA PRIVATE KEY", *_LINES),
    "RSA, in JSON": block("PRIVATE KEY", *_LINES, between="\\n"),
    "RSA, encrypted": block(
        "RSA PRIVATE KEY",
        "Proc-Type: 4,ENCRYPTED",
        f"DEK-Info: AES-256-CBC,{chars(32, _HEX)}",
        *_LINES,
    ),
    "RSA, cut off": block("RSA PRIVATE KEY", *_LINES).partition("\n-----END")[0],
    "OpenSSH": block("OPENSSH PRIVATE KEY", *_LINES),
    "PGP": block("PGP PRIVATE KEY BLOCK", "Version: 1", "", *_LINES, "=abcd"),
}
"""Each is masked wherever it stands."""
_VALUE = "a1b2" + chars(28, _HEX)
NAMED = {
    "variable": ("DATADOG_API_KEY=", _VALUE),
    "code": ('os.environ["SERVICE_API_KEY"] = "', _VALUE),
    "JSON": ('{"client_secret": "', _VALUE),
    "JSON in JSON": ('{\\"api_key\\": \\"', _VALUE),
    "YAML": ("db_password: ", "s3cr3tP4ss"),
    "XML": ("<password>", "s3cr3tP4ss"),
    "option": ("deploy --api-key ", _VALUE),
    "words": ("My API key is ", _VALUE),
    "bearer": ("Authorization: Bearer ", _VALUE),
    "basic": ('-H "Authorization: Basic ', "dXNlcjpwYXNzd29yZA=="),
    "AWS": ("aws_secret_access_key = ", "a1b2" + chars(36)),
    "address": ("postgres://admin:", "hunter2"),
    "uuid": ("HEROKU_API_KEY=", "12345678-1a2b-4c3d-9e8f-0123456789ab"),
}
"""What stands before a value that is masked for it, and the value."""
ORDINARY = (
    f"commit {chars(40, _HEX)}",
    f"sha256: {chars(64, _HEX)}",
    f'"integrity": "sha512-{chars(86, _BASE64)}=="',
    f'ETag: "{chars(32, _HEX)}"',
    f"cache key: {chars(40, _HEX)}",
    "550e8400-e29b-41d4-a716-446655440000",
    "session id: 550e8400-e29b-41d4-a716-446655440000",
    f"data:image/png;base64,{chars(40_000, _BASE64)}",
    f"ssh-rsa AAAA{chars(300, _BASE64)} me@host",
    block("CERTIFICATE", *_LINES),
    block("PUBLIC KEY", *_LINES),
    block("PRIVATE KEY", " and ").replace("\n", ""),
    "Donaudampfschifffahrtsgesellschaftskapitän pneumonoultramicroscopicsilicovolcanoconiosis",
    "sk-toggleable__control--hidden--visually sk-container-id-1 npm_config_registry AIzaSy...",
    f"call_{chars(24)} toolu_01{chars(22)} session-20260111-153022-847291",
    'token_count: 1234567890123456, "prompt_tokens": 12345678, tokens: 128000',
    "secret = config.auth.v2.client_secret; token = oauth2AccessToken; password: required",
    'password = generate_password_hash(form.password2); key = os.environ["OPENAI_API_KEY"]',
    "export ANTHROPIC_API_KEY=sk-ant-... and the token: 2026-11-27T10:00:00",
    "http://localhost:8080/path@x https://user@host git@github.com:a/b.git",
    "postgres://user:${PASSWORD}@host/db redis://:<password>@host",
    "/home/user1/app2/secret/file3.txt",
    "日本語のテキスト。これはテストです。",
)
"""Nothing of it is masked."""
