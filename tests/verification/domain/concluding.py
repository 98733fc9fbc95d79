"""Short ways to conclude from lines, and to say what was concluded."""

from collections.abc import Sequence
from typing import Any

from runs.domain.log import LogLine
from tests.logs import GATING
from verification.domain.capabilities import Advertisements, CapabilitySpan
from verification.domain.cases import Case, cases
from verification.domain.conclude import Conclusions, conclude
from verification.domain.decisions import Action
from verification.domain.findings import Finding
from verification.domain.index import index
from verification.domain.past_decisions import PastDecision
from verification.domain.rules import Rules


def concluded(
    *lines: LogLine,
    gaps: Sequence[tuple[int, int]] = (),
    capabilities: Sequence[CapabilitySpan] = GATING,
    decisions: Sequence[PastDecision] = (),
    rules: Rules | None = None,
    claimed: Sequence[str] = (),
) -> Conclusions:
    """Conclude for a gating host unless said otherwise."""
    return conclude(lines, gaps, capabilities, decisions, rules or Rules(), claimed)


def case_of(target: str, *lines: LogLine, decisions: Sequence[PastDecision] = ()) -> Case:
    """The case of a target, for a gating host."""
    return cases(index(lines), Advertisements(GATING), decisions)[target]


def decision(key: str, action: Action, seen: int, **more: Any) -> PastDecision:
    """A person's decision, made with the host's events up to a sequence on screen."""
    return PastDecision(key, action, seen_position=seen + 1, by="ada", **more)


def states(found: Conclusions) -> dict[str, str]:
    return {target: gate.state.value for target, gate in found.gates.items()}


def noticed(found: Conclusions) -> dict[tuple[str, str | None], str]:
    """Severity by kind and target; fails when a kind and target come twice."""
    pairs = [((each.kind.value, each.target), each.severity.value) for each in found.findings]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def finding(found: Conclusions, kind: str) -> Finding:
    """The only finding of a kind."""
    (only,) = (each for each in found.findings if each.kind == kind)
    return only


def wanted(found: Conclusions) -> list[tuple[str, str | None]]:
    """Reason and target of every open escalation."""
    return [(each.reason.value, each.target) for each in found.escalations]


def summary(found: Conclusions) -> dict[str, Any]:
    """Everything that must not depend on order, arrival or repetition."""
    return {
        "outcome": found.outcome,
        "held": (found.held, found.hold_reasons),
        "gates": {
            target: (gate.state, gate.binding, gate.independence, gate.turns_used, gate.subject)
            for target, gate in found.gates.items()
        },
        "findings": found.findings,
        "escalations": [
            (each.key, each.aliases, each.reasons, each.target, each.opened_by.event_id)
            for each in found.escalations
        ],
        "commits": found.commits,
    }
