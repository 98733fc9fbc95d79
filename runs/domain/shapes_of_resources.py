"""What the payloads about spending, output, memory and evaluation should look like.

Source: OpenWOP run-event-payloads.schema.json (v1). Types that it leaves open are not listed.
"""

from collections.abc import Mapping

from runs.domain.shapes import (
    Check,
    Must,
    anything,
    boolean,
    closed,
    items,
    matching,
    members,
    number,
    one_of,
    record,
    whole,
)
from runs.domain.shapes_of_runs import ID, SHARE, WORD, WORDS

_AMOUNT = number(0)
_DIMENSION = one_of("tokens", "cost", "toolCalls", "retries")

_LIMITS: Mapping[str, Check] = {
    "cap.breached": record(
        kind=Must(
            one_of(
                "clarification",
                "schema",
                "envelopes",
                "node-executions",
                "wasm-memory",
                "wasm-fuel",
                "wasm-execution-time",
                "run-duration",
                "loop-iterations",
                "orchestrator-iterations",
                "budget-tokens",
                "budget-cost",
                "budget-tool-calls",
                "budget-retries",
            )
        ),
        limit=Must(whole()),
        observed=Must(whole()),
        nodeId=WORD,
    ),
    "budget.reserved": closed(
        effectiveBudget=Must(
            closed(maxTokens=whole(), maxCostUsd=_AMOUNT, maxToolCalls=whole(), maxRetries=whole())
        ),
        scope=Must(one_of("run", "workflow", "agent", "project")),
    ),
    "budget.consumed": closed(
        dimension=Must(_DIMENSION), consumed=Must(_AMOUNT), limit=Must(_AMOUNT), remaining=number()
    ),
    "budget.exhausted": closed(
        dimension=Must(_DIMENSION), consumed=Must(_AMOUNT), limit=Must(_AMOUNT)
    ),
    "budget.threshold.crossed": closed(
        dimension=Must(_DIMENSION),
        consumed=Must(_AMOUNT),
        limit=Must(_AMOUNT),
        percent=Must(number(0, 100)),
    ),
    "provider.usage": closed(
        provider=Must(ID),
        model=Must(ID),
        inputTokens=Must(whole()),
        outputTokens=Must(whole()),
        totalTokens=whole(),
        costEstimateUsd=_AMOUNT,
        currency=matching("[A-Z]{3}"),
        cacheHit=boolean,
        cacheReadTokens=whole(),
        cacheWriteTokens=whole(),
        nodeId=WORD,
        traceId=WORD,
    ),
}

_OUTPUT: Mapping[str, Check] = {
    "artifact.created": record(
        artifactId=Must(ID),
        artifactType=Must(ID),
        nodeId=WORD,
        version=WORD,
        summary=WORD,
        registered=boolean,
        registrationSource=one_of("pack", "host"),
    ),
    "output.chunk": record(
        nodeId=Must(ID),
        runId=Must(ID),
        chunk=Must(WORD),
        isLast=Must(boolean),
        channel=WORD,
        meta=members,
    ),
    "variable.changed": record(name=Must(ID), previous=anything, next=anything, nodeId=WORD),
    "log.appended": record(
        level=Must(one_of("debug", "info", "warn", "error")),
        message=Must(WORD),
        nodeId=WORD,
        fields=members,
    ),
    "channel.written": closed(
        channel=Must(ID),
        value=Must(anything),
        reducer=Must(WORD),
        writtenAt=Must(WORD),
        nodeId=WORD,
        schemaVersion=whole(),
        sourceEngineId=WORD,
        sourceRunId=WORD,
    ),
    "workspace.updated": closed(path=Must(ID), version=Must(whole(1))),
    "version.pinned": record(changeId=Must(ID), version=Must(whole()), nodeId=WORD),
}

_MEMORY: Mapping[str, Check] = {
    "memory.written": record(
        memoryRef=Must(ID), memoryId=Must(ID), nodeId=ID, agentId=ID, tags=WORDS
    ),
    "memory.compacted": record(
        memoryRef=Must(ID),
        outputId=Must(ID),
        sourceCount=Must(whole(1)),
        trigger=Must(one_of("host-managed", "client-requested", "both")),
        byteSize=Must(whole()),
        sourceIds=items(ID),
        distillation=closed(
            tokenBudget=Must(whole(1)), tokensUsed=Must(whole()), indexUpdated=boolean
        ),
    ),
    "context.summarized": record(
        iteration=Must(whole()),
        replacedTurns=Must(items(anything)),
        summaryRef=Must(ID),
        tokenCounter=Must(WORD),
        tokensBefore=Must(whole()),
        tokensAfter=Must(whole()),
    ),
    "commitment.fired": record(
        commitmentId=Must(ID),
        memoryRef=Must(ID),
        condition=Must(one_of("time", "predicate")),
        memoryId=ID,
        enqueuedRunId=ID,
    ),
}

_EVALUATION: Mapping[str, Check] = {
    "eval.started": record(
        suiteId=Must(ID),
        suiteVersion=Must(ID),
        taskCount=Must(whole()),
        modes=Must(
            items(
                one_of("golden", "rubric", "adversarial", "regression", "live-shadow"), unique=True
            )
        ),
        baselineRunId=ID,
    ),
    "eval.scored": record(
        taskId=Must(ID),
        score=Must(SHARE),
        passed=Must(boolean),
        costUsd=_AMOUNT,
        latencyMs=whole(),
        schemaValid=boolean,
        safetyFindingCount=whole(),
    ),
    "eval.completed": record(
        aggregateScore=Must(SHARE),
        passed=Must(boolean),
        taskCount=Must(whole()),
        passedCount=Must(whole()),
        regressionVsBaseline=number(-1, 1),
    ),
}

SHAPES: Mapping[str, Check] = {
    **_LIMITS,
    **_OUTPUT,
    **_MEMORY,
    **_EVALUATION,
}
