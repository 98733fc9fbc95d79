"""Every story on every branch to its end, in every dialect, shaped as the published schema says."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from openwop_console.demo.dialects import DIALECTS
from openwop_console.demo.scripts import STORIES
from runs.domain.envelope import read
from runs.domain.limits import Limits
from runs.domain.log import LogLine, Origin
from runs.domain.projection import project

REVIEW = "human-review"
RECORDINGS = Path(__file__).parent.parent / "fixtures" / "captured_interrupts"
RECORDED = [path.stem for path in RECORDINGS.glob("*.json")]
ANSWERS = {"answers": {"arrival": "noon", "luggage": "one bag"}}


def played(caller, workflow_id, *answers):
    """Play a story; `answers` go to its pauses in order. Returns run id and events."""
    run_id = caller.start(workflow_id)
    for node, value in answers:
        caller.until_waiting(run_id)
        answer = caller.resolve(run_id, node, value)
        assert answer.status_code == 200, answer.text
    caller.until_ended(run_id)
    return run_id, caller.events(run_id)


def verdicts(events):
    return [event["payload"]["verdict"] for event in events if event["type"] == "agent.verified"]


def phases(events):
    return [
        event["payload"]["phase"] for event in events if event["type"] == "core.workflowChain.event"
    ]


def criteria_met(events):
    """The `met` of every criterion in the last terminate decision."""
    decisions = [
        event["payload"]["decision"]
        for event in events
        if event["type"] == "runOrchestrator.decided"
    ]
    return {item["key"]: item["met"] for item in decisions[-1]["successCriteria"]}


BRANCHES = [
    ("research-brief",),
    ("contract-summary",),
    ("market-scan",),
    ("refund-policy", (REVIEW, {"action": "accept", "decidedBy": "p-1"})),
    ("refund-policy", (REVIEW, {"action": "reject"})),
    ("refund-policy", (REVIEW, {"action": "refine", "refineFeedback": {"scope": "whole"}})),
    ("travel-desk", ("ask-traveller", ANSWERS)),
]
OUTCOMES = ["goal_met", "goal_met", "gave_up", "goal_met", "gave_up", "goal_met", "goal_met"]
"""What the Console makes of each branch."""


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("branch", BRANCHES, ids=lambda b: f"{b[0]}{len(b)}")
def test_every_branch_ends_in_every_dialect(caller_for, dialect, branch):
    run_id, events = played(caller_for(dialect), *branch)

    assert caller_for(dialect).snapshot(run_id)["status"] in ("completed", "failed")
    assert events[-1]["type"] in ("run.completed", "run.failed")
    assert [event["type"] for event in events].count("run.started") == 1
    assert len({event["eventId"] for event in events}) == len(events)


def logged(events):
    """The events as lines of the Console's log; each is read as ingest reads it."""
    lines = []
    for position, event in enumerate(events, start=1):
        seen = read(event, now=datetime.now(UTC), limits=Limits())
        assert (seen.mismatches, seen.near_miss_of) == ((), None), seen.type
        line = LogLine(
            position=position,
            origin=Origin.HOST,
            sequence=seen.sequence,
            event_id=seen.event_id,
            type=seen.type,
            payload=seen.payload,
            node_id=seen.node_id,
        )
        lines.append(line)
    return lines


@pytest.mark.parametrize(
    ("branch", "outcome"),
    list(zip(BRANCHES, OUTCOMES, strict=True)),
    ids=lambda item: item if isinstance(item, str) else item[0],
)
def test_the_console_reads_every_event_as_published_and_the_end_as_meant(caller, branch, outcome):
    run_id, events = played(caller, *branch)

    projection = project(logged(events))

    assert projection.outcome == outcome
    for child in caller.snapshot(run_id).get("childRuns", []):
        assert logged(caller.events(child["runId"]))


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_recordings_played_as_published_are_read_as_published(caller, name):
    run_id = caller.start(f"captured:{name}")
    caller.until_waiting(run_id)

    projection = project(logged(caller.events(run_id)))

    assert str(projection.status).startswith("waiting-")


@pytest.mark.parametrize("branch", BRANCHES, ids=lambda b: f"{b[0]}{len(b)}")
def test_every_cause_and_target_is_in_the_log(caller, branch):
    run_id, events = played(caller, *branch)
    children = {child["runId"] for child in caller.snapshot(run_id).get("childRuns", [])}
    ids = [event["eventId"] for event in events]

    for index, event in enumerate(events):
        if "causationId" in event:
            assert event["causationId"] in ids[:index]
        if event["type"] == "agent.verified":
            assert event["payload"]["target"] in {*ids[:index], *children}


def test_the_research_brief_passes_and_is_harvested_after_its_verdict(caller):
    _, events = played(caller, "research-brief")

    types = [event["type"] for event in events]
    assert verdicts(events) == ["pass", "pass"]
    assert phases(events) == [
        "dispatch.began",
        "dispatch.succeeded",
        "child.completed",
        "output.harvested",
    ]
    harvested = max(i for i, name in enumerate(types) if name == "core.workflowChain.event")
    assert types.index("agent.verified") < harvested
    assert set(criteria_met(events).values()) == {True}


