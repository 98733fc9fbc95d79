"""Signs heads of audit chains, so that what is exported can later be held against the chain."""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.models import Workspace
from verification.actions.evidence import signing_key
from verification.domain.checkpoints import is_due
from verification.domain.evidence import signed
from verification.models import AuditEntry, Checkpoint


def sign_due(now: datetime) -> None:
    """Sign a checkpoint of every chain that has grown enough, or waited enough."""
    for workspace in Workspace.objects.order_by("pk"):
        last = AuditEntry.objects.filter(workspace=workspace).order_by("-seq").first()
        if last is None:
            continue
        covered = _covered(workspace)
        oldest = AuditEntry.objects.filter(workspace=workspace, seq=covered + 1).first()
        if is_due(
            last=last.seq, covered=covered, oldest_uncovered_at=oldest.at if oldest else last.at,
            now=now, every=settings.CHECKPOINT_ENTRIES,
        ):  # fmt: skip
            sign(workspace=workspace, now=now)


@transaction.atomic
def sign(*, workspace: Workspace, now: datetime | None = None) -> Checkpoint | None:
    """Sign the chain's newest entry; None when there is none, the known one when that is signed."""
    now = now or timezone.now()
    last = AuditEntry.objects.filter(workspace=workspace).order_by("-seq").first()
    if last is None:
        return None
    document = {
        "type": "audit-checkpoint",
        "issuer": settings.CONSOLE_URL,
        "workspace": workspace.slug,
        "seq": last.seq,
        "hash": last.hash,
        "at": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    checkpoint, _ = Checkpoint.objects.get_or_create(
        workspace=workspace,
        seq=last.seq,
        defaults={"at": now, "document": signed(document, signing_key())},
    )
    return checkpoint


def _covered(workspace: Workspace) -> int:
    newest = Checkpoint.objects.filter(workspace=workspace).order_by("-seq").first()
    return newest.seq if newest else 0
