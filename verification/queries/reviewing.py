"""One escalation as the API tells it, and the deliveries that a person can send again."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from runs.models import Viewer
from verification.domain.choices import Choice
from verification.domain.decisions import Action
from verification.domain.lifecycle import SETTLED, Person, State
from verification.domain.reviews import Review, visible_reviews
from verification.models import Delivery, Escalation, Resolution
from verification.queries.api import escalation_document
from verification.situations import (
    choices_of,
    interrupt_of,
    leads_of,
    matter_of,
)

PAGE = 100


def escalation_detail(found: Escalation, viewer: Viewer) -> dict[str, Any]:
    """Return an escalation with what can be decided, what was, and where that is now."""
    is_settled = State(found.state) in SETTLED
    interrupt = None if is_settled else interrupt_of(found)
    offered = () if is_settled else choices_of(found, interrupt)
    resolution = Resolution.objects.select_related("by").filter(escalation=found).first()
    return {
        **escalation_document(found),
        "host": found.run.host.slug,
        "queue": found.queue and found.queue.slug,
        "risk": found.risk,
        "claimUntil": found.claim_until,
        "isForLeads": found.handed_to_lead_at is not None,
        "seenPosition": found.run.last_position,
        "seenDigest": matter_of(found),
        "actions": [_choice(each) for each in offered],
        "reviews": [
            {"by": each.by, "action": each.action.value, "at": each.at}
            for each in reviews_shown(found, viewer)
        ],
        "resolution": resolution
        and {
            "action": resolution.action,
            "by": resolution.by.get_username(),
            "at": resolution.at,
            "secondsToClaim": resolution.seconds_to_claim,
            "secondsToDecide": resolution.seconds_to_decide,
        },
        "deliveries": [
            delivery_document(each)
            for each in found.deliveries.select_related("host").order_by("pk")
        ],
    }


def reviews_shown(found: Escalation, viewer: Viewer) -> Sequence[Review]:
    """Return the reviews that a viewer may read: none before their own is in."""
    reviews = [
        Review(each.by.get_username(), Action(each.action), each.at, each.is_leads)
        for each in found.votes.select_related("by").order_by("pk")
    ]
    name = viewer.get_username() if isinstance(viewer, User) else ""
    is_lead = found.handed_to_lead_at is not None and name in leads_of(found)
    person = Person(name, "", is_lead)
    return visible_reviews(reviews, person, is_settled=State(found.state) in SETTLED)


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "action": choice.action.value,
        "label": choice.label,
        "reason": choice.reason.value,
        "feedback": choice.feedback.value,
        "goesToHost": choice.goes_to_host,
        "leavesOpen": choice.leaves_open,
        "fields": [
            {
                "name": field.name.removeprefix("answer."),
                "label": field.label,
                "kind": field.kind.value,
                "isRequired": field.is_required,
                "choices": list(field.choices),
            }
            for field in choice.fields
        ],
    }


def deliveries_page(viewer: Viewer, query: Mapping[str, str]) -> dict[str, Any]:
    """Return `{deliveries, next}`, newest first."""
    rows = deliveries_seen(viewer)
    if state := query.get("state"):
        rows = rows.filter(state=state)
    cursor = query.get("cursor", "")
    if cursor.isascii() and cursor.isdigit():
        rows = rows.filter(pk__lt=int(cursor[:18]))
    found = list(rows[: PAGE + 1])
    return {
        "deliveries": [delivery_document(each) for each in found[:PAGE]],
        "next": str(found[PAGE - 1].pk) if len(found) > PAGE else None,
    }


def deliveries_seen(viewer: Viewer) -> Any:
    """Return the deliveries that a viewer may know of, newest first."""
    visible = Escalation.objects.visible_to(viewer)
    rows = Delivery.objects.filter(escalation__in=visible).select_related("host", "run")
    return rows.order_by("-pk")


def delivery_document(delivery: Delivery) -> dict[str, Any]:
    """Return where a delivery stands; never what it carries."""
    return {
        "id": delivery.pk,
        "escalationId": delivery.escalation_id,
        "host": delivery.host.slug,
        "door": delivery.door,
        "state": delivery.state,
        "words": delivery.words,
        "attempts": delivery.attempts,
        "lastStatus": delivery.last_status,
        "nextAttemptAt": delivery.next_attempt_at,
        "deliveredAt": delivery.delivered_at,
        "acceptedAt": delivery.accepted_at,
        "effectPosition": delivery.effect_position,
        "effectAt": delivery.effect_at,
        "sha256": delivery.sha256,
        "idempotencyKey": delivery.idempotency_key,
    }
