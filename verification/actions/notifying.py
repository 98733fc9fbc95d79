"""Tells people: a line under the bell at once, and by mail or webhook when its time comes.

Rows first, messages later: what is to be sent is read again when its time has come, so that nobody
hears of what somebody has taken meanwhile. Messages carry a reason's name and an address.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from smtplib import SMTPException
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import QuerySet

from runs.domain.addresses import networks
from runs.pinned import Line
from verification import bells
from verification.domain.lifecycle import Situation, State
from verification.domain.notifying import (
    ASKS_FOR_SOMEBODY,
    Item,
    Mode,
    Note,
    retry_at,
    send_at,
    sentence,
    subject,
    why_dropped,
)
from verification.domain.reason_words import words_of
from verification.host import post_webhook
from verification.models import Delivery, Escalation, Job, Notification, Wish
from verification.situations import DECIDERS, MAY_ASK, leads_of, role_of

logger = logging.getLogger(__name__)
_DECIDED = "decided"


@dataclass(frozen=True, slots=True)
class _Seen:
    """What of some notifications a person still sees, and could still decide about."""

    escalations: frozenset[int]
    jobs: frozenset[int]
    waiting: frozenset[int]
    """Those of the jobs whose plan waits."""


_NOTHING = _Seen(frozenset(), frozenset(), frozenset())


def tell(
    *, escalation: Escalation, note: Note, now: datetime, delivery: Delivery | None = None,
    to: Iterable[User] | None = None,
) -> None:  # fmt: skip
    """Tell everybody who can do something about it: reviewers, leads, or those named."""
    what = {"kind": note.value, "escalation": escalation, "delivery": delivery}
    people = _people(escalation, note) if to is None else to
    _tell(people, {"workspace_id": escalation.workspace_id, **what}, now)


def tell_of_plan(*, job: Job, now: datetime) -> None:
    """Tell everybody who may decide on it that a job's plan waits."""
    what = {"kind": Note.PLAN_WAITS.value, "job": job}
    people = _members(job.workspace_id, MAY_ASK)
    _tell(people, {"workspace_id": job.workspace_id, **what}, now)


def _tell(people: Iterable[User], what: Mapping[str, Any], now: datetime) -> None:
    told = list(people)
    wishes = {wish.user_id: wish for wish in Wish.objects.filter(user__in=told)}
    Notification.objects.bulk_create(
        Notification(
            user=person, made_at=now, send_at=_due(wishes.get(person.pk), now), **what
        )
        for person in told
    )  # fmt: skip
    if any(_due(wish, now) == now for wish in wishes.values()):
        bells.ring(bells.NOTIFY)


def _people(escalation: Escalation, note: Note) -> Iterable[User]:
    if note is Note.HANDED_TO_LEAD:
        return User.objects.filter(username__in=leads_of(escalation), is_active=True)
    return _members(escalation.workspace_id, DECIDERS)


def _members(workspace: int, roles: Collection[str]) -> Iterable[User]:
    return User.objects.filter(
        memberships__workspace=workspace, memberships__role__in=roles, is_active=True
    )


def _due(wish: Wish | None, now: datetime) -> datetime | None:
    if wish is None or not (wish.by_mail or wish.webhook_url):
        return None
    return send_at(Mode(wish.mode), now)


def stop(*, escalation: Escalation, because: str) -> None:
    """Drop what is still to be sent about a matter that somebody took or settled."""
    _drop(Notification.objects.filter(escalation=escalation), because)


def stop_plan(*, job: Job) -> None:
    """Drop what is still to be sent about a plan that somebody has decided on."""
    _drop(Notification.objects.filter(job=job), _DECIDED)


def _drop(rows: QuerySet[Notification], because: str) -> None:
    asking = [note.value for note in ASKS_FOR_SOMEBODY]
    still = rows.filter(kind__in=asking, send_at__isnull=False)
    still.update(send_at=None, dropped_because=because)


def set_wish(*, user: User, mode: str, by_mail: bool, webhook_url: str, webhook_form: str) -> None:
    """Keep how a person wants to be told; it counts for what happens from now on."""
    said = {
        "mode": mode,
        "by_mail": by_mail,
        "webhook_url": webhook_url,
        "webhook_form": webhook_form,
    }
    Wish.objects.update_or_create(user=user, defaults=said)


def mark_read(*, user: User, now: datetime) -> None:
    """Mark everything that a person was told as read."""
    Notification.objects.filter(user=user, read_at=None).update(read_at=now)


def send_due(now: datetime) -> None:
    """Send every person whose time has come one message about all that still holds."""
    due = Notification.objects.filter(send_at__lte=now)
    for pk in due.order_by().values_list("user", flat=True).distinct()[:200]:
        _send_to(pk, now)


