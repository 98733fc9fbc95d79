"""The event types of the protocol: their names in both majors, and what may be a name at all.

Rules and filters read the v1 name, which every host in the field sends; a v2 name is mapped onto
it. A type that is not here is unknown, which is never an error: hosts and vendors add their own.

Source: OpenWOP run-event.schema.json (v1); event-codemap.json (v2, 117 rows, 36 renamed).
"""

import re

_FAMILIES = {
    "agent": "decided handoff invocation.completed invocation.started memory.consolidated"
    " promptResolved reasoned reasoning.delta toolCalled toolReturned verified",
    "approval": "granted overridden received rejected requested",
    "artifact": "created",
    "authorization": "decided",
    "budget": "consumed exhausted reserved threshold.crossed",
    "cap": "breached",
    "channel": "presence written",
    "clarification": "requested resolved",
    "commitment": "fired",
    "compensation": "completed failed manual_intervention_required paused requested started",
    "connector": "auth_expired authorized",
    "context": "summarized",
    "conversation": "closed exchanged opened",
    "core": "dispatch.fanOut dispatch.join workflowChain.confidence-escalated workflowChain.event",
    "deployment": "canary.adjusted promoted rolled-back state.changed",
    "egress": "decided",
    "envelope": "nlToFormat.engaged recovery.applied refusal retry.attempted retry.exhausted"
    " truncated",
    "eval": "completed scored started",
    "goal": "closed evaluated",
    "import": "applied",
    "interrupt": "requested resolved",
    "lease": "acquired handed-off lost renewed",
    "log": "appended",
    "memory": "compacted written",
    "model": "capability.insufficient capability.substituted",
    "node": "cancelled completed dispatched failed resumed retried skipped started suspend-failed"
    " suspended",
    "output": "chunk",
    "prompt": "composed",
    "proposal": "activated created",
    "provider": "usage",
    "replay": "diverged divergedAtRefusal",
    "roster": "run.initiated",
    "run": "cancelled completed dead_lettered failed paused restored-from-snapshot resumed resuming"
    " started",
    "runOrchestrator": "decided",
    "tool": "session.closed session.opened",
    "trigger": "delivery.attempted subscription.state.changed",
    "variable": "changed",
    "version": "pinned",
    "voice": "barge_in cancelled endpoint_candidate speech_start synthesis_chunk transcript"
    " turn_commit",
    "workflow": "loopback-limit restored stalled",
    "workspace": "updated",
}

REGISTERED = frozenset(
    f"{domain}.{rest}" for domain, names in _FAMILIES.items() for rest in names.split()
)
"""The registered types by their v1 names."""

LIVE = frozenset({"interrupt.vote", "interrupt.vote.recorded", "node.interrupt.resolved"})
"""Types that no schema registers and that reference hosts send."""

V1_NAMES = {
    "agent.invocation-completed": "agent.invocation.completed",
    "agent.invocation-started": "agent.invocation.started",
    "agent.memory-consolidated": "agent.memory.consolidated",
    "agent.prompt-resolved": "agent.promptResolved",
    "agent.reasoning-delta": "agent.reasoning.delta",
    "agent.tool-called": "agent.toolCalled",
    "agent.tool-returned": "agent.toolReturned",
    "budget.threshold-crossed": "budget.threshold.crossed",
    "compensation.manual-intervention-required": "compensation.manual_intervention_required",
    "connector.auth-expired": "connector.auth_expired",
    "deployment.canary-adjusted": "deployment.canary.adjusted",
    "deployment.state-changed": "deployment.state.changed",
    "dispatch.fanned-out": "core.dispatch.fanOut",
    "dispatch.joined": "core.dispatch.join",
    "envelope.nl-to-format-engaged": "envelope.nlToFormat.engaged",
    "envelope.recovery-applied": "envelope.recovery.applied",
    "envelope.retry-attempted": "envelope.retry.attempted",
    "envelope.retry-exhausted": "envelope.retry.exhausted",
    "model.capability-insufficient": "model.capability.insufficient",
    "model.capability-substituted": "model.capability.substituted",
    "orchestrator.decided": "runOrchestrator.decided",
    "replay.diverged-at-refusal": "replay.divergedAtRefusal",
    "roster.run-initiated": "roster.run.initiated",
    "run.dead-lettered": "run.dead_lettered",
    "run.resume-started": "run.resuming",
    "tool.session-closed": "tool.session.closed",
    "tool.session-opened": "tool.session.opened",
    "trigger.delivery-attempted": "trigger.delivery.attempted",
    "trigger.subscription-state-changed": "trigger.subscription.state.changed",
    "voice.barge-in": "voice.barge_in",
    "voice.endpoint-candidate": "voice.endpoint_candidate",
    "voice.speech-start": "voice.speech_start",
    "voice.synthesis-chunk": "voice.synthesis_chunk",
    "voice.turn-commit": "voice.turn_commit",
    "workflow-chain.confidence-escalated": "core.workflowChain.confidence-escalated",
    "workflow-chain.event": "core.workflowChain.event",
}
"""The v1 name of each type that v2 renamed."""

CANONICAL = {name: name for name in REGISTERED | LIVE} | V1_NAMES
"""The v1 name of every known type, by the name on the wire."""


def names_in(major: int) -> list[str]:
    """Return every type that a host of a protocol major may be asked to send, as it calls them."""
    if major == 1:
        return sorted(REGISTERED | LIVE)
    return sorted(REGISTERED - set(V1_NAMES.values()) | set(V1_NAMES))


DOMAINS = frozenset(name.partition(".")[0] for name in CANONICAL)
"""The first segments that belong to the protocol."""

_VENDOR_TYPE = re.compile(
    r"(?!(?:openwop|core|community|vendor|private|local|console)\.)"
    r"[a-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+"
)


def is_vendor_type(name: str) -> bool:
    """Whether a host may name an event so, without it being registered.

    `console.` is reserved beside the protocol's own prefixes: those lines are ours to write.

    Source: the vendor pattern of run-event.schema.json, RunEventType (v1).
    """
    return _VENDOR_TYPE.fullmatch(name) is not None
