"""Reads this project's own copies of the vectors: one a line, by area, the usual left out.

What is left out is what most spans and calls have in common, so a line shows what is particular
about its vector.
"""

import json
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parents[1] / "fixtures" / "consensus"
DERIVED = DIRECTORY / "derived"
"""Of these, the expected run was worked out from what the original is documented to do."""

USUAL_SPAN = {"ended": True, "status": "ok", "error": None, "events": []}
USUAL_NAMES = {
    "run": "oma.run",
    "consensus": "verify_consensus",
    "agent": "invoke_agent",
    "task": "execute_task",
    "plan": "prepare_plan",
}
USUAL_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "run": {"oma.run.id": "<run-id>", "oma.run.attempt": 1},
    "agent": {"oma.agent.turns": 1, "oma.agent.tool_calls": 0},
}
USUAL_CALL = {"round": None, "task": None}
USUAL_JUDGING = {
    "framing": "default",
    "lensIndex": None,
    "customText": None,
    "verdictContract": True,
}


def vectors(directory: Path = DIRECTORY) -> list[dict[str, Any]]:
    """Return all vectors kept in a directory, complete."""
    lines = [
        line
        for path in sorted(directory.glob("*.jsonl"))
        for line in path.read_text("utf-8").split("\n")
        if line
    ]
    return [completed(json.loads(line)) for line in lines]


def completed(vector: dict[str, Any]) -> dict[str, Any]:
    """Return a vector with the usual put back."""
    expected = vector["expected"]
    calls = [_call(number, call) for number, call in enumerate(expected["calls"])]
    spans = [_span(number, span) for number, span in enumerate(expected["spans"])]
    return {
        "formatVersion": 1,
        **vector,
        "expected": {**expected, "calls": calls, "spans": spans},
    }


def _call(number: int, call: dict[str, Any]) -> dict[str, Any]:
    judging = USUAL_JUDGING if call["phase"] == "judge" else {}
    contains = {"question": True, **judging, **call["promptContains"]}
    return {**USUAL_CALL, "seq": number, **call, "promptContains": contains}


def _span(number: int, span: dict[str, Any]) -> dict[str, Any]:
    attributes = {**USUAL_ATTRIBUTES.get(span["kind"], {}), **span.get("attributes", {})}
    name = USUAL_NAMES[span["kind"]]
    whole = {**USUAL_SPAN, "id": f"s{number}", "name": name, **span}
    return {**whole, "attributes": attributes}
