"""How fast a host may send, and what it is told when it sends faster."""

import json

import pytest

from runs.actions.hosts import create_key
from runs.domain.buckets import Rate
from runs.flow import GAUGES, Flow, Gauge, Sender, flow
from runs.limits import FLOW
from runs.models import Refusal as Count
from runs.refusal import Refusal
from tests.factories import event
from tests.runs.test_api import calling, post

WIDE = Rate(per_second=1000, at_once=1000)
KEY = Sender(host=1, key=7)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def limited(per: str, unit: str, rate: Rate, clock: Clock) -> Flow:
    return Flow({gauge: rate if gauge == Gauge(per, unit) else WIDE for gauge in GAUGES}, clock)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_requests_above_the_rate_are_turned_back_until_they_may_come_again(clock):
    allowed = limited("key", "requests", Rate(1, 2), clock)
    allowed.enter(KEY)
    allowed.enter(KEY)

    with pytest.raises(Refusal) as refused:
        allowed.enter(KEY)
    clock.now += 1
    allowed.enter(KEY)

    assert (refused.value.status, refused.value.retry_after_s) == (429, 1)
    assert refused.value.details == {
        "reason": "rate_exceeded",
        "per": "key",
        "unit": "requests/s",
        "limit": 1,
        "setting": "OPENWOP_CONSOLE_RATE_KEY_REQUESTS",
        "retryAfterMs": 1000,
    }


def test_events_are_paid_for_after_they_came(clock):
    allowed = limited("key", "events", Rate(100, 100), clock)
    allowed.enter(KEY)
    allowed.count(KEY, 350)

    with pytest.raises(Refusal) as refused:
        allowed.enter(KEY)

    assert refused.value.retry_after_s == 3
    assert refused.value.details["setting"] == "OPENWOP_CONSOLE_RATE_KEY_EVENTS"


def test_all_keys_of_a_host_share_what_the_host_may_send(clock):
    allowed = limited("host", "requests", Rate(1, 1), clock)
    allowed.enter(KEY)

    with pytest.raises(Refusal):
        allowed.enter(Sender(host=1, key=8))


@pytest.mark.parametrize("unit", ["requests", "events"])
@pytest.mark.parametrize("per", ["key", "host"])
def test_what_one_host_sends_takes_nothing_from_another(clock, per, unit):
    allowed = limited(per, unit, Rate(1, 1), clock)
    allowed.enter(KEY)
    allowed.count(KEY, 500)

    allowed.enter(Sender(host=2, key=9))

    assert allowed.left(Sender(host=3, key=10))[unit] == 1


def test_the_smallest_budget_is_the_one_that_is_told(clock):
    allowed = limited("host", "events", Rate(10, 10), clock)
    allowed.count(KEY, 4)

    assert allowed.left(KEY) == {"requests": 1000, "events": 6}


@pytest.fixture
def slow(settings):
    """A Console that takes two requests at once, and one a second."""
    settings.RATE_KEY_REQUESTS, settings.RATE_BURST_S = 1, 2
    flow.cache_clear()
    yield
    flow.cache_clear()


@pytest.mark.django_db
def test_a_host_that_is_turned_back_is_told_when_to_come_again_and_counted(host, slow):
    caller = calling(host.key_for_tests)
    for sequence in range(2):
        assert post(caller, event(sequence)).status_code == 201

    answer = post(caller, event(2))
    other = post(calling(create_key(host=host)), event(2))

    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "1"
    assert answer.json()["error"] == "rate_limited"
    assert other.status_code == 201
    assert Count.objects.get(host=host).reason == "rate_exceeded"


@pytest.mark.django_db
def test_what_is_left_is_told_with_every_answer(host, slow):
    answer = post(calling(host.key_for_tests), event(0))

    assert answer.headers["RateLimit"].startswith('"requests";r=1, "events";r=')


@pytest.mark.django_db
def test_every_limit_of_the_flow_is_served(host):
    limits = calling(host.key_for_tests).get("/api/v1/limits").json()["limits"]

    settings = {each["setting"] for each in limits.values()}
    assert {variable for _, variable in FLOW.values()} <= settings
    assert json.dumps(limits["keyEventsPerSecond"]["limit"]).isdigit()
