"""Verifies a task's output by the same loop as any consensus, and decides what the task delivers.

Only an accepted answer that differs from the worker's replaces it. A rejected verdict is recorded
and changes nothing else: the run goes on with what the worker delivered. Where only accepted
results count, an empty one is rejected unheard, as in a consensus by itself.

Source: open-multi-agent per-task verify hook.
"""

from dataclasses import replace

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.budgets import Purchase
from verification.domain.consensus.deliberation import Case, Deliberation, deliberate
from verification.domain.consensus.failures import BROKEN_OFF, Status
from verification.domain.consensus.history import Usage
from verification.domain.consensus.ledger import Ledger, with_more
from verification.domain.consensus.observed import AgentOutcome, Span, SpanKind, Verification
from verification.domain.consensus.queue import Task
from verification.domain.consensus.replay import Procedure, RunBroken
from verification.domain.consensus.result import Basis, Verdict, verdict_of
from verification.domain.consensus.rules import Panel, Unaccepted


def verify(
    ledger: Ledger, task: Task, panel: Panel, worker: Agent, outcome: AgentOutcome, parent: Span
) -> Procedure[tuple[AgentOutcome, Verification]]:
    """Return what the task delivers after the panel has heard it, and what the panel said."""
    span = ledger.replay.observed.start(
        SpanKind.CONSENSUS,
        "verify_consensus",
        parent,
        {"oma.consensus.scope": "task", "oma.task.id": task.id},
    )
    case = _case(ledger, task, panel, worker, outcome, span)
    try:
        if _is_no_answer(ledger, outcome):
            state = Deliberation(outcome.output, basis=Basis.NO_ANSWER)
        else:
            state = yield from deliberate(ledger.replay, case)
    except RunBroken:
        span.end(BROKEN_OFF.status, BROKEN_OFF)
        raise
    verification = task.verification = _settle(ledger, span, state)
    ledger.replay.remember(worker.name, f"task:{task.id}:verdict", _summary(verification))
    return _delivered(outcome, state, verification.verdict), verification


def _is_no_answer(ledger: Ledger, outcome: AgentOutcome) -> bool:
    return not outcome.output and ledger.replay.setting.unaccepted is not Unaccepted.STANDS


def _case(
    ledger: Ledger, task: Task, panel: Panel, worker: Agent, outcome: AgentOutcome, span: Span
) -> Case:
    def charge(agent: Agent, usage: Usage) -> None:
        purchase = Purchase(agent.name, agent.model, "consensus", task.id, usage)
        ledger.charge_or_break(purchase, reported_as=worker.name)

    return Case(
        question=task.spec.description,
        answer=outcome.output,
        structured=outcome.structured,
        panel=panel,
        reviser=worker,
        purse=ledger.purse,
        charge=charge,
        span=span,
        task=task.id,
    )


def _settle(ledger: Ledger, span: Span, state: Deliberation) -> Verification:
    assert state.basis is not None  # noqa: S101 - deliberate() ends with a basis
    verdict = verdict_of(state.basis)
    span.end(
        state.status,
        state.failure,
        {"oma.consensus.verdict": verdict, "oma.consensus.rounds": state.rounds},
    )
    if state.failure is not None and state.status is not Status.OK:
        ledger.stopped_by = state.failure
    dissent = tuple(vote.labelled for vote in state.votes if not vote.accepted)
    return Verification(verdict, dissent, state.rounds, state.basis)


def _summary(verification: Verification) -> str:
    if verification.verdict is Verdict.ACCEPTED or not verification.dissent:
        return verification.verdict.value
    return f"{verification.verdict}: {'; '.join(verification.dissent)}"


def _delivered(outcome: AgentOutcome, state: Deliberation, verdict: Verdict) -> AgentOutcome:
    delivered = with_more(outcome, state.usage)
    is_better = verdict is Verdict.ACCEPTED and state.answer not in ("", outcome.output)
    if not is_better:
        return delivered
    return replace(delivered, output=state.answer, structured=state.structured)
