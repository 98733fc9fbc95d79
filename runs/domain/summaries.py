"""One plain sentence about a line of a run's log.

Made of ids, numbers and short words. Text appears only where the type is about text, and then only
its beginning. Whatever shape the payload has, there is a sentence.
"""

import re
from collections.abc import Callable, Mapping

from runs.domain.excerpts import excerpt
from runs.domain.log import LogLine, Origin
from runs.domain.phrases import PHRASES
from runs.domain.sentences import sentence, token, word

_WORDS_OF_TYPE = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_FACT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_FACTS = 3
_LONGEST = 240


def summary(line: LogLine) -> str:
    """The sentence about a line: never empty, one line, untrusted (escape it)."""
    is_forged = line.origin is Origin.HOST and line.type.startswith("console.")
    tell = None if is_forged else _TELLERS.get(line.type)
    said = tell(line) if tell else _about_unknown(line)
    return excerpt(said, _LONGEST) + _about_omission(line.payload)


def _about_omission(payload: object) -> str:
    if not isinstance(payload, dict) or payload.get("omitted") is not True:
        return ""
    size = payload.get("bytes")
    return f" ({size:,} bytes not kept)" if isinstance(size, int) else " (not kept)"


def _about_unknown(line: LogLine) -> str:
    """A type nobody described: its name in words, and the first short facts it carries."""
    name = " ".join(_WORDS_OF_TYPE.findall(line.type)).capitalize() or "Event"
    if line.near_miss_of:
        return f"{name}: unknown, probably meant as {line.near_miss_of}"
    facts = ", ".join(_short_facts(line.payload))
    return f"{name}: {facts}" if facts else name


def _short_facts(payload: object) -> list[str]:
    if not isinstance(payload, dict):
        return []
    facts = [
        f"{key} {said}"
        for key, value in payload.items()
        if _FACT_NAME.fullmatch(key) and (said := token(value))
    ]
    return facts[:_FACTS]


# --- Types whose sentence depends on what they say ------------------------------------------------

_VERDICT = sentence(
    "[{agentId} ]says[ {verdict}][ on {target}][, by {criteria,}][, confidence {confidence}]"
)
_LOW_CONFIDENCE = sentence(
    "Node[ {node}] waits for a person: confidence[ {observed}] below[ {threshold}][ ({agentId})]"
)
_SUSPENDED = sentence("Node[ {node}] waits[ for {kind}][ ({reason})]")
_NEXT_WORKER = sentence(
    "[{agentId} ]sends work to[ {decision.nextWorkerIds,}][, confidence {decision.confidence}]"
)
_ASK_USER = sentence("[{agentId} ]asks a person[: {decision.prompt~}]")
_TERMINATE = sentence("[{agentId} ]ends the run[: {decision.reason}]")
_OTHER_DECISION = sentence("[{agentId} ]decided[: {decision.kind|decision!}]")
_CHAIN = {
    "dispatch.began": sentence("Handing work to[ {workerId}]"),
    "dispatch.succeeded": sentence("[{workerId} ]took the work[ as run {childRunId}]"),
    "dispatch.failed": sentence("[{workerId} ]did not take the work[: {error.code}]"),
    "child.completed": sentence("Child run[ {childRunId}] completed[ ({workerId})]"),
    "child.failed": sentence("Child run[ {childRunId}] failed[ ({workerId})][: {error.code}]"),
    "child.cancelled": sentence("Child run[ {childRunId}] cancelled[ ({workerId})]"),
    "output.harvested": sentence("Output of[ {childRunId|workerId}] merged[: {harvestedKeys,}]"),
}
_OTHER_CHAIN = sentence("Handoff[ to {workerId}][: {phase}]")


def _tell_suspension(line: LogLine) -> str:
    reason = line.payload.get("reason") if isinstance(line.payload, dict) else None
    return (_LOW_CONFIDENCE if reason == "low-confidence" else _SUSPENDED).about(line)


def _tell_chain_step(line: LogLine) -> str:
    phase = line.payload.get("phase") if isinstance(line.payload, dict) else None
    told = _CHAIN.get(phase) if isinstance(phase, str) else None
    return (told or _OTHER_CHAIN).about(line)


def _tell_votes(line: LogLine) -> str:
    votes = line.payload.get("votes") if isinstance(line.payload, dict) else None
    if not isinstance(votes, list) or not votes:
        return "Vote cast"
    latest = word(votes[-1].get("action")) if isinstance(votes[-1], dict) else None
    return "Vote cast" + (f": {latest}" if latest else "") + f" ({len(votes)} so far)"


def _tell_decision(line: LogLine) -> str:
    decision = line.payload.get("decision") if isinstance(line.payload, dict) else None
    match decision:
        case {"kind": "next-worker"}:
            return _NEXT_WORKER.about(line)
        case {"kind": "ask-user"}:
            return _ASK_USER.about(line)
        case {"kind": "terminate", "successCriteria": list(criteria)} if criteria:
            return _TERMINATE.about(line) + _on_criteria(criteria)
        case {"kind": "terminate"}:
            return _TERMINATE.about(line)
        case _:
            return _OTHER_DECISION.about(line)


def _on_criteria(criteria: list[object]) -> str:
    met = sum(1 for each in criteria if isinstance(each, dict) and each.get("met") is True)
    if met == len(criteria):
        return f" (goal met, {met} of {met} criteria)"
    return f" (gave up, {met} of {len(criteria)} criteria met)"


_TELLERS: Mapping[str, Callable[[LogLine], str]] = {
    **{name: sentence(phrase).about for name, phrase in PHRASES.items()},
    "agent.verified": _VERDICT.about,
    "core.workflowChain.event": _tell_chain_step,
    "interrupt.vote": _tell_votes,
    "node.suspended": _tell_suspension,
    "runOrchestrator.decided": _tell_decision,
}
