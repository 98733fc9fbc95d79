"""Tells people: a line under the bell at once, and by mail or webhook when its time comes.

Rows first, messages later: what is to be sent is read again when its time has come, so that nobody
hears of what somebody has taken meanwhile. Messages carry a reason's name and an address.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from smtplib import SMTPException

import orjson
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import Q

from runs.domain.addresses import networks
from runs.models import Role
from runs.pinned import Line
from verification import bells
from verification.domain.lifecycle import Situation, State
from verification.domain.notifying import (
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
from verification.models import Delivery, Escalation, Notification, Wish
from verification.situations import leads_of, role_of

logger = logging.getLogger(__name__)

_DECIDERS = (Role.REVIEWER.value, Role.ADMIN.value)


def tell(
    *, escalation: Escalation, note: Note, now: datetime, delivery: Delivery | None = None,
    to: Iterable[User] | None = None,
) -> None:  # fmt: skip
    """Tell everybody who can do something about it: reviewers, leads, or those named."""
    people = list(_people(escalation, note) if to is None else to)
    wishes = {wish.user_id: wish for wish in Wish.objects.filter(user__in=people)}
    Notification.objects.bulk_create(
        Notification(
            user=person,
            workspace_id=escalation.workspace_id,
            kind=note.value,
            escalation=escalation,
            delivery=delivery,
            made_at=now,
            send_at=_due(wishes.get(person.pk), now),
        )
        for person in people
    )
    if any(_due(wish, now) == now for wish in wishes.values()):
        bells.ring(bells.NOTIFY)


def _people(escalation: Escalation, note: Note) -> Iterable[User]:
    if note is Note.HANDED_TO_LEAD:
        return User.objects.filter(username__in=leads_of(escalation), is_active=True)
    return User.objects.filter(
        memberships__workspace=escalation.workspace_id,
        memberships__role__in=_DECIDERS,
        is_active=True,
    )


def _due(wish: Wish | None, now: datetime) -> datetime | None:
    if wish is None or not (wish.by_mail or wish.webhook_url):
        return None
    return send_at(Mode(wish.mode), now)


def stop(*, escalation: Escalation, because: str) -> None:
    """Drop what is still to be sent about a matter that somebody took or settled."""
    asking = Q(kind__in=(Note.OPENED.value, Note.HANDED_TO_LEAD.value))
    Notification.objects.filter(asking, escalation=escalation, send_at__isnull=False).update(
        send_at=None, dropped_because=because
    )


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
        .select_related("escalation", "user")
    )
    taken = list(rows)
    seen = _seen_by(taken[0].user, taken) if taken else frozenset()
    wishes = Wish.objects.filter(user=user).exclude(by_mail=False, webhook_url="").exists()
    for row in taken:
        why = _why_dropped(row, seen, now) if wishes else "not_wished"
        row.send_at, row.dropped_because = None, why
        row.sent_at = None if why else now
        row.tries += 1
    Notification.objects.bulk_update(taken, ["send_at", "sent_at", "dropped_because", "tries"])
    return [row for row in taken if not row.dropped_because]


def _why_dropped(row: Notification, seen: frozenset[int], now: datetime) -> str:
    if row.escalation_id not in seen:
        return "not_visible"
    about = row.escalation
    situation = Situation(State(about.state), claim_until=about.claim_until)
    return why_dropped(Note(row.kind), situation, now)


def _seen_by(user: User, rows: Sequence[Notification]) -> frozenset[int]:
    """Return the escalations that the person still sees, and could still decide about."""
    if not user.is_active:
        return frozenset()
    spaces = {row.workspace_id for row in rows}
    decides = [space for space in spaces if role_of(user, space) in _DECIDERS]
    visible = Escalation.objects.visible_to(user).filter(workspace__in=decides)
    asked = visible.filter(pk__in=[row.escalation_id for row in rows])
    return frozenset(asked.values_list("pk", flat=True))


def _put_back(rows: Sequence[Notification], now: datetime) -> None:
    for row in rows:
        row.send_at, row.sent_at = retry_at(row.tries, now), None
        row.dropped_because = "" if row.send_at else "not_sent"
    Notification.objects.bulk_update(rows, ["send_at", "sent_at", "dropped_because"])


def _item(row: Notification) -> Item:
    url = f"{settings.CONSOLE_URL}/queue/{row.escalation_id}"
    return Item(Note(row.kind), row.escalation_id, words_of(row.escalation.reason), url)


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


def _post(wish: Wish, items: Sequence[Item], lines: Sequence[str]) -> None:
    head = subject(len(items))
    body: dict[str, object] = {"text": "\n".join([head, *lines])}
    if wish.webhook_form == "plain":
        body = {
            "type": "console.notification",
            "items": [
                {"note": i.note.value, "escalation": i.escalation, "reason": i.reason, "url": i.url}
                for i in items
            ],
        }
    answer = post_webhook(
        wish.webhook_url, orjson.dumps(body), {}, Line(networks(settings.ALLOW_PRIVATE))
    )
    if not answer.is_good:
        raise ConnectionError(f"status {answer.status}")
