"""What the API of judgements takes and gives, as its description says it."""

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
from runs.domain.projection import Outcome, RunStatus
from verification.domain.choices import Need
from verification.domain.consensus.failures import FailureKind, Status
from verification.domain.consensus.plan import MOST_TASKS
from verification.domain.consensus.queue import MOST_RETRIES
from verification.domain.consensus.result import Basis, GateVerdict, Verdict
from verification.domain.consensus.rules import MOST_ROUNDS, Mode, OnDissent
from verification.domain.decisions import MAX_TEXT, Action, Scope
from verification.domain.delivery import Door
from verification.domain.delivery import State as DeliveryState
from verification.domain.fields import FieldKind
from verification.domain.findings import FindingKind, Severity
from verification.domain.gate_answers import AnswerBasis, GateDecision
from verification.domain.gates import GateState
from verification.domain.jobs.members import LONGEST_ANSWER, LONGEST_QUESTION
from verification.domain.jobs.request import MOST_JUDGES, MOST_PROPOSERS, MOST_TOKENS
from verification.domain.jobs.states import JobBasis, JobState, Operation, Stop
from verification.domain.jobs.team_request import (
    LONGEST_TITLE,
    MOST_AT_ONCE,
    MOST_MEMBERS,
    MemoryScope,
    OnRejected,
)
from verification.domain.lifecycle import State
from verification.domain.rule_texts import Force
from verification.domain.subjects import SubjectKind

MOVES = ("claim", "heartbeat", "release", "reassign", "resolve", "undo", "comment", "close")
_AT = "2026-11-30T08:00:02Z"
_UUID = "7b0c3a52-2f6e-4c1d-9d0e-5a4f1b2c3d4e"

PEOPLE: Any = [{"personalToken": []}, {"session": []}]
"""How whoever must be a person signs in."""
TARGET = OpenApiParameter(
    "target", str, "path", description="What the verdict is about, as the host wrote it."
)
MOVE = OpenApiParameter("move", str, "path", enum=MOVES, description="What is done.")
RUN_OF_TARGET = OpenApiParameter("run", str, description="The run that the target is in.")


def key_parameter(about: str) -> OpenApiParameter:
    """Describe the header that makes sending again harmless."""
    return OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, description=about)


def number_of(what: str, name: str = "id") -> OpenApiParameter:
    """Describe the number in an address."""
    return OpenApiParameter(name, int, "path", description=f"Number of the {what}.")


def id_of(what: str, name: str) -> OpenApiParameter:
    """Describe the UUID in an address."""
    return OpenApiParameter(name, {"type": "string", "format": "uuid"}, "path", description=what)


