"""The life of an escalation: no path leaves the table, and each refusal names its fact."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verification.domain.decisions import LETS_THROUGH, Action
from verification.domain.errors import VerificationError
from verification.domain.freshness import View
from verification.domain.lifecycle import (
    MAY,
    SETTLED,
    TRANSITIONS,
    Move,
    Person,
    Role,
    Rules,
    Situation,
    State,
    check_may_claim,
    check_may_extend,
    check_may_reassign,
    check_may_release,
    check_may_undo,
    check_may_vote,
    check_role,
    is_claimed,
    next_state,
    reviews_required,
)
from verification.domain.refusals import (
    AlreadyClaimed,
    AlreadyExpired,
    AlreadyMoot,
    AlreadyResolved,
    AlreadyReviewed,
    ClaimLapsed,
    ConflictOfInterest,
    NoSuchMove,
    NotAllowed,
    NotClaimed,
    NotEligible,
    StaleView,
    UndoTooLate,
)

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
EARLIER = NOW - timedelta(seconds=1)
ADA = Person("ada", Role.REVIEWER)
BEN = Person("ben", Role.REVIEWER)
CY = Person("cy", Role.VIEWER)
ROOT = Person("root", Role.ADMIN)
RULES = Rules()
SEEN = View(version=1, position=7, digest="d", verdicts=frozenset({"v1"}))


def held(by="ada", until=LATER, **more):
    return Situation(State.CLAIMED, claimed_by=by, claim_until=until, **more)


def resolve(situation, person=ADA, action=Action.UPHOLD, seen=SEEN, current=SEEN, rules=RULES):
    check_may_vote(situation, person, action, seen, current, NOW, rules)


def test_settled_escalations_go_nowhere_but_back_by_undo():
    leaving = {(state, move) for state, move in TRANSITIONS if state in SETTLED}

    assert leaving == {(State.RESOLVED, Move.UNDO)}


def test_every_state_is_reached_and_every_move_is_used():
    assert set(TRANSITIONS.values()) == set(State)
    assert {move for _, move in TRANSITIONS} == set(Move)


def test_a_move_that_is_not_in_the_table_is_refused():
    with pytest.raises(NoSuchMove) as caught:
        next_state(State.MOOT, Move.CLAIM)

    assert (caught.value.state, caught.value.move) == (State.MOOT, Move.CLAIM)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("move", [Move.CLAIM, Move.EXTEND, Move.RELEASE, Move.RESOLVE, Move.UNDO])
def test_only_reviewers_and_admins_decide(role, move):
    person = Person("p", role)

    if role in {Role.REVIEWER, Role.ADMIN}:
        check_role(person, move)
        assert role in MAY[move]
    else:
        with pytest.raises(NotAllowed):
            check_role(person, move)


@pytest.mark.parametrize("move", [Move.LAPSE, Move.EXPIRE])
def test_nobody_plays_the_clock(move):
    with pytest.raises(NotAllowed):
        check_role(ROOT, move)


def test_an_open_escalation_can_be_claimed():
    check_may_claim(Situation(State.OPEN), ADA, NOW)


def test_second_reviewer_cannot_claim_and_learns_who_was_first():
    with pytest.raises(AlreadyClaimed) as caught:
        check_may_claim(held(), BEN, NOW)

    assert (caught.value.by, caught.value.until) == ("ada", LATER)
    assert "ada" in str(caught.value)


def test_the_holder_may_claim_again_after_a_reload():
    check_may_claim(held(), ADA, NOW)


def test_a_claim_ends_at_its_last_instant():
    lapsed = held(until=NOW)

    assert not is_claimed(lapsed, NOW)
    assert is_claimed(lapsed, EARLIER)
    check_may_claim(lapsed, BEN, NOW)


@pytest.mark.parametrize(
    ("state", "refusal"),
    [
        (State.RESOLVED, AlreadyResolved),
        (State.MOOT, AlreadyMoot),
        (State.EXPIRED, AlreadyExpired),
    ],
)
def test_what_is_settled_is_settled_for_everybody(state, refusal):
    settled = Situation(state, closed_because="run_cancelled")

    for attempt in (
        lambda: check_may_claim(settled, ADA, NOW),
        lambda: check_may_extend(settled, ADA, NOW),
        lambda: check_may_release(settled, ADA, NOW),
        lambda: check_may_reassign(settled, ROOT, BEN, NOW),
        lambda: resolve(settled),
    ):
        with pytest.raises(refusal) as caught:
            attempt()
        assert "run_cancelled" in str(caught.value)


def test_only_named_approvers_may_claim_or_decide():
    with pytest.raises(NotEligible):
        check_may_claim(Situation(State.OPEN, eligible=frozenset({"ben"})), ADA, NOW)
    with pytest.raises(NotEligible):
        resolve(held(eligible=frozenset({"ben"})))


def test_a_viewer_learns_nothing_but_that_they_may_not():
    with pytest.raises(NotAllowed):
        check_may_claim(held(), CY, NOW)


def test_a_claim_must_be_held_to_extend_it():
    check_may_extend(held(), ADA, NOW)
    with pytest.raises(AlreadyClaimed):
        check_may_extend(held(), BEN, NOW)
    with pytest.raises(NotClaimed):
        check_may_extend(Situation(State.OPEN), ADA, NOW)
    with pytest.raises(ClaimLapsed):
        check_may_extend(held(until=NOW), ADA, NOW)


def test_a_claim_is_given_back_by_its_holder_or_an_admin():
    check_may_release(held(), ADA, NOW)
    check_may_release(held(until=EARLIER), ADA, NOW)
    check_may_release(held(), ROOT, NOW)
    with pytest.raises(AlreadyClaimed):
        check_may_release(held(), BEN, NOW)
    with pytest.raises(NotClaimed):
        check_may_release(held(until=EARLIER), BEN, NOW)
    with pytest.raises(NotClaimed):
        check_may_release(Situation(State.OPEN), ADA, NOW)


def test_an_escalation_is_handed_over_only_to_somebody_who_may_decide():
    lead = Person("lee", Role.REVIEWER, is_lead=True)

    check_may_reassign(held(), ROOT, BEN, NOW)
    check_may_reassign(held(), lead, BEN, NOW)
    with pytest.raises(NotAllowed):
        check_may_reassign(held(), ADA, BEN, NOW)
    with pytest.raises(NotAllowed):
        check_may_reassign(held(), ROOT, CY, NOW)


def test_a_decision_needs_a_claim_in_force():
    resolve(held())
    with pytest.raises(NotClaimed):
        resolve(Situation(State.OPEN))
    with pytest.raises(AlreadyClaimed):
        resolve(held(), BEN)
    with pytest.raises(ClaimLapsed) as caught:
        resolve(held(until=NOW))
    assert caught.value.until == NOW


@pytest.mark.parametrize(
    ("current", "changed"),
    [
        (View(2, 7, "d", frozenset({"v1"})), ("escalation",)),
        (View(1, 9, "d", frozenset({"v1"})), ("events",)),
        (View(1, 7, "e", frozenset({"v1"})), ("subject",)),
        (View(1, 8, "e", frozenset({"v1", "v2"})), ("verdicts", "subject", "events")),
    ],
)
def test_a_decision_about_what_was_is_refused_and_says_what_changed(current, changed):
    with pytest.raises(StaleView) as caught:
        resolve(held(), current=current)

    assert (caught.value.changed, caught.value.since) == (changed, 7)


@pytest.mark.parametrize("action", list(Action))
def test_who_started_the_run_cannot_let_its_result_through(action):
    own = held(conflicted=frozenset({"ada"}))

    if action in LETS_THROUGH:
        with pytest.raises(ConflictOfInterest):
            resolve(own, action=action)
        resolve(own, action=action, rules=Rules(bars_conflicts=False))
    else:
        resolve(own, action=action)
    assert action in LETS_THROUGH or action is not Action.OVERRIDE


def test_the_second_person_is_another_person():
    twice = held(reviewed_by=frozenset({"ada"}))

    with pytest.raises(AlreadyReviewed):
        resolve(twice, action=Action.OVERRIDE)
    with pytest.raises(AlreadyReviewed):
        check_may_claim(Situation(State.OPEN, reviewed_by=frozenset({"ada"})), ADA, NOW)


@pytest.mark.parametrize(
    ("action", "required", "second", "people"),
    [
        (Action.UPHOLD, 1, (), 1),
        (Action.UPHOLD, 3, (), 3),
        (Action.OVERRIDE, 1, (Action.OVERRIDE,), 2),
        (Action.UPHOLD, 1, (Action.OVERRIDE,), 1),
        (Action.OVERRIDE, 3, (Action.OVERRIDE,), 3),
    ],
)
def test_a_queue_requires_reviews_and_a_second_person_for_some_actions(
    action, required, second, people
):
    rules = Rules(required_reviews=required, second_person_for=frozenset(second))

    assert reviews_required(action, rules) == people


RESOLVED = Situation(State.RESOLVED)


def undo(person=ADA, *, has_left=False, now=NOW, situation=RESOLVED):
    check_may_undo(
        situation,
        person,
        decided_by="ada",
        decided_at=NOW - timedelta(seconds=4),
        has_left=has_left,
        now=now,
        rules=RULES,
    )


def test_a_decision_is_taken_back_by_whoever_made_it_before_it_leaves():
    undo()
    with pytest.raises(AlreadyResolved):
        undo(BEN)
    with pytest.raises(UndoTooLate):
        undo(has_left=True)
    with pytest.raises(UndoTooLate):
        undo(now=NOW + timedelta(seconds=1))
    with pytest.raises(NoSuchMove):
        undo(situation=held())


PEOPLE = [ADA, BEN, CY, ROOT]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(list(Move)),
        st.sampled_from(PEOPLE),
        st.integers(min_value=0, max_value=700),
        st.sampled_from([Action.UPHOLD, Action.OVERRIDE, Action.SEND_BACK]),
    ),
    max_size=30,
)


class Walk:
    """An escalation to which things happen through the checks alone."""

    def __init__(self) -> None:
        self.state = State.OPEN
        self.holder: str | None = None
        self.until: datetime | None = None
        self.version = 1
        self.now = NOW
        self.resolved_by: list[tuple[str, datetime]] = []
        self.path = [State.OPEN]

    @property
    def situation(self) -> Situation:
        return Situation(self.state, self.holder, self.until, conflicted=frozenset({"ada"}))

    def step(self, move: Move, person: Person, seconds: int, action: Action) -> None:
        self.now += timedelta(seconds=seconds)
        self.check(move, person, action)
        self.state = next_state(self.state, move)
        self.version += 1
        self.path.append(self.state)
        self.after(move, person)

    def check(self, move: Move, person: Person, action: Action) -> None:
        view = View(self.version)
        now = self.now
        checks = {
            Move.CLAIM: lambda: check_may_claim(self.situation, person, now),
            Move.EXTEND: lambda: check_may_extend(self.situation, person, now),
            Move.RELEASE: lambda: check_may_release(self.situation, person, now),
            Move.REASSIGN: lambda: check_may_reassign(self.situation, person, BEN, now),
            Move.VOTE: lambda: check_may_vote(
                self.situation, person, action, view, view, now, RULES
            ),
            Move.RESOLVE: lambda: check_may_vote(
                self.situation, person, action, view, view, now, RULES
            ),
            Move.UNDO: lambda: self.check_undo(person),
            Move.LAPSE: self.check_lapse,
        }
        if move in checks:
            checks[move]()

    def check_undo(self, person: Person) -> None:
        by, at = self.resolved_by[-1] if self.resolved_by else ("nobody", self.now)
        check_may_undo(
            self.situation, person, decided_by=by, decided_at=at,
            has_left=False, now=self.now, rules=RULES,
        )  # fmt: skip

    def check_lapse(self) -> None:
        until = self.situation.claim_until
        if until is None or self.now < until:
            raise NoSuchMove(self.state, Move.LAPSE)

    def after(self, move: Move, person: Person) -> None:
        if move is Move.RESOLVE:
            self.resolved_by.append((person.id, self.now))
        if self.state is State.CLAIMED and move is not Move.EXTEND:
            self.holder = "ben" if move is Move.REASSIGN else person.id
        if self.state is not State.CLAIMED:
            self.holder = self.until = None
        else:
            self.until = self.now + RULES.lease


@settings(max_examples=300)
@given(STEPS)
def test_no_walk_leaves_the_diagram(steps):
    walk = Walk()
    for move, person, seconds, action in steps:
        before = walk.state
        try:
            walk.step(move, person, seconds, action)
        except (NotAllowed, NotClaimed, AlreadyClaimed, ClaimLapsed, NoSuchMove, UndoTooLate):
            assert walk.state is before
        except (AlreadyResolved, AlreadyMoot, AlreadyExpired):
            assert before in SETTLED
        except ConflictOfInterest:
            assert (person, action) == (ADA, Action.OVERRIDE)
        else:
            assert TRANSITIONS[before, move] is walk.state
        assert (walk.holder is not None) == (walk.state is State.CLAIMED)
        assert walk.holder != CY.id


@given(STEPS)
def test_a_walk_is_resolved_once_unless_taken_back(steps):
    walk = Walk()
    undone = 0
    for move, person, seconds, action in steps:
        try:
            walk.step(move, person, seconds, action)
        except VerificationError:
            continue
        else:
            undone += move is Move.UNDO

    assert len(walk.resolved_by) - undone <= 1
