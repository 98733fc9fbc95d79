"""The audit chain: pages of it, whether it holds, and all of it for elsewhere."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.contrib.auth.models import User
from django.db.models import Q

from runs.models import Role, Run, Viewer, Workspace
from verification.domain.chain import GENESIS, Anomaly, Link, anomalies
from verification.domain.checkpoints import Head, against
from verification.domain.errors import VerificationError
from verification.domain.evidence import check
from verification.models import AuditEntry, Checkpoint, Delivery, Escalation
from verification.rows_of_audit import body_of

PAGE = 100
_READERS = (Role.ADMIN.value, Role.AUDITOR.value)


def workspaces_audited(viewer: Viewer) -> list[Workspace]:
    """Return the workspaces whose whole chain a viewer may read: an auditor's or admin's."""
    if not isinstance(viewer, User):
        return []
    rows = Workspace.objects.order_by("slug")
    if viewer.is_superuser:
        return list(rows)
    return list(rows.filter(memberships__user=viewer, memberships__role__in=_READERS))


def entries(workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    """Return `{entries, next}` of a chain, newest first, as the filters keep it."""
    rows = AuditEntry.objects.filter(workspace=workspace)
    for name in ("actor", "action", "subject"):
        if value := query.get(name):
            rows = rows.filter(**{f"{name}__startswith": value})
    before = query.get("cursor", "")
    if before.isascii() and before.isdigit():
        rows = rows.filter(seq__lt=int(before[:18]))
    found = list(rows.order_by("-seq")[: PAGE + 1])
    return {
        "entries": [document_of(each) for each in found[:PAGE]],
        "next": str(found[PAGE - 1].seq) if len(found) > PAGE else None,
    }


def entries_of_run(run: Run) -> list[AuditEntry]:
    """Return what people did about a run, oldest first, for whoever may see the run."""
    about = [
        f"escalation:{pk}" for pk in Escalation.objects.filter(run=run).values_list("pk", flat=True)
    ]
    about += [
        f"delivery:{pk}" for pk in Delivery.objects.filter(run=run).values_list("pk", flat=True)
    ]
    ours = Q(subject__in=about) | Q(subject=f"run:{run.pk}")
    return list(AuditEntry.objects.filter(ours, workspace=run.workspace_id).order_by("seq"))


def document_of(entry: AuditEntry) -> dict[str, Any]:
    """Return one entry as it is hashed, with its number and hashes."""
    return {
        "seq": entry.seq,
        **body_of(entry),
        "prevHash": entry.prev_hash,
        "hash": entry.hash,
    }


def verify(
    workspace: Workspace, from_seq: int = 1, to_seq: int | None = None,
    kept_elsewhere: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return whether a stretch of a chain holds, in the shape of OpenWOP's audit-verify-result.

    Args:
        workspace: whose chain.
        from_seq: first entry.
        to_seq: last entry; None: the newest.
        kept_elsewhere: checkpoints that were exported earlier, to hold against the chain.
    """
    rows = AuditEntry.objects.filter(workspace=workspace, seq__gte=from_seq).order_by("seq")
    last = AuditEntry.objects.filter(workspace=workspace).order_by("-seq").first()
    end = to_seq if to_seq is not None else (last.seq if last else 0)
    links = _links(rows.filter(seq__lte=end))
    hashes: dict[int, str] = {}
    found = anomalies(_noted(links, hashes), start=from_seq, prev=_hash_before(workspace, from_seq))
    checkpoints = [
        *(each.document for each in _checkpoints(workspace, from_seq, to_seq)),
        *(kept_elsewhere or []),
    ]
    judged = [_judged(each, workspace) for each in checkpoints]
    heads = [Head(each["seq"], each["hash"]) for each in judged if each["signatureValid"]]
    missed = against(heads, hashes, max(hashes, default=0))
    broken = {each.seq for each in missed}
    for each in judged:
        each["valid"] = each["signatureValid"] and each["seq"] not in broken
    bad = [Anomaly(each["seq"], "signature") for each in judged if not each["signatureValid"]]
    return {
        "fromSeq": from_seq,
        "toSeq": end,
        "chainValid": not found,
        "checkpointsValid": all(each["valid"] for each in judged),
        "checkpoints": judged,
        "anomalies": [{"seq": each.seq, "kind": each.kind} for each in [*found, *missed, *bad]],
    }


def export(workspace: Workspace) -> Iterator[bytes]:
    """Yield the whole chain as JSON lines, then its checkpoints: to be checked anywhere."""
    for entry in AuditEntry.objects.filter(workspace=workspace).order_by("seq").iterator():
        yield orjson.dumps(document_of(entry)) + b"\n"
    for checkpoint in Checkpoint.objects.filter(workspace=workspace).order_by("seq"):
        yield orjson.dumps({"checkpoint": checkpoint.document}) + b"\n"


def _links(rows: Any) -> Iterator[Link]:
    for entry in rows.iterator():
        yield Link(entry.seq, entry.prev_hash, entry.hash, body_of(entry))


def _noted(links: Iterator[Link], hashes: dict[int, str]) -> Iterator[Link]:
    for link in links:
        hashes[link.seq] = link.hash
        yield link


def _hash_before(workspace: Workspace, seq: int) -> str:
    before = AuditEntry.objects.filter(workspace=workspace, seq=seq - 1).first()
    return before.hash if before else GENESIS


def _checkpoints(workspace: Workspace, first: int, last: int | None) -> Any:
    rows = Checkpoint.objects.filter(workspace=workspace, seq__gte=first)
    return (rows if last is None else rows.filter(seq__lte=last)).order_by("seq")


def _judged(document: Mapping[str, Any], workspace: Workspace) -> dict[str, Any]:
    said = {"seq": int(document.get("seq") or 0), "hash": str(document.get("hash", ""))}
    try:
        checked = check(orjson.dumps(document))
    except VerificationError:
        return {**said, "keyId": None, "signatureValid": False}
    is_ours = checked.document.get("workspace") == workspace.slug
    return {**said, "keyId": checked.key_id, "signatureValid": is_ours}
