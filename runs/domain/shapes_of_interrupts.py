"""What the payloads about asking people should look like.

Where v2 gives a type another payload than v1 (the legacy `approval.*` and `clarification.*` carry
an interrupt there), either is right.

Source: OpenWOP run-event-payloads and suspend-request schemas (v1, v2).
"""

from collections.abc import Mapping

from runs.domain.shapes import (
    Check,
    Must,
    any_of,
    anything,
    closed,
    either,
    items,
    members,
    one_of,
    record,
    text,
    whole,
)
from runs.domain.shapes_of_runs import ID, SHARE, WORD, WORDS

_QUESTIONS = items(record(id=Must(WORD), question=Must(WORD), schema=members), least=1)


def _interrupt(**asked: Check | Must) -> Check:
    """An interrupt of one kind, with the identity fields that v1 prose adds to the schema."""
    return closed(
        kind=WORD,
        key=Must(text(least=1, most=256)),
        data=Must(record(**asked)),
        resumeSchema=members,
        timeoutMs=whole(),
        runId=WORD,
        nodeId=WORD,
        interruptId=WORD,
        requestedAt=WORD,
    )


_INTERRUPT = either(
    "kind",
    {
        "approval": _interrupt(
            artifactId=Must(WORD),
            artifactType=Must(WORD),
            title=Must(WORD),
            actions=Must(
                items(one_of("accept", "reject", "refine", "edit-accept", "edit", "ask"), least=1)
            ),
        ),
        "clarification": _interrupt(questions=Must(_QUESTIONS), contextType=WORD),
        "external-event": _interrupt(eventType=Must(WORD), correlation=Must(members)),
        "custom": _interrupt(customKind=Must(WORD), payload=anything),
        "conversation.start": _interrupt(conversationId=Must(ID)),
        "conversation.exchange": _interrupt(conversationId=Must(ID), prompt=Must(anything)),
        "conversation.close": _interrupt(conversationId=Must(ID)),
        "low-confidence": _interrupt(
            agentId=Must(ID), threshold=Must(SHARE), observed=Must(SHARE), decision=anything
        ),
        "credential": _interrupt(
            provider=Must(ID), scopes=Must(WORDS), reason=Must(WORD), connectUrl=Must(WORD)
        ),
    },
)

_RESOLVED = record(nodeId=Must(WORD), interruptId=Must(WORD), kind=WORD, resumeValue=anything)

SHAPES: Mapping[str, Check] = {
    "interrupt.requested": _INTERRUPT,
    "interrupt.resolved": _RESOLVED,
    "approval.requested": any_of(
        record(
            nodeId=Must(WORD),
            artifactId=Must(WORD),
            artifactType=Must(WORD),
            actions=Must(
                items(one_of("accept", "reject", "refine", "edit", "edit-accept", "ask"), least=1)
            ),
            interruptId=WORD,
            title=WORD,
            approversList=WORDS,
            requiredApprovals=whole(1),
        ),
        _INTERRUPT,
    ),
    "approval.received": any_of(
        record(
            nodeId=Must(WORD),
            action=Must(one_of("accept", "reject", "refine", "edit-accept", "timeout")),
            decidedBy=WORD,
            decidedAt=WORD,
            comment=WORD,
            feedback=WORD,
            refineFeedback=record(scope=Must(one_of("whole", "section", "items"))),
        ),
        _RESOLVED,
    ),
    "approval.granted": closed(
        gateId=Must(ID),
        principal=Must(ID),
        quorumProgress=closed(granted=whole(), required=whole(1)),
    ),
    "approval.rejected": closed(gateId=Must(ID), principal=Must(ID), reason=WORD),
    "approval.overridden": closed(gateId=Must(ID), principal=Must(ID), reason=Must(ID)),
    "clarification.requested": any_of(
        record(nodeId=Must(WORD), questions=Must(_QUESTIONS), interruptId=WORD), _INTERRUPT
    ),
    "clarification.resolved": any_of(
        record(nodeId=Must(WORD), answers=Must(members), answeredBy=WORD), _RESOLVED
    ),
    "conversation.opened": record(conversationId=Must(text(least=1, most=256)), openedBy=WORD),
    "conversation.exchanged": record(
        conversationId=Must(text(least=1, most=256)), turnIndex=Must(whole())
    ),
    "conversation.closed": record(
        conversationId=Must(text(least=1, most=256)), reason=WORD, turnCount=whole()
    ),
}
