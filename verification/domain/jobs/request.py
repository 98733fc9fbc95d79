"""Reads a request for a consensus, as the API, the form and the command line send it.

The same function reads it again when the job is worked on, so there is one understanding of it.

Source: open-multi-agent runConsensus options; OpenWOP RFC 0090 §A for targets and criteria.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.rule_judges import InvalidRule, Rule, read_rule
from verification.domain.consensus.rules import MOST_ROUNDS, Mode, OnDissent
from verification.domain.consensus.schemas import InvalidSchema, JsonSchema
from verification.domain.jobs import members
from verification.domain.jobs.members import Document
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.states import Operation

MOST_JUDGES = 16
MOST_PROPOSERS = 8
MOST_TOKENS = 100_000_000
RULE = "rule:"
SUBMITTED = "submitted"
"""Who stands for the author where the answer came with the request and nobody may revise it."""

_MEMBERS = frozenset(
    {
        "operation", "workspace", "host", "runId", "target", "prompt", "answer", "proposer",
        "judges", "mode", "quorum", "maxRounds", "onDissent", "judgePrompt", "verdictSchema",
        "maxTokenBudget", "criteria",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A proposer or judge as a request names it."""

    name: str
    model: str
    rule: Rule | None = None
    """For a judge whose model is a rule."""
    max_tokens: int | None = None

    @property
    def agent(self) -> Agent:
        """Return the agent that the procedure knows."""
        return Agent(self.name, self.model, max_tokens=self.max_tokens, rule=self.rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What is asked for. Content: it never leaves the restricted zone as a whole."""

    prompt: str
    answer: str | None
    proposers: tuple[Asked, ...]
    judges: tuple[Asked, ...]
    mode: str
    quorum: int | None
    """None: the default, which depends on what the verdict is for."""
    max_rounds: int
    on_dissent: str
    judge_prompt: str | Mapping[str, str] | None
    verdict_schema: JsonSchema | None
    max_tokens: int | None
    criteria: tuple[str, ...]
    run_id: str = ""
    target: str = ""
    host: str = ""
    workspace: str = ""
    document: Document = field(default_factory=dict)

    @property
    def operation(self) -> Operation:
        """Return what kind of job it is."""
        return Operation.CONSENSUS

    @property
    def question(self) -> str:
        """Return what is to be answered. Content."""
        return self.prompt

    @property
    def models(self) -> tuple[tuple[str, str], ...]:
        """Return every model that would be called, with a pointer to where it is named."""
        groups = (("/proposer", self.proposers), ("/judges", self.judges))
        return tuple(
            (each.model, f"{pointer}/{index}/model")
            for pointer, agents in groups
            for index, each in enumerate(agents)
            if not each.model.startswith(RULE)
        )


def read_request(document: object) -> JobRequest:
    """Return what a document asks for. Raises JobRefused."""
    said = members.an_object(document, "", _MEMBERS)
    judges = panel_of(said.get("judges"), "/judges")
    proposers = _proposers(said)
    _check_names(proposers, judges)
    request = JobRequest(
        prompt=_required(said, "prompt", members.LONGEST_QUESTION),
        answer=_optional(said, "answer", members.LONGEST_ANSWER),
        proposers=proposers,
        judges=judges,
        mode=word(said, "mode", Mode, Mode.REFUTE),
        quorum=count(said, "quorum", len(judges)),
        max_rounds=count(said, "maxRounds", MOST_ROUNDS) or 2,
        on_dissent=word(said, "onDissent", OnDissent, OnDissent.REVISE),
        judge_prompt=judge_prompt_in(said, judges),
        verdict_schema=schema_in(said),
        max_tokens=count(said, "maxTokenBudget", MOST_TOKENS),
        criteria=members.criteria(said.get("criteria", []), "/criteria"),
        run_id=_token(said, "runId"),
        target=_token(said, "target"),
        host=name_in(said, "host"),
        workspace=name_in(said, "workspace"),
        document=said,
    )
    _check_answer(request)
    return request


def _check_answer(request: JobRequest) -> None:
    if request.run_id and not request.target:
        raise JobRefused("required", "/target", "Say which result of the run is meant.")
    if request.target and not request.run_id:
        raise JobRefused("required", "/runId", "Say which run the target is in.")
    if request.answer is None and (request.target or not request.proposers):
        raise JobRefused("required", "/answer", "There is no answer to judge: send one.")
    if request.answer is not None and len(request.proposers) > 1:
        raise JobRefused(
            "too_many", "/proposer", "With an answer at hand, one proposer at most may revise it."
        )


def panel_of(given: object, pointer: str) -> tuple[Asked, ...]:
    """Return judges, each with a name of its own. Raises JobRefused."""
    if not isinstance(given, list) or not given:
        raise JobRefused("no_judges", pointer, "At least one judge is needed.")
    if len(given) > MOST_JUDGES:
        raise JobRefused("too_many", pointer, f"At most {MOST_JUDGES} judges are heard.")
    judges = tuple(_judge(each, f"{pointer}/{index}") for index, each in enumerate(given))
    names = [each.name for each in judges]
    for index, name in enumerate(names):
        if name in names[:index]:
            where = f"{pointer}/{index}/name"
            raise JobRefused("duplicate_judge", where, "Every judge needs a name of its own.")
    return judges


def _judge(given: object, pointer: str) -> Asked:
    said = members.an_object(given, pointer, {"name", "model", "settings", "maxTokenBudget"})
    model = members.a_name(said.get("model"), f"{pointer}/model")
    is_rule = model.startswith(RULE)
    if "settings" in said and not is_rule:
        raise JobRefused("unexpected_key", f"{pointer}/settings", "Only rules have settings.")
    return Asked(
        name=members.a_name(said.get("name"), f"{pointer}/name"),
        model=model,
        rule=_rule(model, said.get("settings", {}), pointer) if is_rule else None,
        max_tokens=count(said, "maxTokenBudget", MOST_TOKENS, pointer),
    )


def _rule(kind: str, settings: object, pointer: str) -> Rule:
    if not isinstance(settings, Mapping):
        raise JobRefused("type", f"{pointer}/settings", "An object is expected here.")
    try:
        return read_rule(kind, settings)
    except InvalidRule as error:
        raise JobRefused("rule", pointer, str(error)) from error


def _proposers(said: Document) -> tuple[Asked, ...]:
    given = said.get("proposer", [])
    listed = given if isinstance(given, list) else [given]
    if len(listed) > MOST_PROPOSERS or ("proposer" in said and not listed):
        raise JobRefused("range", "/proposer", f"1 to {MOST_PROPOSERS} proposers are expected.")
    return tuple(member_of(each, f"/proposer/{index}") for index, each in enumerate(listed))


def member_of(given: object, pointer: str) -> Asked:
    """Return somebody who answers: a model, never a rule. Raises JobRefused."""
    said = members.an_object(given, pointer, {"name", "model", "maxTokenBudget"})
    model = members.a_name(said.get("model"), f"{pointer}/model")
    if model.startswith(RULE):
        raise JobRefused("model", f"{pointer}/model", "A rule can judge, but not answer.")
    name = members.a_name(said.get("name"), f"{pointer}/name")
    return Asked(name, model, max_tokens=count(said, "maxTokenBudget", MOST_TOKENS, pointer))


def _check_names(proposers: tuple[Asked, ...], judges: tuple[Asked, ...]) -> None:
    actors = {each.name for each in proposers} | {SUBMITTED}
    check_independent(judges, actors, "/judges")
    if len(actors) <= len(proposers):
        raise JobRefused("duplicate", "/proposer", "Every proposer needs a name of its own.")


def check_independent(judges: tuple[Asked, ...], actors: set[str], pointer: str) -> None:
    """Pass when nobody would judge what they wrote themselves. Raises JobRefused."""
    for index, judge in enumerate(judges):
        if judge.name in actors:
            where = f"{pointer}/{index}/name"
            raise JobRefused("judge_is_actor", where, "Nobody judges what they wrote themselves.")


def judge_prompt_in(
    said: Document, judges: tuple[Asked, ...], pointer: str = ""
) -> str | Mapping[str, str] | None:
    """Return what replaces the judges' instruction, if anything does. Raises JobRefused."""
    given, where = said.get("judgePrompt"), f"{pointer}/judgePrompt"
    if "judgePrompt" not in said:
        return None
    longest = members.LONGEST_INSTRUCTION
    if not isinstance(given, Mapping):
        return members.a_text(given, where, longest)
    named = members.an_object(given, where, {judge.name for judge in judges})
    for judge in judges:
        if judge.name not in named:
            raise JobRefused("required", where, "Every judge needs an instruction.")
    return {name: members.a_text(text, f"{where}/{name}", longest) for name, text in named.items()}


def schema_in(said: Document, pointer: str = "") -> JsonSchema | None:
    """Return the schema that verdicts must satisfy, if there is one. Raises JobRefused."""
    if "verdictSchema" not in said:
        return None
    given, where = said["verdictSchema"], f"{pointer}/verdictSchema"
    if not isinstance(given, Mapping):
        raise JobRefused("type", where, "A JSON Schema is expected here.")
    try:
        return JsonSchema(given)
    except InvalidSchema as error:
        raise JobRefused("schema", where, "It is not a usable JSON Schema.") from error


def _required(said: Document, name: str, longest: int) -> str:
    if name not in said:
        raise JobRefused("required", f"/{name}", "It is missing.")
    return members.a_text(said[name], f"/{name}", longest)


def _optional(said: Document, name: str, longest: int) -> str | None:
    return _required(said, name, longest) if name in said else None


def count(said: Document, name: str, most: int, pointer: str = "") -> int | None:
    """Return a whole number from 1, if the member is there. Raises JobRefused."""
    return members.a_count(said[name], f"{pointer}/{name}", 1, most) if name in said else None


def word(said: Document, name: str, words: type[StrEnum], default: str, pointer: str = "") -> str:
    """Return one of some words, or the default if the member is not there. Raises JobRefused."""
    if name not in said:
        return str(default)
    return members.a_word(said[name], f"{pointer}/{name}", [each.value for each in words])


def _token(said: Document, name: str) -> str:
    return members.a_target(said[name], f"/{name}") if name in said else ""


def name_in(said: Document, name: str) -> str:
    """Return a name, empty if the member is not there. Raises JobRefused."""
    return members.a_name(said[name], f"/{name}") if name in said else ""
