"""Every example of the configuration in the documents: each starts the program."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App

from tests.tables import each_row
from tui.app.appearance import Appearance, ThemeSwitcher, UiStateService, dress
from tui.config.loading import load_settings
from tui.config.writing import example
from tui.errors import ConfigError

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

_TABLE = r"\[[\w.\"-]+\]"
_FENCED = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"^\n((?:    (?:\[|[\w.\"-]+ ?=).*\n)(?:(?:    .*)?\n)*)", re.MULTILINE)
_INLINE = re.compile(rf"`(?:(?P<table>{_TABLE})|(?P<setting>(?:{_TABLE} )?[\w-]+ = [^`]+))`")


def examples(text: str) -> Iterator[str]:
    """The TOML in a Markdown text: fenced, indented, and `key = value` within a paragraph."""
    for block in (*_FENCED.findall(text), *_INDENTED.findall(text)):
        yield re.sub("^    ", "", block, flags=re.MULTILINE)
    for paragraph in _FENCED.sub("", text).split("\n\n"):
        table = ""
        for found in _INLINE.finditer(" ".join(paragraph.splitlines())):
            if found["table"]:
                table = f"{found['table']}\n"
            else:
                own, setting = re.fullmatch(rf"({_TABLE})? ?(.*)", found["setting"]).groups()
                yield f"{own}\n{setting}" if own else table + setting


def start_with(toml: str, folder: Path) -> None:
    """Read settings and dress an application by them. Raises ``ConfigError``."""
    file = folder / "config.toml"
    file.write_text(toml, encoding="utf-8")
    config = load_settings(file, {}).config
    app = App()
    themes = ThemeSwitcher(app, UiStateService(app, None), config.theme)
    appearance = Appearance(config.theme, config.reduced_motion, config.keys)
    dress(app, themes, appearance)


@pytest.mark.parametrize(
    "toml",
    [
        pytest.param(toml, id=f"{document.stem}-{toml.splitlines()[-1]}")
        for document in DOCUMENTS
        for toml in examples(document.read_text(encoding="utf-8"))
    ],
)
def test_an_example_of_the_documents_starts_the_program(toml, tmp_path):
    start_with(toml, tmp_path)


def test_the_example_that_the_program_prints_starts_it(tmp_path):
    start_with(example(), tmp_path)
    # A tool server is either a program or an address: what goes with an address is left out.
    text = re.sub(
        r'^#(url = "https://tools|headers = \{Auth|client_|redirect_port).*\n',
        "",
        example(),
        flags=re.MULTILINE,
    )
    start_with(re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE), tmp_path)


@each_row(
    "text",
    [
        '```toml\n[keys]\nnew = "ctrl+s"\n```\n',
        "Text:\n\n    [retention]\n    backlog = 3\n\nMore.\n",
        "Text:\n\n    themes = 3\n",
        "Text:\n\n    [keys\n    new = 'f9'\n",
        'All of `[keys]` by\naction: `new = "ctrl+s"`.\n',
        'Tools: `[tools] enabled = ["none"]`.\n',
        "And `reduced_motion = 3`.\n",
        'And `theme = "no such"`.\n',
    ],
)
def test_a_broken_example_is_found_wherever_it_stands(text, tmp_path):
    (toml,) = examples(text)
    with pytest.raises(ConfigError):
        start_with(toml, tmp_path)


@pytest.mark.parametrize(
    ("document", "settings"),
    [
        ("README.md", ["model = ", "base_url = ", "backlog_limit = "]),
        ("docs/manual/models.md", ["base_url = ", "key_command = ", "effort = "]),
        (
            "docs/manual/screen.md",
            ["new = ", "review = ", "bell = ", "reduced_motion = "],
        ),
    ],
)
def test_the_documents_have_examples(document, settings):
    found = "\n".join(examples((ROOT / document).read_text(encoding="utf-8")))
    assert [setting for setting in settings if setting not in found] == []


@pytest.mark.parametrize("chosen", ["no key", "a"])
def test_the_keys_that_an_error_suggests_are_free(chosen, tmp_path):
    with pytest.raises(ConfigError) as refused:
        start_with(f'[keys]\nnew = "{chosen}"', tmp_path)
    suggested = re.findall('"([^" ]+)"', str(refused.value))
    assert len(suggested) == 2
    for key in suggested:
        start_with(f'[keys]\nnew = "{key}"', tmp_path)
