"""What the payloads of the machinery should look like: models, replays, leases, deployments, voice.

Source: OpenWOP run-event-payloads.schema.json (v1). Types that it leaves open are not listed.
"""

from collections.abc import Mapping

from runs.domain.shapes import (
    Check,
    Must,
    boolean,
    closed,
    matching,
    members,
    null_or,
    one_of,
    record,
    whole,
)
from runs.domain.shapes_of_runs import ID, SHARE, WORD, WORDS

_PERCENT = whole(0, 100)

_REPLAY: Mapping[str, Check] = {
    "replay.diverged": record(
        sourceRunId=Must(ID),
        atSequence=Must(whole()),
        originalEventId=WORD,
        divergenceKind=one_of("output", "missing", "extra", "type-mismatch"),
        divergencePoint=WORD,
    ),
    "replay.divergedAtRefusal": closed(
        sourceRunId=Must(ID),
        atSequence=Must(whole()),
        originalEnvelopeKind=Must(one_of("valid", "refusal")),
        replayEnvelopeKind=Must(one_of("valid", "refusal")),
        originalEventId=WORD,
        nodeId=ID,
        refusalReason=WORD,
    ),
}


def _compensation(**more: Check | Must) -> Check:
    return closed(
        compensationId=WORD,
        nodeId=WORD,
        effectId=WORD,
        attempt=whole(),
        orderingModel=one_of("reverse-completion", "dependency-graph"),
        **more,
    )


_WHY_COMPENSATION_STOPPED = Must(
    one_of(
        "retries-exhausted",
        "approval-denied",
        "authority-denied",
        "dead-lettered",
        "operator-terminated",
    )
)

_COMPENSATION: Mapping[str, Check] = {
    **dict.fromkeys(
        ("compensation.requested", "compensation.started", "compensation.completed"),
        _compensation(),
    ),
    **dict.fromkeys(
        (
            "compensation.failed",
            "compensation.paused",
            "compensation.manual_intervention_required",
        ),
        _compensation(reason=_WHY_COMPENSATION_STOPPED),
    ),
}

_RETRY_REASON = matching(
    "schema-violation|truncation|type-drift|type-mismatch|refusal|parse-error|unknown"
    "|x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*"
)

_MODELS: Mapping[str, Check] = {
    "envelope.retry.attempted": closed(
        nodeId=Must(WORD),
        attempt=Must(whole(1, 16)),
        reason=Must(_RETRY_REASON),
        previousError=null_or(WORD),
    ),
    "envelope.retry.exhausted": closed(
        nodeId=Must(WORD),
        totalAttempts=Must(whole(1)),
        finalReason=Must(_RETRY_REASON),
        finalError=null_or(WORD),
    ),
    "envelope.refusal": closed(
        nodeId=Must(WORD),
        provider=Must(WORD),
        model=Must(WORD),
        refusalText=null_or(WORD),
        safetyCategory=null_or(WORD),
    ),
    "envelope.truncated": closed(
        nodeId=Must(WORD),
        provider=Must(WORD),
        model=Must(WORD),
        stopReason=Must(one_of("max_tokens", "length", "stop_sequence", "unknown")),
        partialPayloadAvailable=boolean,
        outputTokenCount=null_or(whole()),
    ),
    "envelope.nlToFormat.engaged": closed(
        nodeId=Must(WORD), originalEnvelopeType=Must(WORD), fallbackCalls=whole(1)
    ),
    "envelope.recovery.applied": closed(
        nodeId=Must(WORD),
        path=Must(one_of("direct", "jsonrepair", "markdown-fence", "brace-walker", "custom")),
        byteOffset=null_or(whole()),
    ),
    "model.capability.substituted": closed(
        nodeId=Must(WORD),
        originalProvider=Must(WORD),
        originalModel=Must(WORD),
        fallbackProvider=Must(WORD),
        fallbackModel=Must(WORD),
        missingCapabilities=Must(WORDS),
    ),
    "model.capability.insufficient": closed(
        nodeId=Must(WORD),
        provider=Must(WORD),
        model=Must(WORD),
        missingCapabilities=Must(WORDS),
        fallbackAttempted=boolean,
    ),
    "prompt.composed": closed(
        nodeId=Must(WORD),
        refs=Must(WORDS),
        kind=Must(one_of("system+user", "system-only", "user-only", "agent-reasoning")),
        hash=Must(matching("sha256:[0-9a-f]{64}")),
        composed=WORD,
        systemPrompt=WORD,
        userPrompt=WORD,
        variableBindings=members,
        variableHashes=members,
        contentTrust=one_of("trusted", "untrusted"),
        causationHostId=ID,
    ),
}

