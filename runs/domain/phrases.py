"""What each type of event says, with gaps for what it is about.

By v1 name. `runs.domain.sentences` explains the gaps. The few types that need a rule to be told are
in `runs.domain.summaries`.
"""

from collections.abc import Mapping

_RUNS = {
    "run.started": "Run started[: {workflowId}][, by way of {transport}]",
    "run.completed": "Run completed[ in {durationMs} ms]",
    "run.failed": "Run failed[: {error.code|code}][ at node {failedNodeId}]",
    "run.cancelled": "Run cancelled[ by {cancelledBy}][: {reason}]",
    "run.paused": "Run paused[: {reason}]",
    "run.resumed": "Run resumed[ at node {resumedAtNode}][ by {resumedBy}]",
    "run.resuming": "Run about to resume[, was {fromStatus}]",
    "run.restored-from-snapshot": "Run restored from a snapshot[ at sequence {snapshotSeq}]",
    "run.dead_lettered": "Run given up[ after {attempts} attempts][: {reason}]",
}

_NODES = {
    "node.started": "Node[ {node}] started[ ({typeId})][, attempt {attempt}]",
    "node.completed": "Node[ {node}] completed[: {outcome|decision!}][ ({reason})]"
    "[, child run {outputs.childRunId}][ {outputs.childStatus}][ in {durationMs} ms]",
    "node.failed": "Node[ {node}] failed[: {error.code|code}][ after {attempts} attempts]",
    "node.suspend-failed": "Node[ {node}] could not wait[: {error.code|code}]",
    "node.resumed": "Node[ {node}] goes on[ after {action|kind}]",
    "node.retried": "Node[ {node}] tries again[, attempt {attempt}][ in {delayMs} ms]",
    "node.skipped": "Node[ {node}] skipped[: {reason}]",
    "node.cancelled": "Node[ {node}] cancelled[: {reason}]",
    "node.dispatched": "Child run[ {childRunId}] dispatched[ ({childWorkflowId})][: {childStatus}]",
    "node.interrupt.resolved": "Interrupt[ of node {node}] answered[ ({kind})]",
}

_AGENTS = {
    "agent.reasoned": "[{agentId} ]reasoned[: {reasoning~}]",
    "agent.reasoning.delta": "[{agentId} ]reasons[: {delta~}]",
    "agent.toolCalled": "[{agentId} ]called[ {toolName}][ (call {callId})]",
    "agent.toolReturned": "[{toolName} ]returned[: {status|error.code}][ in {durationMs} ms]"
    "[ (call {callId})]",
    "agent.handoff": "[{fromAgentId} ]handed over[ to {toAgentId}][: {reason}]",
    "agent.decided": "[{agentId} ]decided[: {decision.kind|decision!}][, confidence {confidence}]",
    "agent.invocation.started": "[{agentId} ]was called[ ({source})][ on {resolvedModel}]",
    "agent.invocation.completed": "[{agentId} ]finished[: {outcome}][, confidence {confidence}]",
    "agent.promptResolved": "Prompt resolved[: {resolved}][ ({kind})]",
    "agent.memory.consolidated": "Memory[ {memoryRef}] consolidated"
    "[: {inputCount}][ to {outputCount}]",
}

_ORCHESTRATORS = {
    "core.workflowChain.confidence-escalated": "Confidence[ {confidence}] below the floor"
    "[ of {floor}][: {escalationKind}][ before worker {workerId}]",
    "core.dispatch.fanOut": "Fanned out[ to {childCount} children][, joins on {joinMode}]",
    "core.dispatch.join": "Joined[: {joinOutcome}][, {completedCount} completed]"
    "[, {failedCount} failed]",
}

_INTERRUPTS = {
    "interrupt.requested": "Waits for an answer[ ({kind})][: {data.title~}]",
    "interrupt.resolved": "Interrupt[ {interruptId}] answered[ ({kind})]"
    "[: {outcome|action|resumeValue.action}]",
    "interrupt.vote.recorded": "Vote recorded[ by {voter}][: {action}]",
    "approval.requested": "Approval requested[ for {artifactType}][ {artifactId}]",
    "approval.received": "Approval answered[: {action}][ by {decidedBy}]",
    "approval.granted": "Gate[ {gateId}] granted[ by {principal}]"
    "[, {quorumProgress.granted}][ of {quorumProgress.required}]",
    "approval.rejected": "Gate[ {gateId}] rejected[ by {principal}][: {reason}]",
    "approval.overridden": "Gate[ {gateId}] overridden[ by {principal}][: {reason}]",
    "clarification.requested": "Asks[ {questions#} questions]",
    "clarification.resolved": "Questions answered[ by {answeredBy}][ ({answers#})]",
    "conversation.opened": "Conversation opened[ by {openedBy}][: {initialTurn.content~}]",
    "conversation.exchanged": "Turn[ {turnIndex}] exchanged[ by {turn.role|turn.from}]"
    "[: {turn.content~}]",
    "conversation.closed": "Conversation closed[ after {turnCount} turns][: {reason}]",
}

