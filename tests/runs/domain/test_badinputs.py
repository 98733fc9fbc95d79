"""Every hostile or odd request, read as the door would read it."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from runs.domain.answers import message_of
from runs.domain.batch import events_of, form_of, unpacked
from runs.domain.envelope import EnvelopeRefused, read
from runs.domain.limits import Limits
from runs.domain.log import Envelope
from runs.domain.refusals import BodyRefused, Refused
from tests.runs.domain.events import NOW

FOLDER = Path(__file__).parents[2] / "fixtures" / "badinputs"
REQUESTS = [json.loads(line) for line in (FOLDER / "requests.jsonl").read_text().splitlines()]

TAKEN = ("taken", None, None)
DEVIATIONS = {
    "syn-top-array-on-single": (TAKEN, "an array of events is one of the accepted bodies"),
    "env-engineversion-number": (TAKEN, "engineVersion is an integer in v2"),
    "lim-body-1m-plus": (TAKEN, "a body may have 5 MiB; the payload is kept as size and hash"),
    "bat-501-items": (TAKEN, "a batch may have 1000 events"),
}
"""Where the design decides otherwise than the collection the requests come from."""

CANARY = "CANARY"
LIMITS = Limits()


def body_of(request: dict[str, Any]) -> bytes:
    if "base64" in request:
        return base64.b64decode(request["base64"])
    if "parts" in request:
        return "".join(
            "".join(text.replace("#", str(n)) for n in range(count))
            if "#" in text
            else text * count
            for text, count in request["parts"]
        ).encode()
    return request["body"].encode()


def outcome_of(request: dict[str, Any]) -> Sequence[Envelope | Refused | BodyRefused]:
    try:
        form = form_of(request.get("contentType", "application/json"))
        raw = unpacked(body_of(request), request.get("contentEncoding", ""), LIMITS)
        items = events_of(raw, form, LIMITS).items
    except BodyRefused as refused:
        return [refused]
    return [item if isinstance(item, Refused) else read_or_refused(item) for _, item in items]


def read_or_refused(document: object) -> Envelope | Refused:
    try:
        return read(document, now=NOW, limits=LIMITS)
    except EnvelopeRefused as error:
        return error.refused


def named(group: str | None = None, expect: str | None = None) -> list[Any]:
    return [
        pytest.param(request, id=request["name"])
        for request in REQUESTS
        if group in (None, request["group"]) and expect in (None, request["expect"])
    ]


def expected(request: dict[str, Any]) -> tuple[str, str | None, list[str] | None]:
    if request["name"] in DEVIATIONS:
        return DEVIATIONS[request["name"]][0]
    return request["expect"], request.get("error"), request.get("reasons")


@pytest.mark.parametrize("request_", named())
def test_every_request_is_taken_or_refused_as_listed(request_):
    expect, error, reasons = expected(request_)

    outcome = outcome_of(request_)

    refused = [each for each in outcome if not isinstance(each, Envelope)]
    if expect == "taken":
        assert refused == []
    elif expect == "refused":
        assert [each.error for each in refused] == [error]
        assert reasons is None or refused[0].reason in reasons
    else:
        assert expect == "taken or refused"


@pytest.mark.parametrize("request_", named(expect="refused"))
def test_a_refusal_has_a_sentence_and_repeats_nothing(request_):
    for each in outcome_of(request_):
        if not isinstance(each, Envelope):
            told = f"{each.error} {each.reason} {each.pointer} {message_of(each.reason)}"
            assert message_of(each.reason) != message_of("no such reason")
            assert CANARY not in told


@pytest.mark.parametrize(
    "request_", [*named(group="verifier-payload"), *named(group="content-leak")]
)
def test_a_refused_verdict_holds_its_run(request_):
    [refused] = outcome_of(request_)

    assert isinstance(refused, Refused)
    assert refused.holds
    assert (refused.run_id, refused.sequence) == ("run-a", 1)
    assert refused.event_id == "11111111-1111-4111-8111-111111111111"


@pytest.mark.parametrize("request_", named(group="payload-schema", expect="taken"))
def test_an_off_schema_payload_is_taken_and_flagged(request_):
    [envelope] = outcome_of(request_)

    assert isinstance(envelope, Envelope)
    assert envelope.mismatches


def test_good_items_beside_a_bad_one_are_taken():
    [request] = [each for each in REQUESTS if each["name"] == "bat-poison-last"]

    good, bad = outcome_of(request)

    assert isinstance(good, Envelope)
    assert isinstance(bad, Refused)
    assert (bad.reason, bad.pointer, bad.sequence) == ("nul_character", "/payload/nodeId", 2)
    assert not bad.holds


def test_deviations_name_requests_that_exist():
    assert DEVIATIONS.keys() <= {request["name"] for request in REQUESTS}
