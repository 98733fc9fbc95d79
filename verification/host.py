"""Talks to an OpenWOP host: answers its interrupts and reads what it says about a run.

Takes plain values and returns plain values; what an answer means is for `domain.delivery`. Paths
are those of the host's protocol major: below `/v1`, or bare with the `OpenWOP-Version` header. A
host's answer is data: parsed as JSON if it is whole and small, otherwise left alone. Bodies, keys
and tokens are never logged.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from runs.domain.log import LogLine, Origin
from runs.domain.run_ids import to_segment
from verification.domain.addresses import networks
from verification.domain.answer import Answer
from verification.pinned import DEADLINE_S, Call, Line, Received, Resolver, send

READ_LIMIT = 2 * 1024 * 1024
"""Bytes of a run, a log or a discovery document."""
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FOREVER_MS = 1e12
_JSON = {"Content-Type": "application/json", "Accept": "application/json"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a host says when asked."""

    answer: Answer
    document: Any = None
    """The JSON of a 2xx answer; None when there was none or it could not be read."""


class HostClient:
    """One host, as far as the Console speaks to it. Holds no connection."""

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        *,
        major: int = 1,
        allow_private: Iterable[str] = (),
        resolver: Resolver | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        """Describe a host; nothing is looked up before the first call.

        Args:
            base_url: where the host answers, without `/v1`.
            api_key: what it knows us by.
            major: its protocol major, 1 or 2.
            allow_private: address ranges that the operator allows, such as `10.0.0.0/8`.
            resolver: in place of the system's.
            deadline_s: for each call as a whole.

        Raises:
            ValueError: a range is not one.
        """
        self._base = base_url.rstrip("/")
        self._api_key = api_key
        self._major = major
        self._line = Line(networks(allow_private), resolver, deadline_s)

    def __repr__(self) -> str:
        return f"<HostClient major {self._major}>"

    def resolve_interrupt(
        self, run_id: str, node_id: str, body: bytes, idempotency_key: str
    ) -> Answer:
        """Send a decision to the run's own surface, byte for byte."""
        path = f"{self._run(run_id)}/interrupts/{_segment(node_id)}"
        return self._post(path, body, idempotency_key, self._bearer())

    def resolve_by_token(self, token: str, body: bytes, idempotency_key: str) -> Answer:
        """Send a decision to the token surface; the token is the authorization."""
        return self._post(self._path(f"interrupts/{_segment(token)}"), body, idempotency_key, {})

    def read_run(self, run_id: str) -> Reading:
        """Read the run's snapshot."""
        return self._get(self._run(run_id), self._bearer())

    def read_events(self, run_id: str, after: int | None = None) -> Reading:
        """Read the run's events above a sequence; all of them when `after` is None or below 0.

        Hosts that ignore the cursor send the whole log.
        """
        cursor = "lastSequence" if self._major == 1 else "afterSequence"
        since = "" if after is None or after < 0 else f"&{cursor}={after}"
        return self._get(f"{self._run(run_id)}/events/poll?timeout=1{since}", self._bearer())

    def poll_events(self, run_id: str, after: int | None = None) -> tuple[LogLine, ...] | None:
        """Read the run's events above a sequence as lines without a position; None: unreadable."""
        return lines_of(self.read_events(run_id, after).document)

    def discovery(self) -> Reading:
        """Read what the host advertises; public, so no key is sent."""
        return self._get(f"{self._base}/.well-known/openwop", {})

    def _post(
        self, url: str, body: bytes, idempotency_key: str, headers: Mapping[str, str]
    ) -> Answer:
        sent = {**_JSON, **self._version(), **headers, "Idempotency-Key": idempotency_key}
        return _answer(*send(Call("POST", url, sent, body), self._line))

    def _get(self, url: str, headers: Mapping[str, str]) -> Reading:
        sent = {"Accept": "application/json", **self._version(), **headers}
        answer, received = send(Call("GET", url, sent, limit=READ_LIMIT), self._line)
        is_good = received is not None and 200 <= received.status < 300
        return Reading(_answer(answer, received), _document(received) if is_good else None)

    def _run(self, run_id: str) -> str:
        segment = _segment(run_id) if self._major == 1 else to_segment(run_id)
        return self._path(f"runs/{segment}")

    def _path(self, rest: str) -> str:
        return f"{self._base}/v1/{rest}" if self._major == 1 else f"{self._base}/{rest}"

    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}

    def _version(self) -> dict[str, str]:
        return {} if self._major == 1 else {"OpenWOP-Version": f"{self._major}.0"}


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
    return _answer(*send(Call("POST", url, {**_JSON, **headers}, body), line))


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


def _segment(text: str) -> str:
    """Return a name as one path segment; a dot segment would leave the path."""
    quoted = quote(text, safe="")
    return quoted.replace(".", "%2E") if quoted in {".", ".."} else quoted


def _answer(answer: Answer, received: Received | None) -> Answer:
    """Return an answer with the host's error code and wish to wait, if it states them."""
    if received is None:
        return answer
    document = _document(received) if received.status >= 400 else None
    said = document if isinstance(document, Mapping) else {}
    code = said.get("error")
    is_code = isinstance(code, str) and _CODE.fullmatch(code) is not None
    return replace(
        answer,
        code=str(code) if is_code else "",
        retry_after_s=_retry_after(received.headers.get("retry-after", ""), said),
    )


def _document(received: Received | None) -> Any:
    if received is None or not received.is_whole:
        return None
    try:
        return json.loads(received.body)
    except (ValueError, RecursionError):
        return None


def _retry_after(header: str, said: Mapping[str, Any]) -> float | None:
    """Return the seconds a host asks to wait: by header, or by v1's `details.retryAfterMs`."""
    if header.isascii() and header.isdigit():
        return float(header[:12])
    if header:
        return _seconds_until(header)
    details = said.get("details")
    wished = details.get("retryAfterMs") if isinstance(details, Mapping) else None
    if isinstance(wished, int | float) and not isinstance(wished, bool):
        return float(wished) / 1000 if 0 <= wished < _FOREVER_MS else None
    return None


def _seconds_until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
