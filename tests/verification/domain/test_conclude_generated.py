"""Generated runs: what must hold of every log, however odd."""

from hypothesis import given
from hypothesis import strategies as st

from runs.domain.content_free import digest_of_target
from tests.logs import (
    ADVISORY,
    completed,
    decided,
    gaps_of,
    line,
    mark,
    merged,
    resumed,
    started,
    step,
    suspended,
    terminate,
    turn,
    verdict,
)
from tests.verification.domain.concluding import concluded, noticed, summary
from verification.domain.signals import is_signal

TARGETS = ["e1", "e2", "e3", "e4", "child-1", "child-2", "call-1", "worker-1", "nobody"]
SAID = st.sampled_from(["pass", "fail", "fail", "revise"])
MADE = st.one_of(
    st.builds(
        lambda node, agent: lambda at: turn(at, node, agent),
        st.sampled_from(["n1", "n1", "n2", None]),
        st.sampled_from(["worker-1", "worker-2", "critic-1"]),
    ),
    st.builds(
        lambda target, said, agent, host: (
            lambda at: verdict(
                at, target, said, agent, **({"causationHostId": host} if host else {})
            )
        ),
        st.sampled_from(TARGETS),
        SAID,
        st.sampled_from(["critic-1", "critic-2"]),
        st.sampled_from([None, None, None, None, "elsewhere"]),
    ),
    st.builds(
        lambda phase, child, worker: lambda at: step(at, phase, child, worker),
        st.sampled_from(
            ["dispatch.succeeded", "child.completed", "output.harvested", "child.failed"]
        ),
        st.sampled_from(["child-1", "child-2"]),
        st.sampled_from(["w", "w", "v"]),
    ),
    st.sampled_from(
        [
            lambda at: merged(at),
            lambda at: line(at, "node.completed", {"outputs": {}}, "n1"),
            lambda at: line(at, "agent.toolCalled", {"agentId": "worker-1", "callId": "call-1"}),
            lambda at: terminate(at, True),
            lambda at: terminate(at, False),
            lambda at: decided(at, "next-worker", confidence=0.3),
            lambda at: decided(at, "ask-user"),
            lambda at: decided(at, "nonsense"),
            lambda at: suspended(at, "n1"),
            lambda at: suspended(at, "gate", interruptId="i"),
            lambda at: resumed(at, "gate", action="accept"),
            lambda at: resumed(at, "n1", action="reject"),
            lambda at: line(at, "approval.overridden", {"gateId": "e1", "principal": "p"}),
            lambda at: line(at, "agent.verifed", {}, near_miss_of="agent.verified"),
            lambda at: line(at, "run.failed", {}),
            lambda at: line(at, "run.resumed", {}),
        ]
    ),
)
LOGS = st.lists(MADE, min_size=2, max_size=14).map(
    lambda made: [started(), *(make(index + 1) for index, make in enumerate(made))]
)
MARKS = st.lists(
    st.sampled_from(
        [
            mark(101, "console.verdict.refused", {"eventId": "e3", "sequence": 3}),
            mark(104, "console.verdict.refused", {
                "eventId": "e4", "sequence": 4, "verdict": "fail",
                "targetDigest": digest_of_target("e1")}),
            mark(102, "console.event.conflicted", {"eventId": "e2", "sequence": 2}),
            mark(103, "console.verdict.recorded", {
                "agentId": "console", "target": "e1", "verdict": "fail", "atSequence": 2}),
            mark(105, "console.interrupt.found", {
                "nodeId": "n1", "kind": "approval", "atSequence": 2}),
            mark(106, "console.interrupt.gone", {"nodeId": "n1", "atSequence": 4}),
        ]
    ),
    max_size=2,
)  # fmt: skip


def violations(found):
    return {key for key, severity in noticed(found).items() if severity == "violation"}


@given(LOGS, MARKS, st.randoms(use_true_random=False))
def test_conclusions_do_not_depend_on_order_or_repetition(lines, marks, chance):
    again = [*lines, *marks, *lines, *marks]
    chance.shuffle(again)

    assert summary(concluded(*again)) == summary(concluded(*lines, *marks))


@given(LOGS, MARKS)
def test_conclusions_rest_on_signals_only(lines, marks):
    signals = [each for each in (*lines, *marks) if is_signal(each)]

    assert summary(concluded(*signals)) == summary(concluded(*lines, *marks))


@given(
    LOGS, st.sampled_from(TARGETS), st.sampled_from(["critic-1", "critic-9"]), st.integers(0, 14)
)
def test_a_further_fail_makes_no_gate_weaker(lines, target, agent, place):
    spread = [line(2 * each.sequence, each.type, each.payload, each.node_id,
                   event_id=each.event_id, near_miss_of=each.near_miss_of)
              for each in lines]  # fmt: skip
    before = concluded(*spread).gates
    fail = verdict(2 * place + 1, target, "fail", agent)

    after = concluded(*spread, fail).gates

    for name, gate in before.items():
        assert gate.lets_through or not after[name].lets_through


@given(LOGS)
def test_a_host_that_did_not_advertise_gating_is_never_accused(lines):
    ended = [*lines, completed(len(lines))]

    assert not violations(concluded(*ended, capabilities=ADVISORY))
    assert not violations(concluded(*ended, capabilities=()))


@given(LOGS, st.data())
def test_what_is_proved_from_a_part_of_a_log_is_still_true_of_the_whole(lines, data):
    whole = [*lines, completed(len(lines))]
    kept = data.draw(st.sets(st.sampled_from(range(len(whole))), min_size=1))
    part = [each for each in whole if each.sequence in kept or each is whole[-1]]
    gaps = gaps_of([line(-1, "run.started"), *part])

    assert violations(concluded(*part, gaps=gaps)) <= violations(concluded(*whole))


@given(LOGS, st.integers(1, 14))
def test_what_is_proved_while_a_run_goes_on_is_still_true_at_its_end(lines, upto):
    whole = [*lines, completed(len(lines))]
    whole = [each for each in whole if each.type != "run.resumed"]

    early = violations(concluded(*(each for each in whole if each.sequence <= upto)))

    assert early <= violations(concluded(*whole))


@given(LOGS, st.integers(1, 14), SAID, st.sampled_from(TARGETS))
def test_a_refused_verdict_is_made_up_for_by_the_same_verdict_only(lines, at, said, target):
    about = {"verdict": said, "targetDigest": digest_of_target(target)}
    refused = mark(104, "console.verdict.refused", {"eventId": f"e{at}", "sequence": at, **about})
    there = [each for each in concluded(*lines).verdicts if each.line.event_id == f"e{at}"]
    agrees = [(each.said.kind, each.said.target) == (said, target) for each in there]

    found = concluded(*lines, refused)

    assert any(each.holds for each in found.holds if each.line is refused) != (agrees == [True])


@given(LOGS, MARKS)
def test_no_two_open_escalations_go_by_the_same_name(lines, marks):
    escalations = concluded(*lines, *marks).escalations

    names = [name for each in escalations for name in each.aliases]
    assert len(names) == len(set(names))
    assert all(each.key in each.aliases for each in escalations)
