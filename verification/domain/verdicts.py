"""Verdicts, and which of them stand.

The standing verdict is, for each verifier, its latest word on a target by sequence; what a target's
verdicts add up to is the worst that stands. So a verifier can take back its own verdict, and no
other verifier's `pass` clears a `fail`. Source: RFC 0090 §A, §B.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from runs.domain.log import LogLine, Origin
from runs.domain.readers import VerdictKind, VerdictRead

SEVERITY: Mapping[VerdictKind, int] = MappingProxyType(
    {VerdictKind.PASS: 0, VerdictKind.REVISE: 1, VerdictKind.FAIL: 2}
)

_WORST_FIRST = (VerdictKind.FAIL, VerdictKind.REVISE, VerdictKind.PASS)

Verifier = tuple[str, str | None]
"""An agent, and the other host that it named the target on: each has a word of its own."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verdict of the log."""

    line: LogLine
    sequence: int
    """Where it stands among the host's events, also when the Console recorded it."""
    said: VerdictRead

    @property
    def verifier(self) -> Verifier:
        """Return whose word this is."""
        return self.said.agent_id, self.said.causation_host_id

    @property
    def kind(self) -> VerdictKind:
        """Return `pass`, `revise` or `fail`."""
        return self.said.kind

    @property
    def is_ours(self) -> bool:
        """Say whether the Console's own consensus gave it; no host is bound by that."""
        return self.line.origin is Origin.CONSOLE


def standing(verdicts: Iterable[Verdict]) -> dict[Verifier, Verdict]:
    """Return each verifier's latest word.

    Args:
        verdicts: on one target, in sequence order.
    """
    return {verdict.verifier: verdict for verdict in verdicts}


def worst(kinds: Iterable[VerdictKind]) -> VerdictKind | None:
    """Return the worst of some verdicts, or None when there is none."""
    return max(kinds, key=SEVERITY.__getitem__, default=None)


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of a run during which a target's verdicts added up to the same."""

    kind: VerdictKind
    verdict: Verdict
    """The latest of those that stand and say so."""
    start: int
    """Sequence of the verdict that it begins with."""
    end: int | None
    """Sequence of the next verdict on the target; None: it lasts."""


def phases(verdicts: Sequence[Verdict]) -> list[Phase]:
    """Return what a target's verdicts added up to, stretch by stretch.

    Args:
        verdicts: on one target, in sequence order.
    """
    if len(verdicts) == 1:
        only = verdicts[0]
        return [Phase(only.kind, only, only.sequence, None)]
    latest: dict[Verifier, Verdict] = {}
    said: dict[VerdictKind, list[Verdict]] = {kind: [] for kind in _WORST_FIRST}
    found = []
    ends = [*(each.sequence for each in verdicts[1:]), None]
    for verdict, end in zip(verdicts, ends, strict=False):
        latest[verdict.verifier] = verdict
        said[verdict.kind].append(verdict)
        for kind in _WORST_FIRST:
            while said[kind] and latest[said[kind][-1].verifier] is not said[kind][-1]:
                said[kind].pop()
            if said[kind]:
                found.append(Phase(kind, said[kind][-1], verdict.sequence, end))
                break
    return found


def reversals(verdicts: Sequence[Verdict]) -> list[tuple[Verdict, Verdict]]:
    """Return the pairs in which a verifier said something else than it had said before.

    Args:
        verdicts: on one target, in sequence order.
    """
    latest: dict[Verifier, Verdict] = {}
    found = []
    for verdict in verdicts:
        before = latest.get(verdict.verifier)
        if before is not None and before.kind is not verdict.kind:
            found.append((before, verdict))
        latest[verdict.verifier] = verdict
    return found
