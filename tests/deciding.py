"""Short ways to a decision of a person, through the actions that make it in the product."""

from django.contrib.auth.models import User

from runs.models import Host
from tests.factories import event, send
from verification.actions import escalations
from verification.domain.decisions import Decision
from verification.models import Escalation


def pause(host: Host, *actions: str) -> None:
    """Let a run of the host wait for one of these answers."""
    asked = {"kind": "approval", "actions": list(actions)}
    send(host, event(0, "run.started"), event(1, "node.suspended", nodeId="n", payload=asked))


def decide(by: User, decision: Decision) -> Escalation:
    """Claim the only escalation there is, and decide it with all of it seen."""
    found = Escalation.objects.get()
    taken = escalations.claim(escalation=found.pk, by=by)
    seen = escalations.view_of(taken)
    escalations.resolve(escalation=found.pk, by=by, decision=decision, seen=seen)
    return found
