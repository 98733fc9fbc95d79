"""What a person may have allowed at the host, without the log saying so plainly.

Between a `fail` and what the host did in spite of it, a person may have been asked and may have
said yes: an approval granted, a question answered. The log does not name the verdict that the
answer was about, so no gate opens by it; but a host that asked a person is not accused either.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping

from runs.domain.interrupts import Interrupt, sequence_of
from runs.domain.log import LogLine
from verification.domain.cases import Case
from verification.domain.index import Index
from verification.domain.stretches import Stretches
from verification.domain.ties import EXTERNAL
from verification.domain.verdicts import Verdict


class Allowances:
    """Answers of people at the host, by what they may have been about."""

    def __init__(
        self, index: Index, targets: Collection[str], interrupts: Mapping[str, Interrupt]
    ) -> None:
        self._anything: Stretches[LogLine] = Stretches()
        self._about: dict[str | None, Stretches[LogLine]] = defaultdict(Stretches)
        tied = {id(interrupt) for interrupt in interrupts.values()}
        for interrupt in index.run.interrupts:
            if interrupt.was_let_through and interrupt.kind != EXTERNAL:
                self._take_interrupt(interrupt, is_tied=id(interrupt) in tied)
        for by_gate in (index.overrides, index.grants):
            for gate, lines in by_gate.items():
                self._take_approvals(gate if gate in targets else None, lines)

    def between(self, case: Case, verdict: Verdict, before: int) -> LogLine | None:
        """Return the answer, given after a verdict, that may have let its target through."""
        found = self._anything.within(verdict.sequence, before)
        for name in (case.target, verdict.line.event_id, case.subject.node_id):
            if found is None and name in self._about:
                found = self._about[name].within(verdict.sequence, before)
        return found

    def _take_interrupt(self, interrupt: Interrupt, *, is_tied: bool) -> None:
        if interrupt.closed_by is None:
            return
        start, end = interrupt.opened_at, sequence_of(interrupt.closed_by)
        if is_tied or (interrupt.kind or "").startswith("approval"):
            self._anything.add(start, end, interrupt.closed_by)
        causes = {line.causation_id for line in interrupt.lines}
        for name in {*causes, interrupt.node_id} - {None}:
            self._about[name].add(start, end, interrupt.closed_by)

    def _take_approvals(self, gate: str | None, lines: list[LogLine]) -> None:
        """Take approvals; one that names a target of this run is about that target only."""
        place = self._anything if gate is None else self._about[gate]
        for line in lines:
            place.add(sequence_of(line), sequence_of(line), line)
