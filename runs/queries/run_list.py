"""The list of runs: filters, counts and keyset pages, each one query on one table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db.models import Count, Q, QuerySet

from runs.domain.projection import RunStatus
from runs.domain.readers import ACTOR_TURN
from runs.models import Event, Host, Run, Viewer
from runs.models.run import RunQuerySet
from runs.models.viewer import seen_by
from runs.queries.filters import TIMES, Filters
from runs.rows import fetch

PAGE = 50
SEARCHED_RUNS, SEARCHED_RESULTS = 500, 20
"""An agent that only acted is looked for in so many runs, and so many results of each."""
MOST_HOSTS = 100
"""Hosts to choose from, those that have sent nothing yet included."""

LIVE_STATUSES = ("pending", "running", "cancelling")
WAITING_STATUSES = ("waiting-approval", "waiting-input", "waiting-external", "paused")


@dataclass(frozen=True, slots=True)
class RunFilters(Filters):
    """What the address of the list of runs asks for."""

    tile: str = ""
    status: str = ""
    outcome: str = ""
    host: str = ""
    standing: str = ""
    q: str = ""
    within: str = ""
    """How long ago the last event may be: one of `TIMES`."""
    tasks: str = ""
    """`shown`: the runs of single tasks of the Console's jobs as well."""

    @property
    def hides_tasks(self) -> bool:
        """Say whether the runs of single tasks are left out: nobody has asked for them."""
        return not (self.q or self.host or self.tasks)