_ANSWER = {
    "decision": one_of(GateDecision, "What may be done; only `pass` is a pass."),
    "basis": one_of(AnswerBasis, "What it rests on."),
    "complete": flag("No sequence of the run is missing."),
    "expiresAt": moment("When to ask again."),
    "receiptId": text("Names this answer.", format="uuid"),
}
_ANSWER_EXAMPLE = {
    "decision": "fail",
    "basis": "verdict",
    "complete": True,
    "expiresAt": _AT,
    "receiptId": _UUID,
}
_ESCALATION = {
    "id": whole(),
    "state": one_of(State),
    "version": whole("Rises with every change; send it as `expectedVersion`."),
    "reason": text("Why it was opened."),
    "reasons": listed(text(), "Every reason that joined it."),
    "target": maybe(text()),
    "runId": text(),
    "interrupt": maybe(
        members({name: maybe(text()) for name in ("nodeId", "interruptId", "kind")})
    ),
    "openedAt": moment(),
    "dueAt": moment(),
    "claimedBy": maybe(text("Who holds it.")),
    "closedAt": maybe(moment()),
    "closedBecause": maybe(text()),
}
_ESCALATION_EXAMPLE = {
    "id": 7,
    "state": "open",
    "version": 1,
    "reason": "fail",
    "reasons": ["fail"],
    "target": "evt-0000000000000041",
    "runId": "r-1",
    "interrupt": None,
    "openedAt": _AT,
    "dueAt": "2026-12-01T08:00:02Z",
    "claimedBy": None,
    "closedAt": None,
    "closedBecause": None,
}
_DETAIL = {
    "host": text("Slug of the host."),
    "queue": maybe(text()),
    "risk": text(),
    "claimUntil": maybe(moment()),
    "isForLeads": flag("Only a lead decides."),
    "seenPosition": whole("Send it back with a decision."),
    "seenDigest": text("Send it back with a decision: what you saw."),
    "actions": listed(
        members(
            {
                "action": one_of(Action),
                "label": text(),
                "reason": one_of(Need, "Whether a reason is asked for."),
                "feedback": one_of(Need),
                "goesToHost": flag("Whether the host is told."),
                "leavesOpen": flag("Whether somebody still has to decide afterwards."),
                "fields": listed(
                    members(
                        {
                            "name": text(),
                            "label": text(),
                            "kind": one_of(FieldKind),
                            "isRequired": flag(),
                            "choices": listed(ANYTHING),
                        }
                    ),
                    "What `answers` may hold.",
                ),
            }
        ),
        "What can be decided.",
    ),
    "reviews": listed(
        members({"by": text(), "action": one_of(Action), "at": moment()}),
        "What others said; nothing before one's own is in.",
    ),
    "resolution": maybe(
        members(
            {
                "action": one_of(Action),
                "by": text(),
                "at": moment(),
                "secondsToClaim": {"type": ["number", "null"]},
                "secondsToDecide": {"type": ["number", "null"]},
            }
        )
    ),
    "deliveries": listed(refer("Delivery")),
}
_DELIVERY_EXAMPLE = {
    "id": 3,
    "escalationId": 7,
    "host": "alpha",
    "door": "interrupt",
    "state": "waiting",
    "words": "",
    "attempts": 0,
    "lastStatus": None,
    "nextAttemptAt": _AT,
    "deliveredAt": None,
    "acceptedAt": None,
    "effectPosition": None,
    "effectAt": None,
    "sha256": "0" * 64,
    "idempotencyKey": _UUID,
}
_FINDING = {
    "id": whole(),
    "kind": one_of(FindingKind),
    "severity": one_of(Severity, "Only `violation` says that a promise was broken."),
    "target": maybe(text()),
    "explanation": text(),
    "wouldChange": text("What would change it; empty: nothing."),
    "status": one_of(("standing", "withdrawn")),
    "missing": listed(ANYTHING, "Ranges of sequences that would have to be known."),
}
_CAPABILITIES: Schema = {"description": "What the host advertised then."}
_NAME = text("1 to 128 letters, digits and `. _ : @ / -`.", maxLength=128)
_JOB: dict[str, Schema] = {
    "id": text(format="uuid"),
    "operation": one_of(Operation),
    "state": one_of(JobState),
    "phase": text(
        "queued, planning, proposing, working, judging, revising, summing-up, waiting or ended."
    ),
    "verdict": maybe(
        one_of(
            GateVerdict,
            "Once it has ended; only a quorum passes, or a person who lets a result through. "
            "Null then: nobody was asked to judge.",
        )
    ),
    "basis": maybe(one_of(JobBasis)),
    "rounds": whole("Rounds that were heard."),
    "proposers": maybe(listed(ANYTHING)),
    "judges": maybe(listed(ANYTHING)),
    "mode": maybe(text()),
    "quorum": maybe(whole()),
    "maxRounds": maybe(whole()),
    "onDissent": maybe(text()),
    "criteria": maybe(listed(text())),
    "maxTokenBudget": maybe(whole()),
    "team": maybe(listed(ANYTHING)),
    "coordinator": ANYTHING,
    "atOnce": maybe(whole("Tasks that are worked on at the same time.")),
    "onRejected": maybe(one_of(OnRejected)),
    "approvePlan": maybe(flag("Whether a person approves the plan before it is run.")),
    "maxCostBudget": maybe(text("US dollars, decimal.")),
    "runId": text("The job as a run of the Console's own host."),
    "host": text(),
    "about": maybe(members({"runId": text(), "host": text(), "target": text()})),
    "createdAt": moment(),
    "startedAt": maybe(moment()),
    "endedAt": maybe(moment()),
    "deadlineAt": moment(),
    "stop": maybe(one_of(Stop, "Why it was stopped before it had decided.")),
    "brokenBecause": maybe(text()),
}
_WHOLE_JOB: dict[str, Schema] = {
    "votes": listed(
        members(
            {
                "task": maybe(whole("In a run of tasks: which.")),
                "round": whole(),
                "judge": text(),
                "accepted": flag(),
                "callFailed": flag(),
                "criteria": listed(text()),
                "at": moment(),
            }
        )
    ),
    "spending": members(
        {
            "tokens": whole("What models reported."),
            "setAside": whole("For a call under way."),
            "lost": whole("Of calls whose reply never came."),
            "budget": maybe(whole()),
            "costUsd": text("Decimal."),
            "unpricedReplies": whole(),
        }
    ),
    "result": maybe(
        members(
            {
                "answer": text(),
                "verdict": one_of(Verdict),
                "dissent": listed(text()),
                "rounds": whole(),
                "tokenUsage": members({"input_tokens": whole(), "output_tokens": whole()}),
                "status": one_of(Status),
                "basis": text(),
                "errorInfo": members(
                    {
                        "kind": one_of(FailureKind),
                        "code": maybe(text()),
                        "retryable": flag(),
                        "httpStatus": maybe(whole()),
                    }
                ),
            },
            optional=("errorInfo",),
        )
    ),
}
_LEAST_AND_MOST = members({"least": whole(), "most": whole()})
_PLANNED = members(
    {
        "title": text(),
        "description": text(),
        "assignee": maybe(text()),
        "dependsOn": listed(text()),
        "verify": maybe({"type": "object", "additionalProperties": ANYTHING}),
    }
)
_TEAM_JOB: dict[str, Schema] = {
    "tasks": listed(
        members(
            {
                "number": whole(least=1),
                "title": text(),
                "assignee": maybe(text()),
                "dependsOn": listed(whole(least=1)),
                "state": text(
                    "pending, blocked, working, judging, revising, waiting (for a person), "
                    "completed, withheld, failed or skipped."
                ),
                "verdict": maybe(one_of(GateVerdict)),
                "basis": maybe(one_of(Basis)),
                "letThrough": flag("Whether a person let a rejected result count."),
                "rounds": whole(),
                "output": maybe(text("What it came to.")),
                "failure": maybe(text()),
                "tokens": whole("Of all its calls."),
                "workerTokens": whole("Of its worker's."),
                "costUsd": text("Decimal."),
                "runId": maybe(text("The task as a run of its own.")),
                "escalation": maybe(whole("The open one about its verdict.")),
            }
        )
    ),
    "plan": maybe(
        members(
            {
                "proposed": maybe(listed(ANYTHING, "As the coordinator gave it.")),
                "seenDigest": maybe(text("Send it back with a decision: the plan that you saw.")),
                "resolved": listed(_PLANNED, "As it is run."),
                "awaitsApproval": flag(),
                "resolution": maybe(
                    members(
                        {"approved": flag(), "changed": flag(), "by": text(), "at": moment()},
                        "What a person decided about it.",
                    )
                ),
            }
        )
    ),
    "memory": listed(
        members({"key": text(), "value": text("The newest."), "versions": whole(least=1)})
    ),
    "answer": maybe(text("The coordinator's final answer.")),
    "progress": members(
        {
            "tasks": whole(),
            "ended": whole(),
            "calls": whole(),
            "callsLeft": _LEAST_AND_MOST,
            "secondsLeft": maybe(_LEAST_AND_MOST),
        }
    ),
    "waitsForPerson": flag(),
}
_MEMBER = members(
    {
        "name": _NAME,
        "model": text("A model that is set up, or `given`."),
        "settings": {"type": "object", "description": "Of `given`: what it says."},
        "maxTokenBudget": whole(least=1, maximum=MOST_TOKENS),
    },
    optional=("settings", "maxTokenBudget"),
)
_JOB_REQUEST: dict[str, Schema] = {
    "prompt": text("The question.", maxLength=LONGEST_QUESTION),
    "judges": listed(
        members(
            {
                "name": _NAME,
                "model": text("A model that is set up, or `rule:…`."),
                "settings": {"type": "object", "description": "Of a rule."},
                "maxTokenBudget": whole(least=1, maximum=MOST_TOKENS),
            },
            optional=("settings", "maxTokenBudget"),
        ),
        minItems=1,
        maxItems=MOST_JUDGES,
    ),
    "answer": text("What is judged.", maxLength=LONGEST_ANSWER),
    "proposer": {"description": f"Who answers or revises: one agent, or up to {MOST_PROPOSERS}."},
    "mode": one_of(Mode),
    "quorum": whole("How many accepts decide.", least=1, maximum=MOST_JUDGES),
    "maxRounds": whole(least=1, maximum=MOST_ROUNDS),
    "onDissent": one_of(OnDissent),
    "judgePrompt": {"description": "An instruction for all judges, or one by name."},
    "verdictSchema": {"type": "object", "description": "JSON Schema of a judge's reply."},
    "maxTokenBudget": whole(least=1, maximum=MOST_TOKENS),
    "criteria": listed(text("A key, not prose.", maxLength=64), maxItems=64),
    "runId": text("The run that the target is in; with `target`."),
    "target": text("The result that the verdict is about; with `runId`."),
    "host": text("Which host's run."),
    "workspace": text("Where a person belongs to several."),
    "operation": one_of((Operation.CONSENSUS,)),
}
_ALWAYS_ASKED = {"prompt", "judges"}
_RUN_REQUEST: dict[str, Schema] = {
    "team": listed(_MEMBER, minItems=1, maxItems=MOST_MEMBERS),
    "onRejected": one_of(OnRejected, "What becomes of what depends on a rejected result."),
    "atOnce": whole("Tasks worked on at the same time.", least=1, maximum=MOST_AT_ONCE),
    "criteria": _JOB_REQUEST["criteria"],
    "maxTokenBudget": _JOB_REQUEST["maxTokenBudget"],
    "maxCostBudget": {"type": "number", "description": "US dollars; every model needs a price."},
    "workspace": _JOB_REQUEST["workspace"],
}
_VERIFY: Schema = {
    "description": "`true`, or any of mode, quorum, maxRounds, onDissent, judgePrompt, "
    "verdictSchema and judges.",
}
_TASKS_REQUEST: dict[str, Schema] = _RUN_REQUEST | {
    "operation": one_of((Operation.TASKS,)),
    "tasks": listed(
        members(
            {
                "title": text(maxLength=LONGEST_TITLE),
                "description": text(maxLength=LONGEST_QUESTION),
                "assignee": text("One of the team; left out: whose turn it is."),
                "dependsOn": listed(text("The title of another task.")),
                "memoryScope": one_of(MemoryScope),
                "maxRetries": whole(maximum=MOST_RETRIES),
                "verify": _VERIFY,
            },
            optional=("assignee", "dependsOn", "memoryScope", "maxRetries", "verify"),
        ),
        minItems=1,
        maxItems=MOST_TASKS,
    ),
    "judges": listed(ANYTHING, "Who judges where a task names nobody."),
}
_TEAM_REQUEST: dict[str, Schema] = _RUN_REQUEST | {
    "operation": one_of((Operation.TEAM,)),
    "goal": text(maxLength=LONGEST_QUESTION),
    "coordinator": _MEMBER,
    "verifyJudges": listed(ANYTHING, "Who judges the tasks that the plan wants verified."),
    "approvePlan": flag("Wait for a person's approval of the plan before it is run."),
}
_PLAN_DECISION: dict[str, Schema] = {
    "approve": flag(),
    "seenDigest": text("`plan.seenDigest` of the job, as you saw it."),
    "plan": listed(ANYTHING, "The plan to run instead, in the coordinator's form."),
}
_JOB_REQUEST_EXAMPLE = {
    "operation": "runConsensus",
    "prompt": "What is the boiling point of water?",
    "answer": "100 degrees at sea level.",
    "judges": [{"name": "length", "model": "rule:length", "settings": {"minimum": 5}}],
}
_DECISION: dict[str, Schema] = {
    "expectedVersion": whole("The `version` that you saw."),
    "action": one_of(Action, "`resolve`: one of those that are offered."),
    "reason": text("Why; stays in the Console.", maxLength=MAX_TEXT),
    "feedback": text("What the host is told.", maxLength=MAX_TEXT),
    "refineFeedback": members(
        {
            "scope": one_of(Scope),
            "sectionPath": text(),
            "itemIds": listed(text()),
            "tags": listed(text()),
            "text": text(maxLength=MAX_TEXT),
        },
        optional=("scope", "sectionPath", "itemIds", "tags", "text"),
    ),
    "answers": {"type": "object", "description": "Values of the action's fields, by name."},
    "editedArtifactData": {"description": "The artifact as you changed it."},
    "seenPosition": maybe(whole("`seenPosition` as you saw it.")),
    "seenDigest": maybe(text("`seenDigest` as you saw it.")),
    "to": text("`reassign`: the user name of who is to have it."),
    "text": text("`comment`: what you say to your colleagues."),
}
_HOSTED_EVENT: Schema = {"type": "object", "additionalProperties": ANYTHING}
_ENTRY_EXAMPLE = {
    "seq": 1,
    "workspace": 1,
    "at": "2026-11-30T08:00:02.000000+00:00",
    "actor": "person:7",
    "action": "escalation.claimed",
    "subject": "escalation:7",
    "detail": {"version": 2},
    "prevHash": "0" * 64,
    "hash": "f" * 64,
}

