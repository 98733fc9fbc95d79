"""A difference from the record passes only where one of the five deviations makes it."""

import copy
import json

import pytest

from tests import consensus_vectors
from tests.consensus.comparison import run

YES = json.dumps({"accept": True, "critique": ""})
NO = json.dumps({"accept": False, "critique": "no"})


def says(text, **more):
    return {"reply": text, "usage": {"input_tokens": 5, "output_tokens": 5}, **more}


def fails(message, **more):
    return {"error": {"message": message}, **more}


def vector(options, script, **more):
    """A vector whose record is still empty."""
    return {
        "formatVersion": 1,
        "name": "made-here",
        "operation": "runConsensus",
        "input": {
            "team": {"name": "t", "agents": [], "sharedMemory": True},
            "prompt": "Why?",
            "options": {"proposer": "solver", "judges": ["ja"], **options},
            "script": script,
            **more,
        },
        "expected": {"calls": []},
    }


def recorded(of, change=None):
    """Give a vector the record that its run makes, changed as the original would have made it."""
    first = run(of)
    of["expected"]["calls"] = copy.deepcopy(first["calls"])
    record = {"costEstimates": [], "taskOutcomes": [], **run(of)}
    if change is not None:
        change(record)
    return {**of, "expected": record}


def accepted(record):
    record["result"] |= {"verdict": "accepted", "dissent": []}
    record["sharedMemoryWrites"] = []
    [vote] = [event for event in record["traceEvents"] if event["type"] == "consensus"]
    vote["accepted"] = True
    vote.pop("dissent")


def deviation_of(made):
    report = consensus_vectors.check(made)
    assert report.differences
    return report.deviation and report.deviation.name


def test_an_accept_by_a_failed_call_is_explained():
    options = {"onDissent": "reject"}
    made = recorded(vector(options, {"solver": [says("A")], "ja": [fails(YES)]}), accepted)

    assert deviation_of(made) == "a failed call is never an accept"


def test_an_accept_beside_another_object_is_explained():
    reply = f"```json\n{YES}\n``` not {NO}"
    options = {"onDissent": "reject"}
    made = recorded(vector(options, {"solver": [says("A")], "ja": [says(reply)]}), accepted)

    assert deviation_of(made).startswith("a reply with more than one JSON object")


def test_what_happens_after_an_abort_is_explained():
    script = {"solver": [says("A")], "ja": [says(YES, abort=True)]}

    def late_accept(record):
        record["result"]["verdict"] = "accepted"
        record["traceEvents"].append(
            {"type": "consensus", "agent": "ja", "round": 1, "accepted": True}
        )

    made = recorded(vector({"abortSignal": "live"}, script), late_accept)

    assert deviation_of(made) == "abort stops at once"


def test_open_spans_are_explained():
    options = {"judgePrompt": {"kind": "throws", "message": "x"}}

    def opened(record):
        for span in record["spans"][:2]:
            span.update(ended=False, status=None, error=None)

    made = recorded(vector(options, {"solver": [says("A")], "ja": [says(YES)]}), opened)

    assert deviation_of(made) == "spans are always closed"


def test_a_roster_that_is_refused_is_explained():
    script = {"solver": [says("A")], "ja": [says(YES)]}
    made = vector({"judges": ["ja", "ja"]}, script)
    allowed = recorded(vector({}, script))

    report = consensus_vectors.check({**made, "expected": allowed["expected"]})

    assert report.deviation.name == "an empty or ambiguous roster is refused"


@pytest.mark.parametrize("script", [{"solver": [says("A")], "ja": [says(NO)]}])
def test_an_accept_that_nothing_explains_is_a_failure(script):
    made = recorded(vector({"onDissent": "reject"}, script), accepted)

    assert deviation_of(made) is None
    assert not consensus_vectors.check(made).has_passed


def test_an_abort_explains_no_other_difference():
    script = {"solver": [says("A", abort=True)], "ja": [says(YES)]}

    def other_answer(record):
        record["result"]["answer"] = "B"

    made = recorded(vector({"abortSignal": "live"}, script), other_answer)

    assert deviation_of(made) is None