@dataclass(frozen=True, slots=True)
class Tile:
    """A count that is also a filter."""

    key: str
    label: str
    count: int
    is_active: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the list."""

    runs: Sequence[Run]
    next: str
    """Value of `before` for the next page; empty on the last one."""
    tiles: Sequence[Tile]
    hosts: Sequence[str]
    total: int
    hidden: int
    """Runs of single tasks that the filters keep and that are not shown."""
    filters: RunFilters = field(default_factory=RunFilters)


def _own_hosts() -> QuerySet[Host, int]:
    """Return the Console's own: what pauses there waits for a person's decision."""
    return Host.objects.filter(is_own=True).values_list("pk", flat=True)


def _stalled(stalled_before: datetime) -> Q:
    return Q(status__in=LIVE_STATUSES, last_event_at__lt=stalled_before)


def tiles_at(stalled_before: datetime) -> dict[str, tuple[str, Q]]:
    """Return the tiles: label and condition by key, in the order of the page."""
    return {
        "running": ("Running", Q(status__in=LIVE_STATUSES, last_event_at__gte=stalled_before)),
        "waiting": ("Waiting", Q(status__in=WAITING_STATUSES)),
        "review": (
            "Needs a person",
            Q(open_escalations__gt=0) | Q(status=RunStatus.PAUSED, host__in=_own_hosts()),
        ),
        "blocked": ("Blocked", Q(standing__in=("blocked", "unknown")) | Q(held=True)),
        "violated": ("Gate violated", Q(worst_finding="violation")),
        "gave_up": ("Gave up", Q(outcome="gave_up")),
        "goal_met": (
            "Goal met",
            Q(outcome="goal_met", held=False) & ~Q(worst_finding="violation"),
        ),
        "failed": ("Failed", Q(outcome="failed")),
        "stalled": ("Stalled", _stalled(stalled_before)),
    }


def run_list(viewer: Viewer, filters: RunFilters, *, now: datetime, stalled_after_s: int) -> Page:
    """Return the newest runs that the viewer sees and the filters keep."""
    tiles = tiles_at(now - timedelta(seconds=stalled_after_s))
    counts = _listed(viewer, filters).aggregate(
        total=Count("pk"), **{key: Count("pk", filter=rule) for key, (_, rule) in tiles.items()}
    )
    found = every_match(viewer, filters, now=now, stalled_after_s=stalled_after_s)
    runs = list(below(found, filters.before)[: PAGE + 1])
    quiet = Run.objects.visible_to(viewer).quiet_tasks()
    shown = runs[:PAGE]
    return Page(
        runs=shown,
        next=key_of(shown[-1]) if len(runs) > PAGE else "",
        tiles=[
            Tile(key, label, counts[key], filters.tile == key) for key, (label, _) in tiles.items()
        ],
        hosts=list(
            Host.objects.filter(seen_by(viewer, workspace="workspace_id", host="pk"))
            .order_by("slug")
            .values_list("slug", flat=True)[:MOST_HOSTS]
        ),
        total=counts["total"],
        hidden=narrow(quiet, filters, tiles, now=now).count() if filters.hides_tasks else 0,
        filters=filters,
    )


def every_match(
    viewer: Viewer, filters: RunFilters, *, now: datetime, stalled_after_s: int
) -> RunQuerySet:
    """Return all runs that the viewer sees and the filters keep, the newest first."""
    tiles = tiles_at(now - timedelta(seconds=stalled_after_s))
    found = narrow(_listed(viewer, filters), filters, tiles, now=now)
    return found.select_related("host").order_by("-last_event_at", "-pk")


def _listed(viewer: Viewer, filters: RunFilters) -> RunQuerySet:
    """Return the runs that the list is about, before its filters narrow it."""
    every = Run.objects.visible_to(viewer)
    return every.without_quiet_tasks() if filters.hides_tasks else every


def narrow(
    runs: RunQuerySet,
    filters: RunFilters,
    tiles: Mapping[str, tuple[str, Q]] | None = None,
    *,
    now: datetime,
) -> RunQuerySet:
    """Keep the runs that the filters name; an unknown tile or time keeps none."""
    if filters.within:
        span = TIMES.get(filters.within)
        runs = runs.filter(last_event_at__gte=now - span) if span else runs.none()
    if filters.tile:
        known = (tiles or {}).get(filters.tile)
        runs = runs.filter(known[1]) if known else runs.none()
    for name, lookup in (
        ("status", "status"), ("outcome", "outcome"), ("host", "host__slug"),
        ("standing", "standing"),
    ):  # fmt: skip
        value = getattr(filters, name)
        if value:
            runs = runs.filter(**{lookup: value})
    return runs.filter(_says(filters.q) | Q(pk__in=_acted(filters.q, runs))) if filters.q else runs


def _says(text: str) -> Q:
    """Match any id that a person may paste: a run, a workflow, a host, an event, an agent.

    Of agents, those that verified, whose result a gate stands on, or that a job gave a task: each
    is one look into an index.
    """
    return (
        Q(run_id__startswith=text)
        | Q(workflow_id__icontains=text)
        | Q(host__slug=text)
        | Q(pk__in=Event.objects.filter(event_id=text).values("run"))
        | Q(pk__in=Run.objects.filter(verdicts__verifier=text).values("pk"))
        | Q(pk__in=Run.objects.filter(gates__actor=text).values("pk"))
        | Q(pk__in=Run.objects.filter(job__tasks__assignee=text).values("pk"))
        | Q(pk__in=Run.objects.filter(job_task__assignee=text).values("pk"))
    )


def _acted(agent: str, runs: RunQuerySet) -> list[int]:
    """Return the newest runs in which an agent lately gave a result, whoever verified it or not.

    Results are in the log only. An index of them by agent would cost every event that arrives, so
    that they are looked through here, and no more of them than takes a moment.
    """
    newest = runs.order_by("-last_event_at", "-pk").values_list("pk", flat=True)[:SEARCHED_RUNS]
    return [run for (run,) in fetch(_ACTED, {"runs": list(newest), "agent": agent})]


_ACTED = f"""
    SELECT run FROM unnest(%(runs)s::bigint[]) AS run
     WHERE EXISTS (SELECT FROM (SELECT payload FROM runs_event
                                 WHERE run_id = run AND type = '{ACTOR_TURN}'
                                 ORDER BY sequence DESC LIMIT {SEARCHED_RESULTS}) AS newest
                    WHERE payload ->> 'agentId' = %(agent)s)
"""  # noqa: S608  (constant text)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def key_of(run: Run) -> str:
    """Return the keyset that the page below this run starts at, fit for an address."""
    age = (run.last_event_at or _EPOCH) - _EPOCH
    return f"{age // timedelta(microseconds=1)}-{run.pk}"


def below(runs: RunQuerySet, key: str) -> RunQuerySet:
    """Keep the runs below a keyset; an unreadable one keeps all."""
    found = _KEY.fullmatch(key)
    if found is None:
        return runs
    moment = _EPOCH + timedelta(microseconds=int(found[1]))
    return runs.filter(Q(last_event_at__lt=moment) | Q(last_event_at=moment, pk__lt=int(found[2])))


_KEY = re.compile(r"([0-9]{1,17})-([0-9]{1,18})", re.ASCII)
