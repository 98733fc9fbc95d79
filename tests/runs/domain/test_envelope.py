import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.codemap import V1_NAMES
from runs.domain.envelope import EnvelopeRefused, read
from runs.domain.limits import Limits
from runs.domain.log import Mismatch
from tests.runs.domain.events import NOW, event, verdict

LIMITS = Limits()


def taken(document, limits=LIMITS, **options):
    return read(document, now=NOW, limits=limits, **options)


def refused(document, limits=LIMITS, **options):
    with pytest.raises(EnvelopeRefused) as error:
        read(document, now=NOW, limits=limits, **options)
    return error.value.refused


# --- What is taken -----------------------------------------------------------------------------


def test_an_event_is_read_as_it_was_sent():
    envelope = taken(event(nodeId="n1", causationId="e0", hostBuild="abc", engineVersion="1.2"))

    assert (envelope.run_id, envelope.event_id, envelope.sequence) == ("run-a", "e1", 1)
    assert (envelope.type, envelope.wire_type) == ("node.completed", "node.completed")
    assert (envelope.node_id, envelope.causation_id) == ("n1", "e0")
    assert envelope.payload == {"nodeId": "n1", "durationMs": 12}
    assert envelope.extra == {"hostBuild": "abc", "engineVersion": "1.2"}
    assert envelope.timestamp == NOW
    assert (envelope.mismatches, envelope.near_miss_of, envelope.skew_s) == ((), None, 0)


@pytest.mark.parametrize(("sent", "name"), sorted(V1_NAMES.items()))
def test_a_v2_name_is_read_as_the_v1_name(sent, name):
    envelope = taken(event(type=sent, payload={}))

    assert (envelope.type, envelope.wire_type) == (name, sent)


def test_a_v2_event_is_taken():
    document = event(
        runId="acme/9f3c9f3c9f3c9f3c", schemaVersion=1, engineVersion=7, type="run.completed"
    )

    assert taken(document).extra == {"schemaVersion": 1, "engineVersion": 7}


def test_a_tenant_bound_run_id_may_be_long():
    run_id = "t" * 120 + "/" + "r" * 120

    assert taken(event(runId=run_id)).run_id == run_id
    assert refused(event(runId="r" * 129)).reason == "schema"


@pytest.mark.parametrize("field", ["nodeId", "causationId", "schemaVersion", "engineVersion", "x"])
def test_an_optional_field_may_be_null(field):
    assert taken(event(**{field: None})) == taken(event())


def test_keys_that_only_repeat_another_are_dropped():
    document = event()
    aliases = {"seq": document["sequence"], "data": document["payload"]}

    assert taken(document | aliases) == taken(document)


def test_keys_that_say_something_else_are_kept():
    assert taken(event(seq=9, data={"other": 1})).extra == {"seq": 9, "data": {"other": 1}}


def test_a_host_may_say_seq_for_sequence():
    document = event(seq=5)
    del document["sequence"]

    assert (taken(document).sequence, taken(document).extra) == (5, {})


def test_a_mistyped_type_is_taken_and_named():
    envelope = taken(event(type="agent.verifed", payload={"verdict": "fail"}))

    assert (envelope.type, envelope.near_miss_of) == ("agent.verifed", "agent.verified")


def test_a_payload_that_misses_its_schema_is_taken_and_flagged():
    assert taken(event(payload=None)).mismatches == (Mismatch("/payload", "type"),)


@pytest.mark.parametrize("seconds", [-400 * 24 * 3600, -1, 3600, 24 * 3600])
def test_a_clock_that_is_off_is_recorded_and_not_corrected(seconds):
    timestamp = NOW + timedelta(seconds=seconds)

    envelope = taken(event(timestamp=timestamp.isoformat()))

    assert (envelope.timestamp, envelope.skew_s) == (timestamp, seconds)


# --- What is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["eventId", "runId", "type", "payload", "timestamp", "sequence"])
def test_a_required_field_is_required(field):
    document = event()
    del document[field]

    assert (refused(document).reason, refused(document).pointer) == ("required", f"/{field}")


