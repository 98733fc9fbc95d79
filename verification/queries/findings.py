"""The list of findings: filters, counts and keyset pages; and the meter of unverified commits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Sum

from runs.models import Host, Viewer
from runs.models.viewer import seen_by
from runs.queries.filters import TIMES, Filters
from verification.domain.findings import GRAVEST_FIRST
from verification.models import Finding, Judgement
from verification.queries.gates import gates_on_children

PAGE = 50
STANDING, WITHDRAWN, ANY = "standing", "withdrawn", "any"


@dataclass(frozen=True, slots=True)
class FindingFilters(Filters):
    """What the address of the list of findings asks for."""

    kind: str = ""
    severity: str = ""
    host: str = ""
    run: str = ""
    status: str = ""
    """`standing`, which is what is shown without it, `withdrawn` or `any`."""
    within: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of findings, newest first."""

    findings: Sequence[Finding]
    next: str
    """Value of `before` for the next page; empty on the last one."""
    counts: Mapping[str, int]
    """By severity, under every filter but that of the severity."""
    hosts: Sequence[str]
    filters: FindingFilters

    @property
    def total(self) -> int:
        """Return how many match."""
        shown = self.filters.severity
        return self.counts.get(shown, 0) if shown else sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Meter:
    """How many of a host's commits nobody had verified."""

    host: str
    commits: int
    unverified: int

    @property
    def share(self) -> float:
        """Return the unverified share, 0 to 1."""
        return self.unverified / self.commits if self.commits else 0.0


def findings_page(viewer: Viewer, filters: FindingFilters, now: datetime) -> Page:
    """Return one page of the findings that the viewer sees."""
    narrowed = _narrow(Finding.objects.visible_to(viewer), filters, now)
    counted = narrowed.order_by().values_list("severity").annotate(Count("pk"))
    counts = {severity.value: 0 for severity in GRAVEST_FIRST} | dict(counted)
    if filters.severity:
        narrowed = narrowed.filter(severity=filters.severity)
    newest = _below(narrowed.order_by("-opened_at", "-pk"), filters.before)
    found = list(newest.select_related("run__host")[: PAGE + 1])
    return Page(
        findings=found[:PAGE],
        next=_key_of(found[PAGE - 1]) if len(found) > PAGE else "",
        counts=counts,
        hosts=list(_hosts(viewer).values_list("slug", flat=True)[:100]),
        filters=filters,
    )


def meters(viewer: Viewer, host: str = "") -> list[Meter]:
    """Return the meter of every host that committed anything, the least verified first."""
    judged = _judged(viewer)
    return _meters(judged.filter(host__slug=host) if host else judged)


def meter_of(host: Host) -> Meter | None:
    """Return the meter of one host; None: it committed nothing."""
    return next(iter(_meters(Judgement.objects.filter(host=host))), None)


def _meters(judged: Any) -> list[Meter]:
    rows = judged.filter(commits__gt=0).order_by().values("host__slug")
    sums = rows.annotate(all=Sum("commits"), silent=Sum("unverified", filter=_silent()))
    found = [Meter(each["host__slug"], each["all"], each["silent"] or 0) for each in sums]
    return sorted(found, key=lambda meter: (-meter.share, meter.host))


def unverified_commits(viewer: Viewer, host: str, before: str) -> tuple[list[Judgement], str]:
    """Return one page of runs with unverified commits, newest first, and where the next starts."""
    silent = _judged(viewer).filter(_silent())
    if host:
        silent = silent.filter(host__slug=host)
    if before.isascii() and before.isdigit():
        silent = silent.filter(run__lt=int(before[:18]))
    found = list(silent.select_related("run", "host").order_by("-run")[: PAGE + 1])
    return found[:PAGE], str(found[PAGE - 1].pk) if len(found) > PAGE else ""


def _silent() -> Q:
    """Keep judgements with unverified commits, but of runs whose result was judged as a whole."""
    judged = gates_on_children().filter(run__host=OuterRef("host"), target=OuterRef("run__run_id"))
    return Q(unverified__gt=0) & ~Q(Exists(judged))


def _judged(viewer: Viewer) -> Any:
    return Judgement.objects.filter(seen_by(viewer, workspace="host__workspace_id", host="host_id"))


def _hosts(viewer: Viewer) -> Any:
    seen = seen_by(viewer, workspace="workspace_id", host="pk")
    return Host.objects.filter(seen).order_by("slug")


def _narrow(findings: Any, filters: FindingFilters, now: datetime) -> Any:
    if filters.status != ANY:
        findings = findings.filter(status=filters.status or STANDING)
    if filters.within:
        span = TIMES.get(filters.within)
        findings = findings.filter(opened_at__gte=now - span) if span else findings.none()
    for value, lookup in (
        (filters.kind, "kind"),
        (filters.host, "run__host__slug"),
        (filters.run, "run__run_id"),
    ):
        if value:
            findings = findings.filter(**{lookup: value})
    return findings


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEY = re.compile(r"([0-9]{1,17})-([0-9]{1,18})", re.ASCII)


def _key_of(finding: Finding) -> str:
    age = finding.opened_at - _EPOCH
    return f"{age // timedelta(microseconds=1)}-{finding.pk}"


def _below(findings: Any, key: str) -> Any:
    """Keep the findings below a keyset; an unreadable one keeps all."""
    found = _KEY.fullmatch(key)
    if found is None:
        return findings
    moment = _EPOCH + timedelta(microseconds=int(found[1]))
    return findings.filter(Q(opened_at__lt=moment) | Q(opened_at=moment, pk__lt=int(found[2])))
