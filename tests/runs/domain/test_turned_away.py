import pytest

from runs.domain.limits import Limits
from runs.domain.strict_json import Doubled
from runs.domain.turned_away import turned_away
from tests.runs.domain.events import event, verdict


def told(document, holds=None):
    return turned_away(
        document,
        error="validation_error",
        reason="schema",
        pointer="",
        limits=Limits(),
        holds=holds,
    )


def test_the_identity_of_an_event_is_told_as_far_as_it_can_be_read():
    assert (told(event()).run_id, told(event()).event_id, told(event()).sequence) == (
        "run-a",
        "e1",
        1,
    )


@pytest.mark.parametrize(
    "document",
    [
        None,
        "event",
        [event()],
        {},
        {"runId": 3, "eventId": None, "sequence": True},
        {"runId": "a\nb", "eventId": "", "sequence": -1},
        {"runId": "x" * 129, "eventId": "console:1", "sequence": 2**53},
    ],
)
def test_what_could_not_be_an_id_is_not_told(document):
    refused = told(document)

    assert (refused.run_id, refused.event_id, refused.sequence) == (None, None, None)


def test_a_sequence_may_be_said_as_seq():
    assert told({"seq": 4}).sequence == 4
    assert told({"sequence": "x", "seq": 4}).sequence == 4


def test_what_is_written_twice_is_not_told():
    document = Doubled([("runId", "run-a"), ("runId", "run-b"), ("eventId", "e1")])

    assert (told(document).run_id, told(document).event_id) == (None, "e1")


@pytest.mark.parametrize(
    ("document", "holds"),
    [
        (verdict(), True),
        (event(), False),
        (event(type="acme.judged", payload={"verdict": "fail"}), False),
        (event(type="???", payload={"verdict": "fail"}), True),
        (event(type="???", payload={"x": 1}), False),
        (event(type=None, payload=None, data={"verdict": "fail"}), True),
        (Doubled([("type", "agent.verified"), ("type", "node.completed")]), True),
        (Doubled([("type", "node.completed"), ("type", "agent.verified")]), True),
        (Doubled([("payload", {"verdict": "fail"}), ("payload", {})]), True),
        (None, False),
    ],
)
def test_it_holds_if_it_may_have_been_a_verdict(document, holds):
    assert told(document).holds == holds


def test_the_reader_may_know_better():
    assert told(event(), holds=True).holds
    assert not told(verdict(), holds=False).holds
