"""Writes what the engine did in the vectors' own form, so that the two can be compared as JSON."""

from collections.abc import Mapping
from typing import Any

from tests.consensus.world import Call, World
from verification.domain.consensus import prompts, replies
from verification.domain.consensus.budgets import Crossing
from verification.domain.consensus.failures import Failure, FailureKind
from verification.domain.consensus.history import NO_USAGE, Usage
from verification.domain.consensus.observed import (
    AgentOutcome,
    Observed,
    ProgressEvent,
    Span,
    TraceEvent,
    Verification,
)
from verification.domain.consensus.result import Result
from verification.domain.consensus.rules import Panel
from verification.domain.consensus.team import COORDINATOR
from verification.domain.consensus.team_result import TaskRecord, TeamResult

PLACEHOLDERS = {
    replies.NOT_JSON: "<<not_json>>",
    replies.NO_CRITIQUE: "<<no_critique>>",
    replies.SCHEMA_INVALID: "<<schema_invalid>>",
}
Titles = Mapping[str, str]


def usage(used: Usage) -> dict[str, int]:
    return {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}


def failure(failed: Failure | None) -> dict[str, Any] | None:
    if failed is None:
        return None
    written: dict[str, Any] = {"kind": failed.kind.value}
    if failed.kind is not FailureKind.FRAMEWORK:  # A broken span says nothing about retrying.
        written["retryable"] = failed.is_retryable
    if failed.code is not None:
        written["code"] = failed.code
    if failed.http_status is not None:
        written["httpStatus"] = failed.http_status
    return written


