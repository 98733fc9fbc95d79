"""One look at one run: what its host says of it, the events that we lack, and what comes now.

No transaction is open while a host is asked. Events go the way of every event; a look that is
killed anywhere leaves what it took, and the next one goes on from there.
"""

import time
from collections.abc import Callable, Sequence

from django.conf import settings
from django.utils import timezone

from runs.actions.due import make_known
from runs.actions.ingest import take
from runs.actions.leases import RunLook
from runs.actions.outcomes import Ended, Stopped, check, end_run, held_of
from runs.actions.reading_runs import keep_snapshot, read_snapshot
from runs.domain.batch import Batch as Events
from runs.domain.host_answer import Answer
from runs.domain.host_documents import Log, Unreadable, log_in, log_in_frame
from runs.domain.pulling import Held, Look, Trouble, trouble_in
from runs.domain.refusals import Refused
from runs.domain.snapshots import Snapshot
from runs.domain.sse import Frames, FrameTooLarge
from runs.host_reader import HostReader
from runs.limits import limits
from runs.pinned import Opened
from runs.reading import reader_of
from runs.refusal import Refusal
from runs.sealing import SealBroken

PART = 500
"""Events that are taken in one transaction."""
SLICE_S = 5.0
"""Seconds after which a stream is taken up anew, so that others get their turn."""
FULL_PAGE = 50
"""New events in one answer from which on the host may have more right away."""
STAYS_FOR = 3
"""Looks in a row without news for which a run that goes on is still followed live."""

Yields = Callable[[], bool]


def never() -> bool:
    """Nobody else waits."""
    return False


def look_at_run(taken: RunLook, *, yields: Yields = never) -> None:
    """Read a run that was taken, and write down when it is read again.

    Args:
        taken: the lease.
        yields: says whether somebody else waits, so that following a live run should end.
    """
    looking = Looking(taken, yields)
    try:
        looking.read(reader_of(taken.host))
        ended = looking.ended("read")
    except Stopped as stopped:
        ended = looking.ended(stopped.outcome, stopped.trouble, stopped.asked_s)
    except Unreadable:
        ended = looking.ended("unreadable", Trouble.HOST)
    except SealBroken:
        ended = looking.ended("api key sealed under another key", Trouble.HOST)
    end_run(taken, ended, now=timezone.now())


