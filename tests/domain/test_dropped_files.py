import pytest

from tui.domain.dropped_files import MOST_CHARACTERS, dropped_files


@pytest.mark.parametrize(
    ("pasted", "paths"),
    [
        ("/a/b.png", ("/a/b.png",)),
        ("'/a/my file.png' ", ("/a/my file.png",)),
        ("/a/my\\ file.png ", ("/a/my file.png",)),
        ("/a/my file.png", ("/a/my file.png",)),
        ("'/a/x' '/b/y z'", ("/a/x", "/b/y z")),
        ("/a/x /b/y", ("/a/x", "/b/y")),
        ("/a/x y\n/b/z\n", ("/a/x y", "/b/z")),
        ("file:///a/my%20file.png", ("/a/my file.png",)),
        ("file://localhost/a/x\r\nfile:///b/%C3%A4\r\n", ("/a/x", "/b/ä")),
        ("'/a/it'\\''s'", ("/a/it's",)),
        ('"/a/b c"', ("/a/b c",)),
    ],
)
def test_a_drop_is_read_as_every_terminal_writes_it(pasted, paths):
    assert paths in dropped_files(pasted)


@pytest.mark.parametrize(
    "pasted",
    [
        *("", " ", "hello", "see /a/b", "a/b", "~/a", "/", "//", "'/a'\nhello 'b'", "\x1b/a"),
        *("file://elsewhere/a", "https://example.org/a", "file://[/a", "file:/"),
        "/" * (MOST_CHARACTERS + 1) + "a",
    ],
)
def test_any_other_text_is_none(pasted):
    assert dropped_files(pasted) == ()


def test_a_quote_that_never_ends_may_be_a_part_of_the_name():
    assert dropped_files("/a/it's") == (("/a/it's",),)