def words(value: Any, titles: Titles) -> Any:
    """Replace our fixed texts and ids by the vectors' placeholders, anywhere in a value."""
    if isinstance(value, dict):
        return {key: words(each, titles) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [words(each, titles) for each in value]
    if not isinstance(value, str):
        return value
    for ours, theirs in PLACEHOLDERS.items():
        value = value.replace(ours, theirs)
    for task_id, title in titles.items():
        value = value.replace(f"task:{task_id}:", f"task:<task:{title}>:")
    return value


def spans(shown: Observed, titles: Titles) -> list[dict[str, Any]]:
    return [_span(span, titles) for span in shown.spans]


def _span(span: Span, titles: Titles) -> dict[str, Any]:
    attributes: dict[str, Any] = dict(span.attributes)
    if "oma.run.id" in attributes:
        attributes["oma.run.id"] = "<run-id>"
    if "oma.task.id" in attributes:
        attributes["oma.task.id"] = f"<task:{titles[attributes['oma.task.id']]}>"
    return {
        "id": f"s{span.number}",
        "parent": None if span.parent is None else f"s{span.parent}",
        "kind": span.kind.value,
        "name": span.name,
        "ended": span.has_ended,
        "status": span.status and span.status.value,
        "error": failure(span.failure),
        "attributes": attributes,
        "events": [
            {"name": event.name, "attributes": dict(event.attributes)} for event in span.events
        ],
    }


def trace(shown: Observed, titles: Titles) -> list[dict[str, Any]]:
    return [_trace(event, titles) for event in shown.trace]


def _trace(event: TraceEvent, titles: Titles) -> dict[str, Any]:
    details = {
        key: usage(value) if isinstance(value, Usage) else value
        for key, value in event.details.items()
    }
    task = {} if event.task is None else {"task": titles[event.task]}
    return {"type": event.type, "agent": event.agent, **details, **task}


def progress(shown: Observed, titles: Titles) -> list[dict[str, Any]]:
    return [_progress(event, titles) for event in shown.progress]


def _progress(event: ProgressEvent, titles: Titles) -> dict[str, Any]:
    written: dict[str, Any] = {"type": event.type}
    if event.agent is not None:
        written["agent"] = event.agent
    if event.task is not None:
        written["task"] = titles[event.task]
    if event.code is not None:
        written["code"] = event.code
    if event.crossing is not None:
        written["error"] = _crossing(event.crossing)
    if event.outcome is not None:
        written |= {
            "output": event.outcome.output,
            "success": event.outcome.has_succeeded,
            "tokenUsage": usage(event.outcome.usage),
        }
        if event.outcome.structured is not None and event.agent != COORDINATOR:
            written["structured"] = event.outcome.structured
    return written


def _crossing(crossing: Crossing) -> dict[str, Any]:
    return {
        "code": crossing.failure.code,
        "agent": crossing.agent,
        "used": crossing.used,
        "budget": crossing.budget,
    }


def consensus_result(result: Result, run_id: str | None) -> dict[str, Any]:
    keys = {"answer", "dissent", "identity", "rounds", "status", "tokenUsage", "verdict"}
    written: dict[str, Any] = {
        "answer": result.answer,
        "verdict": result.verdict.value,
        "dissent": list(result.dissent),
        "rounds": result.rounds,
        "tokenUsage": usage(result.usage),
        "status": result.status.value,
        "errorInfo": failure(result.failure),
    }
    if result.failure is not None:
        keys.add("errorInfo")
    if result.metadata:
        keys.add("metadata")
        written["metadata"] = dict(result.metadata)
    if run_id is not None:
        written["runId"] = run_id
    return {**written, "keys": sorted(keys)}


def team_result(result: TeamResult) -> dict[str, Any]:
    agents = {name: _outcome(each) for name, each in result.agents.items()}
    coordinator = agents.pop(COORDINATOR, None)
    by_workers = [task.usage for task in result.tasks if task.usage is not None]
    return {
        "success": result.has_succeeded,
        "status": result.status.value,
        "errorInfo": failure(result.failure),
        "planOnly": result.is_plan_only,
        "tasks": [_task(task) for task in result.tasks],
        "taskResults": {
            task.title: _outcome(task.outcome) for task in result.tasks if task.outcome is not None
        },
        "agentResults": agents,
        "coordinatorOutput": None if coordinator is None else coordinator["output"],
        "totalTokenUsage": usage(result.usage),
        "metricsTotalTokens": usage(sum(by_workers, NO_USAGE)) if result.tasks else None,
    }


def _outcome(outcome: AgentOutcome) -> dict[str, Any]:
    return {
        "success": outcome.has_succeeded,
        "status": outcome.status.value,
        "output": outcome.output,
        "structured": outcome.structured,
        "tokenUsage": usage(outcome.usage),
    }


def _task(task: TaskRecord) -> dict[str, Any]:
    return {
        "title": task.title,
        "status": task.status.value,
        "assignee": task.assignee,
        "verify": None if task.verify is None else _panel(task.verify),
        "metricsTokenUsage": None if task.usage is None else usage(task.usage),
    }


def _panel(panel: Panel) -> dict[str, Any]:
    given = {
        "mode": panel.mode,
        "quorum": panel.quorum,
        "maxRounds": panel.max_rounds,
        "onDissent": panel.on_dissent,
        "verdictSchema": None if panel.verdict_schema is None else True,
    }
    written: dict[str, Any] = {"judges": [judge.name for judge in panel.judges]}
    return written | {key: value for key, value in given.items() if value is not None}


def memory(shown: Observed) -> list[dict[str, Any]]:
    return [
        {"key": write.key, "value": write.value, "metadata": {"agent": write.agent}}
        for write in shown.memory
    ]


def purchases(shown: Observed, titles: Titles) -> list[dict[str, Any]]:
    return [
        {
            "agent": each.agent,
            "model": each.model,
            "phase": each.phase,
            "task": None if each.task is None else titles[each.task],
            "usage": usage(each.usage),
        }
        for each in shown.purchases
    ]


def outcomes(shown: Observed, titles: Titles) -> list[dict[str, Any]]:
    return [
        {
            "kind": each.kind,
            "task": titles[each.task],
            "output": each.output,
            "verification": each.verification and _verification(each.verification),
        }
        for each in shown.outcomes
    ]


def _verification(verification: Verification) -> dict[str, Any]:
    return {
        "verdict": verification.verdict.value,
        "dissent": list(verification.dissent),
        "rounds": verification.rounds,
    }


def calls(
    world: World, expected: list[dict[str, Any]], titles: Titles, questions: Mapping[str, str]
) -> list[Any]:
    """Write the calls; each prompt is asked about exactly what the vector says of it.

    `questions` maps a task's title to its description, and the empty title to the main question.
    """
    written = []
    for number, call in enumerate(world.calls):
        wanted = expected[number]["promptContains"] if number < len(expected) else {}
        written.append(_call(number, call, wanted, titles, questions))
    return written


def _call(
    number: int,
    call: Call,
    wanted: Mapping[str, Any],
    titles: Titles,
    questions: Mapping[str, str],
) -> dict[str, Any]:
    text = f"{call.system}\n{call.user}"
    title = "" if call.task is None else titles[call.task]
    contains: dict[str, Any] = {"question": questions[title] in text}
    for kind in ("answers", "dissent"):
        if kind in wanted:
            contains[kind] = {each: _ours(each) in text for each in wanted[kind]}
    if call.phase == "judge":
        contains |= _judging(text, wanted)
    if call.phase == "decomposition":
        contains["verifyFieldDescribed"] = prompts.VERIFY_FIELD in call.system
    written = {
        "seq": number,
        "agent": call.agent,
        "phase": call.phase,
        "round": call.round,
        "task": None if call.task is None else titles[call.task],
        "promptContains": contains,
    }
    return {**written, "repair": True} if call.is_repair else written


def _ours(theirs: str) -> str:
    for ours, placeholder in PLACEHOLDERS.items():
        theirs = theirs.replace(placeholder, ours)
    return theirs


def _judging(text: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    lenses = [number for number, lens in enumerate(prompts.LENSES) if lens in text]
    custom = wanted.get("customText")
    if prompts.FRAMING in text:
        framing = "lens" if lenses else "default"
    else:
        framing = "custom" if custom and custom in text else "none"
    return {
        "framing": framing,
        "lensIndex": lenses[0] if lenses else None,
        "customText": custom if framing == "custom" or custom == "" else None,
        "verdictContract": prompts.VERDICT_CONTRACT in text,
    }
