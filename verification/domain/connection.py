"""What a test of a host's connection tells: one line for each thing tried, and what would mend it.

A line works only where its round trip was made and came back as it should. What does not apply to a
host, and what was not proven, say so and are never green.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from runs.domain.host_answer import Answer, Reached
from verification.domain.host_errors import canonical_code

LEAK = "verifier_content_leak"
_ELSEWHERE = frozenset({"id_tenant_mismatch", "run_forbidden"})
"""A host with tenants says so of a run that is nobody's: that is no word about our key."""
_NOT_THERE = frozenset({"interrupt_not_found", "run_not_found", "not_found"})


class Tried(StrEnum):
    """How one try ended. Stored; add, never repurpose."""

    WORKS = "works"
    FAILS = "fails"
    NOT_PROVEN = "not_proven"
    NOT_APPLICABLE = "not_applicable"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was tried."""

    name: str
    state: Tried
    words: str
    """What happened."""
    fix: str = ""
    """What to do about it; empty where there is nothing to do."""

    @property
    def title(self) -> str:
        """Return what it is called on pages."""
        return NAMES[self.name]

    def document(self) -> dict[str, str]:
        """Return it as it is stored."""
        return {"name": self.name, "state": self.state, "words": self.words, "fix": self.fix}


@dataclass(frozen=True, slots=True)
class Came:
    """What has come from the host by itself."""

    canary_at: datetime | None = None
    event_at: datetime | None = None
    delivery_at: datetime | None = None
    """Of the last delivery whose signature held."""
    unproven: Mapping[str, int] = field(default_factory=dict)
    """Deliveries of late that were not believed, by reason."""


NAMES: Mapping[str, str] = {
    "discovery": "Discovery",
    "reading": "Our key for it",
    "ping_in": "Signed ping, in",
    "ping_out": "Signed ping, out",
    "canary": "Canary event",
    "leak": "Leak canary",
    "interrupt": "Interrupt echo",
    "heard": "Heard from the host",
}

LOST_AFTER = timedelta(minutes=2)
"""After so long without an end the worker is thought dead, and another test may begin."""


def is_under_way(asked_at: datetime, ended_at: datetime | None, now: datetime) -> bool:
    """Say whether a test's worker is still waited for."""
    return ended_at is None and asked_at > now - LOST_AFTER


_NO_ADDRESS = "The Console does not know where this host answers: it only sends."
_SAY_ADDRESS = "Say where it answers, if it does: on its page, or by hosts connect."
_UNREACHED = {
    "timeout": "It did not answer in time.",
    "reset": "The connection broke.",
    "garbled": "What came back was not HTTP.",
    "refused": "Nothing listens at the address.",
    "tls": "Its certificate could not be verified.",
    "name": "The name could not be resolved.",
    "slow": "It could not be reached in time.",
}
_SAY_TENANT = "Name its tenant on its page, or by hosts connect, so that the run is its own."
_KEY = (
    "Give the Console a key of the host, with the scope {scope}: on its page, or by hosts connect."
)


def without_address(name: str) -> Line:
    """Return the line of what cannot be tried at a host that only sends."""
    return Line(name, Tried.NOT_APPLICABLE, _NO_ADDRESS, _SAY_ADDRESS)


def discovery_line(answer: Answer, document: Mapping[str, Any] | None, major: int | None) -> Line:
    """Return the line of `GET /.well-known/openwop`.

    Args:
        answer: how the call ended.
        document: what came, if it is a JSON object.
        major: the protocol major that it names; None: none that is spoken here.
    """
    if (line := _unreached("discovery", answer)) is not None:
        return line
    if not answer.is_good:
        words = f"It answered {answer.status} to /.well-known/openwop."
        fix = "Serve the discovery document there; without it no duty is charged to the host."
        return Line("discovery", Tried.FAILS, words, fix)
    if document is None:
        words = "What it answers is not a JSON object, or too large."
        return Line("discovery", Tried.FAILS, words, "Serve one JSON object without equal keys.")
    if major is None:
        words = "The document names no protocol version that is spoken here."
        return Line("discovery", Tried.FAILS, words, "Name protocolVersion, such as 1.0.")
    return Line("discovery", Tried.WORKS, f"It advertises OpenWOP v{major}.")


