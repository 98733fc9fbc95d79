"""One look at one host: what it advertises, which protocol it speaks, and which runs it has.

A host that lists no runs is still read: runs become known by what it sends, by what it says of
their parents and children, and by its bells.
"""

import logging
from collections.abc import Iterable, Iterator

from django.utils import timezone

from runs.actions.due import make_known, wake
from runs.actions.hosts import advertise
from runs.actions.leases import HostLook
from runs.actions.outcomes import Stopped, check, end_host, note_health
from runs.domain.host_answer import Answer
from runs.domain.host_documents import RunsPage, Unreadable, document_in, major_of, runs_in
from runs.domain.projection import TERMINAL
from runs.domain.pulling import Held, Look, Trouble, trouble_in, wants_look
from runs.host_reader import HostReader, Reading
from runs.limits import limits
from runs.models import Host, PulledHost, PulledRun
from runs.reading import reader_of
from runs.sealing import SealBroken

logger = logging.getLogger(__name__)

PAGE = 100
MOST_PAGES = 10
"""Pages of a host's list that one look reads; the next one goes on from there."""


def look_at_host(taken: HostLook) -> None:
    """Read a host that was taken, and write down when it is read again."""
    looking = _Looking(taken)
    look, outcome = Look(Held()), "read"
    try:
        looking.read()
    except Stopped as stopped:
        look, outcome = _failed(stopped.trouble, stopped.asked_s), stopped.outcome
    except Unreadable:
        look, outcome = _failed(Trouble.HOST), "unreadable"
    except SealBroken:
        look, outcome = _failed(Trouble.HOST), "api key sealed under another key"
    now = timezone.now()
    note_health(taken.host, taken.taken_at, look, now)
    end_host(
        taken,
        outcome=outcome,
        now=now,
        list_cursor=looking.list_cursor,
        lists_runs=looking.lists_runs,
    )


def _failed(trouble: Trouble, asked_s: float | None = None) -> Look:
    return Look(Held(), trouble=trouble, asked_s=asked_s)


class _Looking:
    """A look under way."""

    def __init__(self, taken: HostLook) -> None:
        self._taken = taken
        self._host = taken.host
        self._pages_left = MOST_PAGES
        self.list_cursor = taken.list_cursor
        self.lists_runs = taken.lists_runs

    def read(self) -> None:
        """Read what the host advertises, then its runs. Raises Stopped, Unreadable, SealBroken."""
        has_changed = self._discover()
        if self.lists_runs is not False or has_changed:
            self._list(reader_of(self._host))

    def _discover(self) -> bool:
        """Keep what the host advertises; true if that is new. A host without discovery is read."""
        reading = _discovery_of(self._host)
        if trouble_in(reading.answer) is Trouble.RUN:
            return False
        check(reading.answer)
        document = document_in(reading.body)
        major = major_of(document)
        if major is not None and major != self._host.protocol_major:
            Host.objects.filter(pk=self._host.pk).update(protocol_major=major)
            self._host.protocol_major = major
            logger.info("host %s speaks protocol major %s", self._host.pk, major)
        has_changed = advertise(host=self._host, document=document)
        if has_changed:
            PulledHost.objects.filter(host=self._host).update(lists_interrupts=None)
        return has_changed

    def _list(self, reader: HostReader) -> None:
        """Walk through the host's runs: what is new first, then on from where the last walk was."""
        left_at = ""
        for page in self._pages(reader, ""):
            left_at = page.next_cursor
            if not self._make_due(page):
                left_at = ""
                break
        if left_at:  # more is new than one look reads; what was left before is passed on the way
            self.list_cursor = left_at
            return
        for page in self._pages(reader, self.list_cursor) if self.list_cursor else ():
            self._make_due(page)
            self.list_cursor = page.next_cursor

    def _pages(self, reader: HostReader, cursor: str) -> Iterator[RunsPage]:
        while self._pages_left:
            self._pages_left -= 1
            reading = reader.list_runs(limit=PAGE, cursor=cursor)
            if _has_no_list(reading.answer):
                self.lists_runs = bool(cursor)
                self.list_cursor = ""  # a cursor may have grown too old
                return
            check(reading.answer)
            page = runs_in(reading.body, limits=limits())
            self.lists_runs = True
            yield page
            if not page.next_cursor or page.next_cursor == cursor:
                return
            cursor = page.next_cursor

    def _make_due(self, page: RunsPage) -> int:
        """Make due what a page tells us to read, and return how many runs that is."""
        ids = [each.run_id for each in page.runs]
        rows = PulledRun.objects.filter(host=self._host, run_id__in=ids)
        is_settled = dict(rows.values_list("run_id", "next_at"))
        wanted = [
            each.run_id
            for each in page.runs
            if wants_look(
                is_known=each.run_id in is_settled,
                is_settled=is_settled.get(each.run_id) is None,
                listed_as_over=each.status in TERMINAL,
            )
        ]
        known, new = _parted(wanted, is_settled)
        now = timezone.now()
        make_known(host=self._host, run_ids=new, now=now)
        wake(host=self._host, run_ids=known, now=now)
        return len(wanted)


def _discovery_of(host: Host) -> Reading:
    """Ask in the major that is known; a host that does not speak it is asked in the other one."""
    reading = reader_of(host).discovery()
    if reading.answer.status == 406:
        return reader_of(host, major=3 - host.protocol_major).discovery()
    return reading


def _has_no_list(answer: Answer) -> bool:
    return answer.status in {400, 404, 405, 501}


def _parted(wanted: Iterable[str], known: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the wanted that are known, and those that are not."""
    held, ids = set(known), list(wanted)
    return [each for each in ids if each in held], [each for each in ids if each not in held]
