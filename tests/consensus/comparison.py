"""Runs one vector and says where the engine's doing differs from what was recorded."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.consensus import wire
from tests.consensus.drive import Entry, drive
from tests.consensus.translation import history_of, rules_of, world_of
from tests.consensus.world import ScriptExhausted, World
from verification.domain.consensus.asks import AskAgent
from verification.domain.consensus.budgets import CostCapWithoutEstimator
from verification.domain.consensus.history import AbortRequested
from verification.domain.consensus.json_text import NotJson, find
from verification.domain.consensus.observed import Observed
from verification.domain.consensus.replay import Cause
from verification.domain.consensus.result import Result
from verification.domain.consensus.rules import InvalidConsensus, NoJudges, NoProposers
from verification.domain.consensus.steps import Broken, Done, Rules, observed
from verification.domain.consensus.team_result import TeamResult

_CAUSES = {
    Cause.JUDGE_PROMPT_MISSING: "judge_prompt_callable_raised",
    Cause.MEMORY_REFUSED: "shared_memory_write_failed",
    Cause.PRICE_INVALID: "cost_estimator_invalid_value",
}
_REFUSALS: Mapping[type[Exception], str] = {
    NoJudges: "no_judges",
    NoProposers: "no_proposers",
    CostCapWithoutEstimator: "cost_cap_without_estimator",
}


def run(vector: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the engine does with a vector's input, in the form of its `expected`."""
    world = world_of(vector)
    try:
        rules = rules_of(vector)
    except (InvalidConsensus, CostCapWithoutEstimator) as refusal:
        cause = _REFUSALS.get(type(refusal), type(refusal).__name__)
        return _written(vector, world, Observed(), None) | {"throws": {"cause": cause}}
    step, history = _driven(rules, world, history_of(vector))
    shown = observed(rules, history)
    match step:
        case None:
            return _written(vector, world, shown, None) | {"ranOutOfScript": True}
        case Broken():
            throws = {"throws": {"cause": _CAUSES[step.cause]}}
            return _written(vector, world, shown, None) | throws
        case Done():
            return _written(vector, world, shown, step.result)


def _driven(
    rules: Rules, world: World, before: list[AbortRequested]
) -> tuple[Done | Broken | None, list[Entry]]:
    """Drive to the end, or as far as the script goes."""
    entries: list[Entry] = list(before)

    def answer(ask: AskAgent) -> list[Entry]:
        new = world.answer(ask)
        entries.extend(new)
        return new

    try:
        return drive(rules, answer, entries)
    except ScriptExhausted:
        return None, entries


def _written(
    vector: Mapping[str, Any],
    world: World,
    shown: Observed,
    result: Result | TeamResult | None,
) -> dict[str, Any]:
    titles = {
        f"task-{number}": task["title"].strip()
        for number, task in enumerate(_tasks(vector["input"]), start=1)
    }
    written: dict[str, Any] = {
        "calls": wire.calls(world, vector["expected"]["calls"], titles, _questions(vector)),
        "unconsumed": world.unconsumed(),
        "traceEvents": wire.trace(shown, titles),
        "spans": wire.spans(shown, titles),
        "progressEvents": wire.progress(shown, titles),
        "sharedMemoryWrites": wire.memory(shown),
        "costEstimates": wire.purchases(shown, titles),
        "taskOutcomes": wire.outcomes(shown, titles),
    }
    if isinstance(result, Result):
        run_id = vector["input"]["options"].get("runId")
        written["result"] = wire.consensus_result(result, run_id)
    elif result is not None:
        written["result"] = wire.team_result(result)
    translated: dict[str, Any] = wire.words(written, titles)
    return translated


def _questions(vector: Mapping[str, Any]) -> dict[str, str]:
    given = vector["input"]
    main = given.get("prompt") or given.get("goal") or ""
    return {"": main, **{task["title"]: task["description"] for task in _tasks(given)}}


def _tasks(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return given.get("tasks") or _planned(given)


def _planned(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tasks of the last plan in the coordinator's script."""
    for item in reversed(given["script"].get("coordinator", [])):
        try:
            plan = find(item.get("reply", "")).value
        except NotJson:
            continue
        if isinstance(plan, list):
            return [task for task in plan if isinstance(task, dict) and "title" in task]
    return []


def differences(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    """Return where two runs differ; empty when they are the same in all that is recorded."""
    expected = _comparable(expected)
    actual = _comparable(actual)
    return list(_differences("", expected, actual))


def _comparable(run_: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is the original's own: error names, messages, provider names, number codes."""
    kept = {key: each for key, each in run_.items() if each not in ([], {}) or key == "result"}
    if "throws" in kept:
        kept["throws"] = {"cause": kept["throws"]["cause"]}
    if "result" in kept:
        kept["result"] = kept["result"] | {"errorInfo": _error(kept["result"]["errorInfo"])}
    kept["spans"] = [span | {"error": _error(span["error"])} for span in kept.get("spans", [])]
    kept["progressEvents"] = [_progress(event) for event in kept.get("progressEvents", [])]
    return kept


def _error(error: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if error is None:
        return None
    kept = {key: error[key] for key in ("kind", "code", "retryable", "httpStatus") if key in error}
    if str(kept.get("code", "")).isdigit():
        del kept["code"]
    return kept


def _progress(event: Mapping[str, Any]) -> dict[str, Any]:
    """Of a recovery decision only the fact is compared: what it carries was never recorded."""
    if event["type"] in ("recovery_decision", "task_skipped"):
        return {key: event[key] for key in ("type", "task") if key in event}
    return dict(event)


def _differences(path: str, expected: Any, actual: Any) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            absent = object()
            yield from _differences(
                f"{path}/{key}", expected.get(key, absent), actual.get(key, absent)
            )
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: {len(expected)} expected, {len(actual)} found"
        for number, (left, right) in enumerate(zip(expected, actual, strict=False)):
            yield from _differences(f"{path}/{number}", left, right)
    elif not _are_same(expected, actual):
        yield f"{path}: {_shown(expected)} expected, {_shown(actual)} found"


def _are_same(expected: Any, actual: Any) -> bool:
    """Equal, and of one type as JSON has types: `true` is not 1, but 2 is 2.0."""
    return bool(expected == actual) and isinstance(expected, bool) is isinstance(actual, bool)


def _shown(value: Any) -> str:
    return "nothing" if type(value) is object else repr(value)[:200]
