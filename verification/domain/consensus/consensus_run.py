"""A consensus by itself: proposers answer, the panel deliberates, a result comes out.

Source: open-multi-agent runConsensus.
"""

from verification.domain.consensus.agent_turns import Taken, Turn, take
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.asks import AskProposer
from verification.domain.consensus.budgets import Budgets, Purchase, Purse
from verification.domain.consensus.deliberation import Case, Deliberation, deliberate
from verification.domain.consensus.failures import CANCELLED, Failure, Status
from verification.domain.consensus.history import Phase, Usage
from verification.domain.consensus.observed import ProgressEvent, Span, SpanKind
from verification.domain.consensus.prompts import Prompt
from verification.domain.consensus.replay import Procedure, Replay
from verification.domain.consensus.result import Basis, Result
from verification.domain.consensus.rules import ConsensusRules

SEPARATOR = "\n\n---\n\n"
"""Stands between the answers of several proposers, which are judged as one."""


def run_consensus(replay: Replay, rules: ConsensusRules) -> Procedure[Result]:
    """Ask the proposers one after another, then hear the panel."""
    root = replay.open_root()
    span = replay.observed.start(
        SpanKind.CONSENSUS, "verify_consensus", root, {"oma.consensus.scope": "top_level"}
    )
    # A cost cap is a cap on a run of tasks; here only tokens count.
    purse = Purse(Budgets(rules.setting.budgets.max_tokens))
    proposal = yield from _propose(replay, rules, purse, span)
    if isinstance(proposal, Result):
        result = proposal
    else:
        case = Case(
            question=rules.question,
            answer=proposal,
            panel=rules.panel,
            reviser=rules.proposers[0],
            purse=purse,
            charge=lambda agent, usage: _charge(purse, agent, usage),
            span=span,
        )
        state = yield from deliberate(replay, case)
        result = _result(rules, purse, state)
    _close(root, span, result)
    return result


def _charge(purse: Purse, agent: Agent, usage: Usage) -> None:
    purse.charge(Purchase(agent.name, agent.model, "consensus", None, usage))


def _propose(
    replay: Replay, rules: ConsensusRules, purse: Purse, span: Span
) -> Procedure[str | Result]:
    """Return the answer to be judged, or the result where there is nothing to judge."""
    answers: list[str] = []
    failures: list[Failure | None] = []
    for proposer in rules.proposers:
        taken = yield from _ask(replay, rules, proposer, span)
        outcome = taken.outcome
        _charge(purse, proposer, outcome.usage)
        if outcome.has_succeeded and outcome.output:
            answers.append(outcome.output)
        if not outcome.has_succeeded:
            failures.append(outcome.failure)
        if replay.is_aborted:
            return _unjudged(rules, purse, answers, Basis.ABORTED, CANCELLED)
        if purse.crossing is not None:
            progress = ProgressEvent("budget_exceeded", proposer.name, crossing=purse.crossing)
            replay.observed.progress.append(progress)
            return _unjudged(rules, purse, answers, Basis.BUDGET, purse.crossing.failure)
    if not answers:
        return _unjudged(rules, purse, answers, Basis.NO_ANSWER, failures[0] if failures else None)
    return SEPARATOR.join(answers)


def _ask(replay: Replay, rules: ConsensusRules, proposer: Agent, span: Span) -> Procedure[Taken]:
    ask = AskProposer(
        position=replay.position,
        agent=proposer,
        phase=Phase.PROPOSER,
        prompt=Prompt(rules.question),
        round=0,
    )
    attributes = {"oma.phase": Phase.PROPOSER}
    turn = Turn(ask=ask, parent=span, attributes=attributes, is_traced=True)
    return (yield from take(replay, turn))


def _unjudged(
    rules: ConsensusRules,
    purse: Purse,
    answers: list[str],
    basis: Basis,
    failure: Failure | None,
) -> Result:
    return Result(
        answer=SEPARATOR.join(answers),
        basis=basis,
        usage=purse.tokens_used,
        status=Status.ERROR if failure is None else failure.status,
        failure=failure,
        metadata=rules.setting.metadata,
    )


def _result(rules: ConsensusRules, purse: Purse, state: Deliberation) -> Result:
    assert state.basis is not None  # noqa: S101 - deliberate() ends with a basis
    failure = state.failure
    if state.basis is not Basis.ABORTED and purse.crossing is not None:
        failure = purse.crossing.failure
    return Result(
        answer=state.answer,
        basis=state.basis,
        votes=tuple(state.votes),
        rounds=state.rounds,
        usage=purse.tokens_used,
        status=Status.OK if failure is None else failure.status,
        failure=failure,
        metadata=rules.setting.metadata,
    )


def _close(root: Span, span: Span, result: Result) -> None:
    if result.status is Status.BUDGET_EXHAUSTED and result.basis is Basis.BUDGET:
        span.note("budget_exhausted")
    span.end(
        result.status,
        result.failure,
        {"oma.consensus.verdict": result.verdict, "oma.consensus.rounds": result.rounds},
    )
    root.end(result.status, result.failure)
