"""The badge vocabulary: one table from code words to what a reader sees, and the tags that draw it.

A badge always has an icon and a word; colour only repeats what both already say. Only what needs
somebody has a ground of its own (`wash`, `solid`), so that a page at peace looks at peace. Words of
`verification` stand here as plain text: this module imports nothing of it. It decides nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

Tone = Literal["good", "bad", "warn", "person", "busy", "quiet", "alarm"]
Shape = Literal["bare", "wash", "outline", "dashed", "solid"]


@dataclass(frozen=True, slots=True)
class Badge:
    """How one code word is shown."""

    word: str
    icon: str
    """Name of a symbol in static/icons.svg."""
    tone: Tone = "quiet"
    shape: Shape = "bare"


BADGES: Mapping[str, Badge] = {
    # What a verifier said (RFC 0090 §A), and what the absence of it means: not a pass.
    "verdict.pass": Badge("Pass", "shield-check", "good"),
    "verdict.fail": Badge("Fail", "shield-cross", "bad", "wash"),
    "verdict.revise": Badge("Revise", "revise", "warn", "wash"),
    "verdict.unverified": Badge("Unverified", "shield-dash", "quiet", "dashed"),
    # What the standing verdicts on a target allow.
    "gate.no_verdict": Badge("Unverified", "shield-dash", "quiet", "dashed"),
    "gate.passed": Badge("Passed", "shield-check", "good"),
    "gate.revise_asked": Badge("Revise asked", "revise", "warn", "wash"),
    "gate.blocked": Badge("Blocked", "lock", "bad", "wash"),
    "gate.in_review": Badge("In review", "person", "person", "wash"),
    "gate.overridden": Badge("Overridden", "key", "person", "outline"),
    "gate.upheld": Badge("Upheld", "lock-check", "bad", "outline"),
    "gate.superseded": Badge("Superseded", "double-arrow"),
    "gate.unknown": Badge("Unknown", "question", "warn", "outline"),
    "gate.violated": Badge("Gate violated", "lock-broken", "alarm", "solid"),
    # Where a run is. Hosts may send others: those fall back to their own words.
    "status.pending": Badge("Pending", "pending"),
    "status.running": Badge("Running", "running", "busy"),
    "status.paused": Badge("Paused", "pause"),
    "status.waiting-approval": Badge("Waiting for approval", "clock", "warn"),
    "status.waiting-input": Badge("Waiting for input", "clock", "warn"),
    "status.waiting-external": Badge("Waiting for an event", "clock", "warn"),
    "status.completed": Badge("Completed", "circle-check"),
    "status.failed": Badge("Failed", "circle-cross", "bad"),
    "status.cancelling": Badge("Cancelling", "ban"),
    "status.cancelled": Badge("Cancelled", "ban"),
    "status.stalled": Badge("Stalled", "hourglass", "warn", "outline"),
    "status.unknown": Badge("Unknown", "question"),
    # How it ended. Only a met goal is green.
    "outcome.goal_met": Badge("Goal met", "target", "good"),
    "outcome.gave_up": Badge("Gave up", "flag-down", "warn"),
    "outcome.ended": Badge("Ended", "dot"),
    "outcome.failed": Badge("Failed", "circle-cross", "bad"),
    "outcome.cancelled": Badge("Cancelled", "ban"),
    # What we add to a run, an event or a verdict.
    "mark.held": Badge("Held", "held", "warn", "wash"),
    "mark.advisory": Badge("Advisory", "info", "quiet", "outline"),
    "mark.self_verified": Badge("Self-verified", "mirror", "warn", "outline"),
    "mark.independence_unknown": Badge("Independence unknown", "question", "quiet", "outline"),
    "mark.late": Badge("Late", "history", "quiet", "outline"),
    "mark.gap": Badge("Missing", "gap", "warn", "dashed"),
    "mark.off_schema": Badge("Off schema", "document"),
    "mark.omitted": Badge("Payload omitted", "box", "quiet", "outline"),
    "mark.near_miss": Badge("Near miss", "eye", "warn", "wash"),
    "mark.conflict": Badge("Conflict", "exchange", "bad", "outline"),
    "mark.candidates": Badge("Names an agent", "question", "quiet", "outline"),
    "mark.not_found": Badge("Target not found", "question", "quiet", "dashed"),
    "mark.reversed": Badge("Reversed", "history", "warn", "outline"),
    # How sure and how grave a finding is.
    "severity.violation": Badge("Violation", "lock-broken", "alarm", "solid"),
    "severity.advisory": Badge("Advisory", "info", "quiet", "outline"),
    "severity.suspected": Badge("Suspected", "eye", "warn", "outline"),
    "severity.not_provable": Badge("Not provable", "question"),
    "severity.soft": Badge("Notice", "flag"),
    "finding.merged_after_fail": Badge("Merged after fail", "lock-broken"),
    "finding.success_after_fail": Badge("Success after fail", "lock-broken"),
    "finding.merged_after_revise": Badge("Merged after revise", "revise"),
    "finding.revise_over_limit": Badge("Over the revise limit", "repeat"),
    "finding.verdict_reversed": Badge("Verdict reversed", "history"),
    "finding.self_verified": Badge("Self-verified", "mirror"),
    "finding.unverified_commit": Badge("Unverified commit", "shield-dash"),
    "finding.low_confidence_not_escalated": Badge("Low confidence, not escalated", "gauge"),
    "finding.content_leak_refused": Badge("Content leak refused", "document"),
    "finding.schema_mismatch": Badge("Off schema", "document"),
    "finding.conflicting_event": Badge("Conflicting event", "exchange"),
    "finding.near_miss_type": Badge("Near-miss type", "eye"),
    "finding.verdict_unadvertised": Badge("Verdict not advertised", "hosts"),
    "finding.clock_skew": Badge("Clock skew", "clock"),
    # Why something waits for a person, and how far that is.
    "reason.fail": Badge("Failed verdict", "shield-cross", "bad"),
    "reason.low_confidence": Badge("Low confidence", "gauge", "warn"),
    "reason.ask_user": Badge("Question to a person", "chat", "person"),
    "reason.interrupt": Badge("Host is waiting", "hand", "warn"),
    "reason.revise_limit": Badge("Revise limit reached", "repeat", "warn"),
    "reason.violation": Badge("Gate violated", "lock-broken", "alarm", "solid"),
    "reason.consensus_rejected": Badge("Consensus rejected", "scales", "bad"),
    "reason.held": Badge("Run held", "held", "warn"),
    "reason.audit_sample": Badge("Audit sample", "dice"),
    "escalation.open": Badge("Open", "queue", "person", "outline"),
    "escalation.claimed": Badge("Claimed", "person", "person"),
    "escalation.resolved": Badge("Resolved", "check"),
    "escalation.moot": Badge("Moot", "ban"),
    "escalation.expired": Badge("Expired", "hourglass", "bad", "outline"),
    "resolution.uphold": Badge("Fail upheld", "lock-check", "bad", "outline"),
    "resolution.send_back": Badge("Sent back", "revise", "warn"),
    "resolution.override": Badge("Overridden to pass", "key", "person", "outline"),
    "resolution.answer": Badge("Answered", "chat", "person"),
    "resolution.confirm": Badge("Pass confirmed", "shield-check", "good"),
    "resolution.dispute": Badge("Pass disputed", "shield-cross", "bad", "outline"),
    "resolution.release_hold": Badge("Hold released", "key", "person", "outline"),
    "resolution.cannot_decide": Badge("Could not decide", "question"),
    "resolution.accept": Badge("Accepted", "circle-check", "good"),
    "resolution.reject": Badge("Rejected", "circle-cross", "bad"),
    "resolution.refine": Badge("Refinement asked", "revise", "warn"),
    "resolution.edit-accept": Badge("Accepted with edits", "circle-check", "good"),
    "resolution.ask": Badge("Question to the host", "question"),
    "resolution.ratify": Badge("Ratified", "circle-check", "good"),
    "resolution.replace": Badge("Decided differently", "exchange", "warn"),
    "resolution.report_event": Badge("Event reported", "bolt"),
    "resolution.reply": Badge("Replied", "chat", "person"),
    "resolution.close_conversation": Badge("Conversation closed", "chat"),
    "resolution.authorized": Badge("Connected on the host", "key", "good"),
    "resolution.declined": Badge("Declined", "ban", "warn"),
    # The way of a resolution to its host.
    "delivery.waiting": Badge("On its way", "clock", "busy"),
    "delivery.pending": Badge("Not sent yet", "clock", "busy"),
    "delivery.retrying": Badge("Retrying", "refresh", "warn"),
    "delivery.sending": Badge("Sending", "send", "busy"),
    "delivery.delivered": Badge("Delivered", "send", "busy"),
    "delivery.accepted": Badge("Accepted", "circle-check", "good"),
    "delivery.took_effect": Badge("Took effect", "bolt", "good"),
    "delivery.no_effect": Badge("No effect seen", "eye", "warn", "wash"),
    "delivery.superseded": Badge("Resolved elsewhere", "double-arrow", "warn", "outline"),
    "delivery.undeliverable": Badge("Undeliverable", "ban", "bad", "wash"),
    "delivery.stopped": Badge("Stopped", "held", "bad", "wash"),
    "delivery.dead": Badge("Gave up sending", "ban", "bad", "wash"),
    "delivery.none": Badge("Nothing to deliver", "dot"),
    "light.done": Badge("Done", "check", "good"),
    "light.current": Badge("In progress", "clock", "busy"),
    "light.waiting": Badge("Waiting", "pending"),
    "light.failed": Badge("Failed", "cross", "bad"),
    "light.skipped": Badge("Not needed", "ban"),
    # Consensus jobs: a judge's error is not a dissent, and kept is not quorum.
    "vote.accept": Badge("Accept", "check", "good"),
    "vote.dissent": Badge("Dissent", "cross", "bad"),
    "vote.error": Badge("Error", "alarm", "warn"),
    "vote.not_asked": Badge("Not asked", "gap"),
    "vote.asking": Badge("Being asked", "running", "busy"),
    "vote.retrying": Badge("Asked again soon", "refresh", "warn"),
    "vote.void": Badge("Came too late", "history"),
    "vote.pending": Badge("Not yet", "pending"),
    "vote.not_asked_quorum": Badge("Not asked: quorum", "gap"),
    "vote.not_asked_budget": Badge("Not asked: budget", "coin"),
    "vote.not_asked_stopped": Badge("Not asked: stopped", "ban"),
    "job.queued": Badge("Waiting for a worker", "clock"),
    "job.proposing": Badge("Proposing", "bot", "busy"),
    "job.judging": Badge("Judging", "scales", "busy"),
    "job.revising": Badge("Revising", "revise", "busy"),
    "job.planning": Badge("Planning", "scales", "busy"),
    "job.summing-up": Badge("Summing up", "revise", "busy"),
    "job.waiting": Badge("Waits for a person", "person", "person"),
    "job.working": Badge("Working", "running", "busy"),
    "job.cancelling": Badge("Cancelling", "ban", "warn"),
    "job.done": Badge("Done", "check"),
    "job.broken": Badge("Broken off", "alarm", "bad"),
    "operation.runConsensus": Badge("Consensus", "scales"),
    "operation.runTasks": Badge("Tasks", "branch"),
    "operation.runTeam": Badge("Team", "branch"),
    # Tasks of a job, and what became of a plan's tasks before they were run.
    "task.pending": Badge("Ready", "pending"),
    "task.blocked": Badge("Waits for others", "hourglass"),
    "task.working": Badge("Being done", "running", "busy"),
    "task.judging": Badge("Judging", "scales", "busy"),
    "task.revising": Badge("Revising", "revise", "busy"),
    "task.waiting": Badge("Waits for a person", "person", "person"),
    "task.completed": Badge("Done", "circle-check"),
    "task.withheld": Badge("Not merged", "lock", "bad"),
    "task.failed": Badge("Failed", "circle-cross", "bad"),
    "task.skipped": Badge("Skipped", "ban"),
    "change.same": Badge("As proposed", "check"),
    "change.filled": Badge("Filled in", "plus"),
    "change.changed": Badge("Changed", "revise", "warn"),
    "change.added": Badge("Added", "plus", "warn"),
    "change.removed": Badge("Taken out", "cross", "warn"),
    "basis.quorum": Badge("By quorum", "scales", "good"),
    "basis.kept": Badge("Kept over dissent", "key", "warn", "outline"),
    "basis.dissent": Badge("Rejected by dissent", "scales", "bad"),
    "basis.budget": Badge("Stopped by budget", "coin", "warn"),
    "basis.judge_error": Badge("Judge error", "alarm", "warn"),
    "basis.aborted": Badge("Aborted", "ban"),
    "basis.overridden": Badge("Let through by a person", "key", "warn"),
    "basis.unfinished": Badge("Unfinished", "gap", "warn"),
    "basis.unverified": Badge("Nobody judged", "gap", "quiet"),
    "basis.no_plan": Badge("No plan", "gap", "warn"),
    "basis.no_answer": Badge("No answer", "gap", "warn"),
    # What a test of a host's connection found: green is only what really came back.
    "tried.works": Badge("Works", "circle-check", "good"),
    "tried.fails": Badge("Fails", "circle-cross", "bad", "wash"),
    "tried.not_proven": Badge("Not proven", "question"),
    "tried.not_applicable": Badge("Does not apply", "gap"),
    "tried.waiting": Badge("Waiting", "clock"),
    "basis.suspected": Badge("Suspected", "eye", "warn", "wash"),
}


MARKS: Mapping[str, tuple[str, Tone]] = {
    "agent.decided": ("bot", "quiet"),
    "agent.verified": ("shield", "quiet"),
    "agent.toolCalled": ("tool", "quiet"),
    "agent.toolReturned": ("tool", "quiet"),
    "agent.handoff": ("exchange", "quiet"),
    "agent.reasoned": ("thought", "quiet"),
    "agent.reasoning.delta": ("thought", "quiet"),
    "agent.memory.consolidated": ("memory", "quiet"),
    "agent": ("bot", "quiet"),
    "runOrchestrator.decided": ("branch", "quiet"),
    "core.workflowChain.confidence-escalated": ("gauge", "warn"),
    "core": ("branch", "quiet"),
    "run.started": ("running", "busy"),
    "run.completed": ("circle-check", "quiet"),
    "run.failed": ("circle-cross", "bad"),
    "run.dead_lettered": ("circle-cross", "bad"),
    "run.cancelled": ("ban", "quiet"),
    "run.paused": ("pause", "quiet"),
    "run": ("runs", "quiet"),
    "node.failed": ("circle-cross", "bad"),
    "node.suspend-failed": ("circle-cross", "bad"),
    "node.suspended": ("pause", "warn"),
    "node.retried": ("refresh", "quiet"),
    "node.dispatched": ("branch", "quiet"),
    "node": ("box", "quiet"),
    "interrupt.requested": ("hand", "warn"),
    "interrupt": ("hand", "quiet"),
    "approval.overridden": ("key", "person"),
    "approval": ("hand", "quiet"),
    "clarification": ("chat", "quiet"),
    "conversation": ("chat", "quiet"),
    "cap.breached": ("alarm", "bad"),
    "budget.exhausted": ("coin", "bad"),
    "budget": ("coin", "quiet"),
    "provider": ("coin", "quiet"),
    "memory": ("memory", "quiet"),
    "artifact": ("document", "quiet"),
    "workflow.stalled": ("hourglass", "warn"),
    "console.escalation": ("queue", "person"),
    "console.interrupt": ("hand", "quiet"),
    "console.judge": ("scales", "quiet"),
    "console": ("audit", "quiet"),
}
"""Icon and tone of an event type: the longest dotted beginning that is listed here decides."""


def badge_of(kind: str, word: str) -> Badge:
    """Return how `word` of vocabulary `kind` is shown; an unknown word is shown as it is."""
    known = BADGES.get(f"{kind}.{word}")
    if known is not None:
        return known
    plain = word.replace("_", " ").replace("-", " ").strip()
    return Badge(plain[:1].upper() + plain[1:] or "Unknown", "question")


def mark_of(event_type: str) -> tuple[str, Tone]:
    """Return icon and tone of an event type; an unknown type is a plain dot."""
    beginning = event_type
    while beginning:
        if beginning in MARKS:
            return MARKS[beginning]
        beginning = beginning.rpartition(".")[0]
    return ("dot", "quiet")


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """Draw a symbol of the sprite; without a label it is decoration and hidden from readers."""
    role = format_html('role="img" aria-label="{}"', label) if label else 'aria-hidden="true"'
    return format_html(
        '<svg class="icon" width="16" height="16" {}><use href="{}#{}"></use></svg>',
        SafeString(role),
        static("icons.svg"),
        name,
    )


@register.simple_tag
def badge(kind: str, word: str, shape: str = "") -> SafeString:
    """Draw the badge of a code word; nothing for an empty word. `shape` overrules the table."""
    if not word:
        return SafeString("")
    shown = badge_of(kind, word)
    return format_html(
        '<span class="badge" data-tone="{}" data-shape="{}">{}<span>{}</span></span>',
        shown.tone,
        shape or shown.shape,
        icon(shown.icon),
        shown.word,
    )


@register.simple_tag
def sign(kind: str, word: str) -> SafeString:
    """Draw only the icon of a badge, with its word for readers and as a hint: for narrow strips."""
    shown = badge_of(kind, word)
    return format_html(
        '<span class="sign" data-tone="{}" title="{}">{}</span>',
        shown.tone,
        shown.word,
        icon(shown.icon, shown.word),
    )


@register.simple_tag
def shown_as(kind: str, word: str) -> Badge:
    """Return the badge of a code word, for parts that draw it their own way."""
    return badge_of(kind, word)


@register.simple_tag
def badge_words() -> dict[str, list[str]]:
    """Return the words of each kind, in table order: for the style guide."""
    words: dict[str, list[str]] = {}
    for key in BADGES:
        kind, _, word = key.partition(".")
        words.setdefault(kind, []).append(word)
    return words


@register.filter
def word_of(word: str, kind: str) -> str:
    """Return the plain word of a badge: `{{ reason|word_of:"reason" }}`."""
    return badge_of(kind, word).word


@register.filter
def grouped(number: int) -> str:
    """Write a count with its thousands apart: `12,431`."""
    return f"{number:,}"
