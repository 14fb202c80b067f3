"""The figures for reviews count what they say."""

from tests import measures

WORKSPACE = '''
from tui.sessions import Sessions

class Workspace(Sessions):
    """Whose sessions are open."""
    def open(self):
        """Open a session."""
'''
SESSIONS = '''
"""The open sessions."""
class Sessions:
    def open(self): ...
    def close(self):
        """What is open no longer."""
'''


def measured(tmp_path):
    package = tmp_path / "tui"
    package.mkdir()
    for name, source in (("workspace", WORKSPACE), ("sessions", SESSIONS)):
        (package / f"{name}.py").write_text(source.lstrip())
    return {each.title.split()[0]: each for each in measures.figures(measures.parsed(package))}


def test_a_class_has_the_methods_of_its_bases_too(tmp_path):
    found = measured(tmp_path)["Methods"]
    assert sorted(found.rows) == [(2, "tui.sessions.Sessions"), (2, "tui.workspace.Workspace")]


def test_a_docstring_with_a_relative_clause_for_its_subject_is_counted(tmp_path):
    assert measured(tmp_path)["Docstrings"].summary == "2 of 4"


def test_the_report_has_the_largest_rows_first_and_no_more_than_asked_for():
    lines = measures.Figure("Lines", "3 modules", [(1, "a"), (3, "b"), (2, "c")])
    report = "Lines: 3 modules\n      3  b\n      2  c\n         and 1 more"
    assert measures.report([lines], 2) == report
