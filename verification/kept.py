"""What is kept about a run so far, asked in one statement.

Most runs have verdicts that pass and nothing else. What a table does not hold need not be read from
it, and judging happens inside the request of a host.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from runs.domain.readers import VerdictKind
from runs.models import CapabilitySnapshot, Run
from verification.domain.capabilities import CapabilitySpan
from verification.domain.delivery import Door
from verification.domain.subjects import SubjectKind

HOSTS_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Kept:
    """Which sorts of rows a run has. True where there may be some."""

    verdicts: bool = False
    doubts: bool = False
    """A verdict that is no `pass`, or a target that is no turn of this run."""
    findings: bool = False
    escalations: bool = False
    """Also closed ones."""
    unproved: bool = False
    """A decision went to the host, and its log does not show the effect yet."""
    judgement: bool = False
    sampling: bool = True
    """A queue of the workspace asks about some of the passes."""


NOTHING = Kept()
"""What is kept of a run whose first lines these are."""

_KEPT = f"""
    SELECT EXISTS (SELECT FROM verification_verdict WHERE run_id = %(run)s),
           EXISTS (SELECT FROM verification_verdict
                    WHERE run_id = %(run)s AND verdict <> '{VerdictKind.PASS}')
        OR EXISTS (SELECT FROM verification_gate
                    WHERE run_id = %(run)s AND subject_kind <> '{SubjectKind.TURN}'),
           EXISTS (SELECT FROM verification_finding WHERE run_id = %(run)s),
           EXISTS (SELECT FROM verification_escalation WHERE run_id = %(run)s),
           EXISTS (SELECT FROM verification_delivery
                    WHERE run_id = %(run)s AND effect_position IS NULL
                      AND door = '{Door.INTERRUPT}'),
           EXISTS (SELECT FROM verification_judgement WHERE run_id = %(run)s),
           EXISTS (SELECT FROM verification_queue
                    WHERE workspace_id = %(workspace)s AND sample_percent > 0)
"""  # noqa: S608  (constant text)


def kept_about(run: Run) -> Kept:
    """Return what is kept about a locked run."""
    with connection.cursor() as cursor:
        cursor.execute(_KEPT, {"run": run.pk, "workspace": run.workspace_id})
        return Kept(*cursor.fetchone())


_spans: dict[int, tuple[object, Sequence[CapabilitySpan]]] = {}


def capabilities_of(host: int) -> Sequence[CapabilitySpan]:
    """Return what a host advertised and when, oldest first.

    A snapshot only ever changes by being ended when the next one begins, so what was read of a host
    holds for as long as its newest one is the newest.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(id), count(*) FILTER (WHERE valid_to IS NULL)"
            " FROM runs_capabilitysnapshot WHERE host_id = %s",
            [host],
        )
        newest = cursor.fetchone()
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
