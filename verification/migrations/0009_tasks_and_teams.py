"""Tasks of jobs with leases of their own, budgets in dollars, and the order in which calls ended."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def number(apps: Any, schema_editor: Any) -> None:
    """Until now one call followed the other, so they ended in the order of their positions."""
    steps = apps.get_model("verification", "JobStep").objects
    ended = steps.filter(state__in=["answered", "failed"])
    ended.update(settled_as=models.F("position"))


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0006_the_consoles_own_host"),
        ("verification", "0008_spans_are_exported"),
    ]

    operations = [
        migrations.CreateModel(
            name="JobTask",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.IntegerField(help_text="Counts from 1; task 3 is `task-3`.")),
                ("assignee", models.CharField(blank=True, default="", max_length=128)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("blocked", "blocked"),
                            ("in_progress", "in_progress"),
                            ("completed", "completed"),
                            ("failed", "failed"),
                            ("skipped", "skipped"),
                        ],
                        default="pending",
                        max_length=12,
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[("pass", "pass"), ("fail", "fail"), ("revise", "revise")],
                        default="",
                        max_length=8,
                    ),
                ),
                (
                    "basis",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("quorum", "quorum"),
                            ("kept", "kept"),
                            ("dissent", "dissent"),
                            ("judge_error", "judge_error"),
                            ("budget", "budget"),
                            ("aborted", "aborted"),
                            ("no_answer", "no_answer"),
                            ("suspected", "suspected"),
                        ],
                        default="",
                        max_length=16,
                    ),
                ),
                ("rounds", models.IntegerField(default=0)),
                ("is_withheld", models.BooleanField(default=False)),
                ("is_let_through", models.BooleanField(default=False)),
                ("answer_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("decided_event", models.CharField(blank=True, default="", max_length=160)),
                ("events_emitted", models.IntegerField(default=0)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                (
                    "rung_at",
                    models.DateTimeField(
                        help_text="When a worker was last asked to look.", null=True
                    ),
                ),
                ("fence", models.IntegerField(default=0)),
                (
                    "fruitless",
                    models.IntegerField(default=0, help_text="Leases since anything was recorded."),
                ),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="job",
            name="only_a_quorum_passes",
        ),
        migrations.AddField(
            model_name="job",
            name="iterations",
            field=models.IntegerField(
                default=0,
                help_text="Times the job has said which tasks come next, or that it ends.",
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="max_cost_usd",
            field=models.DecimalField(
                decimal_places=8, help_text="Budget; empty: none.", max_digits=14, null=True
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="paused_at",
            field=models.DateTimeField(
                help_text="Since when nothing but a person's word is waited for.", null=True
            ),
        ),
        migrations.AddField(
            model_name="jobstep",
            name="lost_usd",
            field=models.DecimalField(decimal_places=8, default=0, max_digits=14),
        ),
        migrations.AddField(
            model_name="jobstep",
            name="reserved_usd",
            field=models.DecimalField(decimal_places=8, default=0, max_digits=14),
        ),
        migrations.AddField(
            model_name="jobstep",
            name="settled_as",
            field=models.IntegerField(
                help_text="Counts the job's calls from 0 in the order in which they ended.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="job",
            name="basis",
            field=models.CharField(
                blank=True,
                choices=[
                    ("quorum", "quorum"),
                    ("kept", "kept"),
                    ("dissent", "dissent"),
                    ("judge_error", "judge_error"),
                    ("budget", "budget"),
                    ("aborted", "aborted"),
                    ("no_answer", "no_answer"),
                    ("suspected", "suspected"),
                    ("overridden", "overridden"),
                    ("unfinished", "unfinished"),
                    ("unverified", "unverified"),
                    ("no_plan", "no_plan"),
                ],
                default="",
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="jobstep",
            name="phase",
            field=models.CharField(
                choices=[
                    ("proposer", "proposer"),
                    ("judge", "judge"),
                    ("revision", "revision"),
                    ("worker", "worker"),
                    ("decomposition", "decomposition"),
                    ("synthesis", "synthesis"),
                    ("approval", "approval"),
                    ("ruling", "ruling"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("verdict", "pass"), _negated=True),
                    models.Q(("basis__in", ["quorum", "overridden"]), ("state", "done")),
                    _connector="OR",
                ),
                name="only_a_quorum_or_a_person_passes",
            ),
        ),
        migrations.RunPython(number, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="jobstep",
            constraint=models.UniqueConstraint(
                fields=("job", "settled_as"), name="a_step_ends_once"
            ),
        ),
        migrations.AddField(
            model_name="jobtask",
            name="answer",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="verification.content",
            ),
        ),
        migrations.AddField(
            model_name="jobtask",
            name="job",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tasks",
                to="verification.job",
            ),
        ),
        migrations.AddField(
            model_name="jobtask",
            name="run",
            field=models.OneToOneField(
                help_text="Of its own.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="job_task",
                to="runs.run",
            ),
        ),
        migrations.AddIndex(
            model_name="jobtask",
            index=models.Index(
                condition=models.Q(("lease_until__isnull", False)),
                fields=["lease_until"],
                name="tasks_under_way",
            ),
        ),
        migrations.AddConstraint(
            model_name="jobtask",
            constraint=models.UniqueConstraint(
                fields=("job", "number"), name="a_task_has_its_own_number"
            ),
        ),
    ]