def _send_to(user: int, now: datetime) -> None:
    taken = _take(user, now)
    if not taken:
        return
    wish = Wish.objects.select_related("user").get(user=user)
    try:
        _send(wish, [_item(row) for row in taken])
    except (OSError, SMTPException) as error:
        logger.warning("notifications of person %s not sent: %s", user, type(error).__name__)
        _put_back(taken, now)


@transaction.atomic
def _take(user: int, now: datetime) -> list[Notification]:
    """Mark what will be sent as sent, and drop what has nothing left to say."""
    rows = (
        Notification.objects.select_for_update(of=("self",), skip_locked=True)
        .filter(user=user, send_at__lte=now)
        .select_related("escalation", "job", "user")
    )
    taken = list(rows)
    seen = _seen_by(taken[0].user, taken) if taken else _NOTHING
    wishes = Wish.objects.filter(user=user).exclude(by_mail=False, webhook_url="").exists()
    for row in taken:
        why = _why_dropped(row, seen, now) if wishes else "not_wished"
        row.send_at, row.dropped_because = None, why
        row.sent_at = None if why else now
        row.tries += 1
    Notification.objects.bulk_update(taken, ["send_at", "sent_at", "dropped_because", "tries"])
    return [row for row in taken if not row.dropped_because]


def _why_dropped(row: Notification, seen: _Seen, now: datetime) -> str:
    about = row.escalation
    if about is None:
        return _why_plan_dropped(row, seen)
    if about.pk not in seen.escalations:
        return "not_visible"
    situation = Situation(State(about.state), claim_until=about.claim_until)
    return why_dropped(Note(row.kind), situation, now)


def _why_plan_dropped(row: Notification, seen: _Seen) -> str:
    if row.job_id not in seen.jobs:
        return "not_visible"
    return "" if row.job_id in seen.waiting else _DECIDED


def _seen_by(user: User, rows: Sequence[Notification]) -> _Seen:
    if not user.is_active:
        return _NOTHING
    roles = {space: role_of(user, space) for space in {row.workspace_id for row in rows}}
    decides = [space for space, role in roles.items() if role in DECIDERS]
    asks = [space for space, role in roles.items() if role in MAY_ASK]
    escalations = Escalation.objects.visible_to(user).filter(workspace__in=decides)
    jobs = Job.objects.visible_to(user).filter(
        workspace__in=asks, pk__in=[row.job_id for row in rows]
    )
    return _Seen(
        _ids(escalations.filter(pk__in=[row.escalation_id for row in rows])),
        _ids(jobs),
        _ids(jobs.whose_plan_waits()),
    )


def _ids(rows: QuerySet[Any]) -> frozenset[int]:
    return frozenset(rows.values_list("pk", flat=True))


def _put_back(rows: Sequence[Notification], now: datetime) -> None:
    for row in rows:
        row.send_at, row.sent_at = retry_at(row.tries, now), None
        row.dropped_because = "" if row.send_at else "not_sent"
    Notification.objects.bulk_update(rows, ["send_at", "sent_at", "dropped_because"])


def _item(row: Notification) -> Item:
    note, about = Note(row.kind), row.escalation
    if about is not None:
        url = f"{settings.CONSOLE_URL}/queue/{about.pk}"
        return Item(note, words_of(about.reason), url, escalation=about.pk)
    assert row.job is not None  # noqa: S101  (a notification is about one matter)
    uid = str(row.job.uid)
    return Item(note, "a plan", f"{settings.CONSOLE_URL}/jobs/{uid}/plan", job=uid)


def _send(wish: Wish, items: Sequence[Item]) -> None:
    """Send one message in every way the person wants; the first that fails is tried again."""
    lines = [sentence(item) for item in items]
    if wish.by_mail and wish.user.email and settings.EMAIL_HOST:
        connection = get_connection(timeout=settings.EMAIL_TIMEOUT)
        EmailMessage(
            subject(len(items)), "\n".join(lines), to=[wish.user.email], connection=connection
        ).send()
    if wish.webhook_url:
        _post(wish, items, lines)


def _plain(item: Item) -> dict[str, object]:
    about = {"job": item.job} if item.escalation is None else {"escalation": item.escalation}
    return {"note": item.note.value, **about, "reason": item.reason, "url": item.url}


def _post(wish: Wish, items: Sequence[Item], lines: Sequence[str]) -> None:
    head = subject(len(items))
    body: dict[str, object] = {"text": "\n".join([head, *lines])}
    if wish.webhook_form == "plain":
        body = {
            "type": "console.notification",
            "items": [_plain(item) for item in items],
        }
    answer = post_webhook(
        wish.webhook_url, orjson.dumps(body), {}, Line(networks(settings.ALLOW_PRIVATE))
    )
    if not answer.is_good:
        raise ConnectionError(f"status {answer.status}")
