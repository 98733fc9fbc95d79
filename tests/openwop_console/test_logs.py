"""Nothing that was sent, and no key, is in a log, whatever goes wrong."""

import io
import logging
import os

import psycopg
import pytest
from django.conf import settings
from django.db import IntegrityError, connection

from openwop_console.logs import Line
from runs.domain.refusals import BodyRefused

CANARY = "CANARY-7d1f"


@pytest.fixture
def log():
    """What the handlers of the settings would write."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(Line("%(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("tests.log")
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, written
    logger.removeHandler(handler)


def failing(error: Exception):
    raise error


def test_an_exception_is_logged_by_its_type_and_its_way(log):
    logger, written = log
    try:
        failing(ValueError(CANARY))
    except ValueError:
        logger.exception("it failed")

    assert "it failed" in written.getvalue()
    assert "builtins.ValueError" in written.getvalue()
    assert "in failing" in written.getvalue()
    assert CANARY not in written.getvalue()


def test_what_came_before_an_exception_is_told_as_carefully(log):
    logger, written = log
    try:
        try:
            failing(KeyError(CANARY))
        except KeyError as error:
            raise RuntimeError(CANARY) from error
    except RuntimeError:
        logger.exception("it failed")

    assert "builtins.RuntimeError" in written.getvalue()
    assert "builtins.KeyError" in written.getvalue()
    assert CANARY not in written.getvalue()


def test_our_own_exceptions_say_what_they_say(log):
    logger, written = log
    try:
        failing(BodyRefused("validation_error", "json_invalid"))
    except BodyRefused:
        logger.exception("it failed")

    assert "json_invalid" in written.getvalue()


@pytest.mark.django_db(transaction=True)
def test_a_row_that_the_database_refuses_is_not_quoted(log):
    logger, written = log
    with pytest.raises(IntegrityError, match=CANARY) as refused, connection.cursor() as cursor:
        cursor.execute("INSERT INTO runs_workspace (slug) VALUES (%s)", [CANARY])
    logger.error("it failed", exc_info=refused.value)

    assert "django.db.utils.IntegrityError" in written.getvalue()
    assert CANARY not in written.getvalue()


def test_a_failed_task_is_named_and_its_exception_not_quoted(log):
    logger, written = log
    logger.name = "celery.app.trace"
    data = {"name": "runs.tasks.pull", "id": "7", "exc": CANARY, "traceback": CANARY}
    try:
        failing(ValueError(CANARY))
    except ValueError:
        logger.error("Task %(name)s: %(exc)s", data, exc_info=True, extra={"data": data})
    logger.name = "tests.log"

    assert "task runs.tasks.pull [7]: error" in written.getvalue()
    assert CANARY not in written.getvalue()


def test_every_process_logs_by_this_formatter():
    assert settings.LOGGING["formatters"]["line"]["()"] == "openwop_console.logs.Line"
    assert settings.LOGGING["root"]["handlers"] == ["stderr"]
    for name in ("uvicorn", "uvicorn.error"):
        assert settings.LOGGING["loggers"][name] == {"handlers": [], "propagate": True}


def test_the_embedded_postgresql_quotes_no_rows_in_its_log():
    with psycopg.connect(os.environ["DATABASE_URL"]) as opened:
        shown = [
            opened.execute(f"SHOW {name}").fetchone()[0]
            for name in ("log_min_error_statement", "log_error_verbosity")
        ]

    assert shown == ["panic", "terse"]
