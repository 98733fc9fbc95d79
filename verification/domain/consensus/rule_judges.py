"""Judges that are rules instead of models: the same answer always gets the same verdict.

A rule judges one point of an answer's text and nothing else. Where it cannot check, it dissents.
Patterns are matched by an engine that is linear in the text, and texts too long are not read.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from verification.domain.consensus.json_text import FENCE, NotJson, parse, trimmed
from verification.domain.consensus.schemas import InvalidSchema, JsonSchema
from verification.domain.errors import VerificationError

MAX_ANSWER_CHARACTERS = 200_000
MAX_PATTERN_CHARACTERS = 512

_CITATION = re.compile(r"\[([A-Za-z0-9][\w.:/-]{0,63}(?:,\s?[A-Za-z0-9][\w.:/-]{0,63}){0,31})\]")
_URL = re.compile(r"https?://[^\s<>\"'()\[\]]{1,2048}")


class InvalidRule(VerificationError):
    """A rule judge cannot be built from its configuration."""

    def __init__(self, kind: str, why: str) -> None:
        self.kind = kind
        self.why = why
        super().__init__(f"{kind} cannot be used: {why}.")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule made of an answer. The critique names the rule's point, never the answer."""

    accepts: bool
    critique: str = ""


@dataclass(frozen=True, slots=True)
class FollowsSchema:
    """`rule:json-schema`: the answer is JSON of a given form, alone or in one code fence."""

    schema: JsonSchema


@dataclass(frozen=True, slots=True)
class Matches:
    """`rule:must-match` and `rule:must-not-match`: a pattern is, or is not, found in the answer."""

    pattern: JsonSchema
    is_wanted: bool


@dataclass(frozen=True, slots=True)
class Cites:
    """`rule:required-citations`: sources are named as `[key]` or by address."""

    minimum: int = 1
    """How many different sources at least."""
    required: tuple[str, ...] = ()
    """Sources that must be among them."""
    allowed: tuple[str, ...] | None = None
    """The only sources there are; None where any will do."""


@dataclass(frozen=True, slots=True)
class HasLength:
    """`rule:length`: the answer is neither too short nor too long."""

    minimum: int = 1
    maximum: int | None = None
    counts_words: bool = False


Rule = FollowsSchema | Matches | Cites | HasLength


def judge_by_rule(rule: Rule, answer: str) -> Finding:
    """Return what a rule makes of an answer."""
    if len(answer) > MAX_ANSWER_CHARACTERS:
        return Finding(False, "The answer is too long to be checked.")
    match rule:
        case FollowsSchema():
            return _judge_schema(rule, answer)
        case Matches():
            return _judge_pattern(rule, answer)
        case Cites():
            return _judge_citations(rule, answer)
        case HasLength():
            return _judge_length(rule, answer)
        case _:
            assert_never(rule)


def reply_by_rule(rule: Rule, answer: str, nonce: str | None) -> str:
    """Return the reply of a rule judge, in the form that the job's other judges reply in."""
    finding = judge_by_rule(rule, answer)
    reply = {"accept": finding.accepts, "critique": finding.critique}
    return json.dumps(reply if nonce is None else {"nonce": nonce, **reply})


def read_rule(kind: str, settings: Mapping[str, Any]) -> Rule:
    """Build a rule from its kind and settings, both as a job states them.

    Kinds and settings: `rule:json-schema` {schema}; `rule:must-match` and `rule:must-not-match`
    {pattern}; `rule:required-citations` {minimum, required, allowed}; `rule:length` {minimum,
    maximum, unit: characters or words}.

    Raises:
        InvalidRule: the kind is unknown or its settings are not usable.
    """
    known = _SETTINGS.get(kind)
    if known is None:
        raise InvalidRule(kind, "there is no such rule")
    names, build = known
    if not set(settings) <= names:
        raise InvalidRule(kind, f"it takes {', '.join(sorted(names))} only")
    return build(kind, settings)


def _judge_schema(rule: FollowsSchema, answer: str) -> Finding:
    try:
        value = parse(_without_fence(trimmed(answer)))
    except NotJson:
        return Finding(False, "The answer is not JSON.")
    if not rule.schema.accepts(value):
        return Finding(False, "The answer is JSON, but not of the required form.")
    return Finding(True)