_AUTHORITY: Mapping[str, Check] = {
    "authorization.decided": closed(
        principal=Must(ID), action=Must(ID), resource=Must(ID), allowed=Must(boolean), reason=WORD
    ),
    "egress.decided": record(
        decision=Must(one_of("allowed", "denied", "downgraded", "approval-required")),
        destination=Must(ID),
        credentialId=ID,
        reason=WORD,
        auditCorrelationId=ID,
    ),
    "connector.authorized": closed(provider=Must(ID), credentialRef=Must(ID), scopes=WORDS),
    "connector.auth_expired": closed(provider=Must(ID), credentialRef=Must(ID), reason=WORD),
    "tool.session.opened": record(sessionId=Must(ID), toolId=Must(ID)),
    "tool.session.closed": record(
        sessionId=Must(ID),
        toolId=Must(ID),
        outcome=Must(one_of("completed", "failed", "cancelled")),
    ),
}

_LEASE_HOLDER = one_of("browser", "cloud")
_LEASE = record(
    leaseId=Must(ID),
    host=Must(_LEASE_HOLDER),
    instanceId=WORD,
    expiresAt=WORD,
    previousHost=_LEASE_HOLDER,
)

_ENGINE: Mapping[str, Check] = {
    "lease.acquired": _LEASE,
    "lease.renewed": _LEASE,
    "lease.lost": _LEASE,
    "lease.handed-off": record(
        leaseId=Must(ID), fromHost=Must(_LEASE_HOLDER), toHost=Must(_LEASE_HOLDER), reason=WORD
    ),
    "workflow.restored": record(fromSnapshotSeq=whole()),
    "workflow.loopback-limit": record(nodeId=Must(WORD), iterations=Must(whole(1)), limit=whole(1)),
    "workflow.stalled": record(stalledForMs=whole(), lastNodeId=WORD),
}

_STAGE = one_of("draft", "test", "staged", "active", "paused", "deprecated", "rolled-back")
_SUBSCRIPTION_STATE = one_of("active", "paused", "failed", "dead-lettered")

_DEPLOYMENT: Mapping[str, Check] = {
    "deployment.promoted": closed(
        agentId=Must(ID),
        toVersion=Must(ID),
        toState=Must(_STAGE),
        fromVersion=ID,
        channel=ID,
        canaryPercent=_PERCENT,
        evalRunId=ID,
        approvalGateId=ID,
    ),
    "deployment.rolled-back": closed(
        agentId=Must(ID),
        fromVersion=Must(ID),
        toVersion=Must(ID),
        rollbackPointer=Must(ID),
        reason=ID,
    ),
    "deployment.canary.adjusted": closed(
        agentId=Must(ID), version=Must(ID), fromPercent=Must(_PERCENT), toPercent=Must(_PERCENT)
    ),
    "deployment.state.changed": closed(
        agentId=Must(ID), version=Must(ID), fromState=Must(_STAGE), toState=Must(_STAGE)
    ),
    "trigger.subscription.state.changed": record(
        subscriptionId=Must(ID),
        source=Must(WORD),
        fromState=Must(_SUBSCRIPTION_STATE),
        toState=Must(_SUBSCRIPTION_STATE),
        reason=WORD,
    ),
    "trigger.delivery.attempted": record(
        subscriptionId=Must(ID),
        dedupKey=Must(ID),
        attempt=Must(whole(1)),
        outcome=Must(one_of("delivered", "retrying", "dead-lettered")),
        runId=ID,
    ),
}

_AT = Must(whole())

_VOICE: Mapping[str, Check] = {
    "voice.speech_start": record(atMs=_AT),
    "voice.transcript": record(
        text=Must(WORD), isFinal=Must(boolean), atMs=_AT, contentTrust=Must(one_of("untrusted"))
    ),
    "voice.endpoint_candidate": record(atMs=_AT, confidence=SHARE),
    "voice.turn_commit": record(atMs=_AT, finalText=Must(WORD)),
    "voice.synthesis_chunk": record(seq=Must(whole()), mimeType=Must(ID)),
    "voice.barge_in": record(atMs=_AT),
    "voice.cancelled": record(atMs=_AT, reason=WORD),
}

SHAPES: Mapping[str, Check] = {
    **_REPLAY,
    **_COMPENSATION,
    **_MODELS,
    **_AUTHORITY,
    **_ENGINE,
    **_DEPLOYMENT,
    **_VOICE,
}
