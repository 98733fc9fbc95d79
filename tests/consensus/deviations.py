"""Where this engine differs from the recorded one on purpose, and how a difference is recognised.

There are five deviations, all of which make the engine fail closed. A vector that differs passes
only if exactly one of them explains the difference; anything else is a failure. The vectors known
to be affected are listed by name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.consensus.comparison import differences
from verification.domain.consensus.json_text import NotJson, find
from verification.domain.consensus.replies import CALL_FAILED

Run = Mapping[str, Any]


@dataclass(frozen=True)
class Deviation:
    """A deliberate difference from the original."""

    name: str
    reason: str
    vectors: tuple[str, ...]
    """Affected vectors, by the area and number that their names begin with."""
    explains: Callable[[Run, Run, Run], bool]
    """(vector, expected, actual) → whether this deviation alone makes the difference."""


def explanation(vector: Run, expected: Run, actual: Run) -> Deviation | None:
    """Return the deviation that explains why two runs differ, if one does."""
    for deviation in DEVIATIONS:
        if deviation.explains(vector, expected, actual):
            return deviation
    return None


def _failed_call_refused(_: Run, expected: Run, actual: Run) -> bool:
    theirs, ours = _first_other_vote(expected, actual)
    return theirs.get("accepted") is True and ours.get("dissent") == CALL_FAILED


def _two_objects_refused(vector: Run, expected: Run, actual: Run) -> bool:
    theirs, ours = _first_other_vote(expected, actual)
    if not theirs or ours.get("dissent") != "<<not_json>>":
        return False
    replies = vector["input"]["script"].get(ours["agent"], [])
    return any(_holds_two_objects(item.get("reply", "")) for item in replies)


def _holds_two_objects(text: str) -> bool:
    try:
        return not find(text).is_only_object
    except NotJson:
        return False


def _stopped_by_abort(vector: Run, expected: Run, actual: Run) -> bool:
    items = [item for script in vector["input"]["script"].values() for item in script]
    was_aborted = any(item.get("abort") for item in items) or (
        vector["input"]["options"].get("abortSignal") == "pre-aborted"
    )
    result = actual.get("result", {})
    return (
        was_aborted
        and result.get("status") == "cancelled"
        and result.get("verdict", "rejected") == "rejected"
        and len(_votes(actual)) < len(_votes(expected))
        and all(
            _is_beginning(part(actual), part(expected))
            for part in (_calls, _votes, _dissent, _agent_turns)
        )
        and _answer(actual) == _answer(expected)
    )


def _spans_were_closed(_: Run, expected: Run, actual: Run) -> bool:
    if len(expected["spans"]) != len(actual["spans"]):
        return False
    spans = [
        theirs if theirs["ended"] else theirs | _ending(ours)
        for theirs, ours in zip(expected["spans"], actual["spans"], strict=True)
    ]
    has_open = any(not span["ended"] for span in expected["spans"])
    are_closed = all(span["ended"] for span in actual["spans"])
    return has_open and are_closed and not differences({**expected, "spans": spans}, actual)


def _ending(span: Mapping[str, Any]) -> dict[str, Any]:
    return {key: span[key] for key in ("ended", "status", "error")}


def _roster_was_refused(vector: Run, _: Run, actual: Run) -> bool:
    refused = actual.get("throws", {}).get("cause") in ("no_judges", "DuplicateJudge")
    script = vector["input"]["script"]
    untouched = {name: len(items) for name, items in script.items() if items}
    return refused and not actual["calls"] and actual["unconsumed"] == untouched


def _first_other_vote(expected: Run, actual: Run) -> tuple[dict[str, Any], dict[str, Any]]:
    for theirs, ours in zip(_votes(expected), _votes(actual), strict=False):
        if theirs != ours:
            same_judge = (theirs["agent"], theirs["round"]) == (ours["agent"], ours["round"])
            return (theirs, ours) if same_judge else ({}, {})
    return {}, {}


def _votes(run: Run) -> list[dict[str, Any]]:
    return [event for event in run["traceEvents"] if event["type"] == "consensus"]


def _dissent(run: Run) -> list[dict[str, Any]]:
    return [write for write in run["sharedMemoryWrites"] if write["key"].endswith(":dissent")]


def _calls(run: Run) -> list[dict[str, Any]]:
    return list(run["calls"])


def _agent_turns(run: Run) -> list[dict[str, Any]]:
    return [span["attributes"] for span in run["spans"] if span["kind"] == "agent"]


def _answer(run: Run) -> Any:
    """The answer, where no revision was made; one that came late counts there and not here."""
    was_revised = any(call["phase"] == "revision" for call in run["calls"])
    return None if was_revised else run["result"].get("answer", run["result"].get("taskResults"))


def _is_beginning(shorter: Sequence[Any], longer: Sequence[Any]) -> bool:
    return list(shorter) == list(longer[: len(shorter)])


DEVIATIONS = (
    Deviation(
        "a failed call is never an accept",
        "An error text or a reply beyond the judge's own budget is not a judgement, even where it "
        "happens to be an accepting verdict.",
        ("failure-02", "failure-10"),
        _failed_call_refused,
    ),
    Deviation(
        "a reply with more than one JSON object is unparseable",
        "A judge that quotes the answer's JSON beside its own verdict must not have the wrong one "
        "of the two counted.",
        ("parsing-02",),
        _two_objects_refused,
    ),
    Deviation(
        "abort stops at once",
        "After a cancellation no call is made and no reply counts, so nothing can be accepted by a "
        "run that somebody stopped.",
        ("abort-04", "abort-05", "abort-06", "verify-24"),
        _stopped_by_abort,
    ),
    Deviation(
        "spans are always closed",
        "A run that breaks ends its spans as errors; open ones would look like work going on.",
        ("prompt-08", "record-05", "verify-16", "verify-26", "verify-cost-06"),
        _spans_were_closed,
    ),
    Deviation(
        "an empty or ambiguous roster is refused",
        "Without judges nothing can be accepted for a reason, and two judges of one name overwrite "
        "each other's dissent.",
        ("verify-10", "verify-11", "record-02"),
        _roster_was_refused,
    ),
)
