"""One escalation: what is asked, the evidence, the decision, and what became of it."""

from datetime import datetime
from typing import Any

import orjson
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from openwop_console.pages.queue import row
from openwop_console.pages.run import address_of, rows_of
from runs.models import Event, Viewer
from runs.queries.timeline import between
from verification import situations
from verification.actions import escalations
from verification.domain.answers import assembled, read_answers
from verification.domain.choices import Choice, Need
from verification.domain.decisions import Action, Decision, UnreadableDecision, checked_text
from verification.domain.delivery import UNSETTLED
from verification.domain.delivery import State as DeliveryState
from verification.domain.effect import EffectKind
from verification.domain.errors import VerificationError
from verification.domain.fields import FieldKind, FormField
from verification.domain.freshness import View
from verification.domain.interrupt_request import InterruptRequest
from verification.domain.lifecycle import State
from verification.domain.lights import Lamp, Light, Lights, Progress, is_late, lights
from verification.domain.refusals import AlreadySettled, StaleView
from verification.models import Delivery, Escalation, Gate, Resolution, Verdict
from verification.queries.queue import next_for

REASONS = (
    ("Keeping it shut", (
        "The verdict is right.",
        "The evidence does not support the result.",
        "It needs more than this host can check.",
    )),
    ("Letting it through", (
        "Checked by hand; the result is correct.",
        "The criterion does not apply here.",
        "Accepted as a known risk.",
    )),
)  # fmt: skip
"""Usual reasons, by what they are reasons for."""
_EDITS = frozenset({Action.EDIT_ACCEPT, Action.REPLACE, Action.REPORT_EVENT})
_AROUND = 5
"""Lines above and below the verdict that are shown as evidence."""


