"""Talks to an OpenWOP host: answers its interrupts and reads what it says about a run.

What an answer means is for `domain.delivery`. Reading
is `runs.host_reader`'s; here is what leaves the house. Bodies, keys and tokens are never logged.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from runs.domain.host_answer import Answer
from runs.domain.log import LogLine, Origin
from runs.domain.run_ids import to_segment
from runs.host_reader import HostReader, Reading, segment, with_code
from runs.models import Host
from runs.pinned import Call, Line, send
from runs.sealing import unseal

_JSON = {"Content-Type": "application/json", "Accept": "application/json"}


class HostClient(HostReader):
    """One host, as far as the Console speaks to it. Holds no connection."""

    def resolve_interrupt(
        self, run_id: str, node_id: str, body: bytes, idempotency_key: str
    ) -> Answer:
        """Send a decision to the run's own surface, byte for byte."""
        path = f"{self._run(run_id)}/interrupts/{segment(node_id)}"
        return self._post(path, body, idempotency_key, self._bearer())

    def resolve_by_token(self, token: str, body: bytes, idempotency_key: str) -> Answer:
        """Send a decision to the token surface; the token is the authorization."""
        return self._post(self._path(f"interrupts/{segment(token)}"), body, idempotency_key, {})

    def read_artifact(self, run_id: str, artifact_id: str) -> Reading:
        """Read one result of a run. Source: OpenWOP rest-endpoints.md, artifacts."""
        return self._get(f"{self._run(run_id)}/artifacts/{segment(artifact_id)}", self._bearer())

    def subscribe(self, body: bytes, idempotency_key: str) -> Reading:
        """Ask the host to deliver its events to an address. Source: OpenWOP webhooks.md."""
        headers = {**_JSON, **self._version(), **self._bearer(), "Idempotency-Key": idempotency_key}
        call = Call("POST", self._path("webhooks"), headers, body)
        answer, received = send(call, self._line)
        is_read = answer.is_good and received is not None and received.is_whole
        return Reading(with_code(answer, received), received.body if received and is_read else b"")

    def unsubscribe(self, webhook_id: str, tenant: str) -> Answer:
        """Ask the host to deliver no more; v1 hosts with tenants want theirs named."""
        wanted = f"?tenantId={segment(tenant)}" if tenant and self._major == 1 else ""
        name = segment(webhook_id) if self._major == 1 else to_segment(webhook_id)
        url = f"{self._path('webhooks')}/{name}{wanted}"
        headers = {**_JSON, **self._version(), **self._bearer()}
        return with_code(*send(Call("DELETE", url, headers), self._line))

    def poll_events(self, run_id: str, after: int | None = None) -> tuple[LogLine, ...] | None:
        """Read the run's events above a sequence as lines without a position; None: unreadable."""
        return lines_of(self.read_events(run_id, after).document)

    def _post(
        self, url: str, body: bytes, idempotency_key: str, headers: Mapping[str, str]
    ) -> Answer:
        sent = {**_JSON, **self._version(), **headers, "Idempotency-Key": idempotency_key}
        return with_code(*send(Call("POST", url, sent, body), self._line))


def client_of(host: Host) -> HostClient:
    """Return what speaks to a host. Raises SealBroken when our key for it cannot be opened."""
    return HostClient(
        base_url=host.base_url,
        api_key=unseal(host.sealed_api_key),
        major=host.protocol_major,
        allow_private=settings.ALLOW_PRIVATE,
    )


def lines_of(document: object) -> tuple[LogLine, ...] | None:
    """Return the lines in a poll answer, for reading only: nothing is checked or stored.

    Understands the second spelling that live hosts use beside or instead of the first: `seq`,
    `data`. None when the answer is not of that form.
    """
    events = document.get("events") if isinstance(document, Mapping) else None
    if not isinstance(events, list):
        return None
    return tuple(_line(event) for event in events if isinstance(event, Mapping))


def post_webhook(url: str, body: bytes, headers: Mapping[str, str], line: Line) -> Answer:
    """Send a signed webhook, under the same rules as every call."""
    return with_code(*send(Call("POST", url, {**_JSON, **headers}, body), line))


def _line(event: Mapping[str, Any]) -> LogLine:
    sequence = event.get("sequence", event.get("seq"))
    node = event.get("nodeId")
    return LogLine(
        position=-1,
        origin=Origin.HOST,
        sequence=sequence if type(sequence) is int else None,
        event_id=str(event.get("eventId", "")),
        type=str(event.get("type", "")),
        payload=event.get("payload", event.get("data")),
        node_id=node if isinstance(node, str) else None,
    )
