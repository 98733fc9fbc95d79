"""Reads rows as model instances by SQL that is written once.

For the few queries that every ingest request makes: the ORM compiles the same statement anew for
each call, which costs more than the database takes to answer it. Statements are constant text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import orjson
from django.db import connection
from django.db.models import Model
from psycopg import Cursor

Params = Sequence[Any] | Mapping[str, Any]
_Row = TypeVar("_Row", bound=Model)


@cache
def columns(model: type[Model], alias: str) -> str:
    """Return the columns of a model's table as a select list, in the order `instance` takes."""
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


@cache
def _names(model: type[Model]) -> tuple[str, ...]:
    return tuple(field.attname for field in model._meta.concrete_fields)


def width(model: type[Model]) -> int:
    """Return how many columns a model's table has."""
    return len(_names(model))


def instance(model: type[_Row], row: Sequence[Any]) -> _Row:
    """Return one row, as `columns` selects it, as an instance."""
    return model.from_db(connection.alias, _names(model), row)


def fetch(sql: str, parameters: Params) -> list[tuple[Any, ...]]:
    """Run a query and return its rows."""
    rows: list[tuple[Any, ...]] = _prepared(sql, parameters).fetchall()
    return rows


def execute(sql: str, parameters: Params) -> None:
    """Run a statement that returns nothing."""
    _prepared(sql, parameters)


def _prepared(sql: str, parameters: Params) -> "Cursor[Any]":
    """Run a statement that the server has parsed and planned once for this connection.

    A cursor of Django writes the values into the text instead, which is then parsed and planned
    anew each time.
    """
    connection.validate_no_broken_transaction()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return Cursor(connection.connection).execute(sql, parameters, prepare=True)


@dataclass(frozen=True, slots=True)
class Statement:
    """One that changes rows, to be run with others."""

    sql: str
    parameter: str


def insertion(
    table: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[Statement]:
    """Yield the statement that inserts rows, unless there are none.

    Args:
        table: its name.
        columns: type by name, of those that are given.
        rows: a value for each column; others are left out.
    """
    if rows:
        names = ", ".join(columns)
        sql = (
            f"INSERT INTO {table} ({names}) SELECT {names}"  # noqa: S608  (constant text)
            f" FROM jsonb_to_recordset(%s::jsonb) AS new ({typed(columns)})"
        )
        yield Statement(sql, orjson.dumps(rows).decode())


def update(
    table: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[Statement]:
    """Yield the statement that updates rows; takes what `insertion` does, and each row's `id`."""
    if rows:
        sets = ", ".join(f"{name} = new.{name}" for name in columns)
        sql = (
            f"UPDATE {table} SET {sets}"  # noqa: S608  (constant text)
            f" FROM jsonb_to_recordset(%s::jsonb) AS new (id bigint, {typed(columns)})"
            f" WHERE {table}.id = new.id"
        )
        yield Statement(sql, orjson.dumps(rows).decode())


def execute_together(statements: Sequence[Statement]) -> None:
    """Run statements about different rows in one go: each by itself costs a trip to the server."""
    if statements:
        parts = ", ".join(f"part_{at} AS ({each.sql})" for at, each in enumerate(statements))
        execute(f"WITH {parts} SELECT", [each.parameter for each in statements])


def typed(columns: Mapping[str, str]) -> str:
    """Return a list of columns with their types."""
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())
