"""S-expressions as Common Lisp and Emacs Lisp print them."""

import pytest
from hypothesis import given

from tests.importers.odd_texts import texts
from tests.tables import each_row
from tui.importers.lisp import Dialect, Dotted, Opaque, Symbol, as_json, as_object, plist, read_form


def read(text, dialect=Dialect.COMMON):
    form = read_form(text, dialect)
    assert form.whole
    return form.value


@each_row(
    "text, value",
    [
        ("(a . b)", Dotted((Symbol("a"),), Symbol("b"))),
        ("(1 2 . 3)", Dotted((1, 2), 3)),
        ("(1 . (2 3))", [1, 2, 3]),
        ("(1 . nil)", [1]),
        ("#(1 2)", [1, 2]),
        ("(1.5d0 -2 3. .5 1e3)", [1.5, -2, 3, 0.5, 1000.0]),
        (":ROLE", Symbol(":role")),
        ("|toolName|", Symbol("toolName")),
        (":|a \\| b|", Symbol(":a | b")),
        ("(nil t NIL)", [None, True, None]),
        ("#\\Space", " "),
        ("#\\(", "("),
        ("; a comment\n #| and (another |# 7", 7),
        ("(quote 'a)", [Symbol("quote"), Symbol("a")]),
        ('#p"/tmp/a"', "/tmp/a"),
        (r'"a \"b\" \\n \n"', 'a "b" \\n n'),
        ("1d999", Symbol("1d999")),
        ("9" * 5000, Symbol("9" * 5000)),
    ],
)
def test_each_kind_of_object_is_read(text, value):
    assert read(text) == value


@each_row(
    "text, value",
    [
        (r'"a\n\t\e\\\"\s\d"', 'a\n\t\x1b\\" \x7f'),
        (r'"\x41\ 1 \u00e9 \U0001F600 \N{U+e9}"', "A1 é 😀 é"),
        (r'"\303\251 \101 \0"', "é A \x00"),
        (r'"\^A \^?"', "\x01 \x7f"),
        ('"a\\\nb\\ c"', "abc"),
        (r'"\xFFFFFFFF"', "\ufffd"),
        ('#("text" 0 4 (face bold))', "text"),
        ('#s(hash-table size 2 test equal data ("a" 1 b 2))', {"a": 1, "b": 2}),
        ("[1 (2)]", [1, [2]]),
    ],
)
def test_a_string_of_emacs_lisp_has_many_escapes(text, value):
    assert read(text, Dialect.EMACS) == value


@pytest.mark.parametrize("text", ['#.(run "rm -rf")', "#<HASH-TABLE :COUNT 1 {1F} #<X>>"])
def test_what_cannot_be_read_stays_text_and_is_counted(text):
    form = read_form(f"(1 {text} 2)", Dialect.COMMON)
    assert form.value == [1, Opaque(text), 2]
    assert form.opaque == 1


@each_row(
    "text",
    [
        '(:a (:b "x" :c "cut',
        '(:a (:b "x" :c',
        '(:a (:b "x" #| cut',
        '(:a (:b "x" ' + "(" * 100_000,
        '(:a (:b "x" ' + "#." * 100_000,
    ],
)
def test_a_form_that_is_cut_off_or_too_deep_is_given_as_far_as_it_was_read(text):
    form = read_form(text, Dialect.COMMON)
    assert not form.whole
    assert plist(form.value[1])[":b"] == "x"


@each_row("text", ["", ")", "   ", "#|", '"', ";"])
def test_nothing_is_no_form(text):
    assert read_form(text, Dialect.COMMON)[:1] == (None,)


def test_association_lists_and_property_lists_become_objects():
    value = read('(("path" . "/tmp") (:n . 1.5d0) ("list" "a" "b") ("none") ("t" . t))')
    told = {"path": "/tmp", "n": 1.5, "list": ["a", "b"], "none": None, "t": True}
    assert as_object(value) == told
    assert as_object(None) == {}
    assert as_json(read("(:a 1 :b (:c nil) :d (1 . 2))")) == {"a": 1, "b": {"c": None}, "d": [1, 2]}


@given(texts)
def test_any_text_comes_back_from_common_lisp(text):
    printed = text.replace("\\", "\\\\").replace('"', '\\"')
    assert read(f'("{printed}")') == [text]


@given(texts)
def test_any_text_comes_back_from_emacs_lisp(text):
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\x1b": "\\e", "\x00": "\\0"}
    # An octal escape takes as many digits as there are.
    printed = "".join(escapes.get(each, each) for each in text.replace("\x00", "\x00\x00x"))
    assert read(f'("{printed}")', Dialect.EMACS) == [text.replace("\x00", "\x00\x00x")]
