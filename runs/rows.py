"""Reads rows as model instances by SQL that is written once.

For the few queries that every ingest request makes: the ORM compiles the same statement anew for
each call, which costs more than the database takes to answer it.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

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


def fetch(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a query and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
