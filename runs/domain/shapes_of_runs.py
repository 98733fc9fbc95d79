"""What the payloads of runs, nodes, agents and orchestrators should look like.

Source: OpenWOP run-event-payloads and orchestrator-decision schemas (v1).
"""

from collections.abc import Mapping

from runs.domain.shapes import (
    Check,
    Must,
    any_of,
    anything,
    boolean,
    closed,
    either,
    items,
    members,
    null_or,
    number,
    one_of,
    record,
    text,
    whole,
)

ID = text(least=1)
AGENT = text(least=3, most=256)
SHARE = number(0, 1)
WORD = text()
WORDS = items(WORD)
ERROR = record(code=Must(ID), message=Must(ID), details=members, retryable=boolean)

_RUNS: Mapping[str, Check] = {
    "run.started": record(
        workflowId=Must(ID),
        inputs=members,
        transport=one_of("rest", "mcp", "a2a", "ui"),
        engineVersion=any_of(WORD, whole()),
        owner=closed(tenant=Must(ID), workspace=ID, principal=ID, subject=anything),
        tags=WORDS,
        metadata=members,
    ),
    "run.completed": record(outputs=members, durationMs=whole()),
    "run.failed": record(error=Must(ERROR), failedNodeId=WORD, durationMs=whole()),
    "run.cancelled": record(reason=WORD, cancelledBy=WORD, durationMs=whole(), parentRunId=ID),
    "run.paused": record(reason=WORD),
    "run.resumed": members,
    "run.resuming": record(fromStatus=WORD),
    "run.restored-from-snapshot": record(snapshotSeq=whole(), engineVersion=any_of(WORD, whole())),
    "run.dead_lettered": closed(
        runId=Must(ID), reason=Must(ID), attempts=Must(whole(1)), nodeId=WORD
    ),
}

_NODES: Mapping[str, Check] = {
    "node.started": record(nodeId=Must(ID), typeId=Must(ID), attempt=whole()),
    "node.completed": record(nodeId=Must(ID), outputs=members, durationMs=whole()),
    "node.failed": record(nodeId=Must(ID), error=Must(ERROR), attempts=whole(1)),
    "node.suspended": record(nodeId=Must(ID), interruptId=Must(ID), kind=WORD, key=ID),
    "node.suspend-failed": record(nodeId=Must(ID), error=Must(ERROR)),
    "node.resumed": record(nodeId=Must(ID), interruptId=WORD, resumeValue=anything),
    "node.retried": record(
        nodeId=Must(ID), attempt=Must(whole(1)), delayMs=whole(), lastError=ERROR
    ),
    "node.skipped": record(nodeId=Must(ID), reason=WORD),
    "node.cancelled": record(nodeId=Must(ID), reason=WORD),
    "node.dispatched": closed(childRunId=Must(ID), childWorkflowId=Must(ID), childStatus=WORD),
}

_VERBOSITY = one_of("summary", "full", "off")

