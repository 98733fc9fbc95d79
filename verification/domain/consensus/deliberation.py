"""The loop: judges hear an answer, a missed quorum leads to a revision, until something decides.

It is the only such loop. A plain consensus, the verify hook of a task and a coordinator's plan all
run through it; they differ in where the first answer comes from and in whose purse pays.

Source: open-multi-agent runConsensus, with the deviations listed in docs/consensus.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from verification.domain.consensus import prompts
from verification.domain.consensus.agent_turns import Taken, Turn, take
from verification.domain.consensus.agents import Agent
from verification.domain.consensus.asks import AskJudge, AskProposer
from verification.domain.consensus.budgets import Purse
from verification.domain.consensus.failures import CANCELLED, Failure, Status
from verification.domain.consensus.history import NO_USAGE, Phase, Usage
from verification.domain.consensus.observed import Span, TraceEvent
from verification.domain.consensus.replay import Cause, Procedure, Replay, RunBroken
from verification.domain.consensus.replies import Contract, Ruling, read_ruling
from verification.domain.consensus.result import Basis, Vote
from verification.domain.consensus.rules import OnDissent, Panel
from verification.domain.consensus.tripwires import suspicions


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the judges are to hear."""

    question: str
    answer: str
    structured: object = None
    panel: Panel
    reviser: Agent
    """Who improves the answer after dissent."""
    purse: Purse
    charge: Callable[[Agent, Usage], None]
    """Pays for a call from the purse, and says so where somebody should know."""
    span: Span
    task: str | None = None


@dataclass(slots=True)
class Deliberation:
    """How far the judges have got. Lives for one replay only."""

    answer: str
    structured: object = None
    basis: Basis | None = None
    """None while nothing has decided."""
    votes: list[Vote] = field(default_factory=list)
    rounds: int = 0
    usage: Usage = NO_USAGE
    failure: Failure | None = None
    """Of the first call that failed."""

    @property
    def is_decided(self) -> bool:
        """True once something has decided."""
        return self.basis is not None

    @property
    def status(self) -> Status:
        """How the calls went: as the first that failed, or ok."""
        return Status.OK if self.failure is None else self.failure.status

    def of_round(self, round_: int) -> list[Vote]:
        """Return one round's votes."""
        return [vote for vote in self.votes if vote.round == round_]


def deliberate(replay: Replay, case: Case) -> Procedure[Deliberation]:
    """Hear the judges until something decides; the returned deliberation has a basis."""
    state = Deliberation(case.answer, case.structured)
    _stop_if_over(replay, case, state)
    while not state.is_decided:
        state.rounds += 1
        yield from _hear_round(replay, case, state)
        if not state.is_decided:
            yield from _answer_dissent(replay, case, state)
    if state.basis is Basis.ABORTED:
        state.failure = CANCELLED
    return state


def _stop_if_over(replay: Replay, case: Case, state: Deliberation) -> None:
    """Cancellation comes before an overdrawn budget: what was cancelled needs no other reason."""
    if replay.is_aborted:
        state.basis = Basis.ABORTED
    elif case.purse.is_overdrawn:
        state.basis = Basis.BUDGET


def _hear_round(replay: Replay, case: Case, state: Deliberation) -> Procedure[None]:
    for index, judge in enumerate(case.panel.judges):
        taken, contract = yield from _hear(replay, case, state, index)
        _account(case, state, judge, taken)
        if taken.is_cut_off:
            state.basis = Basis.ABORTED
        elif case.purse.is_overdrawn:
            state.basis = Basis.BUDGET  # The verdict that crossed the budget is void.
        else:
            _record_vote(replay, case, state, judge, taken, contract)
        if state.basis is None and replay.is_aborted:
            state.basis = Basis.ABORTED
        if state.basis is not None:
            return


def _hear(
    replay: Replay, case: Case, state: Deliberation, index: int
) -> Procedure[tuple[Taken, Contract]]:
    judge, nonce, criteria = case.panel.judges[index], replay.nonce(), replay.setting.criteria
    instruction = _instruction(case.panel, index)
    ask = AskJudge(
        position=replay.position,
        agent=judge,
        phase=Phase.JUDGE,
        prompt=prompts.judging(instruction, case.question, state.answer, nonce, criteria),
        round=state.rounds,
        answer=state.answer,
        task=case.task,
        nonce=nonce,
    )
    taken = yield from take(
        replay, Turn(ask=ask, parent=case.span, attributes={"oma.phase": Phase.JUDGE})
    )
    return taken, Contract(case.panel.verdict_schema, nonce, criteria)


