"""Makes things due to be read from hosts: the ledger that workers look into.

Every write here may be repeated without harm. Whether and how something is read is for
`runs.actions.pulling`.
"""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import connection

from runs import bells
from runs.domain.tenants import is_foreign
from runs.models import Host, PulledHost, PulledRun

MOST_OWED = 100
"""Announced verdicts that are remembered per run; the log itself tells of more."""

_RING = """
    INSERT INTO runs_pulledrun AS held
        (host_id, run_id, next_at, rung_at, fence, failures, outcome, quiet, owed_verdicts)
    VALUES (%(host)s, %(run)s, %(now)s, %(now)s, 0, 0, '', 0, %(owed)s)
    ON CONFLICT ON CONSTRAINT a_run_is_pulled_once
    DO UPDATE SET
        next_at = LEAST(held.next_at, EXCLUDED.next_at),
        rung_at = EXCLUDED.rung_at,
        quiet = 0,
        settled_with = NULL,
        owed_verdicts = CASE
            WHEN held.owed_verdicts @> EXCLUDED.owed_verdicts
                OR cardinality(held.owed_verdicts) >= %(most)s THEN held.owed_verdicts
            ELSE held.owed_verdicts || EXCLUDED.owed_verdicts
        END
"""


def pull_soon(*, host: Host, run_id: str, owed_verdict: int | None = None, now: datetime) -> None:
    """Have a run read from its host as soon as a worker is free.

    Args:
        host: whose run it is.
        run_id: perhaps of a run that nothing is known of yet.
        owed_verdict: sequence of an event that was announced and could close a gate.
        now: our clock.
    """
    owed = [] if owed_verdict is None else [owed_verdict]
    with connection.cursor() as cursor:
        cursor.execute(
            _RING, {"host": host.pk, "run": run_id, "now": now, "owed": owed, "most": MOST_OWED}
        )
    bells.ring(bells.PULL)


_KNOW = """
    INSERT INTO runs_pulledrun
        (host_id, run_id, next_at, fence, failures, outcome, quiet, owed_verdicts)
    SELECT %s, unnest(%s::text[]), %s, 0, 0, '', 0, '{}'
    ON CONFLICT ON CONSTRAINT a_run_is_pulled_once DO NOTHING
"""


def make_known(*, host: Host, run_ids: Sequence[str], now: datetime) -> None:
    """Have runs read that are heard of for the first time; known ones stay as they are."""
    wanted = sorted({each for each in run_ids if not is_foreign(each, host.tenant)})
    if wanted:
        with connection.cursor() as cursor:
            cursor.execute(_KNOW, [host.pk, wanted, now])


def wake(*, host: Host, run_ids: Sequence[str], now: datetime) -> None:
    """Have known runs read again that were thought to be read to their end."""
    PulledRun.objects.filter(host=host, run_id__in=run_ids, next_at=None).update(
        next_at=now, quiet=0, settled_with=None
    )


def is_readable(host: Host, now: datetime) -> bool:
    """Say whether the host can be read now: it has an address, and is not left alone."""
    if not settings.PULL or not host.base_url:
        return False
    return not PulledHost.objects.filter(host=host, rests_until__gt=now).exists()


def look_at_host(*, host: Host, now: datetime) -> None:
    """Have a host asked what it can do and which runs it has, whatever went wrong before."""
    PulledHost.objects.update_or_create(
        host=host, defaults={"next_at": now, "rests_until": None, "failures": 0}
    )
    bells.ring(bells.PULL)
