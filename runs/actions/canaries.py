"""Hears what is sent for a connection test, and says whose test it is."""

from datetime import datetime
from functools import partial

from django.db import transaction

from runs import live
from runs.domain.canary import OPEN_FOR, sent_by_us, test_run
from runs.models import ConnectionTest, Host


def is_tried(host: Host, run_id: str, now: datetime) -> bool:
    """Say whether a test of the host is under way that has this canary run."""
    rows = ConnectionTest.objects.filter(host=host, run_id=test_run(run_id))
    return rows.filter(asked_at__gt=now - OPEN_FOR).exists()


def hear(host: Host, run_id: str, now: datetime) -> None:
    """Note that a host's own canary came through; what the Console sends is not the host's."""
    if run_id != sent_by_us(test_run(run_id)):
        ConnectionTest.objects.filter(host=host, run_id=run_id).update(heard_at=now)
        transaction.on_commit(partial(live.ring, live.host_group(host.pk)))
