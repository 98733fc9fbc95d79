"""What is to be read from hosts, and when: the ledger behind every pull."""

from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from runs.domain.projection import RunStatus
from runs.models.host import Host
from runs.models.run import Run


class Due(models.Model):
    """Something that a worker looks at when it is due, under a lease.

    `fence` rises with every lease, so that a worker that was thought dead cannot write over what
    came after it. A lease that runs out makes the row due again.
    """

    next_at = models.DateTimeField(null=True, help_text="Empty: there is nothing more to ask.")
    lease_until = models.DateTimeField(null=True)
    fence = models.BigIntegerField(default=0)
    failures = models.IntegerField(default=0, help_text="In a row.")
    looked_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=64, blank=True, default="", help_text="Of the last look.")

    class Meta:
        abstract = True


def free(now: datetime) -> models.Q:
    """Return the filter for what is due and nobody's."""
    is_nobodys = models.Q(lease_until=None) | models.Q(lease_until__lte=now)
    return models.Q(next_at__lte=now) & is_nobodys


class PulledHost(Due):
    """A host that the Console reads from: how it is, and where the walk through its runs stands."""

    host = models.OneToOneField(
        Host, on_delete=models.CASCADE, primary_key=True, related_name="pulled"
    )
    rests_until = models.DateTimeField(
        null=True, help_text="Set while the host is in trouble: nothing is asked before."
    )
    list_cursor = models.CharField(max_length=512, blank=True, default="")
    lists_runs = models.BooleanField(null=True, help_text="Empty: not known yet.")
    lists_interrupts = models.BooleanField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_at"],
                condition=models.Q(next_at__isnull=False),
                name="pulled_hosts_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host}: {self.outcome}"


def at_work(now: datetime) -> models.QuerySet[PulledHost]:
    """Return the hosts that have an address and do not rest."""
    rested = models.Q(rests_until=None) | models.Q(rests_until__lte=now)
    return PulledHost.objects.filter(rested).exclude(host__base_url="")


class PulledRun(Due):
    """A run that the Console reads from its host. It may be one that no event has arrived of."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="pulled_runs")
    run_id = models.CharField(max_length=272)
    rung_at = models.DateTimeField(null=True, help_text="When the host last said there is more.")
    quiet = models.IntegerField(default=0, help_text="Looks in a row that brought nothing new.")
    settled_with = models.BigIntegerField(
        null=True, help_text="Events held when there was nothing more to ask; more makes it due."
    )
    not_given = models.BigIntegerField(
        null=True, help_text="Up to here the host was asked for what is missing, and had no more."
    )
    owed_verdicts = ArrayField(
        models.BigIntegerField(), default=list, help_text="Sequences announced as verdicts, unread."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "run_id"], name="a_run_is_pulled_once"),
        ]
        indexes = [
            models.Index(
                fields=["host", "next_at"],
                condition=models.Q(next_at__isnull=False),
                name="pulled_runs_due",
            ),
            models.Index(
                fields=["host", "lease_until"],
                condition=models.Q(lease_until__isnull=False),
                name="pulled_runs_leased",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.outcome}"


class PullRound(models.Model):
    """The right to run one round of pulls; as many rows as rounds may run at once."""

    slot = models.PositiveSmallIntegerField(primary_key=True)
    lease_until = models.DateTimeField()
    fence = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"round {self.slot}"


class RunSnapshot(models.Model):
    """What a host last said of a run as a whole. The log decides; this confirms, or disagrees."""

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="snapshot"
    )
    read_at = models.DateTimeField()
    status = models.CharField(max_length=32, choices=[(s.value, s.value) for s in RunStatus])
    status_as_sent = models.CharField(max_length=64, blank=True, default="")
    is_beyond_log = models.BooleanField(
        default=False, help_text="The host says something of the run that its events do not."
    )
    workflow_id = models.CharField(max_length=272, blank=True, default="")
    parent_run_id = models.CharField(max_length=272, blank=True, default="")
    parent_node_id = models.CharField(max_length=256, blank=True, default="")
    current_node_id = models.CharField(max_length=256, blank=True, default="")
    child_run_ids = ArrayField(models.CharField(max_length=272), default=list)
    interrupts: "models.JSONField[list[dict[str, Any]], list[dict[str, Any]]]" = models.JSONField(
        default=list, help_text="Open interrupts as the host describes them, without tokens."
    )

    def __str__(self) -> str:
        return f"{self.run}: {self.status}"
