"""The gate panel of a run's page, now and as it was known at an earlier line."""

import re

import pytest

from runs.models import Event
from tests.factories import add_host_named, decided, event, run_of, send, verified
from verification.actions import escalations
from verification.domain.decisions import Action, Decision
from verification.models import Escalation, Gate
from verification.queries.gates import SHOWN, gate_panel, gate_panel_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client, ada):
    client.force_login(ada)
    return client


def page(reader, query="", run="r-1", host="alpha"):
    answer = reader.get(f"/runs/{host}/{run}{query}")
    assert answer.status_code == 200
    return answer.text


def gate_of(text, target):
    """The part of the page that shows one gate, as words."""
    gates = re.findall(r'<details class="gate".*?</details>', text, re.S)
    (found,) = (each for each in gates if f'title="{target}"' in each.split("</summary>")[0])
    return " ".join(re.sub(r"<[^>]+>", " ", found).split())


def chain_of(text, target):
    """The steps of one gate, in order."""
    gates = re.findall(r'<details class="gate".*?</details>', text, re.S)
    (found,) = (each for each in gates if f'title="{target}"' in each.split("</summary>")[0])
    items = re.findall(r"<li.*?</li>", found.split('<ol class="chain"')[1], re.S)
    return [" ".join(re.sub(r"<[^>]+>|\d\d:\d\d:\d\d\.\d+", " ", each).split()) for each in items]


def child(sequence, phase):
    payload = {"phase": phase, "workerId": "w", "parentRunId": "r-1", "childRunId": "child-1"}
    return event(sequence, "core.workflowChain.event", payload=payload)


def test_a_gate_says_who_said_what_of_which_result_and_what_would_change_it(host, reader):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    shown = gate_of(page(reader), "r-1-e1")

    assert "Blocked: critic-1 failed r-1-e1 of worker-1 at #2" in shown
    assert "What would change this: A pass by the verifier who said fail" in shown


def test_both_confidences_stand_side_by_side_with_their_floors(host, reader):
    payload = {"agentId": "worker-1", "confidence": 0.61}
    unsure = event(1, "agent.decided", payload=payload)
    send(host, event(0, "run.started"), unsure, verified(2, "r-1-e1", "pass", confidence=0.41))
    shown = gate_of(page(reader), "r-1-e1")

    assert "Actor worker-1 0.61 below the floor of 0.7" in shown
    assert "Verifier critic-1 0.41 below the floor of 0.5" in shown


def test_a_confidence_that_is_not_stated_is_no_low_one(host, reader):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "pass"))

    assert "Actor worker-1 not stated floor 0.7" in gate_of(page(reader), "r-1-e1")


def test_criteria_are_named_and_a_fail_without_any_gives_no_reason(host, reader):
    send(host, decided(1), verified(2, "r-1-e1", "fail", criteria=["cited", "no-pii"]))
    send(host, decided(3, node="n2"), verified(4, "r-1-e3", "fail"))
    text = page(reader)

    assert "fail by critic-1 #2 cited no-pii" in chain_of(text, "r-1-e1")
    assert "fail by critic-1 #4 no reason given" in chain_of(text, "r-1-e3")


def test_the_chain_goes_from_the_result_to_the_end_of_the_run(host, reader, ada):
    send(host, child(1, "child.completed"), verified(2, "child-1", "fail"))
    send(host, child(3, "output.harvested"), event(4, "run.completed"))
    found = Escalation.objects.get(target="child-1")
    escalations.claim(escalation=found.pk, by=ada)
    found.refresh_from_db()
    seen = escalations.view_of(found)
    escalations.resolve(escalation=found.pk, by=ada, decision=Decision(Action.UPHOLD), seen=seen)

    assert chain_of(page(reader), "child-1") == [
        "Result of w #1",
        "fail by critic-1 #2 no reason given",
        "Merged #3",
        "Run ended, criteria not stated #4",
        "uphold by ada",
    ]


