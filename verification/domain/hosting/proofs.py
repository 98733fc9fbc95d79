"""The jobs by which the Console proves that its gate holds: one for each verdict there is.

Rules judge them, so the verdict is sure and nobody's model is asked. Source: OpenWOP conformance
scenario verifier-gating; RFC 0090 §B.
"""

from typing import Any

from verification.domain.consensus.result import GateVerdict

_CANDIDATE = "An answer that is there to be judged."
_ACCEPTS = {"name": "present", "model": "rule:length", "settings": {"minimum": 1}}
_REJECTS = {"name": "cited", "model": "rule:required-citations", "settings": {"minimum": 1}}


def verdict_asked_for(simulated: object) -> GateVerdict:
    """Return the verdict that a conformance request wants; whatever is no verdict means `pass`."""
    words = {each.value: each for each in GateVerdict}
    return (
        words.get(simulated, GateVerdict.PASS) if isinstance(simulated, str) else GateVerdict.PASS
    )


def proof(verdict: GateVerdict, task: str) -> dict[str, Any]:
    """Return the request of a job that comes to this verdict.

    A pass rests on a quorum, a `revise` on an answer that is kept although a judge dissents.
    """
    return {
        "prompt": task or "Does the gate hold?",
        "answer": _CANDIDATE,
        "judges": [_ACCEPTS if verdict is GateVerdict.PASS else _REJECTS],
        "quorum": 1,
        "onDissent": "keep" if verdict is GateVerdict.REVISE else "reject",
    }
