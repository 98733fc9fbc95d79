"""A word that is in what hosts send, and in keys, is nowhere but in the log of the run."""

import gzip
import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from django.apps import apps
from django.conf import settings
from django.db import connection

from openwop_console.logs import Line
from runs.models import Event
from tests.factories import event, verified
from tests.raw_http import Reply, exchange
from tests.web import Web, serving_web

CANARY = "CANARYc4n4ry"
KEEPS = {"runs_event"}
"""The one table that may hold what a host sent."""


@contextmanager
def listening() -> Iterator[io.StringIO]:
    """Collect the lines of every logger, at the most talkative level, in the product's form."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(Line("%(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    # Uvicorn's loggers may have been silenced by another server of this process.
    loggers = [root, *map(logging.getLogger, ("uvicorn", "uvicorn.error"))]
    before = [(logger.level, logger.propagate) for logger in loggers]
    root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
        logger.propagate = True
    try:
        yield written
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.setLevel(level)
            logger.propagate = propagate
        root.removeHandler(handler)


def post(web: Web, document: Any, key: str, **headers: str | None) -> Reply:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    sent = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    return exchange(web, body, headers=sent | headers)


def everything_odd(web: Web, key: str) -> list[Reply]:
    """Send the word in every place that a request has."""
    payload = {"text": CANARY, CANARY: [CANARY]}
    leak = verified(5, "r-1-e1", "fail")
    leak["payload"][CANARY] = CANARY
    return [
        post(web, event(0, payload=payload), key),
        post(web, [event(1, payload=payload), event(-1, payload=payload)], key),
        post(web, event(0, payload={"other": CANARY}), key),
        post(web, leak, key),
        post(web, event(6, timestamp=CANARY), key),
        post(web, event(7, nodeId=f"{CANARY}\n"), key),
        post(web, f'{{"a": "{CANARY}", "a": "{CANARY}"'.encode(), key),
        post(web, gzip.compress(CANARY.encode()), key, **{"Content-Encoding": "gzip"}),
        post(web, event(8), f"owc_live_000000000000_{CANARY}"),
        post(web, event(8), key, **{"Content-Type": f"text/{CANARY}"}),
        post(web, event(8), key, **{"Idempotency-Key": CANARY + " "}),
        post(web, event(8), key, Host=CANARY),
        exchange(web, CANARY.encode(), path="/api/v1/webhooks/alpha", headers={
            "Content-Type": "application/json", "OpenWOP-Signature": f"sha256={CANARY}"}),
        exchange(web, method="GET", path=f"/api/v1/runs/{CANARY}", headers={
            "Authorization": f"Bearer {key}"}),
    ]  # fmt: skip


def tables_with(word: str) -> set[str]:
    found = set()
    for model in apps.get_models():
        table = model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE %s', [f"%{word}%"])
            if cursor.fetchone()[0]:
                found.add(table)
    return found


def test_no_content_and_no_key_is_in_any_answer_log_or_table_but_the_runs_own(
    transactional_db, host
):
    secret = host.key_for_tests.rpartition("_")[2]
    with listening() as written, serving_web() as web:
        replies = everything_odd(web, host.key_for_tests)

    assert [reply.status for reply in replies] == [
        201, 207, 409, 400, 400, 400, 400, 400, 401, 415, 400, 400, 401, 404,
    ]  # fmt: skip
    assert not [reply for reply in replies if CANARY.encode() in reply.body]
    assert CANARY in json.dumps(list(Event.objects.values_list("payload", flat=True)))
    assert tables_with(CANARY) <= KEEPS
    assert tables_with(secret) == set()
    assert written.getvalue()
    for line in written.getvalue().splitlines():
        assert CANARY not in line
        assert secret not in line


def test_bells_and_tasks_carry_no_content(transactional_db, host):
    with redis.Redis.from_url(settings.REDIS_URL) as client, client.monitor() as monitor:
        with serving_web() as web:
            everything_odd(web, host.key_for_tests)
        said = spoken(client, monitor)

    assert [command for command in said if command.startswith("PUBLISH")]
    assert not [command for command in said if CANARY in command]


def spoken(client: redis.Redis, monitor: redis.client.Monitor) -> list[str]:
    """Return what every Redis client said until a bell was rung, and what was under way then."""
    said: list[str] = []
    for heard in monitor.listen():
        said.append(str(heard["command"]))
        if said[-1].startswith("PUBLISH"):
            client.set("enough", 1)
        elif said[-1].startswith("SET enough"):
            break
    return said