def _without_fence(text: str) -> str:
    is_fenced = text.startswith(FENCE) and text.endswith(FENCE) and text.count(FENCE) == 2
    if not is_fenced:
        return text
    return trimmed(text.removeprefix(FENCE).removesuffix(FENCE).removeprefix("json"))


def _judge_pattern(rule: Matches, answer: str) -> Finding:
    try:
        is_found = rule.pattern.accepts(answer)
        answer.encode()
    except UnicodeEncodeError:
        return Finding(False, "The answer is not readable text.")
    if is_found is rule.is_wanted:
        return Finding(True)
    if rule.is_wanted:
        return Finding(False, "The answer lacks what it must contain.")
    return Finding(False, "The answer contains what it must not.")


def _judge_citations(rule: Cites, answer: str) -> Finding:
    named = {key.strip() for found in _CITATION.findall(answer) for key in found.split(",")}
    cited = named | {url.rstrip(".,;:!?") for url in _URL.findall(answer)}
    missing = set(rule.required) - cited
    if missing:
        return Finding(False, f"Required sources are not cited: {', '.join(sorted(missing))}.")
    if rule.allowed is not None and not cited <= set(rule.allowed):
        return Finding(False, "The answer cites sources that do not exist here.")
    if len(cited) < rule.minimum:
        return Finding(False, f"The answer cites fewer than {rule.minimum} sources.")
    return Finding(True)


def _judge_length(rule: HasLength, answer: str) -> Finding:
    length = len(answer.split()) if rule.counts_words else len(answer)
    unit = "words" if rule.counts_words else "characters"
    if length < rule.minimum:
        return Finding(False, f"The answer has fewer than {rule.minimum} {unit}.")
    if rule.maximum is not None and length > rule.maximum:
        return Finding(False, f"The answer has more than {rule.maximum} {unit}.")
    return Finding(True)


def _build_schema(kind: str, settings: Mapping[str, Any]) -> Rule:
    schema = settings.get("schema")
    if not isinstance(schema, Mapping):
        raise InvalidRule(kind, "it needs a schema")
    return FollowsSchema(_compiled(kind, schema))


def _build_pattern(kind: str, settings: Mapping[str, Any]) -> Rule:
    pattern = settings.get("pattern")
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_PATTERN_CHARACTERS:
        raise InvalidRule(kind, f"it needs a pattern of 1 to {MAX_PATTERN_CHARACTERS} characters")
    return Matches(_compiled(kind, {"pattern": pattern}), is_wanted=kind == "rule:must-match")


def _compiled(kind: str, schema: Mapping[str, Any]) -> JsonSchema:
    try:
        return JsonSchema(schema)
    except InvalidSchema as error:
        raise InvalidRule(kind, "its schema or pattern does not compile") from error


def _build_citations(kind: str, settings: Mapping[str, Any]) -> Rule:
    allowed = settings.get("allowed")
    return Cites(
        minimum=_count(kind, settings.get("minimum", 1)),
        required=_names(kind, settings.get("required", ())),
        allowed=None if allowed is None else _names(kind, allowed),
    )


def _build_length(kind: str, settings: Mapping[str, Any]) -> Rule:
    maximum, unit = settings.get("maximum"), settings.get("unit", "characters")
    if unit not in ("characters", "words"):
        raise InvalidRule(kind, "its unit is characters or words")
    return HasLength(
        minimum=_count(kind, settings.get("minimum", 1)),
        maximum=None if maximum is None else _count(kind, maximum),
        counts_words=unit == "words",
    )


def _count(kind: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidRule(kind, "its limits are whole numbers from 0")
    return value


def _names(kind: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise InvalidRule(kind, "its sources are a list of texts")
    return tuple(value)


_SETTINGS: Mapping[str, tuple[frozenset[str], Callable[[str, Mapping[str, Any]], Rule]]] = {
    "rule:json-schema": (frozenset({"schema"}), _build_schema),
    "rule:must-match": (frozenset({"pattern"}), _build_pattern),
    "rule:must-not-match": (frozenset({"pattern"}), _build_pattern),
    "rule:required-citations": (frozenset({"minimum", "required", "allowed"}), _build_citations),
    "rule:length": (frozenset({"minimum", "maximum", "unit"}), _build_length),
}
