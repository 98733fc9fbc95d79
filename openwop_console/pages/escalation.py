"""One escalation: what is asked, the evidence, the decision, and what became of it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from openwop_console.pages.decision_form import (
    decision_in,
    drafted,
    drawn_action,
    drawn_fields,
    fault_of,
    seen_in,
    seen_text,
    usual_reasons,
    with_drafts,
    with_fault,
)
from openwop_console.pages.delivery_strip import delivery_of, progress_of
from openwop_console.pages.escalation_evidence import evidence_of
from openwop_console.pages.queue import row
from openwop_console.pages.run import address_of
from openwop_console.pages.settings_frame import person_of
from runs.models import Viewer
from verification import situations
from verification.actions import comments, escalations
from verification.actions.redrive import redrive
from verification.domain.choices import questions_of
from verification.domain.decisions import UnreadableDecision
from verification.domain.delivery import GIVEN_UP
from verification.domain.errors import VerificationError
from verification.domain.fields import WHOLE
from verification.domain.interrupt_request import InterruptRequest
from verification.domain.lifecycle import MAY, Move, State, check_not_settled
from verification.domain.refusals import AlreadyResolved, AlreadySettled, StaleView
from verification.domain.timing import heartbeat, warning
from verification.models import Comment, Delivery, Escalation, Gate, Resolution, Vote
from verification.queries.differences import Change, differences
from verification.queries.queue import decider_named, deciders, done_by, next_for
from verification.queries.reviewing import reviews_shown

_BACK_TO_QUEUE = frozenset({"release", "close"})


@require_GET
def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one escalation."""
    return _page(request, _visible(request, pk))


@require_http_methods(["GET", "HEAD", "POST"])
def act(request: HttpRequest, pk: int, move: str) -> HttpResponse:
    """Make a move; a refusal says why, and what was typed stays.

    Whoever comes by GET reloads a refusal, or signed in on the way: they are shown the matter.
    """
    found = _visible(request, pk)
    if move not in _MOVES:
        raise Http404
    if request.method != "POST":
        return redirect(_address(found))
    try:
        if move == "resolve":
            return _resolve(request, found)
        _MOVES[move](request, found)
    except VerificationError as refused:
        fault = fault_of(refused, request.POST, found) if move == "resolve" else {}
        if not fault:
            messages.error(request, str(refused))
        if move == "resolve":
            _keep_typed(request, found)
        if move == "resolve" and not isinstance(refused, AlreadySettled):
            return _page(request, _visible(request, pk), refused, fault)
    return redirect("queue" if move in _BACK_TO_QUEUE else _address(found))


@require_POST
def beat(request: HttpRequest, pk: int) -> HttpResponse:
    """Renew the claim of an open page, and draw it again; what was lost is drawn as it is."""
    found = _visible(request, pk)
    with suppress(VerificationError):  # the claim is drawn as it stands now: that says it
        escalations.extend(escalation=found.pk, by=person_of(request))
    shown = content(_visible(request, pk), request.user)
    return render(request, "verification/escalation.html#claim", shown)


