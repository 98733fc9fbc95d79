"""Notes and drafts of reviewers: texts in the restricted zone, never in a log."""

import orjson
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from verification.actions.content import keep
from verification.actions.moves import lock, put_on_record, tell_log
from verification.domain import lifecycle
from verification.domain.decisions import UnreadableDecision, checked_text
from verification.domain.lifecycle import Move
from verification.models import Comment, Draft, Escalation
from verification.situations import person_of

LONGEST_DRAFT = 64_000


@transaction.atomic
def comment(*, escalation: int, by: User, text: str) -> Comment:
    """Keep a note for colleagues; it stays in the Console.

    Raises:
        UnreadableDecision: it is empty, too long, or cannot be stored.
        NotAllowed: the person's role does not include reviewing.
    """
    said = checked_text(text, "/text")
    if not said:
        raise UnreadableDecision("/text", "required")
    run, found = lock(escalation)
    lifecycle.check_role(person_of(by, run.workspace_id, found.queue), Move.CLAIM)
    now = timezone.now()
    content = keep(workspace=found.workspace_id, kind="comment", body=said.encode())
    made = Comment.objects.create(escalation=found, by=by, at=now, kind="note", content=content)
    tell_log(run, found, "commented", now, by=by, n=made.pk)
    put_on_record(found, "commented", by, comment=made.pk)
    return made


def save_draft(*, escalation: Escalation, by: User, fields: dict[str, str]) -> None:
    """Keep what a person has typed so far; nothing typed, nothing kept."""
    body = orjson.dumps(fields)
    if len(body) > LONGEST_DRAFT:
        return
    typed = any(value.strip() for value in fields.values())
    with transaction.atomic():
        known = Draft.objects.select_for_update().filter(escalation=escalation, by=by).first()
        if known is not None:
            known.delete()
            known.content.delete()
        if typed:
            content = keep(workspace=escalation.workspace_id, kind="draft", body=body)
            Draft.objects.create(escalation=escalation, by=by, at=timezone.now(), content=content)


def draft_of(escalation: Escalation, by: User) -> dict[str, str]:
    """Return what a person had typed about an escalation, by field."""
    known = Draft.objects.select_related("content").filter(escalation=escalation, by=by).first()
    if known is None or not known.content.body:
        return {}
    fields = orjson.loads(bytes(known.content.body))
    return {str(name): str(value) for name, value in fields.items()}
