"""Asks a host what its pause is about, where its events say only that there is one.

One live host writes `node.suspended` with an id and a kind; questions, actions and correlation keys
are in its snapshot and its list of open interrupts. Tokens and callback addresses are left out.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from verification.actions.content import keep
from verification.actions.moves import lock
from verification.domain.lifecycle import SETTLED, State
from verification.domain.surfaces import described_in
from verification.host import client_of
from verification.models import Escalation
from verification.situations import due_at_of, interrupt_of

FIRST_PAUSE = timedelta(seconds=15)
GIVE_UP_AFTER = timedelta(hours=1)


def learn(*, escalation: int, now: datetime | None = None) -> bool:
    """Keep what the host says about the pause, and say whether it said anything."""
    now = now or timezone.now()
    found = Escalation.objects.select_related("run__host").get(pk=escalation)
    is_due = found.ask_host_at is not None and found.ask_host_at <= now
    if not is_due or found.interrupt is None:
        return False
    said = _read(found)
    with transaction.atomic():
        _, found = lock(escalation)
        if found.asked_id is not None or State(found.state) in SETTLED:
            return False
        if said is None:
            waited = now - found.opened_at
            found.ask_host_at = now + max(FIRST_PAUSE, waited) if waited < GIVE_UP_AFTER else None
            found.save(update_fields=["ask_host_at"])
            return False
        body = orjson.dumps(said)
        found.asked = keep(workspace=found.workspace_id, kind="interrupt", body=body)
        found.ask_host_at = None
        found.due_at = min(found.due_at, due_at_of(found, found.opened_at, interrupt_of(found)))
        found.version += 1
        found.save(update_fields=["asked", "ask_host_at", "due_at", "version"])
    return True


def _read(found: Escalation) -> Mapping[str, Any] | None:
    host, pause = found.run.host, found.interrupt or {}
    if not host.base_url:
        return None
    client = client_of(host)
    run_id = found.run.run_id
    documents = [client.list_interrupts(run_id).document, client.read_run(run_id).document]
    return described_in(documents, pause["nodeId"], str(pause.get("interruptId") or ""))
