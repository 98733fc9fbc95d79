"""Counts the statements that code sends to the database, by whichever way."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs import rows


class _Seen(psycopg.Cursor[Any]):
    """What `runs.rows` sends goes past Django's own cursor, and so past its log."""

    def execute(self, query: Any, params: Any = None, **more: Any) -> "_Seen":
        connection.queries_log.append({"sql": str(query), "time": "0"})
        return super().execute(query, params, **more)


@contextmanager
def statements() -> Iterator[CaptureQueriesContext]:
    """Capture every statement sent meanwhile, those of `runs.rows` among them; `len()` of it."""
    with pytest.MonkeyPatch.context() as patch, CaptureQueriesContext(connection) as seen:
        patch.setattr(rows, "Cursor", _Seen)
        yield seen
