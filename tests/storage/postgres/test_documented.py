"""The commands of docs/postgres.md, run as they stand there."""

import re
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from tests.builders import user
from tui.errors import ServerRefused, StorageError
from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import SessionFilter

PAPER = Path(__file__).parents[3].joinpath("docs/postgres.md").read_text("utf-8")
EVERYWHERE = SessionFilter()


def commands(name):
    (block,) = re.findall(rf"<!-- test: {name} -->\n```sql\n(.*?)```", PAPER, re.DOTALL)
    return block.splitlines()


def run(address, lines):
    with psycopg.connect(address, autocommit=True) as connection:
        for line in lines:
            connection.execute(line.encode())


@pytest.fixture
def team(postgres_url):
    """The database of the document; gives its address for a role."""
    run(postgres_url, commands("server"))
    yield lambda role: conninfo.make_conninfo(postgres_url, user=role, dbname="sibyl")
    run(
        postgres_url,
        [
            "drop database sibyl with (force)",
            "drop role sibyl_user",
            "drop role sibyl_owner",
            "drop role if exists sibyl_reader",
        ],
    )


@pytest.fixture
def member(team, clock):
    """The store of a member, after the owner has made the tables."""
    with closing(PostgresStore(team("sibyl_owner"), clock)) as owner:
        assert owner.count(EVERYWHERE) == 0
    run(team("sibyl_owner"), commands("database"))
    with closing(PostgresStore(team("sibyl_user"), clock)) as store:
        yield store


def test_there_are_five():
    assert len(commands("server") + commands("database")) == 5


def test_a_member_can_do_everything_but_change_tables(member, team):
    lease = member.create("project:/shop", "/shop", "offline:guide")
    member.append(lease, [user("m1", "the zebra")])
    digest = member.add_attachment(lease.session_id, b"picture")
    member.set_active("project:/shop", lease.session_id)
    lease.release()
    assert member.attachment(lease.session_id, digest) == b"picture"
    assert member.search("zebra", 5).hits
    list(member.build_index("a test", anew=True))
    assert member.journal(lease.session_id).load().damaged == 0
    member.archive(lease.session_id)
    member.restore(lease.session_id)
    member.delete(lease.session_id)
    member.purge(lease.session_id)
    assert member.moves()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        run(team("sibyl_user"), ["alter table sibyl.sessions add column more text"])


@pytest.mark.parametrize(
    "rights",
    [
        ["grant select on all tables in schema sibyl to sibyl_reader"],
        [
            "grant select, update on all tables in schema sibyl to sibyl_reader",
            "alter role sibyl_reader set default_transaction_read_only = on",
        ],
    ],
)
def test_a_role_that_may_only_read_lists_shows_and_searches(member, team, postgres_url, rights):
    lease = member.create("project:/shop", "/shop", "offline:guide")
    member.append(lease, [user("m1", "the zebra")])
    lease.release()
    run(postgres_url, ["create role sibyl_reader login"])
    usage = "grant usage on schema sibyl to sibyl_reader"
    run(conninfo.make_conninfo(postgres_url, dbname="sibyl"), [usage, *rights])
    with closing(PostgresStore(team("sibyl_reader"))) as reader:
        for _ in range(2):
            assert [e.label for e in reader.list(EVERYWHERE, None, 9).entries] == ["the zebra"]
        assert reader.journal(lease.session_id).load().message_count == 1
        assert reader.search("zebra", 5).hits
        assert list(reader.journal(lease.session_id).records())
        assert reader.journals.find(lease.session_id).size
        with pytest.raises(StorageError):
            reader.delete(lease.session_id)


def test_a_member_without_tables_or_grants_is_told_where_to_read(team):
    for told in (r"docs/postgres\.md", r"schema sibyl\. docs/postgres\.md"):
        store = PostgresStore(team("sibyl_user"))
        with closing(store), pytest.raises(ServerRefused, match=told):
            store.count(EVERYWHERE)
        with closing(PostgresStore(team("sibyl_owner"))) as owner:
            owner.count(EVERYWHERE)