def _instruction(panel: Panel, index: int) -> str:
    match panel.judge_prompt:
        case None:
            return prompts.framing(panel.has_lenses, index)
        case str() as same_for_all:
            return same_for_all
        case Mapping() as by_name:
            name = panel.judges[index].name
            if name not in by_name:
                raise RunBroken(Cause.JUDGE_PROMPT_MISSING)
            return str(by_name[name])


def _account(case: Case, state: Deliberation, agent: Agent, taken: Taken) -> None:
    state.usage += taken.outcome.usage
    if not taken.outcome.has_succeeded and state.failure is None:
        state.failure = taken.outcome.failure
    case.charge(agent, taken.outcome.usage)


def _record_vote(
    replay: Replay,
    case: Case,
    state: Deliberation,
    judge: Agent,
    taken: Taken,
    contract: Contract,
) -> None:
    has_failed = not taken.outcome.has_succeeded
    ruling = read_ruling(taken.outcome.output, contract, has_failed=has_failed)
    vote = Vote(
        judge.name, state.rounds, ruling.accepts, ruling.critique, ruling.criteria, has_failed
    )
    state.votes.append(vote)
    _show(replay, case.span, vote, ruling)
    if not ruling.accepts:
        name = f"consensus:round:{state.rounds}:dissent"
        replay.remember(judge.name, name, ruling.critique)
    elif _accepts(state) >= case.panel.needed_accepts:
        is_suspected = contract.nonce is not None and bool(suspicions(state.answer))
        state.basis = Basis.SUSPECTED if is_suspected else Basis.QUORUM


def _accepts(state: Deliberation) -> int:
    return sum(vote.accepted for vote in state.of_round(state.rounds))


def _show(replay: Replay, span: Span, vote: Vote, ruling: Ruling) -> None:
    span.note(
        "consensus_verdict",
        {
            "oma.consensus.round": vote.round,
            "oma.consensus.accepted": vote.accepted,
            "oma.agent.name": vote.judge,
        },
    )
    details: dict[str, object] = {"round": vote.round, "accepted": vote.accepted}
    if not vote.accepted:
        details["dissent"] = ruling.critique
    replay.observed.trace.append(TraceEvent("consensus", vote.judge, details))


def _answer_dissent(replay: Replay, case: Case, state: Deliberation) -> Procedure[None]:
    """After a round without quorum: revise where a round or part of one is left, else decide."""
    panel = case.panel
    if panel.dissent_policy is OnDissent.REVISE and state.rounds < panel.round_limit:
        yield from _revise(replay, case, state)
        if state.is_decided or state.rounds + 1 <= panel.round_limit:
            return
    state.basis = _basis_without_quorum(panel, state)


def _revise(replay: Replay, case: Case, state: Deliberation) -> Procedure[None]:
    nonce = replay.nonce()
    dissent = [vote.labelled for vote in state.of_round(state.rounds) if not vote.accepted]
    ask = AskProposer(
        position=replay.position,
        agent=case.reviser,
        phase=Phase.REVISION,
        prompt=prompts.revising(case.question, state.answer, dissent, nonce),
        round=state.rounds,
        task=case.task,
        nonce=nonce,
    )
    taken = yield from take(
        replay, Turn(ask=ask, parent=case.span, attributes={"oma.phase": Phase.REVISION})
    )
    _account(case, state, case.reviser, taken)
    if taken.outcome.has_succeeded and taken.outcome.output and not taken.is_cut_off:
        state.answer, state.structured = taken.outcome.output, taken.outcome.structured
    _stop_if_over(replay, case, state)


def _basis_without_quorum(panel: Panel, state: Deliberation) -> Basis:
    if panel.dissent_policy is OnDissent.KEEP:
        return Basis.KEPT
    if any(vote.call_failed for vote in state.of_round(state.rounds)):
        return Basis.JUDGE_ERROR
    return Basis.DISSENT
