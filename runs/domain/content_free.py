"""What may name a verdict's subject and grounds, so that a verdict never carries content.

`agent.verified` says what was checked and how it came out, in ids, words and numbers, and nothing
in it may be the checked text. Keys one by one can still spell a sentence, so a host may register
the only criteria it will ever use. The same holds for the criteria on which an orchestrator ends a
run.

Source: RFC 0090 §A, §C; invariant `verifier-no-content-leak`.
"""

import hashlib
import re
from collections.abc import Collection, Mapping

LEAK = "verifier_content_leak"
SCHEMA = "payload_schema"

Fault = tuple[str, str]
"""A reason, and its place from the event's root. Places never name a sender's own key."""

VERDICTS = frozenset({"pass", "fail", "revise"})
MOST_CRITERIA = 64
MOST_EXTRA = 16

_FIELDS = frozenset({"agentId", "target", "verdict", "criteria", "confidence", "causationHostId"})
_CRITERION_FIELDS = frozenset({"key", "met"})
_LONGEST_TOKEN = 256
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
_TOKEN = re.compile(r"[!#$%&()*+,./0-9:;=?@A-Z\[\]^_a-z|~-]+")
"""Printable ASCII without spaces, quotes, braces, angle brackets and backslashes."""

_SECRET = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|pk|rk)[-_](?:[A-Za-z0-9]{16}|(?:ant|live|proj|test)[-_])"  # model and payment providers
    r"|(?:gh[opsur]|github_pat|glpat|hf|npm|whsec)[-_][A-Za-z0-9]{12}"
    r"|owc_[a-z]+_[A-Za-z0-9]+_"  # our own host keys
    r"|xox[abeoprs]-|ya29\."
    r"|(?:AKIA|ASIA|AIza)[A-Za-z0-9_-]{12}"
    r"|eyJ[A-Za-z0-9_-]{8})"  # JSON Web Tokens
)
_SCRAMBLED = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]{20})[A-Za-z0-9]*?[A-Za-z][0-9]+[A-Za-z]+[0-9]+[A-Za-z]"
)
"""Letters and digits taking turns in one long word: a random string, not the word of a key."""


def digest_of_target(target: object) -> str | None:
    """What stands for a verdict's target where it must not be named; None for what is no target."""
    if not isinstance(target, str) or _fault_in_token({"target": target}, "target"):
        return None
    return hashlib.sha256(target.encode()).hexdigest()[:32]


def fault_in_verdict(payload: object, vocabulary: Collection[str] | None = None) -> Fault | None:
    """Why a payload cannot be that of an `agent.verified`; None if it can.

    Args:
        payload: as sent.
        vocabulary: the only criteria that the host may name, if it registered them.
    """
    if type(payload) is not dict:
        return SCHEMA, "/payload"
    if not _FIELDS.issuperset(payload):
        return LEAK, "/payload"
    verdict = payload.get("verdict")
    if type(verdict) is not str or verdict not in VERDICTS:
        return SCHEMA, "/payload/verdict"
    return (
        _fault_in_token(payload, "agentId", reason_if_long=SCHEMA)
        or _fault_in_token(payload, "target")
        or ("causationHostId" in payload and _fault_in_token(payload, "causationHostId"))
        or ("confidence" in payload and _fault_in_confidence(payload["confidence"]))
        or ("criteria" in payload and _fault_in_criteria(payload["criteria"], vocabulary))
        or None
    )


def fault_in_decision(payload: object, field: str) -> Fault | None:
    """Why the success criteria of a decision cannot be taken; None if they can, or are not told.

    Only what could be content is refused. Criteria that merely miss their schema are readable, or
    readably not, and are left to the reader.

    Args:
        payload: of the event that carries the decision, as sent.
        field: the payload's field with the decision.
    """
    if type(payload) is not dict:
        return None
    for holder, place in ((payload, "/payload"), (payload.get(field), f"/payload/{field}")):
        if type(holder) is dict and "successCriteria" in holder:
            fault = _fault_in_success_criteria(
                holder["successCriteria"], f"{place}/successCriteria"
            )
            if fault:
                return fault
    return None


def fault_in_extra(extra: Mapping[str, object]) -> Fault | None:
    """Why further envelope keys cannot travel with a verdict; None if they can.

    They may be numbers, flags and short tokens, such as a trace id, and few.
    """
    if len(extra) > MOST_EXTRA:
        return LEAK, ""
    for key, value in extra.items():
        is_plain = value is None or isinstance(value, bool | int | float)
        if not _KEY.fullmatch(key) or not (is_plain or _is_token(value)):
            return LEAK, ""
    return None


def _fault_in_token(
    payload: Mapping[str, object], name: str, *, reason_if_long: str = LEAK
) -> Fault | None:
    value = payload.get(name)
    if type(value) is not str or not value:
        return SCHEMA, f"/payload/{name}"
    if len(value) > _LONGEST_TOKEN:
        return reason_if_long, f"/payload/{name}"
    return None if _is_token(value) else (LEAK, f"/payload/{name}")


def _is_token(value: object) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= _LONGEST_TOKEN
        and _TOKEN.fullmatch(value) is not None
        and not _SECRET.search(value)
    )


def _fault_in_confidence(value: object) -> Fault | None:
    is_share = (type(value) is float or type(value) is int) and 0 <= value <= 1
    return None if is_share else (SCHEMA, "/payload/confidence")


def _fault_in_criteria(criteria: object, vocabulary: Collection[str] | None) -> Fault | None:
    if type(criteria) is not list:
        return SCHEMA, "/payload/criteria"
    if len(criteria) > MOST_CRITERIA:
        return LEAK, "/payload/criteria"
    for index, key in enumerate(criteria):
        if type(key) is not str or not key:
            return SCHEMA, f"/payload/criteria/{index}"
        if not _is_key(key) or (vocabulary is not None and key not in vocabulary):
            return LEAK, f"/payload/criteria/{index}"
    return None if len(set(criteria)) == len(criteria) else (SCHEMA, "/payload/criteria")


def _fault_in_success_criteria(criteria: object, place: str) -> Fault | None:
    if type(criteria) is not list:
        return (LEAK, place) if _could_be_content(criteria) else None
    if len(criteria) > MOST_CRITERIA:
        return LEAK, place
    for index, criterion in enumerate(criteria):
        if type(criterion) is not dict:
            is_fine = not _could_be_content(criterion)
        else:
            is_fine = _is_criterion(criterion)
        if not is_fine:
            return LEAK, f"{place}/{index}"
    return None


def _is_criterion(criterion: Mapping[str, object]) -> bool:
    key, met = criterion.get("key"), criterion.get("met")
    return (
        _CRITERION_FIELDS.issuperset(criterion)
        and not _could_be_content(met)
        and (_is_key(key) if isinstance(key, str) and key else not _could_be_content(key))
    )


def _is_key(key: str) -> bool:
    return (
        _KEY.fullmatch(key) is not None and not _SECRET.search(key) and not _SCRAMBLED.search(key)
    )


def _could_be_content(value: object) -> bool:
    return bool(value) and isinstance(value, str | dict | list)