def test_every_step_of_the_host_is_a_link_to_its_line(host, reader):
    send(host, decided(1), verified(2, "r-1-e1", "revise"), decided(3))
    text = page(reader)
    steps = re.findall(r'<a href="#line-(\d+)">(.*?)</a>', text.split('<ol class="chain"')[1])

    assert [title for _, title in steps] == [
        "Result of worker-1",
        "revise by critic-1",
        "New turn in its place",
    ]
    for position, _ in steps:
        assert f'id="line-{position}"' in text


def test_an_agent_is_shown_with_its_candidates_and_never_guessed(host, reader):
    send(host, decided(1), decided(2), decided(3), verified(4, "worker-1", "fail"))
    shown = gate_of(page(reader), "worker-1")

    assert "Names an agent" in shown
    assert "3 results could be meant: #3 , #2 , #1" in shown
    assert "Result of" not in shown


@pytest.mark.parametrize(
    ("verifier", "target", "word"),
    [
        ("worker-1", "r-1-e1", "Self-verified"),
        ("critic-1", "elsewhere", "Independence unknown"),
        ("critic-1", "elsewhere", "Target not found"),
    ],
)
def test_what_speaks_against_trusting_a_verdict_is_marked(host, reader, verifier, target, word):
    send(host, decided(1), verified(2, target, "pass", verifier))

    assert word in gate_of(page(reader), target)


def test_a_verdict_that_binds_nobody_is_marked_advisory(db, reader):
    host = add_host_named("beta", workspace="acme", gating=False)
    send(host, decided(1), verified(2, "r-1-e1", "fail"))

    assert "Advisory" in gate_of(page(reader, host="beta"), "r-1-e1")


def test_a_violation_stands_on_its_gate_with_a_link_to_the_evidence(host, reader):
    send(host, child(1, "child.completed"), verified(2, "child-1", "fail"))
    send(host, child(3, "output.harvested"), event(0, "run.started"))
    text = page(reader)

    assert "Violation critic-1 said fail at sequence 2; the result was merged" in gate_of(
        text, "child-1"
    )
    assert text.count('href="/findings/') >= 2


def test_the_gates_that_need_somebody_come_first_and_the_rest_in_pages(host, reader):
    events = [event(0, "run.started")]
    for at in range(1, 2 * SHOWN + 5, 2):
        verdict = "fail" if at == 2 * SHOWN + 1 else "pass"
        events += [decided(at, node=f"n{at}"), verified(at + 1, f"r-1-e{at}", verdict)]
    send(host, *events)
    run = run_of(host)

    first, second = gate_panel(run), gate_panel(run, SHOWN)
    assert first.gates[0].state == "blocked"
    assert (len(first.gates), len(second.gates), first.total) == (SHOWN, 2, SHOWN + 2)
    assert not {each.pk for each in first.gates} & {each.pk for each in second.gates}
    text = page(reader)
    assert f"1 to {SHOWN} of {SHOWN + 2}" in text
    assert f"?gates={SHOWN}" in text
    assert page(reader, f"?gates={SHOWN}").count('<details class="gate"') == 2


def test_of_very_many_verdicts_on_one_target_the_earlier_ones_are_counted(host, reader):
    send(host, decided(1), *(verified(at, "r-1-e1", "revise") for at in range(2, 17)))
    steps = chain_of(page(reader), "r-1-e1")

    assert steps[1] == "5 earlier verdicts"
    assert sum("revise by" in each for each in steps) == 10


class TestConvergence:
    def terminate(self, sequence, *met):
        criteria = [{"key": f"c{at}", "met": each} for at, each in enumerate(met)]
        decision = {"kind": "terminate", "successCriteria": criteria}
        return event(sequence, "runOrchestrator.decided", payload={"decision": decision})

    def goal_of(self, text):
        part = text.split('id="run-goal"')[1].split("</section>")[0]
        return " ".join(re.sub(r"<[^>]+>", " ", part).split())

    def test_the_criteria_are_a_table_of_keys_and_whether_they_were_met(self, host, reader):
        send(host, event(0, "run.started"), self.terminate(1, True, False))
        send(host, event(2, "run.completed"))
        shown = self.goal_of(page(reader))

        assert "Gave up" in shown
        assert "c0 Met c1 Not met" in shown
        assert "It counts as gave up." in shown

    def test_a_goal_that_was_met_against_a_gate_does_not_count_as_a_success(self, host, reader):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        send(host, self.terminate(3, True), event(4, "run.completed"))

        assert "does not count as a success: a gate was violated" in self.goal_of(page(reader))

    def test_criteria_that_are_not_stated_are_said_not_to_be(self, host, reader):
        send(host, event(0, "run.started"), self.terminate(1), event(2, "run.completed"))

        assert "names no criteria" in self.goal_of(page(reader))


