"""A team with a coordinator: it plans the tasks, the team runs them, it writes the final answer.

Source: open-multi-agent runTeam with `verifyJudges`.
"""

from dataclasses import dataclass, field

from verification.domain.consensus import prompts
from verification.domain.consensus.agent_turns import Turn, take
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.asks import PERSON, AskCoordinator, AskPerson
from verification.domain.consensus.budgets import Purchase, Purse
from verification.domain.consensus.context import memory_summary
from verification.domain.consensus.failures import (
    CANCELLED,
    PLAN_INVALID,
    PLAN_REFUSED,
    Failure,
    FailureKind,
    Status,
)
from verification.domain.consensus.history import Phase
from verification.domain.consensus.ledger import Ledger
from verification.domain.consensus.observed import (
    AgentOutcome,
    ProgressEvent,
    SpanKind,
    TraceEvent,
)
from verification.domain.consensus.plan import Plan, PlanSchema, read_approval, specs_of
from verification.domain.consensus.prompts import Quoted
from verification.domain.consensus.queue import EmptyTeam, Task, TaskStatus, load
from verification.domain.consensus.replay import Procedure, Replay
from verification.domain.consensus.rules import DuplicateJudge, Setting
from verification.domain.consensus.tasks import work_through
from verification.domain.consensus.team_result import TeamResult, summarise

COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRules:
    """A goal, the team to reach it, and the judges a plan may call on."""

    goal: str
    team: tuple[Agent, ...]
    coordinator: Agent = field(default_factory=lambda: Agent(COORDINATOR))
    verify_judges: tuple[Agent, ...] = ()
    """Without any, the coordinator is not told that tasks can be verified."""
    is_plan_only: bool = False
    needs_approval: bool = False
    """A person approves the plan before it is run, and may change it."""
    setting: Setting = field(default_factory=Setting)

    def __post_init__(self) -> None:
        if not self.team:
            raise EmptyTeam
        names = [judge.name for judge in self.verify_judges]
        for name in names:
            if names.count(name) > 1:
                raise DuplicateJudge(name)

    @property
    def planner(self) -> Agent:
        """The coordinator while it plans: its reply must be a plan for this team."""
        coordinator = self.coordinator
        form = PlanSchema(tuple(agent.name for agent in self.team))
        return Agent(coordinator.name, coordinator.model, form, coordinator.max_tokens)


def run_team(replay: Replay, rules: TeamRules) -> Procedure[TeamResult]:
    """Plan, work through the plan, and let the coordinator sum up."""
    root = replay.open_root()
    ledger = Ledger(replay=replay, root=root, team=rules.team, purse=Purse(rules.setting.budgets))
    failure = yield from _plan(ledger, rules)
    if failure is not None:
        ledger.stopped_by = failure
    elif rules.is_plan_only:
        replay.report("agent_complete", rules.coordinator.name, outcome=_plan_outcome(ledger))
    else:
        yield from work_through(ledger)
        yield from _sum_up(ledger, rules)
    summed_up = ledger.results.get(Phase.SYNTHESIS)
    result = summarise(
        tuple(ledger.results.values()),
        ledger.queue.tasks,
        forced=ledger.stopped_by,
        synthesis=None if summed_up is None else summed_up.outcome,
        is_plan_only=rules.is_plan_only and failure is None,
        metadata=rules.setting.metadata,
    )
    root.end(result.status, result.failure)
    return result


def _plan(ledger: Ledger, rules: TeamRules) -> Procedure[Failure | None]:
    """Fill the queue, or return why there is nothing to run."""
    ledger.replay.report("agent_start", rules.coordinator.name)
    outcome = yield from _coordinate(
        ledger, rules.planner, Phase.DECOMPOSITION, _decomposition(ledger, rules)
    )
    ledger.record(Phase.DECOMPOSITION, rules.coordinator.name, outcome)
    purchase = Purchase(
        rules.coordinator.name, rules.coordinator.model, COORDINATOR, None, outcome.usage
    )
    if ledger.charge_or_break(purchase):
        return ledger.stopped_by
    if not outcome.has_succeeded or not isinstance(outcome.structured, list):
        return _refuse(ledger, rules, outcome)
    ledger.replay.proposed = outcome.structured
    approved = yield from _approved(ledger, rules, outcome.structured)
    if isinstance(approved, Failure):
        return approved
    specs = specs_of(approved, rules.verify_judges)
    ledger.fill(load(specs, (agent.name for agent in rules.team)))
    if rules.is_plan_only:
        _assign_all(ledger)
    _announce_plan(ledger, rules)
    return None


