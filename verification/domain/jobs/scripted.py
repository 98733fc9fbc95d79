"""What stands in for a model: an answer that came with the request, or a rule that judges."""

from collections.abc import Sequence

from verification.domain.consensus.asks import Ask, AskCoordinator, AskJudge, AskProposer
from verification.domain.consensus.failures import Failure, FailureKind, Status
from verification.domain.consensus.history import Phase
from verification.domain.consensus.queue import Task
from verification.domain.consensus.rule_judges import reply_by_rule
from verification.domain.jobs.given import Given
from verification.domain.jobs.request import JobRequest
from verification.domain.jobs.requests import AnyRequest

_NOT_GIVEN = Failure(Status.ERROR, FailureKind.PROVIDER, False, "NOT_GIVEN", "NotGiven")
"""Nobody said what this member answers here."""


def said_without_call(request: AnyRequest, ask: Ask, title: str) -> str | Failure | None:
    """Return what is said without a call, or that nothing is; None where a model is to be asked.

    Args:
        request: what was asked for. Content, and so is the reply.
        ask: what is to be said.
        title: of the task it is said in; empty: in none.
    """
    if isinstance(ask, AskJudge):
        rule = ask.agent.rule
        return None if rule is None else reply_by_rule(rule, ask.answer, ask.nonce)
    if isinstance(request, JobRequest):
        is_first = isinstance(ask, AskProposer) and ask.phase is Phase.PROPOSER
        return request.answer if is_first else None
    given = request.given.get(ask.agent.name)
    if given is None:
        return None
    said = _said(given, ask, title)
    return _NOT_GIVEN if said is None else said


def _said(given: Given, ask: Ask, title: str) -> str | None:
    if isinstance(ask, AskCoordinator):
        return given.plan if ask.phase is Phase.DECOMPOSITION else given.answer
    return given.reply(title, ask.round if isinstance(ask, AskProposer) else 0)


def pause_before(request: AnyRequest, ask: Ask) -> float:
    """Return how many seconds a reply that was given takes."""
    if isinstance(request, JobRequest) or isinstance(ask, AskJudge):
        return 0.0
    given = request.given.get(ask.agent.name)
    return 0.0 if given is None else float(given.pause_s)


def title_of(tasks: Sequence[Task], task: str | None) -> str:
    """Return a task's title; empty where it is about none. Content."""
    return next((each.spec.title for each in tasks if each.id == task), "")
