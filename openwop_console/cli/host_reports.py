"""What `hosts test` and `hosts card` tell, as documents."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from openwop_console.cli.options import moment

if TYPE_CHECKING:
    from runs.models import Host
    from verification.queries.connections import Report

LOOK_EVERY_S = 0.25


def wait_for_test(host: "Host", seconds: float) -> "Report":
    """Return a host's test once it is over, or as it stands when time is up."""
    from django.utils import timezone

    from verification.queries.connections import report_of

    until = time.monotonic() + seconds
    while True:
        report = report_of(host, timezone.now())
        assert report is not None  # noqa: S101  (it was asked for)
        if not report.is_under_way or time.monotonic() >= until:
            return report
        time.sleep(LOOK_EVERY_S)


def shown_report(report: "Report") -> dict[str, Any]:
    """Return a test as a document."""
    return {
        "askedAt": moment(report.asked_at),
        "finished": not report.is_under_way,
        "fails": report.fails,
        "works": report.works,
        "canaryRunId": report.canary_run,
        "lines": [line.document() for line in report.lines],
    }


def card_of(host: "Host") -> dict[str, Any]:
    """Return what a host advertises, and what its events show."""
    from django.utils import timezone

    from runs.queries.hosts import REFUSED_DAYS, host_rows
    from verification.queries.findings import meter_of
    from verification.queries.hosts import conformance_of

    found, meter = conformance_of(host), meter_of(host)
    row = host_rows([host], timezone.now().date())[0]
    claims = found.claims
    return {
        "host": host.slug,
        "protocolMajor": host.protocol_major,
        "advertised": found.snapshot is not None,
        "since": moment(found.snapshot.valid_from) if found.snapshot else None,
        "executionModel": claims.level,
        "verifier": "gating" if claims.gates else "advisory" if claims.verifies else "none",
        "confidenceFloor": claims.confidence_floor,
        "maxLoopIterations": claims.max_loop_iterations,
        "runs": row.runs,
        "lastEventAt": moment(row.last_event_at),
        "verdicts": found.verdicts,
        "unadvertised": bool(found.verdicts and found.snapshot and not claims.verifies),
        "heldRuns": found.held,
        "commits": meter.commits if meter else 0,
        "unverifiedCommits": meter.unverified if meter else 0,
        f"refused{REFUSED_DAYS}Days": row.refused,
        "card": [asdict(each) for each in found.rows],
        "findings": [
            {"kind": kind, "severity": severity, "count": count}
            for kind, severity, count in found.findings
        ],
    }
