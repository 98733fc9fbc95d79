import pytest

from runs.domain.content_free import fault_in_decision, fault_in_extra, fault_in_verdict
from tests.runs.domain.events import VERDICT

LEAK, SCHEMA = "verifier_content_leak", "payload_schema"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"agentId": "w1"},
        {"target": "acme/9f3c9f3c9f3c9f3c"},
        {"target": "call[0]#3"},
        {"verdict": "pass"},
        {"verdict": "revise"},
        {"confidence": 0},
        {"confidence": 1},
        {"criteria": []},
        {"criteria": ["k" * 64]},
        {"criteria": ["no-pii", "iso27001.a-5-1", "sha256HashMatches", "pk-is-unique-everywhere"]},
        {"criteria": [f"k{n}" for n in range(64)]},
        {"causationHostId": "host-b"},
    ],
)
def test_a_verdict_made_of_ids_keys_and_numbers_is_fine(fields):
    assert fault_in_verdict(VERDICT | fields) is None


@pytest.mark.parametrize(
    ("fields", "reason", "place"),
    [
        ({"result": "x"}, LEAK, "/payload"),
        ({"verdict": "Pass"}, SCHEMA, "/payload/verdict"),
        ({"verdict": ["fail"]}, SCHEMA, "/payload/verdict"),
        ({"agentId": "a" * 257}, SCHEMA, "/payload/agentId"),
        ({"agentId": "the critic said no"}, LEAK, "/payload/agentId"),
        ({"target": "t" * 257}, LEAK, "/payload/target"),
        ({"target": "Paris is the capital"}, LEAK, "/payload/target"),
        ({"target": '{"text":"Paris"}'}, LEAK, "/payload/target"),
        ({"target": "巴黎是首都"}, LEAK, "/payload/target"),
        ({"target": "sk-proj-abcdef"}, LEAK, "/payload/target"),
        ({"causationHostId": None}, SCHEMA, "/payload/causationHostId"),
        ({"causationHostId": "no such host"}, LEAK, "/payload/causationHostId"),
        ({"confidence": True}, SCHEMA, "/payload/confidence"),
        ({"confidence": 1.01}, SCHEMA, "/payload/confidence"),
        ({"criteria": "grounded"}, SCHEMA, "/payload/criteria"),
        ({"criteria": ["a", "a"]}, SCHEMA, "/payload/criteria"),
        ({"criteria": ["a", 1]}, SCHEMA, "/payload/criteria/1"),
        ({"criteria": ["k" * 65]}, LEAK, "/payload/criteria/0"),
        ({"criteria": ["1st"]}, LEAK, "/payload/criteria/0"),
        ({"criteria": [f"k{n}" for n in range(65)]}, LEAK, "/payload/criteria"),
    ],
)
def test_anything_else_is_refused_with_its_place(fields, reason, place):
    assert fault_in_verdict(VERDICT | fields) == (reason, place)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-abcdefghijklmnop1234",
        "sk_live_abcdefgh",
        "ghp_abcdefghijklmnopqrst",
        "AKIAIOSFODNN7EXAMPLE",
        "xoxb-1234-abcd",
        "eyJhbGciOiJIUzI1NiJ9",
        "owc_live_ab12_secret",
        "k.9f86d081884c7d659a2feaa0c55ad015",
        "key-Zx8Kd02LmQ9vPq4RtY7w",
    ],
)
def test_a_criterion_that_looks_like_a_secret_is_refused(secret):
    assert fault_in_verdict(VERDICT | {"criteria": [secret]}) == (LEAK, "/payload/criteria/0")


@pytest.mark.parametrize("payload", [None, [], "fail", 0])
def test_a_verdict_is_an_object(payload):
    assert fault_in_verdict(payload) == (SCHEMA, "/payload")


@pytest.mark.parametrize("field", ["agentId", "target", "verdict"])
def test_agent_target_and_verdict_are_required(field):
    payload = {key: value for key, value in VERDICT.items() if key != field}

    assert fault_in_verdict(payload) == (SCHEMA, f"/payload/{field}")


def test_a_registered_vocabulary_closes_the_criteria():
    assert fault_in_verdict(VERDICT, {"schema-valid", "grounded", "no-pii"}) is None
    assert fault_in_verdict(VERDICT, {"schema-valid"}) == (LEAK, "/payload/criteria/1")
    assert fault_in_verdict(VERDICT | {"criteria": []}, set()) is None


# --- Decisions ---------------------------------------------------------------------------------


def decided(criteria):
    return {"agentId": "sup-1", "decision": {"kind": "terminate", "successCriteria": criteria}}


@pytest.mark.parametrize(
    "criteria",
    [
        [],
        None,
        3,
        [{"key": "goal-answered", "met": True}, {"key": "no-pii", "met": False}],
        [{"key": "", "met": True}],
        [{"key": "goal"}],
        [{"key": 1, "met": None}],
        [None],
    ],
)
def test_criteria_without_content_are_left_to_the_reader(criteria):
    assert fault_in_decision(decided(criteria), "decision") is None


@pytest.mark.parametrize(
    "criteria",
    [
        [{"key": "goal", "met": True, "text": "Paris"}],
        [{"key": "the goal was met", "met": True}],
        [{"key": "goal", "met": "yes, because Paris"}],
        [{"key": {"text": "Paris"}, "met": True}],
        ["Paris is the capital"],
    ],
)
def test_criteria_with_content_are_refused(criteria):
    fault = fault_in_decision(decided([{"key": "fine", "met": True}, *criteria]), "decision")

    assert fault == (LEAK, "/payload/decision/successCriteria/1")


@pytest.mark.parametrize("criteria", ["Paris", {"goal": "Paris"}, [{"key": "k", "met": True}] * 65])
def test_criteria_that_are_content_altogether_are_refused(criteria):
    assert fault_in_decision(decided(criteria), "decision") == (
        LEAK,
        "/payload/decision/successCriteria",
    )


def test_criteria_in_the_wrong_place_are_found():
    payload = {"decision": "terminate", "successCriteria": ["Paris"]}

    assert fault_in_decision(payload, "decision") == (LEAK, "/payload/successCriteria/0")


@pytest.mark.parametrize("payload", [None, "terminate", {}, {"decision": "terminate"}])
def test_a_decision_that_tells_no_criteria_is_fine(payload):
    assert fault_in_decision(payload, "decision") is None


def test_further_keys_may_be_ids_and_numbers():
    assert fault_in_extra({"traceId": "4bf92f35", "n": 1, "ok": True, "x": None}) is None
    assert fault_in_extra({"traceId": "the answer"}) == (LEAK, "")
