"""Several reviews: blind until one's own is in, agreement settles, disagreement goes to a lead."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from verification.domain.decisions import Action
from verification.domain.lifecycle import Person, Role
from verification.domain.reviews import (
    Agreed,
    Disagreed,
    MoreNeeded,
    Review,
    tally,
    visible_reviews,
)

START = datetime(2026, 11, 30, 9, tzinfo=UTC)
ADA, BEN = Person("ada", Role.REVIEWER), Person("ben", Role.REVIEWER)
LEE = Person("lee", Role.REVIEWER, is_lead=True)


def said(by, action=Action.UPHOLD, minute=0, **more):
    return Review(by, action, START + timedelta(minutes=minute), **more)


def test_too_few_reviews_settle_nothing():
    assert tally([said("ada")], 2) == MoreNeeded(1)


def test_people_who_agree_settle_the_matter():
    assert tally([said("ada"), said("ben", minute=1)], 2) == Agreed(Action.UPHOLD, ("ada", "ben"))


def test_people_who_differ_hand_it_to_a_lead():
    reviews = [said("ada"), said("ben", Action.OVERRIDE, 1)]

    assert tally(reviews, 2) == Disagreed((Action.OVERRIDE, Action.UPHOLD))
    decided = tally([*reviews, said("lee", Action.UPHOLD, 2, is_leads=True)], 2)
    assert decided == Agreed(Action.UPHOLD, ("lee",))


def test_a_majority_is_not_agreement():
    reviews = [said("ada"), said("ben", minute=1), said("dan", Action.OVERRIDE, 2)]

    assert isinstance(tally(reviews, 3), Disagreed)


def test_a_person_counts_once():
    assert tally([said("ada"), said("ada", Action.OVERRIDE, 1)], 2) == MoreNeeded(1)


def test_votes_are_hidden_until_ones_own_is_in():
    reviews = (said("ada"),)

    assert visible_reviews(reviews, BEN, is_settled=False) == ()
    assert visible_reviews(reviews, ADA, is_settled=False) == reviews
    assert visible_reviews(reviews, LEE, is_settled=False) == reviews
    assert visible_reviews(reviews, BEN, is_settled=True) == reviews


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ada", "ben", "dan"]),
            st.sampled_from([Action.UPHOLD, Action.OVERRIDE]),
        ),
        max_size=6,
    ),
    st.integers(1, 3),
    st.randoms(),
)
def test_the_order_in_which_reviews_are_read_does_not_matter(votes, required, random):
    reviews = [said(by, action, minute) for minute, (by, action) in enumerate(votes)]
    shuffled = list(reviews)
    random.shuffle(shuffled)

    assert tally(shuffled, required) == tally(reviews, required)