@pytest.mark.parametrize(
    ("fields", "reason", "pointer"),
    [
        ({"eventId": None}, "type", "/eventId"),
        ({"eventId": ""}, "schema", "/eventId"),
        ({"eventId": "e" * 129}, "schema", "/eventId"),
        ({"eventId": " e1"}, "id_charset", "/eventId"),
        ({"eventId": "console:refused:1"}, "id_reserved", "/eventId"),
        ({"runId": ["run-a"]}, "type", "/runId"),
        ({"runId": "run\u202ea"}, "id_charset", "/runId"),
        ({"nodeId": "n\n1"}, "id_charset", "/nodeId"),
        ({"causationId": 3}, "type", "/causationId"),
        ({"type": None}, "type_invalid", "/type"),
        ({"type": "console.gate.passed"}, "type_invalid", "/type"),
        ({"type": "acme." + "x" * 128}, "type_invalid", "/type"),
        ({"timestamp": "2026-11-30T08:00:00"}, "timestamp_invalid", "/timestamp"),
        ({"timestamp": "2026-12-01T08:00:01Z"}, "timestamp_in_future", "/timestamp"),
        ({"sequence": True}, "sequence_invalid", "/sequence"),
        ({"sequence": 1.0}, "sequence_invalid", "/sequence"),
        ({"sequence": 2**53}, "sequence_invalid", "/sequence"),
        ({"sequence": None, "seq": 1}, "sequence_invalid", "/sequence"),
        ({"schemaVersion": True}, "type", "/schemaVersion"),
        ({"schemaVersion": -1}, "type", "/schemaVersion"),
        ({"engineVersion": 1.5}, "type", "/engineVersion"),
        ({"engineVersion": "v" * 257}, "type", "/engineVersion"),
    ],
)
def test_a_broken_rule_is_told_with_its_place(fields, reason, pointer):
    refusal = refused(event(**fields))

    assert (refusal.error, refusal.reason, refusal.pointer) == (
        "validation_error",
        reason,
        pointer,
    )
    assert not refusal.holds


def test_what_is_not_an_object_is_no_event():
    assert refused([event()]).reason == "json_not_object"


def test_what_could_be_read_of_a_refused_event_is_told():
    refusal = refused(event(timestamp="yesterday"))

    assert (refusal.run_id, refusal.event_id, refusal.sequence) == ("run-a", "e1", 1)


# --- Verdicts ----------------------------------------------------------------------------------


def test_a_verdict_is_taken_as_it_is():
    envelope = taken(verdict())

    assert envelope.payload == verdict()["payload"]
    assert envelope.mismatches == ()


@pytest.mark.parametrize(
    "document",
    [
        verdict(verdict="FAIL"),
        verdict(result="the answer"),
        verdict() | {"timestamp": "yesterday"},
        verdict() | {"sequence": None},
        verdict() | {"type": "Agent.verified"},
        verdict() | {"type": "agent_verified"},
        verdict() | {"type": "agent.\u200bverified"},
        verdict() | {"type": "agent..verified"},
        verdict() | {"type": None},
        event(type="runOrchestrator.decided", payload={}, timestamp=""),
        event(type="orchestrator.decided", payload={}, timestamp=""),
    ],
)
def test_whatever_may_have_been_a_verdict_holds_its_run(document):
    refusal = refused(document)

    assert (refusal.holds, refusal.run_id) == (True, "run-a")


@pytest.mark.parametrize(
    "fields",
    [
        {"data": {"result": "the answer"}},
        {"note": "the answer said 42"},
        {"trace": {"id": 1}},
        {"the answer said 42": 1},
        {f"k{n}": n for n in range(17)},
    ],
)
def test_no_content_travels_beside_a_verdict(fields):
    refusal = refused(verdict() | fields)

    assert (refusal.reason, refusal.pointer, refusal.holds) == ("verifier_content_leak", "", True)


def test_ids_and_numbers_may_travel_beside_a_verdict():
    extra = {"traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "attempt": 2, "schemaVersion": 1}

    assert taken(verdict() | extra | {"data": verdict()["payload"]}).extra == extra


def test_a_host_s_vocabulary_is_the_only_one_it_may_use():
    assert taken(verdict(), vocabulary={"schema-valid", "grounded"}).type == "agent.verified"
    assert refused(verdict(), vocabulary={"grounded"}).pointer == "/payload/criteria/0"


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("runOrchestrator.decided", "decision"),
        ("orchestrator.decided", "decision"),
        ("core.workflowChain.confidence-escalated", "originalDecision"),
    ],
)
def test_success_criteria_carry_no_content(name, field):
    criteria = [{"key": "goal", "met": True, "why": "the answer"}]
    payload = {"agentId": "sup-1", field: {"kind": "terminate", "successCriteria": criteria}}

    refusal = refused(event(type=name, payload=payload))

    assert (refusal.reason, refusal.holds) == ("verifier_content_leak", True)
    assert refusal.pointer == f"/payload/{field}/successCriteria/0"


# --- What is too large to keep -----------------------------------------------------------------

SMALL = Limits(payload_bytes=2000)


def test_a_large_payload_is_kept_as_its_size_and_hash():
    large, small = event(payload={"x": "y" * 3000}), event(payload={"x": "y" * 30})
    packed = b'{"x":"' + b"y" * 3000 + b'"}'

    assert taken(large, SMALL).payload == {
        "omitted": True,
        "bytes": len(packed),
        "sha256": hashlib.sha256(packed).hexdigest(),
    }
    assert taken(small, SMALL).payload == small["payload"]
    assert taken(large, SMALL).digest == taken(large).digest


