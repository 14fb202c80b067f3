"""The pictures of messages, each once, and the sessions that use them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.errors import AttachmentNotFound
from tui.storage.attachments import KEPT_DAYS, checked_hash, hash_of, only_match
from tui.storage.postgres.connection_pool import ConnectionPool

if TYPE_CHECKING:
    from psycopg import Connection

_FREE = """
    delete from pictures where sha256 = any(%s) and not exists (
        select from picture_uses left join sessions on sessions.id = picture_uses.session
        where picture_uses.sha256 = pictures.sha256
        and (sessions.id is not null or noted_at > now() - make_interval(days => %s)))
"""


def keep(connection: "Connection", session_id: str, data: bytes) -> str:
    """Keep a picture of a session; gives its SHA-256. Raises ``StorageError`` for a large one."""
    sha256 = checked_hash(data)
    note(connection, session_id, [sha256])
    connection.execute(
        "insert into pictures values (%s, %s) on conflict (sha256) do update"
        " set data = excluded.data where sha256(pictures.data) <> sha256(excluded.data)",
        (sha256, data),
    )
    return sha256


def read(database: ConnectionPool, sha256: str) -> bytes:
    """Read a picture. Raises ``AttachmentNotFound`` if it is not there or damaged."""
    if not sha256.isascii() or not sha256.isalnum():
        raise AttachmentNotFound(sha256)
    query = "select data from pictures where sha256 = %s"
    rows = database.execute(query, (sha256,))
    if not rows or hash_of(bytes(rows[0][0])) != sha256:
        raise AttachmentNotFound(sha256)
    return bytes(rows[0][0])


def find(database: ConnectionPool, prefix: str) -> str:
    """Find the SHA-256 that begins with a prefix. Raises ``AttachmentNotFound``."""
    if not prefix.isascii() or not prefix.isalnum():
        raise AttachmentNotFound(prefix)
    query = "select sha256 from pictures where starts_with(sha256, %s) limit 2"
    return only_match(prefix, [str(row[0]) for row in database.execute(query, (prefix,))])


def note(connection: "Connection", session_id: str, pictures: Sequence[str]) -> None:
    """Note that a session uses pictures, before a message refers to them.

    Each once: the server refuses to touch a row a second time.
    """
    connection.execute(
        "insert into picture_uses (sha256, session) select sha256, %s from unnest(%s::text[])"
        " new(sha256) on conflict (sha256, session) do update set noted_at = now()",
        (session_id, list(set(pictures))),
    )


def missing(connection: "Connection", wanted: Sequence[str]) -> list[str]:
    """Select the pictures that are not there or damaged."""
    query = (
        "select sha256 from pictures"
        " where sha256 = any(%s) and encode(sha256(data), 'hex') = sha256"
    )
    there = {str(row[0]) for row in connection.execute(query, (list(wanted),)).fetchall()}
    return [sha256 for sha256 in wanted if sha256 not in there]


def free(connection: "Connection", session_id: str) -> None:
    """Free the pictures of a purged session, except those that others use."""
    query = "delete from picture_uses where session = %s returning sha256"
    pictures = [row[0] for row in connection.execute(query, (session_id,)).fetchall()]
    connection.execute(_FREE, (pictures, KEPT_DAYS))
