"""One plain sentence per gate: what was said of what, and what that means now."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from runs.domain.excerpts import excerpt
from runs.domain.readers import VerdictKind
from verification.domain.gates import Gate, GateState
from verification.domain.subjects import SubjectKind
from verification.domain.verdicts import Verdict, worst

_LONGEST_NAME = 128
_SENTENCES: Mapping[GateState, str] = MappingProxyType(
    {
        GateState.NO_VERDICT: "Unverified: nobody has given a verdict on this result.",
        GateState.PASSED: "Passed: {said}.",
        GateState.BLOCKED: "Blocked: {said}; it must not be used until somebody decides.",
        GateState.IN_REVIEW: "In review: {said}; a reviewer holds it.",
        GateState.REVISE_ASKED: "Revise asked: {said}{turns}.",
        GateState.UPHELD: "Upheld: {said}, and {by} agreed.",
        GateState.OVERRIDDEN: "Overridden: {said}, and {by} let it through.",
        GateState.SUPERSEDED: "Superseded: {said}; a later result took its place.",
        GateState.UNKNOWN: "Unknown: {said}, but something in this run could not be read.",
    }
)


def sentence_of(gate: Gate) -> str:
    """Return the gate's state in one sentence with who, what and where."""
    return _SENTENCES[gate.state].format(said=_said(gate), by=_by(gate), turns=_turns(gate))


def _said(gate: Gate) -> str:
    """Return the deciding verdict in words: `critic-1 failed e42 of worker-1 at #57`."""
    verdict = _deciding(gate)
    if verdict is None:
        return "nothing readable was said"
    verb = {VerdictKind.PASS: "passed", VerdictKind.FAIL: "failed", VerdictKind.REVISE: "sent back"}
    subject = _subject(gate)
    return f"{verdict.said.agent_id} {verb[verdict.kind]} {subject} at #{verdict.sequence}"


def _deciding(gate: Gate) -> Verdict | None:
    kind = worst(verdict.kind for verdict in gate.standing)
    return next((each for each in reversed(gate.standing) if each.kind is kind), None)


def _subject(gate: Gate) -> str:
    subject = gate.subject
    match subject.kind:
        case SubjectKind.AGENT:
            return f"a result of {gate.target} ({subject.candidate_count} could be meant)"
        case SubjectKind.NOT_FOUND:
            return f"{gate.target}, which this run does not show"
        case SubjectKind.OTHER_HOST:
            return f"{gate.target} on host {subject.host_id}"
        case SubjectKind.CHILD_RUN:
            return f"child run {gate.target}"
        case SubjectKind.TOOL_CALL:
            return f"tool call {gate.target}"
        case SubjectKind.TURN:
            actor = excerpt(subject.actor or "", _LONGEST_NAME)  # unlike ids, it may hold anything
            return f"{gate.target} of {actor}" if actor else gate.target
        case _:
            assert_never(subject.kind)


def _by(gate: Gate) -> str:
    if gate.decided_by is not None and gate.decided_by.by:
        return gate.decided_by.by
    return "somebody on the host" if gate.overridden_by is not None else "a reviewer"


def _turns(gate: Gate) -> str:
    if gate.turn_limit is None:
        return ""
    return f"; {gate.turns_used} of {gate.turn_limit} turns used"
