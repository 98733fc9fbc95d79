"""Every recorded suspended run plays as recorded at home, and to its end in every dialect."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from openwop_console.demo.dialects import DIALECTS

FIXTURES = sorted(
    (Path(__file__).parent.parent / "fixtures" / "captured_interrupts").glob("*.json")
)
RECORDED = {path.stem: json.loads(path.read_text()) for path in FIXTURES}
AT_HOME = [
    (name, index)
    for name, fixture in RECORDED.items()
    for index in range(len(fixture["recordings"]))
]
TIMES = {"timestamp", "startedAt", "endedAt", "completedAt", "createdAt", "expiresAt"}
STAND_INS = {
    "eventId": "{eventId}",
    "interruptId": "{interruptId}",
    "token": "{token}",
    "interruptToken": "{token}",
    "resumedBy": "{hostId}",
    "memoryId": "{memoryId}",
    "childRunId": "{childRunId}",
}
HEX = re.compile(r"^[0-9a-f]{32}$")


class Blanks:
    """Puts the recordings' placeholders where a played run has ids, times and tokens."""

    def __init__(self, run_id: str, origin: str, events: list[dict[str, Any]]) -> None:
        self.run_id = run_id
        self.origin = origin
        self.event_ids = [event["eventId"] for event in events]

    def of(self, value: Any, key: str | None = None) -> Any:
        if isinstance(value, dict):
            return {name: self.of(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.of(item, "runId" if key == "childRuns" else None) for item in value]
        return self.of_text(value, key) if isinstance(value, str) else value

    def of_text(self, text: str, key: str | None) -> str:
        if key in TIMES:
            return "{time}"
        if key == "causationId":
            return f"{{event:{self.event_ids.index(text)}}}"
        if key == "key" and HEX.match(text):
            return "{interruptId}"
        if key in STAND_INS:
            return STAND_INS[key]
        text = text.replace(self.run_id, "{runId}").replace(self.origin, "{origin}")
        return re.sub(r"/v1/interrupts/[0-9a-f]{64}", "/v1/interrupts/{token}", text)


def token_of(caller, run_id: str) -> str:
    """The token as this run's snapshot shows it while it waits."""
    return caller.snapshot(run_id)["interrupt"]["interruptToken"]


@pytest.mark.parametrize(("name", "index"), AT_HOME)
def test_a_recorded_run_is_played_as_its_host_did(caller_for, name, index):
    fixture = RECORDED[name]
    recording = fixture["recordings"][index]
    caller = caller_for(fixture["dialect"])
    run_id = caller.start(fixture["workflowId"])

    waiting = caller.until_waiting(run_id)
    token = waiting.get("interrupt", {}).get("interruptToken", "")
    answers = [exchange(caller, step, run_id, token) for step in recording["exchanges"]]
    if recording["snapshot"]["status"] in ("completed", "failed", "cancelled"):
        caller.until_ended(run_id)

    events = caller.events(run_id)
    blanks = Blanks(run_id, caller.url, events)
    assert blanks.of(settled(waiting)) == settled(recording["waiting"])
    for answer, step in zip(answers, recording["exchanges"], strict=True):
        assert answer.status_code == step["status"], answer.text
        assert blanks.of(settled(answer.json())) == settled(step["response"])
    assert blanks.of(events) == recording["events"]
    assert blanks.of(settled(caller.snapshot(run_id))) == settled(recording["snapshot"])


def settled(body: Any) -> Any:
    """A body without the ids of child runs, which are made up anew each time."""
    if isinstance(body, dict) and "childRuns" in body:
        return {**body, "childRuns": [child["status"] for child in body["childRuns"]]}
    return body


def exchange(caller, step: dict[str, Any], run_id: str, token: str) -> Any:
    client = caller.anonymous if "withoutKey" in step else caller.http
    path = step["path"].replace("{runId}", run_id).replace("{token}", token)
    return client.request(step["method"], path, json=step.get("body"))


def permitted_values(ask: dict[str, Any], dialect: str) -> list[Any]:
    """Every answer the interrupt allows."""
    match ask["kind"]:
        case "approval":
            return [{"action": action} for action in ask["data"]["actions"]]
        case "clarification":
            answers = {question["id"]: "yes" for question in ask["data"]["questions"]}
            return [{"answers": answers}]
        case "external-event":
            return [ask["data"]["correlation"]]
        case "low-confidence":
            return [{"ratified": True}, {"rejected": True}]
        case _:
            return [{"content": "go on"}]


CASES = [
    pytest.param(name, dialect, value, id=f"{name}-in-{dialect}-{index}")
    for name, fixture in RECORDED.items()
    for dialect in DIALECTS
    for index, value in enumerate(permitted_values(fixture["interrupt"], dialect))
]


@pytest.mark.parametrize(("name", "dialect", "value"), CASES)
def test_every_permitted_answer_takes_effect_in_every_dialect(caller_for, name, dialect, value):
    ask = RECORDED[name]["interrupt"]
    caller = caller_for(dialect)
    run_id = caller.start(f"captured:{name}")
    caller.until_waiting(run_id)
    needed = ask["data"].get("requiredApprovals", 1)

    answers = []
    for voter in range(needed):
        answer = caller.resolve(run_id, ask["nodeId"], {**value, "voter": f"p-{voter}"})
        answers.append(answer.status_code)
        if caller.snapshot(run_id)["status"] in ("failed", "completed"):
            break

    if dialect == "postgres" and ask["kind"] == "low-confidence":
        assert answers == [404]
        assert caller.snapshot(run_id)["status"] == "waiting-approval"
        return
    assert set(answers) == {200}
    ended = caller.until_ended(run_id)
    was_rejected = value.get("action") == "reject" or value.get("rejected") is True
    assert ended["status"] == expected_end(dialect, needed, was_rejected=was_rejected)
    events = caller.events(run_id)
    first = 1 if dialect == "openwop-app" else 0
    assert [event["sequence"] for event in events] == list(range(first, first + len(events)))
    assert events[-1]["type"] == f"run.{ended['status']}"


def expected_end(dialect: str, needed: int, *, was_rejected: bool) -> str:
    if not was_rejected:
        return "completed"
    return "completed" if dialect == "openwop-app" and needed == 1 else "failed"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_the_reference_hosts_alias_their_keys_and_send_null_nodes(caller_for, dialect):
    caller = caller_for(dialect)
    run_id = caller.start("captured:sqlite.clarification")
    caller.until_waiting(run_id)

    events = caller.events(run_id)

    assert all(event["seq"] == event["sequence"] for event in events)
    assert all(event["data"] == event["payload"] for event in events)
    assert events[0]["nodeId"] is None
    assert events[0]["payload"] is None


def test_recordings_of_every_kind_are_there():
    kinds = {fixture["interrupt"]["kind"] for fixture in RECORDED.values()}

    assert kinds == {
        "approval",
        "clarification",
        "external-event",
        "conversation",
        "low-confidence",
    }
