"""A round of pulls: several hosts and runs read side by side, in one process of one worker.

Reading is waiting, so a round has threads; a slow host holds up its own threads and nobody else's.
Only so many rounds run at once, each under a lease that its clock renews: where a worker is killed,
the next bell starts a round anew.
"""

import logging
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from runs import bells
from runs.actions.discovering import look_at_host
from runs.actions.leases import HostLook, RunLook, crowded_hosts, take_next
from runs.actions.pulling import look_at_run
from runs.models import PullRound
from runs.sweeping import is_anything_due

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=15)
LOOKS_AROUND_EVERY_S = 0.25


def run_round() -> None:
    """Read what is due until nothing is, or the round's time is over. Does nothing if one runs."""
    if not settings.PULL:
        return
    with _slot() as slot:
        if slot is None:
            return
        _Round(slot).run()
    if is_anything_due(timezone.now()):
        bells.ring(bells.PULL)


@contextmanager
def _slot() -> Iterator[PullRound | None]:
    slot = _take_slot()
    try:
        yield slot
    finally:
        if slot is not None:
            rows = PullRound.objects.filter(slot=slot.slot, fence=slot.fence)
            rows.update(lease_until=timezone.now())


@transaction.atomic
def _take_slot() -> PullRound | None:
    """Take the right to run a round; None: as many run as may."""
    now = timezone.now()
    slots = [
        PullRound(slot=number, lease_until=now) for number in range(1, settings.PULL_ROUNDS + 1)
    ]
    PullRound.objects.bulk_create(slots, ignore_conflicts=True)
    rows = PullRound.objects.select_for_update(skip_locked=True)
    slot = rows.filter(slot__lte=settings.PULL_ROUNDS, lease_until__lte=now).first()
    if slot is None:
        return None
    slot.lease_until, slot.fence = now + LEASE, slot.fence + 1
    slot.save(update_fields=["lease_until", "fence"])
    return slot


class _Round:
    """One round under way."""

    def __init__(self, slot: PullRound) -> None:
        self._slot = slot
        self._renewed_at = time.monotonic()
        self._ends_at = time.monotonic() + settings.PULL_ROUND_S
        self._crowded: frozenset[int] = frozenset()
        self._is_full = False

    def run(self) -> None:
        """Hand out what is due to threads until nothing is left to do."""
        under_way: set[Future[None]] = set()
        with ThreadPoolExecutor(settings.PULL_THREADS, thread_name_prefix="pull") as threads:
            while True:
                self._renew()
                under_way |= self._hand_out(threads, settings.PULL_THREADS - len(under_way))
                if not under_way:
                    return
                done, under_way = wait(under_way, LOOKS_AROUND_EVERY_S, FIRST_COMPLETED)
                for future in done:
                    future.result()

    def _renew(self) -> None:
        """Keep the slot, long before its lease ends."""
        if time.monotonic() - self._renewed_at < LEASE.total_seconds() / 3:
            return
        self._renewed_at = time.monotonic()
        rows = PullRound.objects.filter(slot=self._slot.slot, fence=self._slot.fence)
        rows.update(lease_until=timezone.now() + LEASE)

    def _hand_out(self, threads: ThreadPoolExecutor, room: int) -> set[Future[None]]:
        """Start looks while there is room and something is due, and note who has to wait."""
        started: set[Future[None]] = set()
        while room > len(started) and time.monotonic() < self._ends_at:
            taken = take_next(timezone.now())
            if taken is None:
                break
            started.add(threads.submit(self._look, taken))
        self._is_full = room == len(started)
        self._crowded = frozenset(crowded_hosts(timezone.now()))
        return started

    def _yields(self, taken: RunLook) -> bool:
        """Say whether a look should end for the sake of others: of its host, or of any."""
        is_over = time.monotonic() >= self._ends_at
        return is_over or taken.host.pk in self._crowded or (self._is_full and bool(self._crowded))

    def _look(self, taken: HostLook | RunLook) -> None:
        """Look, with a connection of its own; what breaks off is due again by its lease."""
        try:
            match taken:
                case HostLook():
                    look_at_host(taken)
                case RunLook():
                    look_at_run(taken, yields=lambda: self._yields(taken))
        except Exception as error:  # the outermost edge of a look: only that look fails
            place = traceback.extract_tb(error.__traceback__)[-1]
            what = type(error).__name__  # the message could repeat what a host said
            logger.error("a look broke off: %s at %s:%s", what, place.filename, place.lineno)  # noqa: TRY400
        finally:
            connection.close()