class TestLookingBack:
    @pytest.fixture
    def story(self, host, ada):
        send(host, event(0, "run.started"), decided(1))
        send(host, verified(2, "r-1-e1", "fail"))
        found = Escalation.objects.get()
        escalations.claim(escalation=found.pk, by=ada)
        found.refresh_from_db()
        decision = Decision(Action.OVERRIDE, reason="Checked.")
        seen = escalations.view_of(found)
        escalations.resolve(escalation=found.pk, by=ada, decision=decision, seen=seen)
        send(host, verified(3, "r-1-e1", "fail", "critic-2"))
        return run_of(host)

    def states(self, run):
        """The gate's state at every line of the log."""
        found = []
        for position in range(1, run.last_position + 1):
            gates = gate_panel_at(run, position).gates
            state = gates[0].state if gates else ""
            if not found or found[-1] != state:
                found.append(state)
        return found

    def test_a_gate_is_shown_as_it_was_known_at_each_line(self, story):
        assert self.states(story) == ["", "blocked", "in_review", "overridden", "blocked"]

    def test_at_the_last_line_it_is_what_it_is_now(self, story):
        now, then = gate_panel(story), gate_panel_at(story, story.last_position)

        assert [(each.target, each.state) for each in now.gates] == [
            (each.target, each.state) for each in then.gates
        ]

    def test_what_came_later_is_not_told(self, host, story, reader):
        told = Event.objects.filter(type="console.escalation.opened").order_by("position")
        opened = told[0].position
        text = page(reader, f"?at={opened}")

        assert chain_of(text, "r-1-e1") == [
            "Result of worker-1 #1",
            "fail by critic-1 #2 no reason given",
            "Waits for a person",
        ]
        assert f"As known at line {opened}" in text
        assert text.count("Not known yet.") == story.last_position - opened

    def test_who_held_it_then_is_told(self, story, reader):
        claimed = Event.objects.get(type="console.escalation.claimed").position

        steps = chain_of(page(reader, f"?at={claimed}"), "r-1-e1")
        assert steps[-1] == "Claimed by ada"

    def test_it_goes_from_moment_to_moment_without_a_script(self, story, reader):
        seen, address = [], page(reader)
        while earlier := re.search(
            r'href="[^"]*(\?at=\d+)"[^>]*>(?:(?!</a>).)*(?:Earlier|Look back)', address, re.S
        ):
            seen.append(int(earlier[1].removeprefix("?at=")))
            address = page(reader, earlier[1])

        assert seen == sorted(seen, reverse=True)
        assert len(seen) >= 5
        assert '<input type="range" name="at"' in address

    @pytest.mark.parametrize("at", ["0", "999999999", "99999999999999999999", "x", "-1", "1.5"])
    def test_no_position_makes_it_stumble(self, story, reader, at):
        assert "Gates" in page(reader, f"?at={at}")

    def test_gaps_are_those_of_then(self, host, reader):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        send(host, event(5, "run.completed"))
        before = run_of(host).last_position
        send(host, event(3), event(4))
        run = run_of(host)

        then = gate_panel_at(run, before).findings["r-1-e1"]
        now = gate_panel(run).findings["r-1-e1"]
        assert ([each.severity for each in then], [each.severity for each in now]) == (
            ["not_provable"],
            ["violation"],
        )

    def test_looking_back_changes_nothing(self, story, reader):
        before = list(Gate.objects.values())
        page(reader, "?at=3")

        assert list(Gate.objects.values()) == before
