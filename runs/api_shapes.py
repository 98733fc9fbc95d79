"""What the API of facts takes and gives, as its description says it."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

from runs.describing import (
    ANYTHING,
    Schema,
    flag,
    listed,
    maybe,
    members,
    moment,
    one_of,
    page,
    refer,
    text,
    whole,
)
from runs.domain.limits import Limits
from runs.domain.projection import Outcome, RunStatus
from runs.domain.turned_away import MAX_SEQUENCE
from runs.limits import FLOW, SETTINGS, camel

_MOST = Limits()
_AT = "2026-11-30T08:00:02Z"

HOST_KEY: Any = [{"hostKey": []}]
SIGNED: Any = [{"webhookSignature": []}]
"""How hosts show who they are."""

RUN = OpenApiParameter(
    "run", str, "path", description="The host's id of the run; a `/` in it travels as `~2F`."
)
HOST = OpenApiParameter("host", str, description="Which host's run, where several have the id.")
CURSOR = OpenApiParameter("cursor", str, description="`next` of the page before.")

_EVENT: Schema = {
    "eventId": text("The host's id of the event.", minLength=1, maxLength=_MOST.id_chars),
    "runId": text("The host's id of the run.", minLength=1, maxLength=2 * _MOST.id_chars + 1),
    "type": text("A name of OpenWOP v1 or v2, or a vendor's own.", maxLength=_MOST.type_chars),
    "payload": {"description": "Any JSON. What a known type should hold is checked and flagged."},
    "timestamp": moment("When it happened, with an offset."),
    "sequence": whole("The host's number of the event in the run.", maximum=MAX_SEQUENCE),
    "nodeId": maybe(text("The node that it is about.", maxLength=_MOST.id_chars)),
    "causationId": maybe(text("Event that caused it.", maxLength=_MOST.id_chars)),
}
_EVENT_EXAMPLE = {
    "eventId": "evt-0000000000000042",
    "runId": "r-1",
    "type": "agent.verified",
    "payload": {"agentId": "critic-1", "target": "evt-0000000000000041", "verdict": "fail"},
    "timestamp": _AT,
    "sequence": 2,
}
_REJECTED = members(
    {
        "index": whole("Its place in the batch, from 0."),
        "eventId": maybe(text("As far as it could be read.")),
        "error": text("Registered code."),
        "message": text("Which rule was broken, and what to do."),
        "details": members(
            {"reason": text("The rule, for programs."), "pointer": text("RFC 6901, in the event.")}
        ),
    }
)
_RUN: Schema = {
    "runId": text("The host's id of the run."),
    "host": text("Slug of the host."),
    "workflowId": maybe(text()),
    "parentRunId": maybe(text("The run that started this one.")),
    "status": one_of(RunStatus, "Folded from the events that are held, in sequence order."),
    "outcome": maybe(one_of(Outcome, "How it ended; only `goal_met` is a success.")),
    "held": flag("Something unreadable could have been a fail: nothing here counts as passed."),
    "holdReasons": listed(text(), "Why it is held."),
    "isTerminal": flag("Whether it has ended."),
    "startedAt": maybe(moment()),
    "endedAt": maybe(moment()),
    "lastEventAt": maybe(moment("When the newest event reached the Console.")),
    "events": whole("Events of the host that are held."),
    "lastSequence": whole("The highest that is held; -1: none.", least=-1),
    "lastPosition": whole("The Console's number of the log's newest line."),
    "standing": maybe(text("State of its worst gate.")),
    "openEscalations": whole("Requests that wait for a person."),
    "missing": listed(
        listed(whole(), minItems=2, maxItems=2), "Ranges of sequences that are not held."
    ),
}
_RUN_EXAMPLE: dict[str, Any] = {
    "runId": "r-1",
    "host": "alpha",
    "workflowId": "refund-policy",
    "parentRunId": None,
    "status": "running",
    "outcome": None,
    "held": False,
    "holdReasons": [],
    "isTerminal": False,
    "startedAt": "2026-11-30T08:00:00Z",
    "endedAt": None,
    "lastEventAt": _AT,
    "events": 3,
    "lastSequence": 2,
    "lastPosition": 4,
    "standing": "blocked",
    "openEscalations": 1,
}
_RECEIPT_EXAMPLE = {
    "accepted": 1,
    "duplicates": 0,
    "rejected": [],
    "runs": [{"runId": "r-1", "lastSequence": 2, "lastPosition": 4}],
}
_LIMIT = members({"limit": whole(), "setting": text("The variable that moves it.")})

SHAPES: dict[str, Schema] = {
    "Event": members(_EVENT, "One event; extra keys are kept.", optional=("nodeId", "causationId"))
    | {"additionalProperties": ANYTHING, "examples": [_EVENT_EXAMPLE]},
    "Events": {
        "oneOf": [
            refer("Event"),
            members({"events": listed(refer("Event"), maxItems=_MOST.batch_events)}),
            listed(refer("Event"), maxItems=_MOST.batch_events),
        ],
        "description": "One event, a batch, or an array; gzip is taken.",
        "examples": [_EVENT_EXAMPLE, {"events": [_EVENT_EXAMPLE]}],
    },
    "Receipt": members(
        {
            "accepted": whole("Events that are committed now."),
            "duplicates": whole("Events that were held already, with the same content."),
            "rejected": listed(_REJECTED, "What could not be taken; the rest was."),
            "runs": listed(
                members(
                    {
                        "runId": text(),
                        "lastSequence": whole("The highest that is held; -1: none.", least=-1),
                        "lastPosition": whole("The Console's number of the log's newest line."),
                    }
                ),
                "How far the runs are that the events belong to.",
            ),
        }
    )
    | {"examples": [_RECEIPT_EXAMPLE]},
    "Run": members(_RUN, optional=("missing",))
    | {"examples": [_RUN_EXAMPLE | {"missing": [[0, 0]]}]},
    "RunsPage": page("runs", "Run") | {"examples": [{"runs": [_RUN_EXAMPLE], "next": None}]},
    "RunEventsPage": members(
        {
            "runId": text(),
            "events": listed(refer("Event"), "In sequence order, as the host sent them."),
            "lastSequence": whole("Of the last one here: the next `after_sequence`.", least=-1),
            "status": one_of(RunStatus),
            "isTerminal": flag(),
        },
        "The shape of OpenWOP's poll answer.",
    )
    | {
        "examples": [
            {
                "runId": "r-1",
                "events": [_EVENT_EXAMPLE],
                "lastSequence": 2,
                "status": "running",
                "isTerminal": False,
            }
        ]
    },
    "Limits": members(
        {"limits": members({camel(name): _LIMIT for name in (SETTINGS | FLOW)})},
        "Every limit with the setting that changes it; rates are for each web process.",
    ),
    "WebhookDelivery": {
        "description": "An event, bare or as `event` of a wrapper, as real hosts write it; "
        "or the `challenge` of Standard Webhooks.",
        "type": "object",
        "examples": [{"runId": "r-1", "workspaceId": "acme", "event": _EVENT_EXAMPLE}],
    },
    "WebhookAnswer": {
        "oneOf": [
            refer("Receipt"),
            refer("WebhookPull"),
            members({"challenge": text("The word that was sent.")}),
        ],
        "examples": [_RECEIPT_EXAMPLE],
    },
    "WebhookPull": members(
        {"runId": text(), "pull": flag("Whether the event is read from the host now.")},
        "The delivery left out what it is about.",
    )
    | {"examples": [{"runId": "r-1", "pull": True}]},
    "Error": members(
        {
            "error": text("Registered OpenWOP code."),
            "message": text("What is wrong and what to do, in one sentence."),
            "details": {
                **members(
                    {
                        "reason": text("The rule that was broken, for programs."),
                        "pointer": text("RFC 6901 pointer to what is wrong."),
                        "limit": whole("The limit that was met."),
                        "setting": text("The variable that moves it."),
                        "retryAfterMs": whole(),
                        "rejected": listed(_REJECTED, "Every event of a batch."),
                    },
                    optional=("reason", "pointer", "limit", "setting", "retryAfterMs", "rejected"),
                ),
                "additionalProperties": ANYTHING,
            },
        },
        "OpenWOP's error envelope. It repeats nothing of what was sent.",
    )
    | {
        "examples": [
            {
                "error": "validation_error",
                "message": "A required field is missing.",
                "details": {"reason": "required", "pointer": "/sequence"},
            }
        ]
    },
    "Problem": {
        **members(
            {
                "type": text("`urn:openwop:error:` and the code."),
                "title": text(),
                "status": whole(),
                "detail": text("What is wrong and what to do, in one sentence."),
            },
            "RFC 9457: the same, beside the members of `details`.",
        ),
        "additionalProperties": ANYTHING,
        "examples": [
            {
                "type": "urn:openwop:error:validation_error",
                "title": "validation error",
                "status": 400,
                "detail": "A required field is missing.",
                "reason": "required",
                "pointer": "/sequence",
            }
        ],
    },
}
