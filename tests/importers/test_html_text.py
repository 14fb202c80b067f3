"""HTML that services export becomes the Markdown that it was."""

from hypothesis import given

from tests.importers.odd_texts import texts
from tests.tables import each_row
from tui.importers.html_text import markdown


@each_row(
    "html, expected",
    [
        ("<p>One</p><p>Two<br>lines</p>", "One\n\nTwo\nlines"),
        ("<h2>Title</h2>text", "## Title\n\ntext"),
        ("<p><strong>bold</strong>, <em>slanted</em>, <code>a &lt; b</code></p>",
         "**bold**, *slanted*, `a < b`"),
        ('<a href="https://example.org">here</a> <a>you</a>', "[here](https://example.org) you"),
        ("<ul><li><p>one</p></li><li>two<ol><li>x</li><li>y</li></ol></li></ul><p>after</p>",
         "- one\n- two\n   1. x\n   2. y\n\nafter"),
        ('<ol start="3"><li>c</li></ol>', "3. c"),
        ('<pre><code class="language-py">if a &lt; b:\n\n\n    pass\n</code></pre><p>x</p>',
         "```py\nif a < b:\n\n\n    pass\n```\n\nx"),
        ("<pre>as it\n  is</pre>", "```\nas it\n  is\n```"),
        ("<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>",
         "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<blockquote><p>said</p></blockquote><p>so</p>", "> said\n\nso"),
        ('<img alt="a cat" src="x"><script>no()</script><style>p {}</style>', "[image: a cat]"),
        ("</p></a></ul></pre></tr>", ""),
        ("a < b and <unknown>c</unknown> &amp; &nbsp;d", "a < b and c & d"),
    ],
)  # fmt: skip
def test_html_becomes_markdown(html, expected):
    assert markdown(html) == expected


@given(texts)
def test_any_words_are_kept(words):
    escaped = words.replace("&", "&amp;").replace("<", "&lt;")
    assert " ".join(markdown(f"<p>{escaped}</p>").split()) == " ".join(words.split())


def test_a_text_that_is_far_too_long_stays_as_it_is():
    html = "<p>x</p>" * 200_000
    assert markdown(html) == html