_RESOURCES = {
    "cap.breached": "Limit breached[: {kind}][, {observed}][ of {limit}]",
    "budget.reserved": "Budget reserved[ for the {scope}][: {effectiveBudget.maxTokens} tokens]"
    "[, {effectiveBudget.maxCostUsd} USD]",
    "budget.consumed": "Budget used[: {consumed}][ of {limit}][ {dimension}]",
    "budget.threshold.crossed": "Budget at[ {percent} %][: {consumed}][ of {limit}][ {dimension}]",
    "budget.exhausted": "Budget exhausted[: {consumed}][ of {limit}][ {dimension}]",
    "provider.usage": "[{provider} ][{model} ]used[ {inputTokens} tokens in]"
    "[, {outputTokens} out][, {costEstimateUsd} USD]",
    "artifact.created": "Artifact[ {artifactId}] created[ ({artifactType})]",
    "output.chunk": "Output[ of {node}][: {chunk~}]",
    "variable.changed": "Variable[ {name}] changed",
    "log.appended": "Log[ {level}][: {message~}]",
    "channel.written": "Channel[ {channel|channelName}] written[ ({reducer})]",
    "channel.presence": "Channel presence changed",
    "workspace.updated": "File[ {path}] updated[ to version {version}]",
    "version.pinned": "Version[ {version}] pinned[ for {changeId}]",
    "memory.written": "Memory[ {memoryId}] written[ to {memoryRef}]",
    "memory.compacted": "Memory[ {memoryRef}] compacted[: {sourceCount} entries to one]",
    "context.summarized": "Context summarized[: {tokensBefore} tokens][ to {tokensAfter}]",
    "commitment.fired": "Commitment[ {commitmentId}] fired[ ({condition})]",
    "eval.started": "Evaluation started[: {suiteId}][, {taskCount} tasks]",
    "eval.scored": "Task[ {taskId}] scored[ {score}][, passed: {passed}]",
    "eval.completed": "Evaluation completed[: {aggregateScore}][, {passedCount}][ of {taskCount}]",
}

_OPERATIONS = {
    "replay.diverged": "Replay diverged[ at sequence {atSequence}][: {divergenceKind}]",
    "replay.divergedAtRefusal": "Replay diverged[ at sequence {atSequence}]"
    "[: {originalEnvelopeKind}][, now {replayEnvelopeKind}]",
    "compensation.requested": "Compensation requested[ for {effectId|nodeId}]",
    "compensation.started": "Compensation started[ for {effectId|nodeId}]",
    "compensation.completed": "Compensation completed[ for {effectId|nodeId}]",
    "compensation.failed": "Compensation failed[ for {effectId|nodeId}][: {reason}]",
    "compensation.paused": "Compensation paused[ for {effectId|nodeId}][: {reason}]",
    "compensation.manual_intervention_required": "Compensation needs a person"
    "[ for {effectId|nodeId}][: {reason}]",
    "envelope.retry.attempted": "Model answer asked for again[, attempt {attempt}][: {reason}]",
    "envelope.retry.exhausted": "Model answer unusable[ after {totalAttempts} attempts]"
    "[: {finalReason}]",
    "envelope.refusal": "[{model|provider} ]refused to answer[ ({safetyCategory})]",
    "envelope.truncated": "Answer[ of {model|provider}] cut off[: {stopReason}]",
    "envelope.nlToFormat.engaged": "Answer reformatted[ to {originalEnvelopeType}]",
    "envelope.recovery.applied": "Answer repaired[: {path}]",
    "model.capability.substituted": "Model replaced[: {originalModel}][ by {fallbackModel}]",
    "model.capability.insufficient": "Model[ {model}] cannot[: {missingCapabilities,}]",
    "prompt.composed": "Prompt composed[ ({kind})]",
    "authorization.decided": "[{action} ]allowed[: {allowed}][, for {principal}]",
    "egress.decided": "Call to[ {destination}][: {decision}][ ({reason})]",
    "connector.authorized": "Connector[ {provider}] authorized",
    "connector.auth_expired": "Authorization[ of {provider}] expired[: {reason}]",
    "tool.session.opened": "Tool session opened[: {toolId}]",
    "tool.session.closed": "Tool session closed[: {toolId}][, {outcome}]",
    "lease.acquired": "Lease acquired[ by {host}]",
    "lease.renewed": "Lease renewed[ by {host}]",
    "lease.lost": "Lease lost[ by {host}]",
    "lease.handed-off": "Lease handed over[ from {fromHost}][ to {toHost}]",
    "workflow.restored": "Workflow restored[ from sequence {fromSnapshotSeq}]",
    "workflow.loopback-limit": "Loop limit reached[ at node {node}][, {iterations}][ of {limit}]",
    "workflow.stalled": "Workflow stalled[ for {stalledForMs} ms][ at node {lastNodeId}]",
    "deployment.promoted": "[{agentId} ]promoted[ to {toState}][, version {toVersion}]",
    "deployment.rolled-back": "[{agentId} ]rolled back[ to version {toVersion}][: {reason}]",
    "deployment.canary.adjusted": "[{agentId} ]canary share changed[ from {fromPercent}]"
    "[ to {toPercent}]",
    "deployment.state.changed": "[{agentId} ]changed[ from {fromState}][ to {toState}]",
    "trigger.subscription.state.changed": "Subscription[ {subscriptionId}] changed"
    "[ from {fromState}][ to {toState}]",
    "trigger.delivery.attempted": "Trigger delivery[ {outcome}][, attempt {attempt}]",
    "roster.run.initiated": "Run initiated from the roster",
    "proposal.created": "Proposal created",
    "proposal.activated": "Proposal activated",
    "goal.evaluated": "Goal evaluated",
    "goal.closed": "Goal closed",
    "import.applied": "Import applied",
    "voice.speech_start": "Speech started",
    "voice.transcript": "Heard[: {text~}]",
    "voice.endpoint_candidate": "Speaker may have ended[, confidence {confidence}]",
    "voice.turn_commit": "Speaker ended[: {finalText~}]",
    "voice.synthesis_chunk": "Speech made[, part {seq}]",
    "voice.barge_in": "Speaker broke in",
    "voice.cancelled": "Speech cancelled[: {reason}]",
}