_AGENTS: Mapping[str, Check] = {
    "agent.reasoned": record(
        agentId=Must(AGENT), reasoning=Must(WORD), verbosity=_VERBOSITY, causationHostId=ID
    ),
    "agent.reasoning.delta": record(
        agentId=Must(AGENT), delta=Must(WORD), sequence=Must(whole()), verbosity=_VERBOSITY
    ),
    "agent.toolCalled": record(
        agentId=Must(AGENT),
        toolName=Must(ID),
        callId=Must(ID),
        inputs=anything,
        argsHash=WORD,
        principal=WORD,
        transport=one_of("mcp", "http", "native"),
        causationHostId=ID,
    ),
    "agent.toolReturned": record(
        agentId=Must(AGENT),
        toolName=Must(ID),
        callId=Must(ID),
        outcome=anything,
        error=ERROR,
        status=one_of("ok", "error", "forbidden", "rate_limited"),
        durationMs=whole(),
        causationHostId=ID,
    ),
    "agent.handoff": record(
        fromAgentId=Must(AGENT), toAgentId=Must(AGENT), reason=WORD, causationHostId=ID
    ),
    "agent.decided": record(
        agentId=Must(AGENT), decision=Must(anything), confidence=SHARE, causationHostId=ID
    ),
    "agent.verified": closed(
        agentId=Must(AGENT),
        target=Must(ID),
        verdict=Must(one_of("pass", "fail", "revise")),
        criteria=items(ID, unique=True),
        confidence=SHARE,
        causationHostId=ID,
    ),
    "agent.invocation.started": record(
        invocationId=Must(ID),
        agentId=Must(ID),
        source=Must(one_of("workflow-node", "run-api", "chat-mention")),
        modelClass=WORD,
        resolvedModel=WORD,
        resolvedProvider=WORD,
        resolvedAgentVersion=ID,
        resolvedChannel=ID,
        toolSurfaceCount=whole(),
        memoryBound=boolean,
    ),
    "agent.invocation.completed": record(
        invocationId=Must(ID),
        agentId=Must(ID),
        outcome=Must(one_of("completed", "handed-off", "escalated", "refused", "failed")),
        schemaValidated=boolean,
        confidence=SHARE,
        enqueuedRunId=ID,
    ),
    "agent.promptResolved": closed(
        nodeId=Must(WORD),
        kind=Must(WORD),
        chain=Must(
            items(closed(layer=Must(WORD), applied=Must(boolean), source=WORD, reason=WORD))
        ),
        resolved=Must(null_or(WORD)),
        agentId=WORD,
        causationHostId=ID,
    ),
    "agent.memory.consolidated": record(
        memoryRef=Must(ID),
        inputCount=Must(whole()),
        outputCount=Must(whole()),
        mergedIds=items(ID),
        trigger=one_of("host-managed", "scheduled", "on-demand"),
    ),
}

_CRITERION = closed(key=Must(ID), met=Must(boolean))

DECISION = either(
    "kind",
    {
        "next-worker": closed(
            kind=WORD, nextWorkerIds=Must(items(text(least=1, most=256), least=1)), confidence=SHARE
        ),
        "ask-user": closed(kind=WORD, prompt=Must(ID)),
        "terminate": closed(
            kind=WORD, reason=WORD, confidence=SHARE, successCriteria=items(_CRITERION)
        ),
    },
)

_ORCHESTRATORS: Mapping[str, Check] = {
    "runOrchestrator.decided": closed(
        agentId=Must(AGENT), decision=Must(DECISION), iteration=whole(1), causationHostId=ID
    ),
    "core.workflowChain.event": closed(
        phase=Must(
            one_of(
                "dispatch.began",
                "dispatch.succeeded",
                "dispatch.failed",
                "child.completed",
                "child.failed",
                "child.cancelled",
                "output.harvested",
            )
        ),
        workerId=Must(ID),
        parentRunId=Must(ID),
        childRunId=ID,
        harvestedKeys=WORDS,
        attestation=closed(checksum=Must(ID), algorithm=Must(one_of("sha256"))),
        error=ERROR,
        causationHostId=ID,
    ),
    "core.workflowChain.confidence-escalated": closed(
        confidence=Must(SHARE),
        floor=Must(number(0.5, 1)),
        escalationKind=Must(one_of("clarify", "escalate")),
        parentRunId=Must(ID),
        workerId=ID,
        originalDecision=DECISION,
        causationHostId=ID,
    ),
    "core.dispatch.fanOut": record(
        fanOutPolicy=Must(one_of("parallel")),
        childCount=Must(whole(2)),
        maxConcurrency=whole(1),
        joinMode=one_of("wait-all", "quorum", "first", "race"),
    ),
    "core.dispatch.join": record(
        joinOutcome=Must(one_of("satisfied", "failed", "partial")),
        completedCount=Must(whole()),
        failedCount=Must(whole()),
        cancelledCount=whole(),
        mergeOrder=Must(items(anything)),
    ),
}

SHAPES: Mapping[str, Check] = {**_RUNS, **_NODES, **_AGENTS, **_ORCHESTRATORS}