def reading_line(answer: Answer) -> Line:
    """Return the line of asking the host for a run that it does not have."""
    if (line := _unreached("reading", answer)) is not None:
        return line
    if canonical_code(answer.code) in _ELSEWHERE:
        words = f"It takes the run for another tenant's ({answer.code})."
        return Line("reading", Tried.NOT_PROVEN, words, _SAY_TENANT)
    if answer.status in {401, 403}:
        words = f"It does not accept our key ({answer.status})."
        return Line("reading", Tried.FAILS, words, _KEY.format(scope="runs:read"))
    if answer.status == 404 and canonical_code(answer.code) in _NOT_THERE:
        return Line("reading", Tried.WORKS, "It took our key, and has no such run.")
    if answer.is_good:
        words = "It shows a run that cannot be: something else answers there."
        return Line("reading", Tried.FAILS, words, "Check the address of the host.")
    words = f"It answered {answer.status}, which says nothing of our key."
    fix = "A host answers 404 with an OpenWOP error code to a run that it does not have."
    return Line("reading", Tried.NOT_PROVEN, words, fix)


def interrupt_line(answer: Answer) -> Line:
    """Return the line of answering an interrupt that the host does not have."""
    name = "interrupt"
    if (line := _unreached(name, answer)) is not None:
        return line
    code = canonical_code(answer.code)
    if code in _ELSEWHERE:
        words = f"It takes the run for another tenant's ({answer.code})."
        return Line(name, Tried.NOT_PROVEN, words, _SAY_TENANT)
    if answer.status in {401, 403}:
        words = f"It does not let us answer interrupts ({answer.status})."
        return Line(name, Tried.FAILS, words, _KEY.format(scope="approvals:respond"))
    if answer.status == 404 and code in {"interrupt_not_found", "run_not_found"}:
        words = f"It heard the answer and knows that nobody asked ({code})."
        return Line(name, Tried.WORKS, words)
    if answer.status in {404, 405} and not code:
        words = f"It answered {answer.status} and no error code: nothing takes answers there."
        fix = "Serve POST /v1/runs/{runId}/interrupts/{nodeId} (v2: without /v1), or set a webhook."
        return Line(name, Tried.FAILS, words, fix)
    if answer.is_good:
        words = "It took an answer to a question that nobody asked."
        return Line(name, Tried.FAILS, words, "Answer 404 interrupt_not_found instead.")
    words = f"It answered {answer.status} {code}".strip()
    fix = "Whether answers arrive is not known; 404 interrupt_not_found would say so."
    return Line(name, Tried.NOT_PROVEN, f"{words}.", fix)


def ping_in_line(answer: Answer, *, is_echoed: bool) -> Line:
    """Return the line of a delivery that the Console signed as the host would."""
    if (line := _own_door("ping_in", answer)) is not None:
        return line
    if answer.is_good and is_echoed:
        words = "The webhook door believes the host's secret and gave our word back."
        return Line("ping_in", Tried.WORKS, words)
    words = f"The webhook door answered {answer.status} {answer.code}".strip()
    fix = "See that nothing in front of the Console changes bodies or the signature's headers."
    return Line("ping_in", Tried.FAILS, f"{words}.", fix)


def ping_out_line(answer: Answer) -> Line:
    """Return the line of a signed webhook to the address where the host hears of decisions."""
    if (line := _unreached("ping_out", answer)) is not None:
        return line
    if answer.is_good:
        return Line("ping_out", Tried.WORKS, "It took a signed console.ping.")
    words = f"It answered {answer.status} to a signed console.ping."
    fix = "Check its secret, and that it answers 2xx to types that it does not know."
    return Line("ping_out", Tried.FAILS, words, fix)


