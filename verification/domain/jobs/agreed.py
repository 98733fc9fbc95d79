"""What is agreed before a job starts: the rules it follows, and the shape that anybody may see."""

import hashlib
import hmac
from collections.abc import Callable
from typing import Any

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.budgets import Budgets
from verification.domain.consensus.rules import ConsensusRules, OnDissent, Panel, Setting, majority
from verification.domain.consensus.tasks import TaskRules
from verification.domain.consensus.team import TeamRules
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.request import SUBMITTED, Asked, JobRequest
from verification.domain.jobs.team_request import ON_REJECTED, TeamRequest


def agreed_quorum(request: JobRequest, *, is_gating: bool) -> int:
    """Return the accepts that a job needs.

    Args:
        request: what was asked for.
        is_gating: the verdict binds a host; then it takes more than half of at least two judges.

    Raises:
        JobRefused: the request asks for fewer than a gate may rest on, or would keep dissent.
    """
    judges = len(request.judges)
    if not is_gating:
        return request.quorum or -(-judges // 2)
    if request.on_dissent == OnDissent.KEEP:
        raise JobRefused(
            "keep_forbidden_on_gating",
            "/onDissent",
            "This host obeys verdicts, so an answer without quorum cannot be kept.",
        )
    least = majority(judges)
    if judges < least:
        raise JobRefused("panel_too_small", "/judges", "A gate takes two judges at least.")
    if request.quorum is not None and request.quorum < least:
        raise JobRefused(
            "quorum_below_majority", "/quorum", f"A gate over {judges} judges takes {least}."
        )
    return request.quorum or least


def rules_of(
    request: JobRequest, *, quorum: int, max_tokens: int | None, secret: bytes, run_id: str
) -> ConsensusRules:
    """Return the rules that the procedure follows; the same arguments give the same rules."""
    proposers = tuple(each.agent for each in request.proposers) or (Agent(SUBMITTED),)
    return ConsensusRules(
        question=request.prompt,
        proposers=proposers,
        panel=Panel(
            judges=tuple(each.agent for each in request.judges),
            mode=request.mode,
            quorum=quorum,
            max_rounds=request.max_rounds,
            verdict_schema=request.verdict_schema,
            on_dissent=dissent_policy(request),
            judge_prompt=request.judge_prompt,
        ),
        setting=Setting(
            run_id=run_id,
            budgets=Budgets(max_tokens),
            remembers=_remembers,
            nonce=nonces(secret),
            criteria=request.criteria,
        ),
    )


def team_rules_of(
    request: TeamRequest, *, budgets: Budgets, at_once: int, secret: bytes, run_id: str
) -> TaskRules | TeamRules:
    """Return the rules of a run of tasks or of a team; the same arguments give the same rules."""
    setting = Setting(
        run_id=run_id,
        budgets=budgets,
        remembers=_remembers,
        nonce=nonces(secret),
        criteria=request.criteria,
        unaccepted=request.unaccepted,
        at_once=at_once,
    )
    team = tuple(each.agent for each in request.team)
    if request.coordinator is None:
        return TaskRules(team=team, tasks=request.tasks, setting=setting)
    return TeamRules(
        goal=request.goal,
        team=team,
        coordinator=request.coordinator.agent,
        verify_judges=tuple(each.agent for each in request.judges),
        needs_approval=request.needs_approval,
        setting=setting,
    )


def dissent_policy(request: JobRequest) -> str:
    """Return what dissent leads to: without anybody who could revise, the first round decides."""
    if request.on_dissent == OnDissent.REVISE and not request.proposers:
        return OnDissent.REJECT.value
    return request.on_dissent


def nonces(secret: bytes) -> Callable[[int], str]:
    """Return the nonce of each call: the same after a restart, and nobody's to guess."""

    def nonce(position: int) -> str:
        return hmac.new(secret, str(position).encode(), hashlib.sha256).hexdigest()[:32]

    return nonce


def _remembers(key: str) -> bool:
    return True


def shape_of(request: JobRequest, quorum: int) -> dict[str, Any]:
    """Return what a job agreed on without any content: for its page, its list and its events."""
    return {
        "proposers": _names(request.proposers),
        "judges": _names(request.judges),
        "mode": request.mode,
        "quorum": quorum,
        "maxRounds": request.max_rounds,
        "onDissent": request.on_dissent,
        "maxTokenBudget": request.max_tokens,
        "criteria": list(request.criteria),
        "hasAnswer": request.answer is not None,
        "hasJudgePrompt": request.judge_prompt is not None,
        "hasVerdictSchema": request.verdict_schema is not None,
    }


def team_shape_of(request: TeamRequest, at_once: int) -> dict[str, Any]:
    """Return what a run of tasks or of a team agreed on without any content."""
    coordinator = request.coordinator
    return {
        "team": _names(request.team),
        "judges": _names(request.judges),
        "coordinator": None if coordinator is None else _names((coordinator,))[0],
        "atOnce": at_once,
        "onRejected": ON_REJECTED[request.unaccepted],
        "approvePlan": request.needs_approval,
        "maxTokenBudget": request.max_tokens,
        "maxCostBudget": None if request.max_cost is None else str(request.max_cost),
        "criteria": list(request.criteria),
    }


def _names(agents: tuple[Asked, ...]) -> list[dict[str, str]]:
    return [{"name": each.name, "model": each.model} for each in agents]
