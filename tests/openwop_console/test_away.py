"""While PostgreSQL is away: an answer soon, that says so and when to come again."""

import json
import time
from collections.abc import Iterator

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connection, connections

from openwop_console import database_threads, metrics
from openwop_console.database_threads import DatabaseThreads
from tests.factories import event
from tests.local_servers import closed_port
from tests.raw_http import exchange
from tests.web import serving_web

SOON_S = 8.0
"""More than the pool waits once, on a machine that is busy, and less than it waits ten times."""


@pytest.fixture
def away(transactional_db, host) -> Iterator[str]:
    """The key of a host whose Console has lost its database: nothing listens where it was."""
    key = host.key_for_tests
    options = connections["default"].settings_dict
    port = options["PORT"]
    connection.close()
    connection.close_pool()
    with closed_port() as options["PORT"]:
        yield key
        connection.close()
        connection.close_pool()
        options["PORT"] = port


def headers(key: str) -> dict[str, str | None]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/events"),
        ("GET", "/api/v1/runs"),
        ("GET", "/api/v1/runs/r-1"),
        ("POST", "/api/v1/webhooks/alpha"),
    ],
)
def test_the_api_says_503_in_its_own_words_and_when_to_come_again(away, method, path):
    body = json.dumps(event(0)).encode() if method == "POST" else b""
    with serving_web() as web:
        began = time.monotonic()
        reply = exchange(web, body, method=method, path=path, headers=headers(away))
        took = time.monotonic() - began

    assert (reply.status, reply.media_type) == (503, "application/json")
    assert int(reply.headers["retry-after"]) >= 1
    assert reply.json()["error"] == "service_unavailable"
    assert reply.json()["details"]["reason"] == "database_away"
    assert took < SOON_S


def test_metrics_say_so_too_and_are_asked_for_again(away, settings, monkeypatch):
    token = settings.METRICS_TOKEN = "a-token-for-metrics-of-tests"
    monkeypatch.setattr(metrics, "kept", metrics.Kept(metrics.asked))
    with serving_web() as web:
        began = time.monotonic()
        reply = exchange(web, method="GET", path="/metrics", headers=headers(token))
        took = time.monotonic() - began

    assert (reply.status, reply.media_type) == (503, "application/json")
    assert int(reply.headers["retry-after"]) >= 1
    assert reply.json()["details"]["reason"] == "database_away"
    assert took < SOON_S


def test_once_it_is_known_to_be_away_events_are_answered_at_once(away, monkeypatch):
    monkeypatch.setattr(database_threads, "AWAY_S", 60.0)
    body = json.dumps(event(0)).encode()
    with serving_web() as web:
        exchange(web, body, headers=headers(away))
        began = time.monotonic()
        replies = [exchange(web, body, headers=headers(away)) for _ in range(10)]
        took = time.monotonic() - began

    assert {reply.status for reply in replies} == {503}
    assert took < SOON_S


def test_pages_say_calmly_that_it_is_away(away):
    cookie = f"{django_settings.SESSION_COOKIE_NAME}=somebody"
    with serving_web() as web:
        reply = exchange(web, method="GET", path="/runs", headers={"Cookie": cookie})

    assert (reply.status, reply.media_type) == (503, "text/html")
    assert reply.headers["retry-after"]
    assert b"Back in a moment" in reply.body


async def test_a_connection_that_broke_meanwhile_is_replaced_and_the_job_done(transactional_db):
    threads = DatabaseThreads(1, name="test", most_s=20)
    await threads.run(ask)

    await threads.run(break_connection)

    assert await threads.run(ask) == 1
    threads.let_go()


async def test_a_job_that_takes_too_long_is_given_up_on(transactional_db):
    threads = DatabaseThreads(1, name="test", most_s=0.2)

    with pytest.raises(OperationalError):
        await threads.run(slowly)

    threads.let_go()


def ask() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return int(cursor.fetchone()[0])


def slowly() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(1)")


def break_connection() -> None:
    """Let the server end the connection behind the thread's back."""
    pid = connection.connection.info.backend_pid
    options = connection.settings_dict
    with psycopg.connect(
        dbname=options["NAME"], user=options["USER"], password=options["PASSWORD"],
        host=options["HOST"], port=options["PORT"], autocommit=True,
    ) as other:  # fmt: skip
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