def test_a_give_up_does_not_vanish_behind_a_long_answer():
    decision = {
        "kind": "terminate",
        "reason": "x" * 3000,
        "successCriteria": [{"key": "goal-answered", "met": False}],
    }
    document = event(
        type="runOrchestrator.decided", payload={"agentId": "sup-1", "decision": decision}
    )

    kept = taken(document, SMALL).payload

    assert kept["omitted"] is True
    assert kept["decision"] == {"kind": "terminate", "successCriteria": decision["successCriteria"]}


def test_a_decision_that_cannot_be_kept_is_refused_and_holds_its_run():
    workers = [f"worker-{n}" for n in range(4000)]
    document = event(
        type="runOrchestrator.decided",
        payload={"agentId": "sup-1", "decision": {"kind": "next-worker", "nextWorkerIds": workers}},
    )

    refusal = refused(document, SMALL)

    assert (refusal.error, refusal.reason) == ("payload_too_large", "payload_too_large")
    assert refusal.holds


def test_a_verdict_is_readable_under_any_limit():
    kept = taken(verdict(), Limits(payload_bytes=10)).payload

    assert {key: kept[key] for key in verdict()["payload"]} == verdict()["payload"]


def test_large_extra_keys_are_kept_as_their_size_and_hash():
    assert taken(event(vendor="v" * 3000), SMALL).extra["omitted"] is True


# --- The digest --------------------------------------------------------------------------------


def test_the_canonical_form_stays_as_it_is_because_its_digest_is_stored():
    document = event(nodeId="n1", hostBuild="abc", timestamp="2026-11-30T08:00:00.123456Z")
    form = (
        b'{"causationId":null,"eventId":"e1","extra":{"hostBuild":"abc"},"nodeId":"n1",'
        b'"payload":{"durationMs":12,"nodeId":"n1"},"runId":"run-a","sequence":1,'
        b'"timestamp":"2026-11-30T08:00:00.123456+00:00","type":"node.completed"}'
    )

    assert taken(document).digest == hashlib.sha256(form).digest()


def test_the_same_facts_have_the_same_digest_through_every_door():
    document = event(type="agent.toolCalled", payload={"b": 1, "a": [1, {"d": 1, "c": 2}]})
    sent_again = {
        "sequence": document["sequence"],
        "timestamp": "2026-11-30T09:00:00.000+01:00",
        "payload": {"a": [1, {"c": 2, "d": 1}], "b": 1},
        "data": {"b": 1, "a": [1, {"c": 2, "d": 1}]},
        "seq": 1,
        "type": "agent.tool-called",
        "nodeId": None,
        "causationId": None,
        "runId": "run-a",
        "eventId": "e1",
    }

    assert taken(sent_again).digest == taken(document).digest


@pytest.mark.parametrize(
    "fields",
    [
        {"eventId": "e2"},
        {"runId": "run-b"},
        {"type": "node.failed"},
        {"payload": {"nodeId": "n1", "durationMs": 13}},
        {"payload": None},
        {"timestamp": "2026-11-30T08:00:00.001Z"},
        {"sequence": 2},
        {"nodeId": "n1"},
        {"causationId": "e0"},
        {"hostBuild": "abc"},
    ],
)
def test_any_other_fact_gives_another_digest(fields):
    assert taken(event(**fields)).digest != taken(event()).digest


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab: \u202e", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=6,
)


@given(JSON, st.sampled_from(["node.completed", "agent.decided", "acme.thing", "run.failed"]))
def test_any_payload_of_an_event_that_is_no_verdict_is_taken_unchanged(payload, name):
    sent = json.dumps(payload)

    envelope = taken(event(type=name, payload=payload))

    assert json.dumps(envelope.payload) == sent


@given(
    st.dictionaries(
        st.sampled_from(
            ["eventId", "runId", "type", "payload", "timestamp", "sequence", "seq", "x"]
        ),
        JSON | st.sampled_from(["agent.verified", "2026-11-30T08:00:00Z", "run-a"]),
    )
)
def test_any_document_is_taken_or_refused_and_nothing_else_happens(document):
    try:
        outcome = taken(document)
    except EnvelopeRefused as error:
        outcome = error.refused

    assert outcome.run_id is None or outcome.run_id == document["runId"]


def test_our_clock_may_be_anywhere():
    there = datetime(2026, 11, 30, 8, tzinfo=UTC) + timedelta(hours=1)

    assert read(event(), now=there, limits=LIMITS).skew_s == -3600
