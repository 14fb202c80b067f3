"""Anything may happen in any order, at a server: the model of all stores."""

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.examples import examples
from tests.storage.test_stateful import StoreMachine
from tui.storage.postgres.store import PostgresStore


@pytest.mark.full
def test_a_store_at_a_server_is_as_told(postgres, postgres_database):
    class Machine(StoreMachine):
        def begin(self):
            postgres_database.empty()
            self.store = PostgresStore(postgres, self.clock)

        def come_back(self):
            for lease in self.leases.values():
                lease.release()
            self.store.close()
            return PostgresStore(postgres, self.clock)

        def teardown(self):
            self.come_back().close()

    run_state_machine_as_test(Machine, settings=examples(0.3))
