import pytest

from tests.domain.journal_lines import FIXTURES
from tui.domain.models import KEY, NO_NAME, looks_like_key, refusal

NAMES = (FIXTURES / "model-names.txt").read_text("utf-8").splitlines()
KEYS = (FIXTURES / "keys-that-are-no-names.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("before", ["", "openai:", "my-server:"])
@pytest.mark.parametrize("name", NAMES)
def test_names_that_models_have_are_names(name, before):
    assert refusal(before + name) == ""


@pytest.mark.parametrize("before", ["", "  ", "openai:", "openai: "])
@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_no_name_and_is_not_repeated(key, before):
    assert refusal(f"{before}{key}\n") == KEY
    assert looks_like_key(before + key)


@pytest.mark.parametrize(
    "text", ["two words", "a\x1b[31mb", "a\nb", "https://api.openai.com/v1", "ab-" * 100]
)
def test_what_no_model_is_called_is_refused(text):
    assert refusal(text) == NO_NAME