@require_GET
def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one escalation."""
    return _page(request, _visible(request, pk))


@require_POST
def act(request: HttpRequest, pk: int, move: str) -> HttpResponse:
    """Claim, extend, release or resolve; a refusal says why, and what was typed stays."""
    found = _visible(request, pk)
    moves = {
        "claim": escalations.claim,
        "extend": escalations.extend,
        "release": escalations.release,
    }
    try:
        if move == "resolve":
            return _resolve(request, found)
        if move not in moves:
            raise Http404
        moves[move](escalation=found.pk, by=_person(request))
    except VerificationError as refused:
        messages.error(request, str(refused))
        if move == "resolve" and not isinstance(refused, AlreadySettled):
            return _page(request, _visible(request, pk), refused)
    return redirect("queue" if move == "release" else _address(found))


def find(viewer: Viewer, pk: int) -> Escalation | None:
    """Return the escalation, if the viewer may see it."""
    visible = Escalation.objects.visible_to(viewer)
    found: Escalation | None = (
        visible.select_related("run", "run__host", "claimed_by").filter(pk=pk).first()
    )
    return found


def content(found: Escalation, viewer: Viewer) -> dict[str, Any]:
    """Gather what the page shows."""
    interrupt = situations.interrupt_of(found)
    resolution = Resolution.objects.filter(escalation=found).select_related("by").first()
    is_waiting = found.state in (State.OPEN, State.CLAIMED)
    offered = situations.choices_of(found, interrupt) if is_waiting else ()
    return {
        "escalation": _asked(found, viewer, interrupt),
        "evidence": _evidence(found),
        "actions": [_action(choice, number) for number, choice in enumerate(offered, 1)],
        "fields": list(_fields(offered)),
        "reason_templates": REASONS,
        "resolution": resolution and _resolution(resolution),
        "delivery": resolution and _delivery(found, resolution),
        "urls": _urls(found, viewer),
        "live_url": f"/ws/queue/{found.pk}/",
        "drafts": {},
        "here": _address(found),
    }


def changes(found: Escalation, viewer: Viewer, sent: dict[str, Any]) -> dict[str, Any]:
    """Gather what an open page must draw to be true again, and whether what it shows is stale."""
    shown = content(found, viewer)
    seen = str(sent.get("seen", ""))
    now_seen = shown["escalation"]["seen"]
    if shown["actions"] and seen and seen.partition(":")[2] != now_seen.partition(":")[2]:
        shown["stale"] = ["The verdicts or the host's question changed."]
    return shown


def _page(
    request: HttpRequest, found: Escalation, refused: VerificationError | None = None
) -> HttpResponse:
    shown = content(found, request.user)
    if refused is not None:
        posted = request.POST
        shown["drafts"] = posted.dict()
        shown["chosen"] = posted.get("action", "")
        for field in shown["fields"]:
            field["value"] = posted.get(field["name"], field["value"])
        if isinstance(refused, StaleView):
            shown["stale"] = [f"Changed: {', '.join(refused.changed)}."]
    status = 409 if isinstance(refused, StaleView) else 200 if refused is None else 422
    return render(request, "verification/escalation.html", shown, status=status)


def _resolve(request: HttpRequest, found: Escalation) -> HttpResponseRedirect:
    decision = _decision(request.POST, found)
    seen = _seen(request.POST.get("seen", ""))
    escalations.resolve(escalation=found.pk, by=_person(request), decision=decision, seen=seen)
    messages.success(request, "Decided. What becomes of it shows below.")
    return redirect(_address(found))


def _decision(posted: QueryDict, found: Escalation) -> Decision:
    """Read the form as the choice that was made asks."""
    chosen = posted.get("action", "")
    offered = situations.choices_of(found, situations.interrupt_of(found))
    choice = next((each for each in offered if each.action.value == chosen), None)
    if choice is None:
        raise UnreadableDecision("/action", "choose one of the actions")
    answers = read_answers(choice.fields, _submitted(posted, choice))
    is_edit = choice.action in _EDITS
    reason = posted.get("reason", "").strip() or posted.get("reason_template", "")
    return Decision(
        action=choice.action,
        reason=checked_text(reason, "/reason"),
        feedback=checked_text(posted.get("feedback", ""), "/feedback"),
        answers={} if is_edit else answers,
        edited=assembled(choice.fields, answers) if is_edit else None,
    )


def _submitted(posted: QueryDict, choice: Choice) -> dict[str, Any]:
    return {
        field.name: posted.getlist(field.name)
        if field.kind is FieldKind.CHOICES
        else posted.get(field.name)
        for field in choice.fields
    }


def _seen(text: str) -> View:
    """Read back what `_seen_text` wrote; what is unreadable was never on screen, and is stale."""
    position, _, rest = text.partition(":")
    digest, _, verdicts = rest.partition(":")
    return View(
        version=0,
        position=int(position) if position.isascii() and position.isdigit() else 0,
        digest=digest,
        verdicts=frozenset(each for each in verdicts.split(",") if each),
    )


def _seen_text(found: Escalation) -> str:
    """Write down what is on screen, so that a decision about something else is noticed."""
    view = situations.view_of(found)
    return f"{view.position}:{view.digest}:{','.join(sorted(view.verdicts))}"


def _asked(found: Escalation, viewer: Viewer, interrupt: InterruptRequest | None) -> dict[str, Any]:
    gate = Gate.objects.filter(run=found.run, target=found.target).first()
    run = found.run
    return {
        **row(found, viewer),
        "seen": _seen_text(found),
        "agent": gate.actor if gate else "",
        "sentence": gate.detail.get("sentence", "") if gate else "",
        "claim_until": found.claim_until,
        "closed_because": found.closed_because.replace("_", " "),
        "run": {
            "run_id": run.run_id,
            "url": address_of(run),
            "workflow_id": run.workflow_id,
        },
        "interrupt": interrupt
        and {
            "node": interrupt.node_id,
            "kind": interrupt.kind.value,
            "title": interrupt.title,
            "prompt": interrupt.prompt,
        },
    }


def _evidence(found: Escalation) -> dict[str, Any]:
    gate = Gate.objects.filter(run=found.run, target=found.target).first()
    verdicts = list(Verdict.objects.filter(run=found.run, target=found.target).order_by("sequence"))
    times = dict(
        Event.objects.filter(
            run=found.run, position__in=[each.position for each in verdicts]
        ).values_list("position", "occurred_at")
    )
    address = address_of(found.run)
    excerpt = rows_of(found.run, between(found.run, found.opened_position, _AROUND))
    return {
        "subject": gate.detail.get("sentence", "") if gate else "",
        "verdicts": [
            {
                "word": each.verdict,
                "agent": each.verifier,
                "confidence": each.confidence,
                "criteria": each.criteria,
                "sequence": each.sequence,
                "at": times.get(each.position),
                "mark": "self_verified"
                if gate and gate.independence == "self_verified" and each.verifier == gate.actor
                else "",
                "url": f"{address}?seq={each.sequence}#line-{each.position}",
            }
            for each in verdicts
        ],
        "lines": [
            {**line, "url": f"{address}#line-{line['position']}"}
            for line in excerpt
            if "position" in line
        ],
    }


def _action(choice: Choice, number: int) -> dict[str, Any]:
    needs = [field.name for field in choice.fields]
    if choice.feedback is not Need.NO:
        needs.append("feedback")
    if choice.reason is not Need.NO:
        needs.append("reason")
    return {
        "value": choice.action.value,
        "label": choice.label,
        "tone": choice.tone.value,
        "help": choice.help,
        "needs": " ".join(needs),
        "needs_reason": choice.reason is Need.REQUIRED,
        "needs_feedback": choice.feedback is Need.REQUIRED,
        "is_deliberate": choice.is_deliberate,
        "goes_to_host": choice.goes_to_host,
        "shortcut": str(number) if number <= 9 else "",
    }


def _fields(offered: tuple[Choice, ...]) -> list[dict[str, Any]]:
    """Return every field that some choice asks for, each once."""
    known = {field.name: field for choice in offered for field in choice.fields}
    return [
        {
            "name": field.name,
            "id": f"field-{number}",
            "label": field.label,
            "kind": field.kind.value,
            "help": field.help,
            "is_required": field.is_required,
            "choices": [(str(index), str(value)) for index, value in enumerate(field.choices)],
            "value": _initial(field),
        }
        for number, field in enumerate(known.values(), 1)
    ]


def _initial(field: FormField) -> str:
    """Return what a field shows before anything is typed: JSON as people read it."""
    if field.initial is None:
        return ""
    if field.kind is FieldKind.JSON:
        return orjson.dumps(field.initial, option=orjson.OPT_INDENT_2).decode()
    return str(field.initial)


def _resolution(resolution: Resolution) -> dict[str, Any]:
    return {
        "action": resolution.action,
        "by": resolution.by.get_username(),
        "at": resolution.at,
        "reason": resolution.reason,
    }


def _delivery(found: Escalation, resolution: Resolution) -> dict[str, Any]:
    now = timezone.now()
    delivery = Delivery.objects.filter(resolution=resolution).first()
    if delivery is None:
        shown = lights(Progress(decided_at=resolution.at), now)
        text = "The host reads the gate; nothing is sent to it."
        return {"state": "none", "text": text, "lights": _lamps(shown, "")}
    progress = Progress(
        decided_at=resolution.at,
        state=DeliveryState(delivery.state),
        words=delivery.words,
        next_attempt_at=delivery.next_attempt_at,
        delivered_at=delivery.delivered_at,
        accepted_at=delivery.accepted_at,
        effect=EffectKind(delivery.effect_kind) if delivery.effect_kind else None,
        effect_at=delivery.effect_at,
    )
    proof = f"{address_of(found.run)}#line-{delivery.effect_position}"
    return {
        "state": _state_of(delivery, progress, now),
        "text": delivery.words,
        "next_at": delivery.next_attempt_at,
        "lights": _lamps(lights(progress, now), proof),
    }


def _state_of(delivery: Delivery, progress: Progress, now: datetime) -> str:
    """Return the badge word of where a delivery stands."""
    if progress.effect is not None and progress.effect is not EffectKind.OVERTAKEN:
        return "took_effect"
    if is_late(progress, now):
        return "no_effect"
    if delivery.state in UNSETTLED:
        return "retrying" if delivery.attempts else "pending"
    return delivery.state


_LAMP = {
    Light.ON: "done",
    Light.UNDER_WAY: "current",
    Light.OFF: "waiting",
    Light.TROUBLE: "failed",
    Light.NOT_NEEDED: "skipped",
}


def _lamps(shown: Lights, proof: str) -> list[dict[str, Any]]:
    named = (
        ("Decided", shown.decided),
        ("Delivered", shown.delivered),
        ("Accepted", shown.accepted),
        ("Took effect", shown.took_effect),
    )
    return [_lamp(word, lamp, proof if word == "Took effect" else "") for word, lamp in named]


def _lamp(word: str, lamp: Lamp, proof: str) -> dict[str, Any]:
    is_on = lamp.light is Light.ON
    return {
        "word": word,
        "state": _LAMP[lamp.light],
        "at": lamp.at if is_on else None,
        "detail": "the line that proves it" if is_on and proof else "" if is_on else lamp.words,
        "url": proof if is_on else "",
    }


def _urls(found: Escalation, viewer: Viewer) -> dict[str, str]:
    moves = ("claim", "extend", "release", "resolve")
    following = next_for(viewer, timezone.now())
    return {
        "queue": reverse("queue"),
        "next": reverse("escalation", args=[following.pk]) if following else "",
        **{move: reverse("escalation-act", args=[found.pk, move]) for move in moves},
    }


def _address(found: Escalation) -> str:
    return reverse("escalation", args=[found.pk])


def _visible(request: HttpRequest, pk: int) -> Escalation:
    found = find(request.user, pk)
    if found is None:
        raise Http404
    return found


def _person(request: HttpRequest) -> User:
    user = request.user
    assert isinstance(user, User)  # noqa: S101  (pages are for signed-in people: the middleware)
    return user
