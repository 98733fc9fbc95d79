"""Sockets of open pages: a bell rings, the page is read again, the news is sent.

The socket carries no truth of its own. A consumer joins its groups before it answers, reads what
came after the cursor that the page sent, and reads again whenever a bell rings; any number of lost
bells costs a delay. Refusals accept first and close with 4404, because a refused handshake looks
like a dropped connection, on which the page would retry for ever.
"""

import asyncio
import json
import time
from typing import Any, ClassVar

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.http import QueryDict
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from openwop_console.frame import waiting_counts
from openwop_console.pages import (
    bulk,
    escalation,
    finding,
    findings,
    host,
    job,
    job_parts,
    job_plan,
    job_team,
    jobs,
    queue,
    run,
    run_list,
)
from openwop_console.pages.presence import (
    TOLD_EVERY_S,
    Watchers,
    arrival,
    departure,
    sentence,
    watchers_group,
)
from runs.live import host_group, run_group, workspace_group
from runs.models import Run, Viewer, workspaces_of
from runs.queries.timeline import Cursor
from verification.actions.bulk import batch_group
from verification.domain.jobs.states import Operation
from verification.models import Job
from verification.queries.bell import bell_of

NOT_FOUND = 4404
NOT_SIGNED_IN = 4403


class PageConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Any signed-in page: keeps the badges true."""

    quiet_s: ClassVar[float] = 0.5
    """Bells that ring within this time of a read are answered by one read; so are those that ring
    within as long as the read took, so that a page never costs more than half a thread."""
    sent: dict[str, Any] | None = None
    """What the page said of itself when it opened: its cursor, its query."""

    async def connect(self) -> None:
        """Join the groups of the viewer's workspaces, then answer."""
        self._rung = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._joined: list[str] = []
        await self.accept()
        user = self.scope["user"]
        if not user.is_authenticated:
            await self.close(NOT_SIGNED_IN)
            return
        groups = await database_sync_to_async(self.groups_for)(user)
        if groups is None:
            await self.close(NOT_FOUND)
            return
        for group in groups:
            await self.channel_layer.group_add(group, self.channel_name)
            self._joined.append(group)
        self._reader = asyncio.create_task(self._read_when_rung())

    def groups_for(self, user: Viewer) -> list[str] | None:
        """Return the groups to join; None when the page is not the viewer's to see."""
        return [workspace_group(pk) for pk in workspaces_of(user)]

    async def disconnect(self, code: int) -> None:
        """Leave the groups and stop reading."""
        if self._reader is not None:
            self._reader.cancel()
        for group in self._joined:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take what the page sends on every open, and catch up."""
        try:
            sent = json.loads(text_data or "")
        except (ValueError, RecursionError):
            return
        if isinstance(sent, dict):
            self.sent = sent
            self._rung.set()

    async def bell(self, message: dict[str, Any]) -> None:
        """Answer a bell: look again, soon."""
        self._rung.set()

    async def _read_when_rung(self) -> None:
        while True:
            await self._rung.wait()
            self._rung.clear()
            started = time.monotonic()
            news = await database_sync_to_async(self.news)(self.scope["user"])
            if news is None:
                await self.close(NOT_FOUND)
                return
            await self.send(text_data=news)
            await asyncio.sleep(max(self.quiet_s, time.monotonic() - started))

    def news(self, user: Viewer) -> str | None:
        """Return the fragments that may have changed; None when the page is not theirs any more."""
        return badge(user)


def badge(user: Viewer) -> str:
    """Return the counts of what waits for a person, as every page shows them."""
    bell = {"bell": bell_of(user, timezone.now()), "oob": True}
    return (
        "".join(
            render_to_string("components/count.html", {"id": name, "count": count, "oob": True})
            for name, count in waiting_counts(user).items()
        )
        + render_to_string("components/bell.html", bell)
        + render_to_string("components/bell_lines.html", bell)
    )


class NoPageConsumer(PageConsumer):
    """An address that no page has: whatever is there, nobody may see it."""

    def groups_for(self, user: Viewer) -> list[str] | None:
        """Return None."""
        return None


class RunListConsumer(PageConsumer):
    """The list of runs."""

    quiet_s = 1.0

    def news(self, user: Viewer) -> str | None:
        """Return the list as its filters keep it now."""
        shown = run_list.content(user, query_of(self.sent))
        return badge(user) + render_to_string("runs/list.html#arrived", shown)


class QueueConsumer(PageConsumer):
    """The queue."""

    def news(self, user: Viewer) -> str | None:
        """Return the queue as it stands now."""
        shown = queue.content(user, query_of(self.sent))
        return badge(user) + render_to_string("verification/queue.html#changes", shown)


class BatchConsumer(PageConsumer):
    """Many escalations that are moved at once: how far it is."""

    def groups_for(self, user: Viewer) -> list[str] | None:
        """Return the batch's group as well, if it is the viewer's own."""
        found = bulk.find(user, self.scope["url_route"]["kwargs"]["batch"])
        if found is None:
            return None
        return [batch_group(found.pk), *(super().groups_for(user) or [])]

    def news(self, user: Viewer) -> str | None:
        """Return how far it is."""
        found = bulk.find(user, self.scope["url_route"]["kwargs"]["batch"])
        if found is None:
            return None
        shown = bulk.content(found, query_of(self.sent))
        return badge(user) + render_to_string("verification/bulk.html#changes", shown)


class RunConsumer(PageConsumer):
    """One run: its timeline grows, its gates change."""

    quiet_s = 0.02
    run_pk: int = 0
    cursor: Cursor | None = None

    def groups_for(self, user: Viewer) -> list[str] | None:
        """Return the run's group as well, if the run is visible."""
        route = self.scope["url_route"]["kwargs"]
        found = Run.objects.visible_to(user).filter(host__slug=route["host"], run_id=route["run"])
        self.run_pk = found.values_list("pk", flat=True).first() or 0
        return [run_group(self.run_pk), *(super().groups_for(user) or [])] if self.run_pk else None

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take the cursor of what the page has rendered, and catch up from there."""
        await super().receive(text_data, bytes_data)
        self.cursor = Cursor.of(self.sent or {})

    def news(self, user: Viewer) -> str | None:
        """Return the lines after the cursor and what they changed, read with today's rights."""
        found = Run.objects.visible_to(user).select_related("host").filter(pk=self.run_pk).first()
        if found is None:
            return None
        changes = run.changes(found, self.cursor) if self.cursor else None
        if changes is None:
            return badge(user)
        self.cursor = changes["cursor"]
        return badge(user) + render_to_string("runs/detail.html#changes", changes)


