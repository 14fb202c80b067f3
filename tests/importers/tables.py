"""Databases for tests, written as the programs do that keep them."""

import sqlite3
from contextlib import closing


def written(path, script, mode="delete", **tables):
    """Make a database of these tables and rows; each row is an object of some of the columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA journal_mode = {mode}")
        database.executescript(script)
        for table, rows in tables.items():
            for row in rows:
                columns = ", ".join(f'"{column}"' for column in row)
                marks = ", ".join("?" * len(row))
                database.execute(
                    f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(row.values())
                )
        database.commit()
    return path


def plain(spoken):
    """The messages of a conversation without the lone surrogates that SQLite does not take."""
    return [each._replace(text=each.text.encode("utf-8", "replace").decode()) for each in spoken]
