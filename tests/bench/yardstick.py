"""Bare COPY of rows that were ingested, into a table like the one they are in: what the server can.

The table has the same columns, indexes and constraints; each batch is a transaction, and durable.
"""

from collections.abc import Sequence

import psycopg

from runs.actions.log import COLUMNS

NAMES = ", ".join(COLUMNS)


class Yardstick:
    """The table and some connections that fill it."""

    def __init__(self, url: str, connections: int) -> None:
        self.connections = [psycopg.connect(url, autocommit=True) for _ in range(connections)]
        with self.connections[0].cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS bench_event")
            cursor.execute("CREATE TABLE bench_event (LIKE runs_event INCLUDING ALL)")
            cursor.execute("SHOW synchronous_commit")
            assert cursor.fetchone() == ("on",)
            cursor.execute("SHOW fsync")
            assert cursor.fetchone() == ("on",)

    def rows(self, run_ids: Sequence[str]) -> list[bytes]:
        """Return the rows of some runs as COPY writes them."""
        with self.connections[0].cursor() as cursor:
            query = (
                f"COPY (SELECT {NAMES} FROM runs_event WHERE run_id IN"
                " (SELECT id FROM runs_run WHERE run_id = ANY(%s)) ORDER BY run_id, position)"
                " TO STDOUT"
            )
            with cursor.copy(query, [list(run_ids)]) as copy:
                return b"".join(copy).splitlines(keepends=True)

    def copy(self, connection: psycopg.Connection, rows: bytes) -> None:
        """Store some rows."""
        with (
            connection.transaction(),
            connection.cursor() as cursor,
            cursor.copy(f"COPY bench_event ({NAMES}) FROM STDIN") as copy,
        ):
            copy.write(rows)

    def empty(self) -> None:
        self.connections[0].execute("TRUNCATE bench_event")

    def close(self) -> None:
        self.connections[0].execute("DROP TABLE bench_event")
        for connection in self.connections:
            connection.close()