_CONSOLE = {
    "console.verdict.refused": "A possible verdict was refused[: {reason}][ at {pointer}]",
    "console.event.conflicted": "An event claims the place of another[: {heldEventId}]",
    "console.run.read": "The host says more of the run than its events do[: {status}][, at {node}]",
    "console.interrupt.found": "The host waits, which no event says[: {kind}][, at {node}]",
    "console.interrupt.gone": "The host waits no more[ at {node}]",
    "console.gate.changed": "Gate[ {state_}][ for {target}][, was {was_}]",
    "console.gates.changed": "[{count} ]gates changed at once",
    "console.finding.noted": "Noticed[ {kind_}][ ({severity_})][ about {target}]",
    "console.finding.withdrawn": "No longer holds[: {kind_}][ about {target}]",
    "console.escalation.opened": "A person is needed[: {reason_}][, about {target}]",
    "console.escalation.claimed": "[{by} ]took the escalation[ about {target}]",
    "console.escalation.released": "[{by} ]gave the escalation back",
    "console.escalation.lapsed": "The claim ran out; the escalation is open again",
    "console.escalation.resolved": "[{by} ]decided[: {action_}][, about {target}]",
    "console.escalation.closed": "Nobody is needed any more[: {because_}]",
    "console.escalation.voted": "[{by} ]gave their review; {missing} more asked",
    "console.escalation.handed_to_lead": "A lead is asked to decide",
    "console.escalation.undone": "[{by} ]took the decision back before it left",
    "console.escalation.turn": "[{by} ]answered the host[: {action_}]; the pause stays",
    "console.escalation.commented": "[{by} ]left a note",
    "console.delivery.accepted": "The host has the decision[ (HTTP {status})]",
    "console.delivery.delivered": "The decision reached the host[ (HTTP {status})]",
    "console.delivery.retrying": "The decision is not with the host yet[; attempt {attempt}]",
    "console.delivery.superseded": "The host's pause was answered otherwise",
    "console.delivery.undeliverable": "The host does not take the decision[ (HTTP {status})]",
    "console.delivery.stopped": "Sending stopped until somebody repairs something",
    "console.delivery.dead": "Given up sending the decision",
    "console.delivery.took_effect": "The decision took effect[ at #{sequence}]",
    "console.delivery.no_effect": "The host accepted the decision and shows no effect of it",
    "console.delivery.redriven": "[{by} ]had the decision sent again",
    "console.delivery.overtaken": "The pause ended for another reason[ at #{sequence}]",
}

PHRASES: Mapping[str, str] = {
    **_RUNS,
    **_NODES,
    **_AGENTS,
    **_ORCHESTRATORS,
    **_INTERRUPTS,
    **_RESOURCES,
    **_OPERATIONS,
    **_CONSOLE,
}
