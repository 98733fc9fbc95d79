"""What is kept about a run so far, asked in one statement.

Most runs have verdicts that pass and nothing else. What a table does not hold need not be read from
it, and judging happens inside the request of a host.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from runs.domain.readers import VerdictKind
from runs.models import CapabilitySnapshot, Run
from runs.rows import fetch
from verification.domain.capabilities import CapabilitySpan
from verification.domain.delivery import Door
from verification.domain.subjects import SubjectKind

HOSTS_REMEMBERED = 1000


GATE_COLUMNS = {
    "state": "text",
    "binding": "text",
    "subject_kind": "text",
    "subject_event_id": "text",
    "subject_position": "bigint",
    "actor": "text",
    "independence": "text",
    "detail": "jsonb",
}
FINDING_COLUMNS = {
    "severity": "text",
    "status": "text",
    "evidence": "jsonb",
    "missing": "jsonb",
    "capabilities": "jsonb",
    "explanation": "text",
    "would_change": "text",
}
JUDGEMENT_COLUMNS = {
    "host_id": "bigint",
    "snapshot_id": "bigint",
    "commits": "integer",
    "unverified": "integer",
    "unverified_targets": "text[]",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows that a run has, by what they are compared by, and which others there may be."""

    verdicts: Sequence[tuple[str, int, bool, int | None]]
    """Event id, primary key, whether it stands, position of its subject."""
    gates: Sequence[tuple[int, str, dict[str, Any]]]
    """Primary key, target, `GATE_COLUMNS`."""
    findings: Sequence[dict[str, Any]]
    """`id`, `kind`, `target`, `FINDING_COLUMNS`."""
    judgement: dict[str, Any] | None
    """`JUDGEMENT_COLUMNS`."""
    doubts: bool
    """A verdict that is no `pass`, or a target that is no turn of this run."""
    escalations: bool
    """Also closed ones."""
    unproved: bool
    """A decision went to the host, and its log does not show the effect yet."""
    sampling: bool
    """A queue of the workspace asks about some of the passes."""


def _object(names: Iterable[str]) -> str:
    return "jsonb_build_object(" + ", ".join(f"'{name}', {name}" for name in names) + ")"


_DOUBTS = f"""
           EXISTS (SELECT FROM verification_verdict
                    WHERE run_id = %(run)s AND verdict <> '{VerdictKind.PASS}')
        OR EXISTS (SELECT FROM verification_gate
                    WHERE run_id = %(run)s AND subject_kind <> '{SubjectKind.TURN}')
"""  # noqa: S608  (constant text)
_UNPROVED = f"""
           EXISTS (SELECT FROM verification_delivery
                    WHERE run_id = %(run)s AND effect_position IS NULL
                      AND door = '{Door.INTERRUPT}')
"""
_KEPT = f"""
    SELECT (SELECT jsonb_agg(jsonb_build_array(event_id, id, standing, subject_position))
              FROM verification_verdict WHERE run_id = %(run)s),
           (SELECT jsonb_agg(jsonb_build_array(id, target, {_object(GATE_COLUMNS)}))
              FROM verification_gate WHERE run_id = %(run)s),
           (SELECT jsonb_agg({_object(("id", "kind", "target", *FINDING_COLUMNS))})
              FROM verification_finding WHERE run_id = %(run)s),
           (SELECT {_object(JUDGEMENT_COLUMNS)}
              FROM verification_judgement WHERE run_id = %(run)s),
           {_DOUBTS},
           EXISTS (SELECT FROM verification_escalation WHERE run_id = %(run)s),
           {_UNPROVED},
           EXISTS (SELECT FROM verification_queue
                    WHERE workspace_id = %(workspace)s AND sample_percent > 0)
"""  # noqa: S608  (constant text)


def kept_about(run: Run) -> Kept:
    """Return what is kept about a locked run."""
    [found] = fetch(_KEPT, {"run": run.pk, "workspace": run.workspace_id})
    verdicts, gates, findings, judgement = (each and orjson.loads(each) for each in found[:4])
    return Kept(verdicts or (), gates or (), findings or (), judgement, *found[4:])


def background_matters(run: Run) -> bool:
    """Say whether lines of `BACKGROUND_TYPES` may change what is kept about a run."""
    [(doubts, unproved)] = fetch(f"SELECT {_DOUBTS}, {_UNPROVED}", {"run": run.pk})
    return bool(doubts or unproved)


_spans: dict[int, tuple[object, Sequence[CapabilitySpan]]] = {}


def capabilities_of(host: int) -> Sequence[CapabilitySpan]:
    """Return what a host advertised and when, oldest first.

    A snapshot only ever changes by being ended when the next one begins, so what was read of a host
    holds for as long as its newest one is the newest.
    """
    (newest,) = fetch(
        "SELECT max(id), count(*) FILTER (WHERE valid_to IS NULL)"
        " FROM runs_capabilitysnapshot WHERE host_id = %s",
        [host],
    )
    known = _spans.get(host)
    if known is not None and known[0] == newest:
        return known[1]
    snapshots = CapabilitySnapshot.objects.filter(host=host).order_by("valid_from")
    spans = [
        CapabilitySpan(each.document, each.valid_from, each.valid_to, reference=str(each.pk))
        for each in snapshots
    ]
    if len(_spans) >= HOSTS_REMEMBERED:
        _spans.clear()
    _spans[host] = (newest, spans)
    return spans
