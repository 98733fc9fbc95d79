"""Reads a run's snapshot from its host and keeps it beside the log."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction

from runs.actions.append import add_found
from runs.actions.leases import RunLook
from runs.actions.log import console_line
from runs.actions.outcomes import check
from runs.actions.runs import locked, note
from runs.domain.host_documents import Unreadable, document_in
from runs.domain.interrupts import FOUND, FOUND_TYPES, GONE
from runs.domain.log import Origin
from runs.domain.projection import SIGNAL_TYPES, RunStatus, project
from runs.domain.snapshots import (
    Snapshot,
    Wait,
    is_beyond_log,
    kept_interrupts,
    news_of_waits,
    snapshot_of,
    waits,
)
from runs.host_reader import HostReader
from runs.limits import limits
from runs.lines import signal_lines
from runs.models import Event, PulledHost, Run, RunSnapshot

READ = "console.run.read"
"""The host said something of the run that its events do not: status and node, nothing more."""


def read_snapshot(reader: HostReader, taken: RunLook) -> Snapshot:
    """Return what the host says of a run, with its own list of open interrupts if it has one.

    Raises:
        Stopped: the host does not answer, or refuses.
        Unreadable: what it answers is no run.
    """
    reading = reader.read_run(taken.run_id)
    check(reading.answer)
    snapshot = snapshot_of(document_in(reading.body), limits())
    if not snapshot.lacks_interrupt_details:
        return snapshot
    listed = _listed_interrupts(reader, taken)
    return replace(snapshot, interrupts=[*listed, *snapshot.interrupts])


def _listed_interrupts(reader: HostReader, taken: RunLook) -> list[dict[str, Any]]:
    """Read the list that openwop-app has; a host that has none is asked once."""
    row = PulledHost.objects.filter(host=taken.host)
    if row.values_list("lists_interrupts", flat=True).first() is False:
        return []
    reading = reader.list_interrupts(taken.run_id)
    if reading.answer.status in {404, 405, 501}:
        row.update(lists_interrupts=False)
        return []
    if not reading.answer.is_good:
        return []
    try:
        document = document_in(reading.body)
    except Unreadable:
        return []
    row.filter(lists_interrupts=None).update(lists_interrupts=True)
    interrupts = document.get("interrupts")
    return kept_interrupts(interrupts, limits()) if isinstance(interrupts, list) else []


@transaction.atomic
def keep_snapshot(
    run: Run, snapshot: Snapshot, *, is_caught_up: bool, is_fresh: bool, now: datetime
) -> None:
    """Keep what a host says of a run; a line of the log tells when its events do not say so.

    Args:
        run: whose snapshot it is.
        snapshot: read before the events that are held now.
        is_caught_up: nothing is missing and nothing came since.
        is_fresh: nothing came since; something may be missing.
        now: our clock.
    """
    run = locked(run.pk)
    beyond = is_beyond_log(
        snapshot,
        status=RunStatus(run.status),
        has_ended=run.is_terminal,
        is_caught_up=is_caught_up,
    )
    RunSnapshot.objects.update_or_create(
        run=run,
        defaults={
            "read_at": now,
            "status": snapshot.status,
            "status_as_sent": snapshot.status_as_sent,
            "is_beyond_log": beyond,
            "workflow_id": snapshot.workflow_id,
            "parent_run_id": snapshot.parent_run_id,
            "parent_node_id": snapshot.parent_node_id,
            "current_node_id": snapshot.current_node_id,
            "child_run_ids": list(snapshot.child_run_ids),
            "interrupts": [dict(each) for each in snapshot.interrupts],
        },
    )
    if beyond:
        _tell(run, snapshot, now)
    if is_fresh and not run.is_terminal:
        _tell_of_waits(run, waits(snapshot, limits()), now)


def _tell(run: Run, snapshot: Snapshot, now: datetime) -> None:
    """Write the line that the host says more, once for each thing that it says."""
    event_id = f"console:read:{snapshot.status}:{run.last_sequence}"
    if Event.objects.filter(run=run, event_id=event_id).exists():
        return
    payload = {"status": snapshot.status.value, "nodeId": snapshot.current_node_id or None}
    note(run=run, lines=[console_line(event_id=event_id, type=READ, at=now, payload=payload)])


def _tell_of_waits(run: Run, waiting: Sequence[Wait], now: datetime) -> None:
    """Write down what the host waits for and its log does not show, and what it no longer does.

    What is open by the log and by earlier such lines is not told again.
    """
    if not waiting and not Event.objects.filter(run=run, type=FOUND).exists():
        return
    [lines] = signal_lines([run.pk], SIGNAL_TYPES | FOUND_TYPES).values()
    ours = [line for line in lines if line.origin is Origin.CONSOLE]
    found, gone = news_of_waits(waiting, project(lines, ours).interrupts)
    at = -1 if run.last_sequence is None else run.last_sequence
    news = [
        *((FOUND, each.node_id, each.interrupt_id, {"kind": each.kind}) for each in found),
        *((GONE, each.node_id, each.interrupt_id, {}) for each in gone),
    ]
    told = [
        console_line(
            event_id=f"console:interrupt:{run.last_position}:{number}",
            type=type_,
            at=now,
            payload={"nodeId": node, "interruptId": id_ or None, "atSequence": at, **more},
        )
        for number, (type_, node, id_, more) in enumerate(news)
    ]
    if told:
        add_found(run=run, lines=told, now=now)
