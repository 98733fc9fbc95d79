"""Bells to workers, over a real broker: sent after the commit, from a thread, once for many."""

import pytest
import redis
from django.conf import settings as django_settings
from django.db import transaction

from runs import bells

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def broker():
    client = redis.Redis.from_url(django_settings.REDIS_URL)
    client.delete("pull")
    yield client
    client.delete("pull")
    client.close()


def settled():
    """Wait for the thread to have sent what it was given."""
    bells._sender.submit(lambda: None).result(10)


def test_a_bell_rings_after_the_commit_in_the_queue_for_pulls(broker):
    with transaction.atomic():
        bells.ring(bells.PULL)
        settled()
        assert broker.llen("pull") == 0
    settled()

    (message,) = broker.lrange("pull", 0, -1)
    assert b'"task": "runs.tasks.pull"' in message


def test_what_is_rolled_back_rings_nobody(broker):
    with transaction.atomic():
        bells.ring(bells.PULL)
        transaction.set_rollback(True)
    settled()

    assert broker.llen("pull") == 0


def test_a_bell_that_still_waits_is_enough(broker):
    bells._waiting.add((bells.PULL, ()))
    for _ in range(5):
        bells.ring(bells.PULL)
    settled()
    assert broker.llen("pull") == 0

    bells._send(bells.PULL, ())
    bells.ring(bells.PULL)
    settled()
    assert broker.llen("pull") == 2


def test_a_broker_that_is_away_costs_a_line_in_the_log(monkeypatch, caplog):
    def away(*args, **kwargs):
        raise OSError("no route to CANARY")

    monkeypatch.setattr("runs.bells.current_app.send_task", away)
    bells.ring(bells.PULL)
    settled()

    assert "runs.tasks.pull not rung: OSError" in caplog.text
    assert "CANARY" not in caplog.text
