from tests.planted import KEYS, NAMED, ORDINARY, TOKEN
from tests.tables import each_row
from tui.domain.secrets import mask_secrets, may_show_secret


def whole_lines(secret):
    """The lines of a secret that would give it away."""
    return [line for line in secret.replace("\\n", "\n").splitlines() if len(line) > 20]


@each_row("text", ["{}", "It is {}, I think.", "```\n{}\n```", '{{"a": "{}"}}'])
@each_row("kind", KEYS)
def test_a_key_is_masked_and_counted_wherever_it_stands(kind, text):
    masked, secrets = mask_secrets(text.format(KEYS[kind]))
    assert secrets == 1
    assert "[masked " in masked
    assert not any(line in masked for line in whole_lines(KEYS[kind]))


def test_a_key_is_masked_also_cut_off_and_nothing_around_it():
    assert mask_secrets(f"It is {TOKEN}, I think.") == ("It is [masked GitHub token], I think.", 1)
    assert mask_secrets(f"\u5bc6\u94a5{TOKEN}") == ("\u5bc6\u94a5[masked GitHub token]", 1)
    assert mask_secrets(f"{TOKEN} {TOKEN}").secrets == 2
    assert mask_secrets("Why does ghp_a1B2c3D4…") == ("Why does [masked key]…", 1)
    assert mask_secrets("See postgres://me:hunt…") == ("See postgres://me:[masked password]…", 1)
    assert mask_secrets("Buy SKU-1234…") == ("Buy SKU-1234…", 0)
    assert mask_secrets(f'{{"text": "{KEYS["RSA, in JSON"]}", "n": 1}}') == (
        '{"text": "[masked private key]", "n": 1}',
        1,
    )


@each_row("kind", NAMED)
def test_a_value_is_masked_for_what_it_is_called(kind):
    before, value = NAMED[kind]
    masked, secrets = mask_secrets(f"{before}{value}@host and more")
    assert (secrets, value in masked) == (1, False)
    assert masked.startswith(f"{before}[masked ")
    assert masked.endswith("@host and more")


@each_row("text", ORDINARY)
def test_ordinary_text_stays(text):
    assert mask_secrets(text) == (text, 0)


def test_a_part_of_a_secret_is_suspected():
    assert may_show_secret(f"…{TOKEN[9:30]}… more")
    assert may_show_secret(f"…and {TOKEN[9:30]} or")
    assert may_show_secret(f"now {TOKEN[:14]}…")
    assert not may_show_secret("…the login of the token fails after a…")


@each_row(
    "text",
    ["-----BEGIN PRIVATE KEY-----", "://a:", "sk-1-", "ey", "a1.", "token: ", "--key ", "SG.a1b2"],
)
def test_no_text_takes_the_square_of_its_length(text):
    # Which would be hours, more than a test is given.
    mask_secrets(text * (1_000_000 // len(text)))