SHAPES: dict[str, Schema] = {
    "GateAnswer": members(_ANSWER) | {"examples": [_ANSWER_EXAMPLE]},
    "GateReceipt": members(
        _ANSWER
        | {
            "target": text(),
            "runId": text(),
            "host": text(),
            "askedBy": text("Such as `key:…` or `person:…`."),
            "answeredAt": moment(),
            "state": one_of(GateState),
            "held": flag("The run was held."),
            "position": whole("The log's last line that the answer knew of."),
            "verdicts": listed(text(), "Event ids of the verdicts that stood."),
        }
    ),
    "Verdict": members(
        {
            "eventId": text(),
            "verifier": text(),
            "verdict": one_of(("pass", "fail", "revise")),
            "sequence": whole(),
            "standing": flag("The verifier's latest word on the target."),
            "confidence": {"type": ["number", "null"]},
            "criteria": listed(text()),
        }
    ),
    "RunGates": members(
        {
            "runId": text(),
            "outcome": maybe(one_of(Outcome)),
            "held": flag(),
            "complete": flag("No sequence of the run is missing."),
            "gates": listed(
                members(
                    {
                        "target": text(),
                        "state": one_of(GateState),
                        "binding": one_of(("gating", "advisory"), "What the host promised."),
                        "subject": members(
                            {
                                "kind": one_of(SubjectKind),
                                "eventId": maybe(text()),
                                "agentId": maybe(text()),
                            }
                        ),
                        "selfVerified": flag(),
                        "verdicts": listed(refer("Verdict")),
                        "escalationId": maybe(whole()),
                    }
                )
            ),
        }
    ),
    "Findings": members({"findings": listed(refer("Finding"))}),
    "Finding": members(
        _FINDING
        | {
            "evidence": listed(ANYTHING, "The lines that it rests on."),
            "capabilities": _CAPABILITIES,
        }
    ),
    "Evidence": members(
        {
            "format": text(),
            "issuedAt": moment(),
            "issuer": text("Address of this Console."),
            "finding": members(
                _FINDING
                | {
                    "openedAt": moment(),
                    "withdrawnAt": maybe(moment()),
                    "withdrawnBecause": maybe(text()),
                }
            ),
            "rule": members({"text": text(), "force": one_of(Force), "source": text()}),
            "run": members(
                {
                    "runId": text(),
                    "host": text(),
                    "status": one_of(RunStatus),
                    "outcome": maybe(one_of(Outcome)),
                    "held": flag(),
                    "lastSequence": maybe(whole()),
                    "lastPosition": whole(),
                }
            ),
            "events": listed(
                members(
                    {
                        "position": whole(),
                        "origin": one_of(("host", "console")),
                        "receivedAt": moment(),
                        "sha256": text(),
                        "mismatches": listed(
                            members({"pointer": text(), "reason": text()}),
                            "Where its payload misses the published schema of its type.",
                        ),
                        "event": {"type": "object", "additionalProperties": ANYTHING},
                    }
                )
            ),
            "verdicts": listed(refer("Verdict")),
            "capabilities": listed(
                members(
                    {
                        "snapshot": text(),
                        "validFrom": moment(),
                        "validTo": maybe(moment()),
                        "document": _CAPABILITIES,
                    }
                )
            ),
            "signature": members(
                {"algorithm": text(), "keyId": text(), "publicKey": text(), "value": text()},
                "Ed25519 over RFC 8785 of everything else.",
            ),
        },
        "Everything that a finding rests on, to be checked anywhere.",
    ),
    "SigningKeys": members(
        {"keys": listed(members({"keyId": text(), "algorithm": text(), "publicKey": text()}))}
    ),
    "EscalationsPage": page("escalations", "Escalation")
    | {"examples": [{"escalations": [_ESCALATION_EXAMPLE], "next": None}]},
    "Escalation": members(_ESCALATION),
    "EscalationDetail": members(_ESCALATION | _DETAIL),
    "Move": members(_DECISION, "What the move needs.", optional=_DECISION)
    | {
        "examples": [
            {
                "action": "uphold",
                "reason": "The sources do not say so.",
                "expectedVersion": 2,
                "seenPosition": 4,
                "seenDigest": "0" * 64,
            }
        ]
    },
    "DeliveriesPage": page("deliveries", "Delivery")
    | {"examples": [{"deliveries": [_DELIVERY_EXAMPLE], "next": None}]},
    "Delivery": members(
        {
            "id": whole(),
            "escalationId": whole(),
            "host": text(),
            "door": one_of(Door),
            "state": one_of(DeliveryState),
            "words": text("Where it stands."),
            "attempts": whole(),
            "lastStatus": maybe(whole("HTTP status of the last try; null: no answer.")),
            "nextAttemptAt": maybe(moment()),
            "deliveredAt": maybe(moment()),
            "acceptedAt": maybe(moment()),
            "effectPosition": maybe(whole("The line that proves that it took effect.")),
            "effectAt": maybe(moment()),
            "sha256": text("Of the bytes, which never change."),
            "idempotencyKey": text(),
        }
    ),
    "AuditPage": page("entries", "AuditEntry")
    | {"examples": [{"entries": [_ENTRY_EXAMPLE], "next": None}]},
    "AuditEntry": members(
        {
            "seq": whole(least=1),
            "workspace": whole(),
            "at": moment(),
            "actor": text("`person:7`, `key:ab12`, `system:timeout`."),
            "action": text(),
            "subject": text(),
            "detail": {"type": "object", "additionalProperties": ANYTHING},
            "prevHash": text(),
            "hash": text("SHA-256 over RFC 8785 of the entry and the hash before it."),
        }
    ),
    "AuditVerified": members(
        {
            "fromSeq": whole(),
            "toSeq": whole(),
            "chainValid": flag(),
            "checkpointsValid": flag(),
            "checkpoints": listed(
                members(
                    {
                        "seq": whole(),
                        "hash": text(),
                        "keyId": maybe(text()),
                        "signatureValid": flag(),
                        "valid": flag(),
                    }
                )
            ),
            "anomalies": listed(members({"seq": whole(), "kind": text()})),
        },
        "The shape of OpenWOP's audit-verify-result.",
    )
    | {
        "examples": [
            {
                "fromSeq": 1,
                "toSeq": 12,
                "chainValid": True,
                "checkpointsValid": True,
                "checkpoints": [],
                "anomalies": [],
            }
        ]
    },
    "ConsensusRequest": members(_JOB_REQUEST, optional=set(_JOB_REQUEST) - _ALWAYS_ASKED)
    | {"examples": [_JOB_REQUEST_EXAMPLE]},
    "JobRequest": {
        "oneOf": [
            members(_JOB_REQUEST, optional=set(_JOB_REQUEST) - _ALWAYS_ASKED - {"operation"}),
            members(_TASKS_REQUEST, optional=set(_TASKS_REQUEST) - {"operation", "team", "tasks"}),
            members(
                _TEAM_REQUEST,
                optional=set(_TEAM_REQUEST) - {"operation", "team", "goal", "coordinator"},
            ),
        ],
        "examples": [_JOB_REQUEST_EXAMPLE],
    },
    "PlanDecision": members(_PLAN_DECISION, optional=("plan",))
    | {"examples": [{"approve": True, "seenDigest": "0" * 64}]},
    "JobsPage": page("jobs", "Job"),
    "Job": members(_JOB),
    "JobDetail": members(_JOB | _WHOLE_JOB | _TEAM_JOB, optional=tuple(_TEAM_JOB)),
    "HostDocument": {
        "type": "object",
        "description": "What the Console does as a host, of v1 or v2.",
        "additionalProperties": ANYTHING,
    },
    "HostedRun": {
        **members(
            {
                "runId": text(),
                "workflowId": text(),
                "status": one_of(RunStatus),
                "owner": {"type": "object"},
                "eventLogSchemaVersion": whole(),
                "startedAt": maybe(moment()),
                "completedAt": moment(),
                "metadata": members(
                    {
                        "operation": one_of(Operation),
                        "verdict": maybe(one_of(GateVerdict)),
                        "basis": maybe(one_of(Basis)),
                        "outcome": one_of(("pending", "committed", "withheld")),
                    }
                ),
                "currentNodeId": text(),
                "interrupt": {"type": "object", "description": "What a person is asked."},
            },
            optional=("completedAt", "currentNodeId", "interrupt"),
        ),
    },
    "HostedPoll": {
        "oneOf": [
            members({"events": listed(_HOSTED_EVENT), "isComplete": flag()}, "v1"),
            members(
                {
                    "runId": text(),
                    "events": listed(_HOSTED_EVENT),
                    "lastSequence": whole(least=-1),
                    "status": one_of(RunStatus),
                    "isTerminal": flag(),
                },
                "v2",
            ),
        ]
    },
    "HostedAnswer": members({"resumeValue": {"type": "object"}})
    | {"examples": [{"resumeValue": {"action": "accept"}}]},
    "HostedAnswered": members({"runId": text(), "nodeId": text(), "status": one_of(RunStatus)}),
    "ProofRequest": members(
        {
            "simulateVerdict": one_of(GateVerdict, "Anything else is a pass."),
            "task": text("What the result is about."),
        },
        optional=("simulateVerdict", "task"),
    )
    | {"examples": [{"simulateVerdict": "fail"}]},
    "Proof": members(
        {
            "runId": text(),
            "status": one_of(("completed", "escalated")),
            "committed": flag(),
            "outcome": one_of(("pending", "committed", "withheld")),
            "verdict": one_of(GateVerdict),
            "events": listed(_HOSTED_EVENT),
        },
        "Source: OpenWOP conformance, verifier-gating.",
    ),
    "Models": members({"models": listed(text())})
    | {"examples": [{"models": ["compatible:qwen3"]}]},
}
