import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.codemap import LIVE, REGISTERED
from runs.domain.log import LogLine, Origin
from runs.domain.phrases import PHRASES
from runs.domain.summaries import summary

SEEN = Path(__file__).parents[2] / "fixtures" / "real_shapes" / "events.jsonl"
REAL = [json.loads(line) for line in SEEN.read_text().splitlines()]
TOLD_BY_RULE = {
    "agent.verified",
    "core.workflowChain.event",
    "interrupt.vote",
    "node.suspended",
    "runOrchestrator.decided",
}


def line(name, payload=None, *, origin=Origin.HOST, node_id=None, near_miss_of=None):
    return LogLine(
        position=1,
        origin=origin,
        sequence=1 if origin is Origin.HOST else None,
        event_id="e1",
        type=name,
        payload=payload,
        node_id=node_id,
        near_miss_of=near_miss_of,
    )


def test_every_known_type_has_something_to_say():
    assert PHRASES.keys() | TOLD_BY_RULE >= REGISTERED | LIVE


@pytest.mark.parametrize("seen", REAL, ids=lambda seen: f"{seen['host']}-{seen['event']['type']}")
def test_what_real_hosts_send_is_told_in_a_sentence(seen):
    event = seen["event"]

    said = summary(line(event["type"], event["payload"], node_id=event.get("nodeId")))

    assert said == seen["says"]


CRITERIA = [{"key": "a", "met": True}, {"key": "b", "met": False}]


@pytest.mark.parametrize(
    ("name", "payload", "said"),
    [
        (
            "agent.verified",
            {"agentId": "critic-1", "target": "e42", "verdict": "fail", "criteria": ["grounded"]},
            "critic-1 says fail on e42, by grounded",
        ),
        (
            "runOrchestrator.decided",
            {"agentId": "sup", "decision": {"kind": "terminate", "successCriteria": CRITERIA}},
            "sup ends the run (gave up, 1 of 2 criteria met)",
        ),
        (
            "runOrchestrator.decided",
            {"agentId": "sup", "decision": {"kind": "terminate", "successCriteria": CRITERIA[:1]}},
            "sup ends the run (goal met, 1 of 1 criteria)",
        ),
        ("runOrchestrator.decided", {"decision": "terminate"}, "Decided: terminate"),
        ("runOrchestrator.decided", None, "Decided"),
        ("core.workflowChain.event", {"phase": "dispatch.lost"}, "Handoff: dispatch.lost"),
        ("core.workflowChain.event", [], "Handoff"),
        ("interrupt.vote", {"votes": []}, "Vote cast"),
        ("interrupt.vote", {"votes": [{"action": "accept"}] * 2}, "Vote cast: accept (2 so far)"),
        ("agent.decided", {"agentId": "w", "decision": "The answer is Paris."}, "w decided"),
        ("node.failed", "broken", "Node failed"),
        (
            "acme.canvas.published",
            {"id": 4, "ok": True, "text": "some prose"},
            "Acme canvas published: id 4, ok yes",
        ),
        ("acme.canvas.published", {"the user said": 4}, "Acme canvas published"),
        ("acme.canvas.published", None, "Acme canvas published"),
        (
            "run.completed",
            {"omitted": True, "bytes": 1234567, "sha256": "0"},
            "Run completed (1,234,567 bytes not kept)",
        ),
    ],
)
def test_a_sentence_says_what_there_is_and_leaves_out_what_is_not(name, payload, said):
    assert summary(line(name, payload)) == said


def test_a_slip_of_the_pen_is_named():
    said = summary(line("agent.verifed", {"verdict": "fail"}, near_miss_of="agent.verified"))

    assert said == "Agent verifed: unknown, probably meant as agent.verified"


def test_a_host_cannot_speak_for_the_console():
    payload = {"reason": "verifier_content_leak", "pointer": "/payload"}

    ours = summary(line("console.verdict.refused", payload, origin=Origin.CONSOLE))
    forged = summary(line("console.verdict.refused", payload))

    assert ours == "A possible verdict was refused: verifier_content_leak at /payload"
    assert forged != ours


def test_what_the_console_did_is_told_in_words_and_not_in_names_of_a_program():
    payload = {"state": "revise_asked", "target": "a_1", "was": "no_verdict"}

    said = summary(line("console.gate.changed", payload, origin=Origin.CONSOLE))
    assert said == "Gate revise asked for a_1, was no verdict"


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        ("\x1b[2J\x1b]0;pwn\x07", "Output: “[2J]0;pwn”"),
        ("ok\n2026-11-30 CRITICAL fake", "Output: “ok 2026-11-30 CRITICAL fake”"),
        ("abc\u202egnp.exe", "Output: “abcgnp.exe”"),
        ("a" + "\u0300" * 50, "Output: “a\u0300\u0300”"),
        ("\U0001f469\u200d\U0001f467", "Output: “\U0001f469\u200d\U0001f467”"),
        ("{{ settings.SECRET_KEY }}", "Output: “{{ settings.SECRET_KEY }}”"),
        ("", "Output"),
    ],
)
def test_hostile_text_is_one_harmless_line(chunk, said):
    assert summary(line("output.chunk", {"chunk": chunk})) == said


def test_text_is_cut_short():
    said = summary(line("log.appended", {"level": "info", "message": "word " * 1000}))

    assert len(said) < 150
    assert said.endswith("…”")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "agentId",
                    "decision",
                    "kind",
                    "successCriteria",
                    "votes",
                    "phase",
                    "error",
                    "code",
                    "reason",
                    "omitted",
                    "bytes",
                    "nodeId",
                    "chunk",
                    "met",
                    "nextWorkerIds",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.sampled_from(sorted(REGISTERED | LIVE)) | st.text(max_size=20), JSON)
def test_any_payload_of_any_type_is_told_in_one_line(name, payload):
    said = summary(line(name, payload))

    assert said
    assert len(said) <= 300
    assert all(each.isprintable() or each in "\u200c\u200d" for each in said)
