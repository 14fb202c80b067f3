"""The state of the server: warnings at the start, and the report of ``doctor``."""

import time
from ipaddress import ip_address
from typing import TYPE_CHECKING

from tui.storage.postgres.tables import VERSION

if TYPE_CHECKING:
    from psycopg import Connection

_UNVERIFIED = (
    "The connection to the store's server does not check who answers. Add ?sslmode=verify-full to"
    " its address."
)
_STATE = """
    select current_user, has_database_privilege(current_database(), 'create'),
        (select count(*) from sibyl.sessions),
        (select count(*) from sibyl.sessions where leased_until > clock_timestamp()),
        extract(epoch from clock_timestamp())::float8
"""
"""The time as a number: the database may have a style of dates that cannot be read."""


def warnings(connection: "Connection") -> tuple[str, ...]:
    """List the warnings about a connection."""
    return () if _is_local(connection) or _is_verified(connection) else (_UNVERIFIED,)


def report(connection: "Connection") -> dict[str, str]:
    """Collect the rows of ``doctor``."""
    began = time.monotonic()
    connection.execute("select 1")
    milliseconds = (time.monotonic() - began) * 1000
    ((user, may_create, sessions, held, server_time),) = connection.execute(_STATE).fetchall()
    tls = "TLS" if connection.pgconn.ssl_in_use else "no TLS"
    is_local = _is_local(connection)
    sure = "verified" if _is_verified(connection) else "not verified"
    apart = abs(time.time() - server_time)
    return {
        "server": f"PostgreSQL {connection.info.parameter_status('server_version')}",
        "connection": f"this machine, {tls}" if is_local else f"network, {tls}, {sure}",
        "tables": f"version {VERSION}",
        "role": f"{user}, {'may' if may_create else 'may not'} make the tables",
        "sessions": f"{sessions:,}, {held:,} open",
        "round trip": f"{milliseconds:.1f} ms",
        "clocks": f"{apart:.1f} s apart",
    }


def _is_verified(connection: "Connection") -> bool:
    wanted = connection.info.get_parameters()
    checks = wanted.get("sslmode", "").startswith("verify-")
    return connection.pgconn.ssl_in_use and (checks or wanted.get("sslrootcert") == "system")


def _is_local(connection: "Connection") -> bool:
    """True for a socket of this machine, and for loopback."""
    try:
        return ip_address(connection.info.hostaddr).is_loopback
    except ValueError:
        return connection.info.host.startswith(("/", "@"))
