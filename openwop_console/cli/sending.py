"""Sends lines of run events to a Console and counts what became of them.

A line is never parsed here: what was recorded is what is sent. A batch that is refused as a whole,
and not line by line, is halved until the line at fault stands alone. Sending a line twice is
harmless.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

LINES_AT_ONCE = 500
BYTES_AT_ONCE = 4 * 1024 * 1024
LONGEST_WAIT_S = 60.0
BUSY = {429, 502, 503, 504}
SHUT = {401, 403, 404, 405}


@dataclass(frozen=True, slots=True)
class Line:
    """One event as it stands in the file."""

    number: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one line was not taken. It never quotes the line."""

    line: int
    error: str
    message: str


@dataclass(slots=True)
class Tally:
    """What became of the lines so far."""

    accepted: int = 0
    duplicates: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    last_line: int = 0


class SendingStopped(RuntimeError):
    """The Console cannot be reached, or takes nothing from this key."""


def batches(lines: Iterable[bytes], first: int = 1) -> Iterator[list[Line]]:
    """Yield the lines from number `first` on, in batches of a size that a Console takes."""
    numbered = itertools.islice(enumerate(lines, start=1), max(first - 1, 0), None)
    batch: list[Line] = []
    size = 0
    for number, raw in numbered:
        content = raw.strip()
        if not content:
            continue
        if batch and (len(batch) == LINES_AT_ONCE or size + len(content) > BYTES_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(Line(number, content))
        size += len(content) + 1
    if batch:
        yield batch


class Sender:
    """One connection to one Console with one host key."""

    def __init__(
        self,
        client: httpx.Client,
        *,
        give_up_after_s: float = 300.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.client = client
        self.give_up_after_s = give_up_after_s
        self.sleep = sleep
        self.tally = Tally()

    def send(self, batch: list[Line]) -> None:
        """Send a batch and count; return when each of its lines is taken or refused.

        Raises:
            SendingStopped: the Console stayed away or busy, or the key is not good for this.
        """
        answer = self._post(b"\n".join(line.content for line in batch))
        if answer.status_code in SHUT:
            raise SendingStopped(f"The Console answered {answer.status_code}: {_said(answer)[1]}")
        if answer.is_success:
            self._count(batch, answer)
        elif len(listed := _refused_in(answer)) == len(batch):
            self._refuse(batch, listed)  # each was judged already: sent again it is counted again
        elif len(batch) > 1:
            middle = len(batch) // 2
            self.send(batch[:middle])
            self.send(batch[middle:])
        else:
            self.tally.refusals.append(Refusal(batch[0].number, *_said(answer)))
        self.tally.last_line = max(self.tally.last_line, batch[-1].number)

    def _count(self, batch: list[Line], answer: httpx.Response) -> None:
        body = answer.json()
        self.tally.accepted += int(body.get("accepted", 0))
        self.tally.duplicates += int(body.get("duplicates", 0))
        self._refuse(batch, body.get("rejected", ()))

    def _refuse(self, batch: list[Line], items: Iterable[Mapping[str, Any]]) -> None:
        for item in items:
            number = batch[int(item["index"])].number
            self.tally.refusals.append(Refusal(number, str(item["error"]), str(item["message"])))

    def _post(self, body: bytes) -> httpx.Response:
        """Post until there is an answer that waiting does not change."""
        waited, pause = 0.0, 0.5
        while True:
            try:
                answer = self.client.post("/api/v1/events", content=body)
            except httpx.TransportError as error:
                reason, wanted = type(error).__name__, pause
            else:
                if answer.status_code not in BUSY:
                    return answer
                reason, wanted = str(answer.status_code), _retry_after_s(answer, pause)
            if waited + wanted > self.give_up_after_s:
                raise SendingStopped(f"The Console did not take the events ({reason}).")
            self.sleep(wanted)
            waited, pause = waited + wanted, min(pause * 2, LONGEST_WAIT_S)


def _retry_after_s(answer: httpx.Response, otherwise: float) -> float:
    """Return the seconds the Console asked for, within reason."""
    asked = answer.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_WAIT_S) if asked.isdigit() else otherwise


def _refused_in(answer: httpx.Response) -> list[dict[str, Any]]:
    """Return the events that an answer refuses one by one; none where it refuses the whole."""
    try:
        listed = answer.json()["details"]["rejected"]
    except (ValueError, KeyError, TypeError):
        return []
    wanted = {"index", "error", "message"}
    is_list = isinstance(listed, list) and all(
        isinstance(each, dict) and wanted <= each.keys() for each in listed
    )
    return listed if is_list else []


def _said(answer: httpx.Response) -> tuple[str, str]:
    """Return the error code and sentence of an answer that is not a success."""
    try:
        body = answer.json()
        return str(body["error"]), str(body["message"])
    except (ValueError, KeyError, TypeError):
        return f"http_{answer.status_code}", answer.reason_phrase
