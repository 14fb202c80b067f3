"""A file that was cut off before what names its conversation does not come in twice."""

import pytest

from tests.engine.imports.notebook import NOTEBOOK, said, told
from tui.engine.imports.outcome import program_lines
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.storage.protocol import EVERYWHERE, SessionFilter

WORDS = ["Why is the sky blue?", "Because of Rayleigh.", "Who was that?"]


def talk(name, *texts):
    """A conversation of these texts; its ids are made of its name."""
    messages = [said(f"{name}-{place}", content=text) for place, text in enumerate(texts)]
    return told(*messages, source_id=name)


@pytest.fixture
def saved(store, shelf, clock):
    """Imports a file with one conversation; gives the result of its program."""

    def imported(conversation):
        shelf.put("a.json", conversation)
        plan = make_plan(store, Wanted(shelf.places), readers=[NOTEBOOK])
        return run(store, plan, clock=clock).programs[0]

    return imported


@pytest.fixture
def places(store):
    """Says where the sessions are."""

    def named():
        entries = store.list(SessionFilter(statuses=EVERYWHERE), None, 9).entries
        return sorted(each.status for each in entries)

    return named


@pytest.mark.parametrize(
    "cut", [WORDS[:2], WORDS, [*WORDS[:2], "Who was"], ["blue?", *WORDS[1:]], WORDS[1:2]]
)
def test_a_mended_file_takes_the_place_of_the_cut_one(saved, places, cut):
    assert saved(talk("cut", *cut)).added == 1
    done = saved(talk("whole", *WORDS))
    assert (done.added, done.replaced) == (1, 1)
    assert "cut off before" in "\n".join(program_lines(done))
    assert places() == ["archived", "trashed"]
    assert saved(talk("whole", *WORDS, "A physicist.")).grown == 1
    assert places() == ["archived", "trashed"]


def test_a_session_with_other_words_stays(saved, places):
    saved(talk("cut", WORDS[0], "Because of Mie.", WORDS[2]))
    assert saved(talk("whole", *WORDS)).replaced == 0
    assert places() == ["archived", "archived"]


def test_a_session_that_was_brought_back_stays(store, saved, places):
    saved(talk("cut", *WORDS[:2]))
    (entry,) = store.list(SessionFilter(statuses=EVERYWHERE), None, 9).entries
    store.restore(entry.id)
    assert saved(talk("whole", *WORDS)).replaced == 0
    assert len(places()) == 2


def test_what_was_replaced_is_not_told_as_deleted(store, shelf, saved):
    saved(talk("cut", *WORDS[:2]))
    saved(talk("whole", *WORDS))
    shelf.put("a.json", talk("whole", *WORDS, "A physicist."))
    (program,) = make_plan(store, Wanted(shelf.places), readers=[NOTEBOOK]).programs
    assert program.gone == 0
