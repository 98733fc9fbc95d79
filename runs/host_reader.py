"""Reads what an OpenWOP host says: what it can do, which runs it has, and what happened in them.

Paths are those of the host's protocol major: below `/v1`, or bare with the `OpenWOP-Version`
header. A host's answer is data: read if it is whole and small, otherwise left alone. Bodies, keys
and tokens are never logged.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from runs.domain.addresses import networks
from runs.domain.host_answer import Answer, Reached
from runs.domain.run_ids import to_segment
from runs.pinned import DEADLINE_S, Call, Line, Opened, Received, Resolver, opened, send

READ_LIMIT = 2 * 1024 * 1024
"""Bytes of a run, a log or a discovery document."""
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FOREVER_MS = 1e12


@dataclass(frozen=True, slots=True)
class Reading:
    """What a host says when asked."""

    answer: Answer
    body: bytes = field(default=b"", repr=False)
    """The bytes of a 2xx answer, for readers that are stricter; empty when they are not whole."""
    is_too_large: bool = False
    """A 2xx answer was longer than the limit, or broke off."""

    @property
    def document(self) -> Any:
        """The JSON of a 2xx answer, read anew; None when there was none or it is unreadable."""
        return _json(self.body)


class HostReader:
    """One host, as far as it is read. Holds no connection."""

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        *,
        major: int = 1,
        allow_private: Iterable[str] = (),
        resolver: Resolver | None = None,
        deadline_s: float = DEADLINE_S,
        read_limit: int = READ_LIMIT,
    ) -> None:
        """Describe a host; nothing is looked up before the first call.

        Args:
            base_url: where the host answers, without `/v1`.
            api_key: what it knows us by.
            major: its protocol major, 1 or 2.
            allow_private: address ranges that the operator allows, such as `10.0.0.0/8`.
            resolver: in place of the system's.
            deadline_s: for each call as a whole.
            read_limit: bytes of one answer.

        Raises:
            ValueError: a range is not one.
        """
        self._base = base_url.rstrip("/")
        self._api_key = api_key
        self._major = major
        self._line = Line(networks(allow_private), resolver, deadline_s)
        self._read_limit = read_limit

    def __repr__(self) -> str:
        return f"<{type(self).__name__} major {self._major}>"

    def discovery(self) -> Reading:
        """Read what the host advertises; public, so no key is sent."""
        return self._get(f"{self._base}/.well-known/openwop", {})

    def list_runs(self, *, limit: int, cursor: str = "") -> Reading:
        """Read a page of the host's runs. Source: OpenWOP v2 `runList`; openwop-app in v1."""
        after = f"&cursor={quote(cursor, safe='')}" if cursor else ""
        return self._get(self._path(f"runs?limit={limit}{after}"), self._bearer())

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

    def list_interrupts(self, run_id: str) -> Reading:
        """Read openwop-app's own list of a run's open interrupts; other hosts have none."""
        path = f"{self._base}/v1/host/openwop-app/runs/{segment(run_id)}/interrupts"
        return self._get(path, self._bearer())

    @contextmanager
    def stream_events(
        self, run_id: str, after: int | None = None, *, seconds: float
    ) -> Iterator[Opened | Answer]:
        """Open the run's event stream, for so many seconds at most and as many bytes as a reading.

        The mode is `debug`: the default one omits what agents decide. Source: OpenWOP
        stream-modes.md; `Last-Event-ID` resumes after a sequence.
        """
        headers = {"Accept": "text/event-stream", **self._version(), **self._bearer()}
        if after is not None and after >= 0:
            headers["Last-Event-ID"] = str(after)
        url = f"{self._run(run_id)}/events?streamMode=debug"
        line = replace(self._line, deadline_s=seconds)
        with opened(Call("GET", url, headers, limit=self._read_limit), line) as stream:
            yield stream if _is_stream(stream) else _refusal(stream)

    def _get(self, url: str, headers: Mapping[str, str]) -> Reading:
        sent = {"Accept": "application/json", **self._version(), **headers}
        answer, received = send(Call("GET", url, sent, limit=self._read_limit), self._line)
        answer = with_code(answer, received)
        if received is None or not answer.is_good:
            return Reading(answer)
        if not received.is_whole:
            return Reading(answer, is_too_large=True)
        return Reading(answer, received.body)

    def _run(self, run_id: str) -> str:
        projected = segment(run_id) if self._major == 1 else to_segment(run_id)
        return self._path(f"runs/{projected}")

    def _path(self, rest: str) -> str:
        return f"{self._base}/v1/{rest}" if self._major == 1 else f"{self._base}/{rest}"

    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}

    def _version(self) -> dict[str, str]:
        return {} if self._major == 1 else {"OpenWOP-Version": f"{self._major}.0"}


def with_code(answer: Answer, received: Received | None) -> Answer:
    """Return an answer with the host's error code and wish to wait, if it states them."""
    if received is None:
        return answer
    is_error = received.is_whole and received.status >= 400
    document = _json(received.body) if is_error else None
    said = document if isinstance(document, Mapping) else {}
    code = said.get("error")
    is_code = isinstance(code, str) and _CODE.fullmatch(code) is not None
    return replace(
        answer,
        code=str(code) if is_code else "",
        retry_after_s=_retry_after(received.headers.get("retry-after", ""), said),
    )


def _is_stream(stream: Opened | Answer) -> bool:
    if isinstance(stream, Answer):
        return True
    kind = stream.headers.get("content-type", "").partition(";")[0].strip().lower()
    return stream.status == 200 and kind == "text/event-stream"


def _refusal(stream: Opened | Answer) -> Answer:
    """Return what an answer is that is no stream; its body is not read."""
    if isinstance(stream, Answer):
        return stream
    wait_s = _retry_after(stream.headers.get("retry-after", ""), {})
    return Answer(Reached.ANSWERED, stream.status, why="no stream", retry_after_s=wait_s)


def segment(text: str) -> str:
    """Return a name as one path segment; a dot segment would leave the path."""
    quoted = quote(text, safe="")
    return quoted.replace(".", "%2E") if quoted in {".", ".."} else quoted


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
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
