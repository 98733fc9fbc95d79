"""The form of a queue's settings: what it takes, and by which rules people work there."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from runs.models import Host, Role, Workspace
from runs.templatetags.badges import badge_of
from verification.actions.queues import FIELDS
from verification.domain.decisions import LETS_THROUGH
from verification.domain.requests import Reason
from verification.domain.routing import Risk, Rule
from verification.domain.timing import OnTimeout
from verification.models import Queue

_REASONS = [(r.value, badge_of("reason", r.value).word) for r in Reason]
_RISKS = [
    (Risk.LOW.value, "Any"),
    (Risk.MEDIUM.value, "Medium and high"),
    (Risk.HIGH.value, "High"),
]
_TIMEOUTS = [
    (OnTimeout.KEEP_WAITING.value, "Keep waiting"),
    (OnTimeout.ESCALATE.value, "Hand it to a lead"),
    (OnTimeout.FAIL_CLOSED.value, "Fail closed: say no to the host"),
]
_TWICE = [(a.value, badge_of("resolution", a.value).word) for a in sorted(LETS_THROUGH)]


class Lines(forms.CharField):
    """Names or patterns, one a line."""

    widget = forms.Textarea(attrs={"rows": 3, "class": "input mono"})

    def prepare_value(self, value: Any) -> Any:
        """Write a list as lines."""
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """Read lines as a list."""
        text = str(super().clean(value) or "")
        return [line.strip()[:250] for line in text.splitlines() if line.strip()]


class QueueForm(forms.Form):
    """Everything that an administrator sets; empty routing fields match anything."""

    name = forms.CharField(max_length=128)
    rank = forms.IntegerField(
        min_value=0, max_value=999, initial=100, help_text="The lowest is asked first."
    )
    reasons = forms.MultipleChoiceField(
        choices=_REASONS, required=False, widget=forms.CheckboxSelectMultiple
    )
    hosts = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    workflows = Lines(required=False, help_text="One a line; * stands for anything.")
    agents = Lines(required=False, help_text="One a line; * stands for anything.")
    least_risk = forms.ChoiceField(choices=_RISKS, label="Risk")
    required_reviews = forms.IntegerField(
        min_value=1, max_value=9, initial=1, help_text="Hidden from each other until all are in."
    )
    second_person_for = forms.MultipleChoiceField(
        choices=_TWICE, required=False, widget=forms.CheckboxSelectMultiple,
        label="A second person must agree to",
    )  # fmt: skip
    bars_conflicts = forms.BooleanField(
        required=False, initial=True,
        label="Whoever started the run, or owns its actor, may not let its result through",
    )  # fmt: skip
    lease_s = forms.IntegerField(
        min_value=30, max_value=86_400, required=False, label="A claim lasts (seconds)"
    )
    due_s = forms.IntegerField(
        min_value=60, max_value=31_536_000, required=False, label="Due after (seconds)"
    )
    on_timeout = forms.ChoiceField(choices=_TIMEOUTS, label="When it is due and nobody holds it")
    sample_percent = forms.FloatField(
        min_value=0, max_value=100, initial=0, label="Passes to look at (percent)"
    )
    leads = forms.ModelMultipleChoiceField(
        queryset=User.objects.none(), required=False, widget=forms.CheckboxSelectMultiple,
        help_text="Decide where reviewers differ. Admins always may.",
    )  # fmt: skip

    def __init__(self, *args: Any, workspace: Workspace, queue: Queue | None, **more: Any) -> None:
        if queue is not None and "initial" not in more:
            more["initial"] = {name: getattr(queue, name) for name in FIELDS}
            more["initial"]["leads"] = list(queue.leads.all()) if queue.pk else []
        super().__init__(*args, **more)
        hosts = Host.objects.filter(workspace=workspace).order_by("slug")
        self.fields["hosts"].choices = [(each.slug, each.name) for each in hosts]  # type: ignore[attr-defined]
        reviewers = User.objects.filter(
            memberships__workspace=workspace, memberships__role=Role.REVIEWER.value
        )
        self.fields["leads"].queryset = reviewers  # type: ignore[attr-defined]
        for field in self.fields.values():
            if isinstance(field.widget, forms.TextInput | forms.NumberInput | forms.Select):
                field.widget.attrs["class"] = "input"

    def values(self) -> dict[str, Any]:
        """Return what was entered, by name of the queue's fields."""
        return {name: self.cleaned_data[name] for name in FIELDS}

    def rule(self) -> Rule:
        """Return the routing rule that was entered."""
        said = self.cleaned_data
        return Rule(
            reasons=frozenset(said["reasons"]),
            hosts=frozenset(said["hosts"]),
            workflows=tuple(said["workflows"]),
            agents=tuple(said["agents"]),
            least_risk=Risk(said["least_risk"]),
        )