def _approved(ledger: Ledger, rules: TeamRules, proposed: Plan) -> Procedure[Plan | Failure]:
    """Return the plan that is run: as it came, as a person changed it, or why there is none."""
    if not rules.needs_approval:
        return proposed
    ask = AskPerson(
        position=ledger.replay.position,
        agent=PERSON,
        phase=Phase.APPROVAL,
        prompt=prompts.Prompt(user=""),
    )
    reply = yield from ledger.replay.ask(ask)
    if reply is None or ledger.replay.is_aborted:
        return CANCELLED
    said = read_approval(reply.text)
    if not said.is_approved:
        return PLAN_REFUSED
    return proposed if said.plan is None else said.plan


def _decomposition(ledger: Ledger, rules: TeamRules) -> prompts.Prompt:
    names = [agent.name for agent in rules.team]
    return prompts.planning(names, rules.goal, may_verify=bool(rules.verify_judges))


def _coordinate(
    ledger: Ledger, agent: Agent, phase: Phase, prompt: prompts.Prompt
) -> Procedure[AgentOutcome]:
    ask = AskCoordinator(
        position=ledger.replay.position,
        agent=agent,
        phase=phase,
        prompt=prompt,
        nonce=ledger.replay.nonce(),
    )
    attributes = {"oma.phase": phase}
    turn = Turn(ask=ask, parent=ledger.root, attributes=attributes, is_traced=True)
    taken = yield from take(ledger.replay, turn)
    return taken.outcome


def _refuse(ledger: Ledger, rules: TeamRules, outcome: AgentOutcome) -> Failure:
    """An invalid plan is never half run; a call that failed keeps its own failure."""
    failure, code = PLAN_INVALID, "COORDINATOR_PLAN_INVALID"
    if outcome.failure is not None and outcome.failure.kind is not FailureKind.VALIDATION:
        failure, code = outcome.failure, "COORDINATOR_DECOMPOSITION_FAILED"
    ledger.replay.report("agent_complete", rules.coordinator.name, outcome=outcome)
    ledger.replay.observed.progress.append(ProgressEvent("error", code=code))
    return failure


def _assign_all(ledger: Ledger) -> None:
    for task in ledger.queue.tasks:
        if task.assignee is None:
            task.assignee = ledger.next_agent().name


def _announce_plan(ledger: Ledger, rules: TeamRules) -> None:
    observed, count = ledger.replay.observed, len(ledger.queue.tasks)
    span = observed.start(
        SpanKind.PLAN, "prepare_plan", ledger.root, {"oma.plan.task_count": count}
    )
    span.end(
        Status.OK,
        attributes={"oma.plan.approved": True, "oma.approval.decision": "allow"},
    )
    details = {"taskCount": count, "approved": True}
    observed.trace.append(TraceEvent("plan_ready", rules.coordinator.name, details))


def _plan_outcome(ledger: Ledger) -> AgentOutcome:
    return ledger.results[Phase.DECOMPOSITION].outcome


def _sum_up(ledger: Ledger, rules: TeamRules) -> Procedure[None]:
    """Ask for the final answer, unless the run was cancelled or has no money left for it."""
    if ledger.replay.is_aborted and ledger.stopped_by is None:
        ledger.stopped_by = CANCELLED
    if ledger.replay.is_aborted or ledger.purse.is_overdrawn:
        return
    coordinator = rules.coordinator
    prompt = _synthesis(ledger, rules)
    outcome = yield from _coordinate(ledger, coordinator, Phase.SYNTHESIS, prompt)
    purchase = Purchase(coordinator.name, coordinator.model, "synthesis", None, outcome.usage)
    already = ledger.stopped_by
    if ledger.charge_or_break(purchase) and ledger.stopped_by is not None:
        crossed = ledger.stopped_by
        outcome = AgentOutcome(
            outcome.output, crossed.status, outcome.usage, crossed, outcome.structured
        )
        ledger.stopped_by = already
    ledger.record(Phase.SYNTHESIS, coordinator.name, outcome)
    ledger.replay.report("agent_complete", coordinator.name, outcome=outcome)


def _synthesis(ledger: Ledger, rules: TeamRules) -> prompts.Prompt:
    memory = memory_summary(ledger.replay.observed.memory)
    shown = [_shown(task) for task in ledger.queue.tasks]
    if memory:
        shown.append(Quoted("Shared memory", memory))
    names = [agent.name for agent in rules.team]
    return prompts.summing_up(
        names,
        rules.goal,
        shown,
        ledger.replay.nonce(),
        may_verify=bool(rules.verify_judges),
    )


def _shown(task: Task) -> Quoted:
    if task.is_withheld:
        return Quoted(f"{task.spec.title} (not accepted)", "Its judges did not accept it.")
    how = {
        TaskStatus.COMPLETED: f"by {task.assignee}",
        TaskStatus.FAILED: "failed",
    }.get(task.status, "skipped")
    return Quoted(f"{task.spec.title} ({how})", task.output)