NO_WEBHOOK = Line(
    "ping_out",
    Tried.NOT_APPLICABLE,
    "It is not told of decisions by webhook.",
    "Hosts without interrupts need one: Settings, Deliveries.",
)
SEAL_BROKEN = "A stored secret of this host cannot be opened: the encryption key has changed."


def canary_line(answer: Answer, *, is_kept: bool) -> Line:
    """Return the line of an event that the Console sent as the host would."""
    if (line := _own_door("canary", answer)) is not None:
        return line
    if answer.is_good and not is_kept:
        words = "An event was taken, judged and taken back: nothing of it is kept."
        return Line("canary", Tried.WORKS, words)
    if answer.is_good:
        words = "The event was taken and is still there, which must not be."
        return Line("canary", Tried.FAILS, words, "Report this.")
    words = f"The events door answered {answer.status} {answer.code}".strip()
    fix = "See what is in front of the Console: it must pass on the Authorization header."
    return Line("canary", Tried.FAILS, f"{words}.", fix)


def leak_line(answer: Answer, *, reason: str, is_repeated: bool) -> Line:
    """Return the line of a verdict that carries content, which must be refused unrepeated."""
    if (line := _own_door("leak", answer)) is not None:
        return line
    if answer.is_good:
        words = "A verdict with content was taken, which must not be."
        return Line("leak", Tried.FAILS, words, "Report this, and revoke the host's keys.")
    if is_repeated:
        words = "It was refused, and the answer repeats the content."
        return Line("leak", Tried.FAILS, words, "See what is in front of the Console.")
    if answer.status == 400 and reason == LEAK:
        return Line("leak", Tried.WORKS, "A verdict with content was refused, and not repeated.")
    words = f"It was refused for another reason ({answer.status})."
    return Line("leak", Tried.NOT_PROVEN, words, "See the line above, and try again.")


def heard_line(came: Came, since: datetime) -> Line:
    """Return the line of what the host did by itself.

    Args:
        came: what there is.
        since: when the test was asked for.
    """
    if came.canary_at is not None:
        return Line("heard", Tried.WORKS, "Its own canary came in, with its own key.")
    latest = max((at for at in (came.event_at, came.delivery_at) if at), default=None)
    if came.unproven and (came.delivery_at is None or latest is None):
        reasons = ", ".join(f"{name} × {count}" for name, count in sorted(came.unproven.items()))
        words = f"Deliveries of it are not believed: {reasons}."
        return Line("heard", Tried.FAILS, words, "Give it the webhook secret in force.")
    if latest is not None and latest > since:
        return Line("heard", Tried.WORKS, "Something came from it since the test began.")
    if latest is not None:
        words = f"Last heard of {latest:%Y-%m-%d %H:%M} UTC, not since the test began."
        return Line("heard", Tried.NOT_PROVEN, words, "Send the canary from its machine.")
    words = "Nothing has come from the host itself yet."
    return Line("heard", Tried.WAITING, words, "Send the canary from its machine.")


def _unreached(name: str, answer: Answer) -> Line | None:
    """Return the line of a call that no answer came to."""
    if answer.reached is Reached.ANSWERED:
        return None
    if answer.reached is Reached.FORBIDDEN:
        fix = "Correct where it answers: on its page, or by hosts connect."
        return Line(name, Tried.FAILS, f"Not tried: {answer.why}", fix)
    words = _UNREACHED.get(answer.why, "It could not be reached.")
    return Line(name, Tried.FAILS, words, "Check its address, and that it runs.")


def _own_door(name: str, answer: Answer) -> Line | None:
    """Return the line of a call to the Console's own address that no answer came to."""
    if answer.reached is Reached.ANSWERED:
        return None
    if answer.reached is Reached.FORBIDDEN:
        words = "Not tried: the Console's own address is not one that it may call."
        return Line(name, Tried.NOT_PROVEN, words, answer.why)
    words = f"At the Console's own address, as hosts know it: {_UNREACHED.get(answer.why, '')}"
    fix = "Set OPENWOP_CONSOLE_URL to where hosts, and the workers, reach the Console."
    return Line(name, Tried.FAILS, words.rstrip(": "), fix)
