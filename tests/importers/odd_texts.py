"""Texts that programs have escaped wrongly at some time, for round trips through their formats."""

from hypothesis import strategies as st

# fmt: off
_PIECES = ('"', "\\", '\\"', "\n", "\r\n", "\t", "; no comment", "#| none |#", "#.(run)", "#<hash>",
           ") (:role :user :content ", "(:role :user :content nil", "---", "- role: user", "```",
           "# aider chat started at 2026-01-01 10:00:00", "> quoted", "😀", "e\u0301", "\u2028",
           "\x00", "\x1b[31m", "\x7f", "|", "'", "nil", "{", "]", "%s", "&amp;")
# fmt: on

texts = st.lists(
    st.one_of(st.sampled_from(_PIECES), st.text(st.characters(exclude_categories=["Cs"]))),
    min_size=1,
    max_size=6,
).map("".join)
"""Any text but lone surrogates, with quotation marks, brackets and other languages' comments."""