class Looking:
    """A look under way, and what it has brought so far."""

    def __init__(self, taken: RunLook, yields: Yields) -> None:
        """Begin a look; nothing is asked before `read`."""
        self._taken = taken
        self._yields = yields
        self._ends_at = time.monotonic() + settings.PULL_TAIL_S + 2 * settings.PULL_DEADLINE_S
        self._snapshot: Snapshot | None = None
        self._news = 0
        self._not_given = taken.not_given
        self._has_streams = True

    def ended(
        self, outcome: str, trouble: Trouble | None = None, asked_s: float | None = None
    ) -> Ended:
        """Return how the look ended."""
        look = Look(
            held=self._held(),
            news=self._news,
            trouble=trouble,
            asked_s=asked_s,
            host_says_it_ended=self._snapshot is not None and self._snapshot.is_over,
        )
        return Ended(look, outcome, self._not_given)

    def read(self, reader: HostReader) -> None:
        """Read the snapshot, what is missing, and for a while what comes.

        Raises:
            Stopped: the host does not answer, or refuses.
            Unreadable: what it answers is not what was asked for.
        """
        self._snapshot = read_snapshot(reader, self._taken)
        make_known(host=self._taken.host, run_ids=_relatives(self._snapshot), now=timezone.now())
        self._catch_up(reader)
        if self._is_live():
            self._follow(reader)
        run, held = held_of(self._taken.host, self._taken.run_id)
        if run is not None:
            is_fresh = not self._news
            is_caught_up = not held.missing and (held.has_ended or is_fresh)
            keep_snapshot(
                run,
                self._snapshot,
                is_caught_up=is_caught_up,
                is_fresh=is_fresh,
                now=timezone.now(),
            )

    def _held(self) -> Held:
        return held_of(self._taken.host, self._taken.run_id)[1]

    def _catch_up(self, reader: HostReader) -> None:
        """Poll from where the log stops being whole until the host seems to have no more."""
        while time.monotonic() < self._ends_at:
            held = self._held()
            cursor = held.cursor(not_given=self._asked_already(held))
            reading = reader.read_events(self._taken.run_id, cursor)
            check(reading.answer)
            if reading.is_too_large:
                self._read_in_parts(reader, cursor)
                return
            log = log_in(reading.body, run_id=self._taken.run_id, limits=limits())
            new = self._take(log.above(cursor))
            self._note_not_given(log)
            if new < FULL_PAGE or self._held().is_whole:
                return

    def _read_in_parts(self, reader: HostReader, cursor: int | None) -> None:
        """Read a log that is too large for one answer by the stream, which may break off."""
        if not self._has_streams:
            raise Stopped(Trouble.RUN, "log too large")
        self._stream(reader, cursor, settings.PULL_DEADLINE_S, never)

    def _asked_already(self, held: Held) -> int | None:
        """Return up to where not to ask again. A run that is over or idle is asked for all."""
        is_last_call = held.has_ended or self._taken.quiet >= STAYS_FOR
        return None if is_last_call and not self._news else self._not_given

    def _note_not_given(self, log: Log) -> None:
        """Remember what the host was asked for and did not have, so as not to ask at every look."""
        if any(last < log.newest for _, last in self._held().missing):
            self._not_given = max(log.newest, self._not_given or -1)

    def _is_live(self) -> bool:
        """Say whether the run goes on and told something lately."""
        is_over = self._held().has_ended or (self._snapshot is not None and self._snapshot.is_over)
        return not is_over and (self._news > 0 or self._taken.quiet < STAYS_FOR)

    def _follow(self, reader: HostReader) -> None:
        """Follow the run's stream in slices until it ends, time is up, or somebody waits."""
        until = min(time.monotonic() + settings.PULL_TAIL_S, self._ends_at)
        while not self._yields() and (left := until - time.monotonic()) > 0:
            before = time.monotonic()
            self._stream(reader, self._held().last, min(left, SLICE_S), self._yields)
            ended_early = time.monotonic() - before < min(left, SLICE_S) / 2
            if self._held().has_ended or not self._has_streams or ended_early:
                return

    def _stream(
        self, reader: HostReader, cursor: int | None, seconds: float, yields: Yields
    ) -> None:
        """Take what a run's stream brings after a cursor, for so many seconds."""
        has_bells = False
        with reader.stream_events(self._taken.run_id, cursor, seconds=seconds) as stream:
            if isinstance(stream, Answer):
                self._without_stream(stream)
                return
            has_bells = self._take_stream(stream, cursor, yields)
        if has_bells:  # this host streams less than it polls
            self._has_streams = False
            self._catch_up(reader)

    def _without_stream(self, answer: Answer) -> None:
        """Go on without a host's stream, unless the host itself is in trouble."""
        if trouble_in(answer) is Trouble.HOST and not answer.is_good:
            check(answer)
        self._has_streams = False

    def _take_stream(self, stream: Opened, cursor: int | None, yields: Yields) -> bool:
        """Take events as they come; true as soon as one comes without what makes it an event."""
        frames = Frames(limits().body_bytes)
        for chunk in stream.chunks:
            try:
                found = frames.feed(chunk)
            except FrameTooLarge:
                raise Unreadable from None
            logs = [
                log_in_frame(each, run_id=self._taken.run_id, limits=limits()) for each in found
            ]
            self._take([event for log in logs for event in log.above(cursor)])
            if any(log.has_bells and log.newest > _number(cursor) for log in logs):
                return True
            if found and (self._held().has_ended or yields()):
                return False
        return False

    def _take(self, events: Sequence[object | Refused]) -> int:
        """Take events in parts and return how many were new."""
        new = 0
        for start in range(0, len(events), PART):
            part = Events(list(enumerate(events[start : start + PART])), is_single=False)
            try:
                new += take(host=self._taken.host, events=part, now=timezone.now()).accepted
            except Refusal:
                continue  # counted, and marked where it matters
        self._news += new
        return new


def _relatives(snapshot: Snapshot) -> list[str]:
    return [each for each in (snapshot.parent_run_id, *snapshot.child_run_ids) if each]


def _number(cursor: int | None) -> int:
    return -1 if cursor is None else cursor
