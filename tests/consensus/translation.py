"""Turns a vector's input into this project's rules."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from tests.consensus.dialect import VectorSchema
from tests.consensus.world import World
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.budgets import Budgets, Estimator, Purchase
from verification.domain.consensus.history import AbortRequested
from verification.domain.consensus.queue import DependencyPayload, TaskSpec
from verification.domain.consensus.rules import ConsensusRules, NoProposers, Panel, Setting
from verification.domain.consensus.steps import Rules
from verification.domain.consensus.tasks import TaskRules
from verification.domain.consensus.team import COORDINATOR, TeamRules

RUN_ID = "run-of-the-vector"


def rules_of(vector: Mapping[str, Any]) -> Rules:
    given, options = vector["input"], vector["input"]["options"]
    agents = _agents(given)
    setting = _setting(given)
    if vector["operation"] == "runConsensus":
        proposers = options["proposer"]
        names = proposers if isinstance(proposers, list) else [proposers]
        if not names:
            raise NoProposers
        return ConsensusRules(
            question=given["prompt"],
            proposers=tuple(agents(name) for name in names),
            panel=panel_of(options, agents),
            setting=setting,
        )
    team = tuple(agents(name) for name in given["team"]["agents"])
    if vector["operation"] == "runTasks":
        tasks = tuple(_task(task, agents) for task in given["tasks"])
        return TaskRules(team=team, tasks=tasks, setting=setting)
    return TeamRules(
        goal=given["goal"],
        team=team,
        coordinator=agents(COORDINATOR),
        verify_judges=tuple(agents(name) for name in options.get("verifyJudges", [])),
        is_plan_only=options.get("planOnly", False),
        setting=setting,
    )


def world_of(vector: Mapping[str, Any]) -> World:
    given = vector["input"]
    return World(given["script"], given.get("agents", {}))


def history_of(vector: Mapping[str, Any]) -> list[AbortRequested]:
    is_aborted = vector["input"]["options"].get("abortSignal") == "pre-aborted"
    return [AbortRequested()] if is_aborted else []


def panel_of(options: Mapping[str, Any], agents: Callable[[str], Agent]) -> Panel:
    schema = options.get("verdictSchema")
    judges = options["judges"]
    return Panel(
        judges=tuple(agents(name) for name in judges),
        mode=options.get("mode"),
        quorum=options.get("quorum"),
        max_rounds=options.get("maxRounds"),
        verdict_schema=None if schema is None else VectorSchema(schema),
        on_dissent=options.get("onDissent"),
        judge_prompt=_judge_prompt(options.get("judgePrompt"), judges),
    )


def _judge_prompt(given: Any, judges: list[str]) -> str | dict[str, str] | None:
    if given is None:
        return None
    if given["kind"] == "string":
        return str(given["value"])
    if given["kind"] == "perJudge":
        return {name: given["map"].get(name, "") for name in judges}
    return {}  # A callable that raises: nobody has a prompt.


def _agents(given: Mapping[str, Any]) -> Callable[[str], Agent]:
    def agent(name: str) -> Agent:
        extra = given.get("agents", {}).get(name, {})
        schema = extra.get("outputSchema")
        return Agent(
            name,
            "fake-model",
            None if schema is None else VectorSchema(schema),
            extra.get("maxTokenBudget"),
        )

    return agent


def _task(task: Mapping[str, Any], agents: Callable[[str], Agent]) -> TaskSpec:
    verify = task.get("verify")
    return TaskSpec(
        title=task["title"],
        description=task["description"],
        assignee=task.get("assignee"),
        depends_on=tuple(task.get("dependsOn", ())),
        payload=DependencyPayload(task.get("dependencyPayload", "output")),
        max_retries=task.get("maxRetries", 0),
        retry_delay_ms=task.get("retryDelayMs", 1000),
        verify=None if verify is None else panel_of(verify, agents),
    )


def _setting(given: Mapping[str, Any]) -> Setting:
    options, orchestrator = given["options"], given.get("orchestrator", {})
    budgets = Budgets(
        orchestrator.get("maxTokenBudget"),
        orchestrator.get("maxCostBudget"),
        _estimator(orchestrator.get("estimateCost")),
    ).capped(options.get("maxTokenBudget"))
    refused = given["team"].get("failWritesMatching")
    return Setting(
        run_id=RUN_ID,
        metadata=options.get("metadata", {}),
        budgets=budgets,
        remembers=(lambda key: refused is None or refused not in key)
        if given["team"]["sharedMemory"]
        else None,
        reports_outcomes=orchestrator.get("recovery") == "record",
    )


def _estimator(rates: Mapping[str, Any] | None) -> Estimator | None:
    if rates is None:
        return None

    def estimate(purchase: Purchase) -> float:
        if rates.get("invalidForPhase") == purchase.phase:
            return math.nan
        by_agent, by_phase = rates.get("byAgent", {}), rates.get("byPhase", {})
        rate = by_agent.get(purchase.agent, by_phase.get(purchase.phase, rates["perToken"]))
        return float(purchase.usage.total * rate)

    return estimate