class FindingsConsumer(PageConsumer):
    """The list of findings."""

    quiet_s = 1.0

    def news(self, user: Viewer) -> str | None:
        """Return the list as its filters keep it now."""
        shown = findings.content(user, query_of(self.sent))
        return badge(user) + render_to_string("verification/findings.html#changes", shown)


class FindingConsumer(PageConsumer):
    """One finding: it may be withdrawn, or become provable, while somebody reads it."""

    def groups_for(self, user: Viewer) -> list[str] | None:
        """Return the group of the finding's run as well, if it is visible."""
        found = finding.find(user, self.scope["url_route"]["kwargs"]["pk"])
        if found is None:
            return None
        return [run_group(found.run_id), *(super().groups_for(user) or [])]

    def news(self, user: Viewer) -> str | None:
        """Return what it says now."""
        found = finding.find(user, self.scope["url_route"]["kwargs"]["pk"])
        if found is None:
            return None
        shown = finding.content(found)
        return badge(user) + render_to_string("verification/finding.html#changes", shown)


class EscalationConsumer(PageConsumer):
    """One escalation: who holds it, who else looks at it, what became of the decision."""

    quiet_s = 0.2
    watchers: Watchers | None = None
    telling: "asyncio.Task[None] | None" = None

    async def connect(self) -> None:
        """Join, and say so to whoever else looks."""
        await super().connect()
        if not self._joined:
            return
        self.watchers = Watchers(self.scope["user"].get_username())
        self.watched = watchers_group(int(self.scope["url_route"]["kwargs"]["pk"]))
        await self.channel_layer.group_add(self.watched, self.channel_name)
        self._joined.append(self.watched)
        self.telling = asyncio.create_task(self._tell())

    async def disconnect(self, code: int) -> None:
        """Say goodbye to whoever else looks, and leave."""
        if self.telling is not None and self.watchers is not None:
            self.telling.cancel()
            await self.channel_layer.group_send(self.watched, departure(self.watchers.own))
        await super().disconnect(code)

    async def presence(self, message: dict[str, Any]) -> None:
        """Hear who looks; answer who asks."""
        if self.watchers is None:
            return
        if self.watchers.hear(message):
            self._rung.set()
        is_own = message.get("name") == self.watchers.own
        if is_own if message.get("leaves") else message.get("asks") and not is_own:
            # Somebody asks who looks; or oneself has left in another tab, and still looks in this.
            answer = arrival(self.watchers.own, asks=False)
            await self.channel_layer.group_send(self.watched, answer)

    async def _tell(self) -> None:
        asks = True
        while self.watchers is not None:
            message = arrival(self.watchers.own, asks=asks)
            await self.channel_layer.group_send(self.watched, message)
            await asyncio.sleep(TOLD_EVERY_S)
            asks = False
            self._rung.set()

    def groups_for(self, user: Viewer) -> list[str] | None:
        """Return the group of the escalation's run as well, if it is visible."""
        found = escalation.find(user, self.scope["url_route"]["kwargs"]["pk"])
        if found is None:
            return None
        return [run_group(found.run_id), *(super().groups_for(user) or [])]

    def news(self, user: Viewer) -> str | None:
        """Return who holds it now and where the decision is."""
        found = escalation.find(user, self.scope["url_route"]["kwargs"]["pk"])
        if found is None:
            return None
        shown = escalation.changes(found, user, self.sent or {})
        if self.watchers is not None:
            shown["others"] = sentence(self.watchers.others())
        return badge(user) + render_to_string("verification/escalation.html#changes", shown)


