"""Several reviews of one escalation: blind until one's own is in, and what they add up to.

People who agree settle the matter; people who do not are never averaged: the matter goes to a lead,
whose word then stands alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from verification.domain.decisions import Action
from verification.domain.lifecycle import Person


@dataclass(frozen=True, slots=True)
class Review:
    """One person's say."""

    by: str
    action: Action
    at: datetime
    is_leads: bool = False


@dataclass(frozen=True, slots=True)
class MoreNeeded:
    """Nothing is settled yet."""

    missing: int


@dataclass(frozen=True, slots=True)
class Agreed:
    """The matter is settled."""

    action: Action
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disagreed:
    """The required reviews are in and differ: a lead decides."""

    actions: tuple[Action, ...]


Tally = MoreNeeded | Agreed | Disagreed


def tally(reviews: Sequence[Review], required: int) -> Tally:
    """Say what the reviews add up to; each person counts once, with what they said first."""
    counted = list(_first_of_each(reviews))
    leads = [review for review in counted if review.is_leads]
    if leads:
        return Agreed(leads[0].action, (leads[0].by,))
    if len(counted) < required:
        return MoreNeeded(required - len(counted))
    actions = {review.action for review in counted}
    if len(actions) == 1:
        return Agreed(counted[0].action, tuple(review.by for review in counted))
    return Disagreed(tuple(sorted(actions)))


def visible_reviews(
    reviews: Sequence[Review], viewer: Person, *, is_settled: bool
) -> tuple[Review, ...]:
    """Return the reviews the viewer may read: all once settled or once theirs is in; else none.

    A lead reads them all, since a lead is asked only when they differ.
    """
    has_spoken = any(review.by == viewer.id for review in reviews)
    return tuple(reviews) if is_settled or has_spoken or viewer.is_lead else ()


def _first_of_each(reviews: Sequence[Review]) -> list[Review]:
    first: dict[str, Review] = {}
    for review in sorted(reviews, key=lambda review: review.at):
        first.setdefault(review.by, review)
    return list(first.values())
