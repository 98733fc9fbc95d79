"""What a host says of a run as a whole, and whether its events say so too.

The log decides what a run is. A snapshot confirms it, or says more: that the run ended, waits, or
is in a state that no event told of. Tokens and callback addresses are secrets and are not kept.

Source: OpenWOP run-snapshot.schema.json (v1 and v2); the snapshots of five live hosts.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from runs.domain.ids import fault_in_id, fault_in_run_id
from runs.domain.interrupts import Interrupt
from runs.domain.limits import Limits
from runs.domain.omissions import omission
from runs.domain.projection import TERMINAL, WAITING, RunStatus, status_of

_SECRETS = frozenset({"interruptToken", "token", "callbackUrl", "signedToken"})
_TOLD_BY_NO_EVENT = frozenset({RunStatus.UNKNOWN, RunStatus.CANCELLING})
_KIND = re.compile(r"[a-z][a-z.-]{0,31}", re.ASCII)
_MOST_CHILDREN = 1000
_MOST_INTERRUPTS = 100


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run as its host describes it; what it does not say, or not readably, is empty."""

    status: RunStatus
    status_as_sent: str
    workflow_id: str
    parent_run_id: str
    parent_node_id: str
    current_node_id: str
    child_run_ids: Sequence[str]
    interrupts: Sequence[Mapping[str, Any]]
    """Open ones, without their secrets."""

    @property
    def is_over(self) -> bool:
        """Say whether the host considers the run ended."""
        return self.status in TERMINAL

    @property
    def lacks_interrupt_details(self) -> bool:
        """Say whether the run waits and the snapshot does not say for what exactly."""
        if self.status not in WAITING:
            return False
        return not any("interruptId" in each or "resumeSchema" in each for each in self.interrupts)


def snapshot_of(document: Mapping[str, Any], limits: Limits) -> Snapshot:
    """The snapshot that a document is."""
    sent = document.get("status")
    interrupt = document.get("interrupt")
    return Snapshot(
        status=status_of(sent),
        status_as_sent=_word(sent),
        workflow_id=_id(document.get("workflowId"), limits),
        parent_run_id=_run_id(document.get("parentRunId"), limits),
        parent_node_id=_id(document.get("parentNodeId"), limits),
        current_node_id=_id(document.get("currentNodeId"), limits),
        child_run_ids=_children(document.get("childRuns"), limits),
        interrupts=kept_interrupts([interrupt] if isinstance(interrupt, dict) else [], limits),
    )


def kept_interrupts(documents: Iterable[object], limits: Limits) -> list[dict[str, Any]]:
    """The interrupts among some documents as they are kept: without secrets, and not too large."""
    found = [each for each in documents if isinstance(each, dict)][:_MOST_INTERRUPTS]
    return [_kept(_without_secrets(each), limits) for each in found]


def is_beyond_log(
    snapshot: Snapshot, *, status: RunStatus, has_ended: bool, is_caught_up: bool
) -> bool:
    """Say whether the host states something of a run that the events held do not.

    Args:
        snapshot: read before the events were.
        status: what the events add up to.
        has_ended: whether that is a run's last status.
        is_caught_up: nothing was missing, and nothing new came after the snapshot was read: only
            then does a difference mean anything.
    """
    if not is_caught_up:
        return False
    if has_ended:
        return snapshot.is_over and snapshot.status is not status
    if snapshot.is_over or snapshot.status in _TOLD_BY_NO_EVENT:
        return True
    return snapshot.status in WAITING and status not in WAITING


class Wait(NamedTuple):
    """An interrupt that a host names as open: where, which and of what kind. No content."""

    node_id: str
    interrupt_id: str
    kind: str

    def is_at(self, node_id: str | None, interrupt_id: str | None) -> bool:
        """Say whether these name the same one: by its id where both have one, else by its node."""
        if self.interrupt_id and interrupt_id:
            return self.interrupt_id == interrupt_id
        return self.node_id == node_id


def waits(snapshot: Snapshot, limits: Limits) -> tuple[Wait, ...]:
    """Return what the host says it waits for, each once; what names no node or kind is left out."""
    found: list[Wait] = []
    for each in snapshot.interrupts if snapshot.status in WAITING else ():
        node, kind = _id(each.get("nodeId"), limits), each.get("kind")
        wait = Wait(node, _id(each.get("interruptId"), limits), _kind(kind))
        is_known = any(wait.is_at(other.node_id, other.interrupt_id) for other in found)
        if node and isinstance(kind, str) and kind and not is_known:
            found.append(wait)
    return tuple(found)


def news_of_waits(
    waits: Sequence[Wait], known: Sequence[Interrupt]
) -> tuple[list[Wait], list[Interrupt]]:
    """Return what the host waits for and its log does not show, and what it waits for no more.

    Args:
        waits: what the host names as open now.
        known: the run's interrupts, those found earlier among them.
    """
    still = [each for each in known if each.is_open]
    found = [
        wait for wait in waits if not any(wait.is_at(i.node_id, i.interrupt_id) for i in still)
    ]
    gone = [
        each
        for each in still
        if each.is_only_found
        and not any(wait.is_at(each.node_id, each.interrupt_id) for wait in waits)
    ]
    return found, gone


def _kind(value: object) -> str:
    """Return a kind that is a plain word; whatever else a host may say there is no word of ours."""
    return value if isinstance(value, str) and _KIND.fullmatch(value) else "custom"


def _without_secrets(value: Any) -> Any:
    match value:
        case dict():
            return {k: _without_secrets(each) for k, each in value.items() if k not in _SECRETS}
        case list():
            return [_without_secrets(each) for each in value]
        case _:
            return value


def _kept(interrupt: dict[str, Any], limits: Limits) -> dict[str, Any]:
    packed = orjson.dumps(interrupt)
    if len(packed) <= limits.payload_bytes:
        return interrupt
    facts = {key: interrupt[key] for key in ("interruptId", "nodeId", "kind") if key in interrupt}
    return {key: value for key, value in facts.items() if _is_short(value)} | omission(packed)


def _is_short(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 256


def _children(value: object, limits: Limits) -> list[str]:
    listed = value[:_MOST_CHILDREN] if isinstance(value, list) else []
    ids = [each.get("runId") if isinstance(each, dict) else each for each in listed]
    return [each for found in ids if (each := _run_id(found, limits))]


def _run_id(value: object, limits: Limits) -> str:
    return "" if fault_in_run_id(value, limits.id_chars) else str(value)


def _id(value: object, limits: Limits) -> str:
    return "" if fault_in_id(value, limits.id_chars) else str(value)


def _word(value: object) -> str:
    return value[:64] if isinstance(value, str) and value.isprintable() else ""
