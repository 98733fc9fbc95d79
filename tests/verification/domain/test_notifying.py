"""When people are told, and when there is nothing left to tell."""

from datetime import UTC, datetime, timedelta

import pytest

from verification.domain.lifecycle import Situation, State
from verification.domain.notifying import (
    RETRIES,
    Item,
    Mode,
    Note,
    retry_at,
    send_at,
    sentence,
    why_dropped,
)

NOW = datetime(2026, 11, 30, 9, 17, tzinfo=UTC)


@pytest.mark.parametrize(
    ("mode", "at"),
    [
        (Mode.AT_ONCE, NOW),
        (Mode.HOURLY, datetime(2026, 11, 30, 10, tzinfo=UTC)),
        (Mode.DAILY, datetime(2026, 12, 1, 8, tzinfo=UTC)),
    ],
)
def test_each_mode_has_its_time(mode, at):
    assert send_at(mode, NOW) == at


def test_before_eight_the_same_day_counts():
    early = NOW.replace(hour=7)
    assert send_at(Mode.DAILY, early) == early.replace(hour=8, minute=0)


@pytest.mark.parametrize("state", [State.RESOLVED, State.MOOT, State.EXPIRED])
def test_what_is_settled_asks_nobody(state):
    assert why_dropped(Note.OPENED, Situation(state), NOW) == state.value


def test_what_somebody_holds_asks_nobody_until_the_claim_is_over():
    held = Situation(State.CLAIMED, "ada", NOW + timedelta(minutes=1))
    assert why_dropped(Note.HANDED_TO_LEAD, held, NOW) == "claimed"
    assert why_dropped(Note.OPENED, held, NOW + timedelta(minutes=2)) == ""


def test_trouble_is_told_whatever_became_of_the_matter():
    assert why_dropped(Note.NOT_DELIVERED, Situation(State.RESOLVED), NOW) == ""


def test_trying_ends():
    assert retry_at(1, NOW) == NOW + RETRIES[0]
    assert retry_at(len(RETRIES) + 1, NOW) is None


@pytest.mark.parametrize("note", Note)
def test_every_note_has_its_words(note):
    url = "https://console.example/queue/7"
    said = sentence(Item(note, "Failed verdict", url, escalation=7))
    assert said.startswith("#7 Failed verdict ")
    assert said.endswith(url)


def test_what_is_about_a_job_names_it():
    url = "https://console.example/jobs/1f/plan"
    said = sentence(Item(Note.PLAN_WAITS, "a plan", url, job="1f"))
    assert said == f"Job 1f: a plan waits for a person: {url}"
