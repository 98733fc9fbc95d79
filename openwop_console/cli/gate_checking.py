"""Asks a Console about a gate until it knows, or until the time is over.

What cannot be asked, or is answered in a way we do not understand, is never a pass.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

EXIT_CODES: Mapping[str, int] = {
    "pass": 0,
    "fail": 1,
    "revise": 2,
    "pending": 3,
    "none": 3,
    "unknown": 4,
}
ERROR = 5
SETTLED = frozenset({"pass", "fail", "revise"})
LONGEST_QUESTION_S = 30
PAUSE_S = 1.0
BUSY = frozenset({429, 500, 502, 503, 504})
UNKNOWN: Mapping[str, Any] = {"decision": "unknown", "basis": "timeout", "complete": False}
"""Said of a run or target that the Console does not know, or not yet."""


class NoAnswer(Exception):
    """The Console could not be asked, refused to answer, or gave an answer that is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about."""

    target: str
    run: str = ""
    host: str = ""

    @property
    def path(self) -> str:
        """Return the address; the target is one segment, whatever characters it has."""
        return f"/api/v1/gates/{quote(self.target, safe='')}"

    def parameters(self, wait_s: int) -> dict[str, str]:
        """Return the query of one asking."""
        named = {"run": self.run, "host": self.host, "wait": str(wait_s)}
        return {name: value for name, value in named.items() if value}


def ask_until(
    client: httpx.Client,
    question: Question,
    wait_s: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Mapping[str, Any]:
    """Return the Console's answer: a settled one, or the last one when the time is over.

    Raises:
        NoAnswer: there is none.
    """
    until = clock() + wait_s
    while True:
        asked_at = clock()
        answer, trouble = _ask(client, question, max(0.0, until - asked_at))
        if answer is not None and (answer["decision"] in SETTLED or clock() >= until):
            return answer
        if clock() >= until:
            raise NoAnswer(trouble)
        if clock() - asked_at < PAUSE_S:  # it did not wait for us
            sleep(min(PAUSE_S, max(0.0, until - clock())))


def _ask(
    client: httpx.Client, question: Question, left_s: float
) -> tuple[Mapping[str, Any] | None, str]:
    """Return an answer, or what stands in the way and may pass.

    Raises:
        NoAnswer: what stands in the way will not pass.
    """
    wait_s = int(min(left_s, LONGEST_QUESTION_S))
    try:
        response = client.get(
            question.path, params=question.parameters(wait_s), timeout=wait_s + 10.0
        )
    except httpx.TransportError as error:
        return None, f"The Console cannot be reached ({type(error).__name__})."
    if response.status_code in BUSY:
        return None, f"The Console answered {response.status_code}."
    if response.status_code == 404:
        return UNKNOWN, ""
    return _read(response), ""


def _read(response: httpx.Response) -> Mapping[str, Any]:
    try:
        body = response.json()
    except ValueError:
        raise NoAnswer(f"The Console answered {response.status_code} without JSON.") from None
    if not isinstance(body, dict):
        raise NoAnswer("The Console's answer is no object.")
    if response.status_code != 200:
        raise NoAnswer(f"The Console answered {response.status_code}: {body.get('message', '')}")
    decision = body.get("decision")
    if decision not in EXIT_CODES or (decision == "pass" and body.get("complete") is not True):
        raise NoAnswer("The Console's answer cannot be understood.")
    return body