@require_POST
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what a person has typed so far, whoever holds the claim."""
    found = _visible(request, pk)
    _keep_typed(request, found)
    return HttpResponse(status=204)


def find(viewer: Viewer, pk: int) -> Escalation | None:
    """Return the escalation, if the viewer may see it."""
    visible = Escalation.objects.visible_to(viewer)
    found: Escalation | None = (
        visible.select_related("run", "run__host", "claimed_by", "queue").filter(pk=pk).first()
    )
    return found


def content(found: Escalation, viewer: Viewer) -> dict[str, Any]:
    """Gather what the page shows and what may change while it is open."""
    interrupt = situations.interrupt_of(found)
    resolution = Resolution.objects.filter(escalation=found).select_related("by").first()
    is_waiting = found.state in (State.OPEN, State.CLAIMED)
    rules = situations.rules_of(found.queue)
    offered = situations.choices_of(found, interrupt) if is_waiting else ()
    typed = comments.draft_of(found, viewer) if isinstance(viewer, User) else {}
    asked = _asked(found, viewer, interrupt)
    has_verdict = bool(seen_in(asked["seen"]).verdicts)
    return {
        "escalation": asked,
        "actions": [drawn_action(choice, number) for number, choice in enumerate(offered, 1)],
        "fields": with_drafts(drawn_fields(offered), typed),
        "usual_reasons": usual_reasons(offered, has_verdict=has_verdict),
        "reviews": reviews_shown(found, viewer),
        "turns": _turns(found),
        "resolution": resolution and _resolution(found, resolution, viewer),
        "delivery": resolution and delivery_of(found, resolution),
        "done": done_by(viewer, timezone.now()),
        "lead": _lead(found, viewer),
        "urls": _urls(found, viewer),
        "live_url": f"/ws/queue/{found.pk}/",
        "drafts": typed,
        "chosen": typed.get("action", ""),
        "here": _address(found),
        "half_lease_s": int(heartbeat(rules).total_seconds()),
        "warning_s": int(warning(rules).total_seconds()),
    }


def changes(found: Escalation, viewer: Viewer, sent: dict[str, Any]) -> dict[str, Any]:
    """Gather what an open page must draw to be true again, and whether what it shows is stale."""
    shown = content(found, viewer)
    seen = str(sent.get("seen", ""))
    if shown["actions"] and seen:
        shown["stale"] = _stale(found, differences(found, seen_in(seen)))
    return shown


def _stale(found: Escalation, changed: list[Change]) -> list[dict[str, Any]]:
    address = address_of(found.run)
    return [
        {
            "words": each.words,
            "sequence": each.sequence,
            "url": f"{address}#line-{each.position}" if each.position else "",
        }
        for each in changed
    ]


def _page(
    request: HttpRequest,
    found: Escalation,
    refused: VerificationError | None = None,
    fault: Mapping[str, str] = MappingProxyType({}),
) -> HttpResponse:
    shown = content(found, request.user)
    shown |= {"evidence": evidence_of(found), "comments": _comments(found)}
    if refused is not None:
        typed = drafted(request.POST)
        shown["drafts"], shown["chosen"] = typed, typed.get("action", "")
        shown["fields"] = with_fault(with_drafts(shown["fields"], typed), fault)
        shown["fault"] = fault
        if isinstance(refused, StaleView):
            seen = seen_in(request.POST.get("seen", ""))
            shown["stale"] = _stale(found, differences(found, seen))
    status = 409 if isinstance(refused, StaleView) else 200 if refused is None else 422
    return render(request, "verification/escalation.html", shown, status=status)


def _resolve(request: HttpRequest, found: Escalation) -> HttpResponse:
    person = person_of(request)
    try:
        check_not_settled(situations.situation_of(found))
        decision = decision_in(request.POST, found)
        seen = seen_in(request.POST.get("seen", ""))
        said = escalations.resolve(escalation=found.pk, by=person, decision=decision, seen=seen)
    except AlreadyResolved:
        if not _was_said(found, person, request.POST.get("action", "")):
            raise
        return redirect(_address(found))  # pressed twice: it is as they want it
    following = next_for(person, timezone.now())
    if request.POST.get("then") == "next" and following is not None:
        messages.success(request, _told_elsewhere(found, said, person))
        return redirect("escalation", following.pk)
    messages.success(request, _told_here(said))
    return redirect(_address(found))


def _told_here(said: Resolution | Comment | Vote) -> str:
    if isinstance(said, Resolution):
        return "Decided. What becomes of it shows below."
    if isinstance(said, Comment):
        return "Said. Somebody still has to decide."
    return "Your say is in. Others are asked too."


def _told_elsewhere(found: Escalation, said: Resolution | Comment | Vote, by: User) -> str:
    """Return what the page of the next matter says: which one this was, and how to take it back."""
    shown: dict[str, Any] = {
        "name": found.run.workflow_id or found.run.run_id,
        "url": _address(found),
    }
    if isinstance(said, Resolution):
        shown["action"] = said.action
        shown["undo_until"] = _undo_until(found, said, by)
        shown["undo_url"] = reverse("escalation-act", args=[found.pk, "undo"])
    else:
        shown["told"] = _told_here(said)
    return render_to_string("verification/told.html", shown)


def _keep_typed(request: HttpRequest, found: Escalation) -> None:
    typed = drafted(request.POST)
    if not typed:
        return  # a form that is frozen sends no field, which is not to have emptied them
    comments.save_draft(escalation=found, by=person_of(request), fields=typed)


def _was_said(found: Escalation, person: User, action: str) -> bool:
    said = Resolution.objects.filter(escalation=found, by=person)
    return action in said.values_list("action", flat=True)


def _comment(request: HttpRequest, found: Escalation) -> None:
    text = request.POST.get("text", "")
    comments.comment(escalation=found.pk, by=person_of(request), text=text)


def _reassign(request: HttpRequest, found: Escalation) -> None:
    to = decider_named([found.workspace_id], request.POST.get("to", ""))
    if to is None:
        raise UnreadableDecision("/to", "choose somebody who may decide")
    escalations.reassign(escalation=found.pk, by=person_of(request), to=to)


def _redrive(request: HttpRequest, found: Escalation) -> None:
    for delivery in found.deliveries.filter(state__in=GIVEN_UP):
        redrive(delivery=delivery.pk, by=person_of(request))


def _plain(move: Callable[..., object]) -> Callable[[HttpRequest, Escalation], None]:
    def act_plainly(request: HttpRequest, found: Escalation) -> None:
        move(escalation=found.pk, by=person_of(request))

    return act_plainly


_MOVES: Mapping[str, Callable[[HttpRequest, Escalation], object]] = {
    "resolve": _resolve,
    "comment": _comment,
    "reassign": _reassign,
    "redrive": _redrive,
    "claim": _plain(escalations.claim),
    "extend": _plain(escalations.extend),
    "release": _plain(escalations.release),
    "close": _plain(escalations.close),
    "undo": _plain(escalations.undo),
}


def _asked(found: Escalation, viewer: Viewer, interrupt: InterruptRequest | None) -> dict[str, Any]:
    gate = Gate.objects.filter(run=found.run, target=found.target).first()
    run = found.run
    return {
        **row(found, viewer),
        "seen": seen_text(found),
        "agent": gate.actor if gate else "",
        "sentence": gate.detail.get("sentence", "") if gate else "",
        "claim_until": found.claim_until,
        "closed_because": found.closed_because.replace("_", " "),
        "risk": found.risk,
        "queue": found.queue.name if found.queue else "",
        "required": found.queue.required_reviews if found.queue else 1,
        "is_for_leads": found.handed_to_lead_at is not None,
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
            "questions": [
                {"text": each.label, "help": each.help}
                for each in questions_of(interrupt)
                if each.name != WHOLE and each.label != interrupt.prompt
            ],
            "wanted": situations.approvals_wanted(interrupt),
            "provider": interrupt.provider,
        },
    }


def _comments(found: Escalation) -> list[dict[str, Any]]:
    rows = found.comments.select_related("by", "content").order_by("at", "pk")
    return [
        {
            "by": each.by.get_username(),
            "at": each.at,
            "kind": each.kind,
            "text": bytes(each.content.body).decode("utf-8", "replace") or "(erased)",
        }
        for each in rows
    ]


def _turns(found: Escalation) -> list[dict[str, Any]]:
    """Return the deliveries that are no decision: turns, votes, what time that ran out sent."""
    rows = Delivery.objects.filter(escalation=found, resolution=None).order_by("pk")
    return [
        {**progress_of(found, each, each.created_at), "what": _what(each), "at": each.created_at}
        for each in rows.select_related("comment", "vote")
    ]


def _what(delivery: Delivery) -> str:
    if delivery.comment is not None:
        return delivery.comment.kind
    return delivery.vote.action if delivery.vote is not None else "reject"


def _resolution(found: Escalation, resolution: Resolution, viewer: Viewer) -> dict[str, Any]:
    return {
        "action": resolution.action,
        "by": resolution.by.get_username(),
        "at": resolution.at,
        "reason": resolution.reason,
        "undo_until": _undo_until(found, resolution, viewer),
    }


def _undo_until(found: Escalation, resolution: Resolution, viewer: Viewer) -> datetime | None:
    until = resolution.at + situations.rules_of(found.queue).undo
    return until if resolution.by == viewer and timezone.now() < until else None


def _urls(found: Escalation, viewer: Viewer) -> dict[str, str]:
    following = next_for(viewer, timezone.now())
    return {
        "queue": reverse("queue"),
        "next": reverse("escalation", args=[following.pk]) if following else "",
        "beat": reverse("escalation-beat", args=[found.pk]),
        "draft": reverse("escalation-draft", args=[found.pk]),
        "audit": f"{address_of(found.run)}/audit",
        **{move: reverse("escalation-act", args=[found.pk, move]) for move in _MOVES},
    }


def _lead(found: Escalation, viewer: Viewer) -> dict[str, Any] | None:
    """Return what somebody may do with a matter that others hold; None: nothing."""
    if not isinstance(viewer, User) or found.state not in (State.OPEN, State.CLAIMED):
        return None
    person = situations.person_of(viewer, found.workspace_id, found.queue)
    if not person.is_lead:
        return None
    return {
        "people": [each.get_username() for each in deciders([found.workspace_id])],
        "is_admin": person.role in MAY[Move.CLOSE],
    }


def _address(found: Escalation) -> str:
    return reverse("escalation", args=[found.pk])


def _visible(request: HttpRequest, pk: int) -> Escalation:
    found = find(request.user, pk)
    if found is None:
        raise Http404
    return found