def test_a_failed_answer_waits_and_nothing_is_harvested(caller):
    run_id = caller.start("refund-policy")
    waiting = caller.until_waiting(run_id)

    events = caller.events(run_id)
    assert verdicts(events) == ["fail"]
    assert "output.harvested" not in phases(events)
    assert waiting["interrupt"]["nodeId"] == REVIEW
    assert waiting["interrupt"]["data"]["actions"] == ["accept", "reject", "refine"]
    assert events[-1]["type"] == "node.suspended"


def test_an_override_is_recorded_before_the_harvest_and_meets_the_goal(caller):
    accept = {"action": "accept", "decidedBy": "p-7", "feedback": "Goodwill."}
    _, events = played(caller, "refund-policy", (REVIEW, accept))

    types = [event["type"] for event in events]
    overridden = types.index("approval.overridden")
    target = next(e for e in events if e["type"] == "agent.verified")["payload"]["target"]
    assert events[overridden]["payload"] == {
        "gateId": target,
        "principal": "p-7",
        "reason": "Goodwill.",
    }
    assert phases(events[overridden:]) == ["output.harvested"]
    assert set(criteria_met(events).values()) == {True}


def test_upholding_ends_without_the_goal(caller):
    _, events = played(caller, "refund-policy", (REVIEW, {"action": "reject"}))

    assert "output.harvested" not in phases(events)
    assert criteria_met(events)["customer-answered"] is False
    assert events[-1]["type"] == "run.completed"


def test_upholding_fails_the_run_on_a_reference_host(caller_for):
    _, events = played(caller_for("sqlite"), "refund-policy", (REVIEW, {"action": "reject"}))

    assert events[-1]["payload"]["error"]["code"] == "interrupt_rejected"
    assert "output.harvested" not in phases(events)


def test_sending_back_makes_a_new_turn_that_passes(caller):
    refine = {"action": "refine", "refineFeedback": {"scope": "whole", "text": "30 days."}}
    run_id, events = played(caller, "refund-policy", (REVIEW, refine))

    assert verdicts(events) == ["fail", "pass"]
    assert phases(events).count("child.completed") == 2
    assert phases(events).count("output.harvested") == 1
    harvested = next(e for e in events if e["payload"].get("phase") == "output.harvested")
    second = caller.snapshot(run_id)["childRuns"][1]["runId"]
    assert harvested["payload"]["childRunId"] == second


def test_the_contract_summary_is_revised_at_the_same_node(caller):
    _, events = played(caller, "contract-summary")

    decided = [event for event in events if event["type"] == "agent.decided"]
    assert verdicts(events) == ["pass", "revise", "pass", "pass"]
    assert [event["nodeId"] for event in decided] == ["summarise", "summarise"]


def test_the_market_scan_gives_up_and_still_completes(caller):
    _, events = played(caller, "market-scan")

    assert "child.failed" in phases(events)
    assert criteria_met(events)["prices-current"] is False
    assert events[-1]["type"] == "run.completed"


def test_the_travel_desk_asks_and_uses_the_answers(caller):
    run_id, events = played(caller, "travel-desk", ("ask-traveller", ANSWERS))

    asked = next(event for event in events if event["type"] == "runOrchestrator.decided")
    assert asked["payload"]["decision"]["kind"] == "ask-user"
    suspended = next(event for event in events if event["type"] == "node.suspended")
    assert suspended["causationId"] == asked["eventId"]
    plan = events[-1]["payload"]["outputs"]["artifactId"]
    content = caller.http.get(f"/v1/runs/{run_id}/artifacts/{plan}").json()["content"]
    assert content["arrival"] == "noon"


def test_answers_may_come_as_a_list(caller):
    answers = [{"id": "arrival", "answer": "noon"}, {"id": "luggage", "answer": "none"}]

    _, events = played(caller, "travel-desk", ("ask-traveller", {"answers": answers}))

    assert events[-1]["type"] == "run.completed"


def test_no_confidence_is_low_where_no_story_wants_it(caller):
    for story in STORIES:
        run_id = caller.start(story)
        caller.until(run_id, lambda seen: seen["status"] not in ("pending", "running"))
        for event in caller.events(run_id):
            payload = event["payload"]
            threshold = 0.7 if event["type"] == "agent.decided" else 0.5
            confidence = payload.get("confidence", payload.get("decision", {}).get("confidence"))
            assert confidence is None or confidence >= threshold


def test_the_same_seed_makes_the_same_ids(caller_for):
    one = caller_for(seed="seed-a")
    ids = [event["eventId"] for event in played(one, "contract-summary")[1]]

    other = caller_for(seed="seed-a", heartbeat_s=9.0)
    again = [event["eventId"] for event in played(other, "contract-summary")[1]]

    third = caller_for(seed="seed-b")
    different = [event["eventId"] for event in played(third, "contract-summary")[1]]
    assert ids == again
    assert not set(ids) & set(different)


def test_a_script_that_breaks_fails_its_run_alone(caller_for):
    caller = caller_for(seed="breaks")

    async def breaks(turn):
        raise LookupError("no such thing")

    caller.running.host.engine.workflows["breaks"] = breaks
    run_id = caller.start("breaks")

    assert caller.until_ended(run_id)["error"]["code"] == "internal_error"
    assert "no such thing" not in str(caller.events(run_id))
    played(caller, "contract-summary")
