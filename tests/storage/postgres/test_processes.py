"""Telling that the process of a holder has ended."""

import subprocess
import sys

import msgspec
import pytest

from tests.builders import user
from tui.errors import SessionBusy
from tui.storage.postgres import leases as module
from tui.storage.postgres.rows import this_process
from tui.storage.postgres.store import PostgresStore

PRINT = """
import msgspec
from tui.storage.postgres.rows import this_process
print(msgspec.json.encode(this_process()).decode())
"""


@pytest.fixture
def ended():
    """A process of this machine that has ended."""
    done = subprocess.run([sys.executable, "-c", PRINT], stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=type(this_process()))


def test_a_process_is_known_to_run_until_it_has_ended(ended):
    assert not this_process().has_ended
    assert ended.has_ended


def test_one_of_another_container_or_machine_may_still_run(ended):
    assert not msgspec.structs.replace(ended, namespace="another").has_ended
    assert not msgspec.structs.replace(ended, namespace="").has_ended


def test_a_number_that_is_used_again_is_another_process():
    assert msgspec.structs.replace(this_process(), started="1").has_ended


@pytest.mark.parametrize("here", [True, False])
def test_only_what_has_ended_here_is_taken_over_at_once(here, ended, postgres, clock, monkeypatch):
    holder = ended if here else msgspec.structs.replace(ended, namespace="another")
    store, other = PostgresStore(postgres, clock), PostgresStore(postgres, clock)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(module, "this_process", lambda: holder)
        session = other.create("project:/shop", "/shop", "scripted:model")
        other.append(session, [user("m1")])
    if here:
        assert store.lease(session.session_id)
    else:
        with pytest.raises(SessionBusy, match=r"is open on .+ since") as busy:
            store.lease(session.session_id)
        assert str(store.holder(session.session_id)) == busy.value.holder
    for each in (store, other):
        each.close()
