"""A store in a PostgreSQL server, for several machines; only this package knows its library."""
