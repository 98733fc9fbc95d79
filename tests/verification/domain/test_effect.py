"""Which line of a host proves that a decision took effect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.log import LogLine, Origin
from tests.verification.domain.recorded import line, recordings
from verification.domain.effect import EffectKind, Suspension, effects, proof, votes

PAUSE = Suspension("gate", 5, "i1")
PROOFS = {
    "openwop-app:approval.accepted-by-token": (EffectKind.RESUMED, "node.interrupt.resolved"),
    "openwop-app:approval.rejected": (EffectKind.RESUMED, "node.interrupt.resolved"),
    "openwop-app:approval.cancelled-while-waiting": (EffectKind.OVERTAKEN, "run.cancelled"),
    "openwop-app:agent-low-confidence.resolved": (EffectKind.RESUMED, "node.interrupt.resolved"),
    "openwop-app:confidence-escalation.resolved": (EffectKind.RESUMED, "node.interrupt.resolved"),
    "openwop-app:external-event.token": (EffectKind.RESUMED, "node.interrupt.resolved"),
    "postgres:approval.rejected": (EffectKind.RESUMED, "node.completed"),
    "postgres:auth-required": (EffectKind.RESUMED, "node.resumed"),
    "postgres:quorum.rejected": (EffectKind.RESUMED, "node.completed"),
    "postgres:quorum.three-accepts": (EffectKind.RESUMED, "node.resumed"),
    "sqlite:clarification.answered": (EffectKind.RESUMED, "node.resumed"),
    "sqlite:console-ask-user.answered": (EffectKind.RESUMED, "node.resumed"),
    "sqlite:external-event.matched": (EffectKind.RESUMED, "node.resumed"),
    "sqlite:quorum.rejected": (EffectKind.RESUMED, "node.completed"),
    "sqlite:quorum.three-accepts": (EffectKind.RESUMED, "node.resumed"),
}


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)
def test_what_live_hosts_write_is_recognised(recording):
    pause = Suspension(recording.node_id, recording.pause.sequence, recording.interrupt_id)

    found = proof(recording.lines, pause)

    shown = None if found is None else (found.kind, found.line.type)
    assert shown == PROOFS.get(recording.name)


def test_votes_are_counted_while_a_quorum_is_incomplete():
    by_name = {recording.name: recording for recording in recordings()}
    three = by_name["sqlite:quorum.three-accepts"]

    assert votes(three.lines, Suspension("gate", three.pause.sequence)) == 2


@pytest.mark.parametrize(
    ("type_", "node", "payload", "kind"),
    [
        ("node.resumed", "gate", None, EffectKind.RESUMED),
        ("node.resumed", None, {"nodeId": "gate"}, EffectKind.RESUMED),
        ("node.interrupt.resolved", "gate", {"interruptId": "i1"}, EffectKind.RESUMED),
        ("interrupt.resolved", None, {"interruptId": "i1"}, EffectKind.RESUMED),
        ("run.resumed", None, {"resumedAtNode": "gate"}, EffectKind.RESUMED),
        ("approval.received", "gate", {"action": "accept"}, EffectKind.RESUMED),
        ("approval.granted", None, {"gateId": "gate", "principal": "p"}, EffectKind.RESUMED),
        ("approval.rejected", None, {"gateId": "gate", "principal": "p"}, EffectKind.RESUMED),
        ("approval.overridden", None, {"gateId": "gate"}, EffectKind.RESUMED),
        ("clarification.resolved", "gate", {"answers": {}}, EffectKind.RESUMED),
        ("conversation.closed", "gate", {}, EffectKind.RESUMED),
        ("node.completed", "gate", None, EffectKind.RESUMED),
        ("node.failed", "gate", None, EffectKind.ENDED),
        ("run.completed", None, None, EffectKind.ENDED),
        ("run.failed", None, None, EffectKind.ENDED),
        ("run.cancelled", None, None, EffectKind.OVERTAKEN),
        ("node.cancelled", "gate", None, EffectKind.OVERTAKEN),
        ("node.skipped", "gate", None, EffectKind.OVERTAKEN),
        ("approval.received", "gate", {"action": "timeout"}, EffectKind.OVERTAKEN),
        ("interrupt.resolved", "gate", {"reason": "timeout"}, EffectKind.OVERTAKEN),
        ("node.resumed", "other", None, None),
        ("node.resumed", None, None, None),
        ("interrupt.resolved", "gate", {"interruptId": "i2"}, None),
        ("run.resumed", None, {"resumedAtNode": "other"}, None),
        ("approval.granted", None, {"gateId": "other"}, None),
        ("interrupt.vote", "gate", {"votes": []}, None),
        ("interrupt.vote.recorded", "gate", None, None),
        ("approval.received", "gate", {"action": "ask"}, None),
        ("conversation.exchanged", "gate", {"turnIndex": 1}, None),
        ("node.started", "gate", None, None),
        ("agent.decided", "gate", {"agentId": "a"}, None),
    ],
)
def test_each_line_proves_what_it_says_and_no_more(type_, node, payload, kind):
    found = proof([line(6, type_, node, payload)], PAUSE)

    assert (found.kind if found else None) is kind


def test_a_vote_that_is_short_of_the_quorum_is_no_proof():
    short = {"gateId": "gate", "quorumProgress": {"granted": 1, "required": 2}}
    full = {"gateId": "gate", "quorumProgress": {"granted": 2, "required": 2}}
    lines = [line(6, "approval.granted", None, short), line(7, "approval.granted", None, full)]

    assert proof(lines, PAUSE).line.sequence == 7
    assert votes(lines, PAUSE) == 1


def test_a_line_before_the_pause_proves_nothing():
    assert proof([line(4, "node.resumed", "gate")], PAUSE) is None
    assert proof([line(5, "node.resumed", "gate")], PAUSE) is None


def test_a_line_of_the_console_proves_nothing():
    ours = LogLine(9, Origin.CONSOLE, None, "c9", "node.resumed", node_id="gate")

    assert proof([ours], PAUSE) is None


def test_a_resumed_run_proves_it_only_if_nothing_else_waited():
    resumed = line(9, "run.resumed", None, {"resumedBy": "host"})
    pause = line(5, "node.suspended", "gate")

    assert proof([pause, resumed], PAUSE).line is resumed
    assert proof([pause, line(6, "node.suspended", "other"), resumed], PAUSE) is None
    answered = [line(6, "node.suspended", "other"), line(7, "node.resumed", "other")]
    assert proof([pause, *answered, resumed], PAUSE).line is resumed


def test_a_run_that_was_paused_and_resumed_answered_nothing():
    lines = [line(5, "node.suspended", "gate"), line(6, "run.paused"), line(7, "run.resumed")]

    assert proof(lines, PAUSE) is None
    assert proof([*lines, line(8, "run.resumed")], PAUSE).line.sequence == 8


def test_a_reply_is_proved_by_a_later_turn():
    turns = [line(n, "conversation.exchanged", "gate", {"turnIndex": n}) for n in (6, 7)]

    assert proof(turns, PAUSE) is None
    found = proof(turns, PAUSE, is_reply=True, after=6)
    assert (found.kind, found.line.sequence) == (EffectKind.REPLIED, 7)


def test_the_next_pause_of_the_same_node_is_another_matter():
    lines = [
        line(6, "interrupt.vote", "gate"),
        line(7, "node.resumed", "gate"),
        line(8, "node.suspended", "gate"),
        line(9, "interrupt.vote", "gate"),
        line(10, "node.resumed", "gate"),
    ]

    assert votes(lines, PAUSE) == 1
    assert [effect.line.sequence for effect in effects(lines, PAUSE)] == [6, 7]
    assert proof(lines, Suspension("gate", 8)).line.sequence == 10


@given(st.sampled_from(recordings()), st.randoms())
def test_the_order_of_arrival_does_not_matter(recording, random):
    pause = Suspension(recording.node_id, recording.pause.sequence, recording.interrupt_id)
    shuffled = list(recording.lines)
    random.shuffle(shuffled)

    assert proof(shuffled, pause) == proof(recording.lines, pause)
    assert effects([*shuffled, *shuffled][: len(shuffled)], pause) == effects(
        recording.lines, pause
    )
