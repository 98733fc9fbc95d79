"""The log itself, what is missing from it, and what was turned away from it."""

from typing import Any

from django.db import models

from runs.domain.log import LogLine, Mismatch, Origin
from runs.models.host import Host
from runs.models.run import Run


class Event(models.Model):
    """One line of a run's log. Written once, by `runs.actions.append`; a trigger refuses changes.

    `position` is ours: gap-free per run, given under the run's row lock, so a reader who has seen
    position n has seen everything before it. `sequence` is the host's.
    """

    pk = models.CompositePrimaryKey("run", "position")
    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="events",
        db_index=False,  # the primary key begins with it
        db_constraint=False,  # the writer holds the run's row lock, and to check each line is dear
    )
    position = models.BigIntegerField()
    origin = models.CharField(max_length=8, choices=[(o.value, o.value) for o in Origin])
    sequence = models.BigIntegerField(null=True)
    place = models.BigIntegerField(
        help_text="Where it stands on the timeline: its sequence, or for a line of ours the "
        "highest sequence that was held when it was written."
    )
    event_id = models.CharField(max_length=160)
    type = models.CharField(max_length=160, help_text="Canonical name.")
    wire_type = models.CharField(max_length=160, help_text="The name as sent.")
    node_id = models.CharField(max_length=256, null=True)  # noqa: DJ001  (absent is not empty)
    causation_id = models.CharField(max_length=160, null=True)  # noqa: DJ001
    payload: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    extra: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    flags: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(
        default=dict, help_text="mismatches, near miss, skew, late: what we noticed on arrival."
    )
    digest = models.BinaryField(help_text="SHA-256 of the event as sent, in canonical form.")
    occurred_at = models.DateTimeField(help_text="The host's clock; shown, never used to order.")
    recorded_at = models.DateTimeField(help_text="Our clock.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "event_id"], name="an_event_id_is_held_once"),
            models.UniqueConstraint(
                fields=["run", "sequence"],
                condition=models.Q(origin=Origin.HOST.value),
                name="a_sequence_is_held_once",
            ),
            models.CheckConstraint(
                condition=models.Q(origin=Origin.HOST.value, sequence__isnull=False)
                | models.Q(origin=Origin.CONSOLE.value, sequence__isnull=True),
                name="a_line_has_a_sequence_exactly_when_the_host_wrote_it",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "type", "sequence"], name="events_of_a_type"),
            models.Index(
                fields=["run"],
                condition=models.Q(flags__has_key="nearMissOf"),
                name="near_misses_of_a_run",
            ),
            models.Index(fields=["event_id"], name="events_by_id"),
            models.Index(fields=["run", "place", "position"], name="events_in_timeline_order"),
        ]

    def __str__(self) -> str:
        return f"{self.type} at {self.position}"

    @property
    def line(self) -> LogLine:
        """Return what rules read of it."""
        return LogLine(
            position=self.position,
            origin=Origin(self.origin),
            sequence=self.sequence,
            event_id=self.event_id,
            type=self.type,
            payload=self.payload,
            node_id=self.node_id,
            causation_id=self.causation_id,
            timestamp=self.occurred_at,
            mismatches=tuple(Mismatch(*pair) for pair in self.flags.get("mismatches", ())),
            near_miss_of=self.flags.get("nearMissOf"),
        )


class Gap(models.Model):
    """A range of sequences that a run's log does not hold, both ends missing."""

    pk = models.CompositePrimaryKey("run", "first")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="gaps")
    first = models.BigIntegerField()
    last = models.BigIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(last__gte=models.F("first")), name="a_gap_is_not_empty"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first} to {self.last}"


class Refusal(models.Model):
    """How many events of a host were refused on a day, by reason. Never what they held."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="refusals")
    day = models.DateField()
    reason = models.CharField(max_length=64)
    count = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["host", "day", "reason"], name="refusals_are_counted_once_a_day_and_reason"
            ),
        ]
        indexes = [models.Index(fields=["day"], name="refusals_of_a_day")]

    def __str__(self) -> str:
        return f"{self.reason} × {self.count}"
