"""The texts that a user can meet."""

import re

from tests.messages import ROOT, texts_of

FIRST_WORDS = re.compile(r"(?:What|Who|Which|Where|Whether|How) .*[^?]")
# Read by scripts.
AS_IT_WAS = {"What could not be saved is in {path}."}


def test_every_text_is_in_the_voice_of_the_others():
    texts = {text for path in (ROOT / "tui").rglob("*.py") for text in texts_of(path.read_text())}
    odd = [text for text in texts if re.search(r"\(s\)|[‘’“”]", text)]
    riddles = [text for text in texts if FIRST_WORDS.fullmatch(text)]
    assert odd == []
    assert set(riddles) - AS_IT_WAS == set()