class JobListConsumer(PageConsumer):
    """The list of jobs."""

    quiet_s = 1.0

    def news(self, user: Viewer) -> str | None:
        """Return the list as it stands now."""
        shown = jobs.content(user, query_of(self.sent))
        return badge(user) + render_to_string("verification/jobs.html#changes", shown)


class JobConsumer(PageConsumer):
    """One job: its grid fills, its answer changes, it ends."""

    quiet_s = 0.3
    seen_votes: int = 0
    seen_versions: int = 0
    seen_tasks: int = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Remember nothing yet of what was sent."""
        super().__init__(*args, **kwargs)
        self.sent_tasks: dict[int, int] = {}

    def groups_for(self, user: Viewer) -> list[str] | None:
        """Return the group of the job's run as well, if the job is visible."""
        found = job_parts.find(user, self.scope["url_route"]["kwargs"]["uid"])
        if found is None:
            return None
        return [run_group(found.run_id), *(super().groups_for(user) or [])]

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take what the page has rendered, and catch up from there."""
        await super().receive(text_data, bytes_data)
        self.seen_votes = max(self.seen_votes, number_in(self.sent, "votes"))
        self.seen_versions = max(self.seen_versions, number_in(self.sent, "versions"))
        self.seen_tasks = max(self.seen_tasks, number_in(self.sent, "tasks"))

    def news(self, user: Viewer) -> str | None:
        """Return how it stands now, and the votes and answers that are not on the page yet."""
        found = job_parts.find(user, self.scope["url_route"]["kwargs"]["uid"])
        if found is None:
            return None
        if found.operation != Operation.CONSENSUS:
            return badge(user) + self._team_news(found, user)
        shown = job.content(found, user, self.seen_votes)
        shown["with_answers"] = len(shown["versions"]) != self.seen_versions
        self.seen_votes, self.seen_versions = shown["seen_votes"], len(shown["versions"])
        return badge(user) + render_to_string("verification/job.html#changes", shown)

    def _team_news(self, found: Job, user: Viewer) -> str:
        """Return how its tasks stand now; a task that looks as it did is left alone."""
        shown = job_team.content(found, user)
        looks = {task["it"].number: hash(repr(task)) for task in shown["tasks"]}
        shown["with_folds"] = len(looks) != self.seen_tasks
        shown["changed"] = (
            []
            if shown["with_folds"]
            else [
                task
                for task in shown["tasks"]
                if self.sent_tasks.get(task["it"].number) != looks[task["it"].number]
            ]
        )
        self.sent_tasks, self.seen_tasks = looks, len(looks)
        return render_to_string("verification/job_team.html#changes", shown)


class PlanConsumer(JobConsumer):
    """A plan that waits: somebody else may decide on it while it is read."""

    def news(self, user: Viewer) -> str | None:
        """Return whether it still waits; what is typed is left alone."""
        found = job_parts.find(user, self.scope["url_route"]["kwargs"]["uid"])
        if found is None:
            return None
        late = {"late": job_plan.late(found), "url": reverse("job", args=[found.uid]), "oob": True}
        return badge(user) + render_to_string("verification/job_plan.html#late", late)


class HostConsumer(PageConsumer):
    """The settings of one host: a test of its connection goes on while somebody looks."""

    quiet_s = 0.2

    def groups_for(self, user: Viewer) -> list[str] | None:
        """Return the host's group as well, if the viewer administers it."""
        found = host.find(user, self.scope["url_route"]["kwargs"]["slug"])
        if found is None:
            return None
        return [host_group(found.pk), *(super().groups_for(user) or [])]

    def news(self, user: Viewer) -> str | None:
        """Return how the test stands now."""
        found = host.find(user, self.scope["url_route"]["kwargs"]["slug"])
        if found is None:
            return None
        shown = host.connection(found)
        return badge(user) + render_to_string("settings/host.html#changes", shown)


def number_in(sent: dict[str, Any] | None, name: str) -> int:
    """Return a whole number that the page sent, or 0."""
    value = str((sent or {}).get(name, ""))
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else 0


def query_of(sent: dict[str, Any] | None) -> dict[str, str]:
    """Return the query string that the page was opened with, as a dictionary."""
    return QueryDict(str((sent or {}).get("query", ""))[:2000]).dict()
