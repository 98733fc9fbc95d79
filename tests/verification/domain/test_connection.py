"""Green is what came back as it should; everything else is red with a remedy, or grey."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.domain.host_answer import Answer, Reached
from verification.domain.connection import (
    LEAK,
    NO_WEBHOOK,
    Came,
    Tried,
    canary_line,
    discovery_line,
    heard_line,
    interrupt_line,
    leak_line,
    ping_in_line,
    ping_out_line,
    reading_line,
    without_address,
)

BEGAN = datetime(2026, 11, 30, 8, tzinfo=UTC)
BEFORE, SINCE = BEGAN - timedelta(hours=1), BEGAN + timedelta(seconds=1)
UNREACHED = [
    Answer(reached, why=why)
    for reached in (Reached.NO_ANSWER, Reached.NOT_SENT)
    for why in ("timeout", "reset", "garbled", "refused", "tls", "name", "slow", "odd")
]
FORBIDDEN = Answer(Reached.FORBIDDEN, why="The address is private.")


def said(status: int, code: str = "") -> Answer:
    return Answer(Reached.ANSWERED, status, code)


AT_THE_HOST = [
    lambda answer: discovery_line(answer, {"protocolVersion": "1.0"}, 1),
    reading_line,
    interrupt_line,
    ping_out_line,
]
AT_HOME = [
    lambda answer: ping_in_line(answer, is_echoed=True),
    lambda answer: canary_line(answer, is_kept=False),
    lambda answer: leak_line(answer, reason=LEAK, is_repeated=False),
]


@pytest.mark.parametrize("line_of", AT_THE_HOST + AT_HOME)
@pytest.mark.parametrize("answer", [*UNREACHED, FORBIDDEN], ids=str)
def test_without_an_answer_nothing_is_green_and_there_is_something_to_do(line_of, answer):
    line = line_of(answer)

    assert line.state is not Tried.WORKS
    assert line.fix


@pytest.mark.parametrize("line_of", AT_THE_HOST + AT_HOME)
@pytest.mark.parametrize("status", [301, 302, 429, 500, 502, 503])
def test_a_redirect_an_overload_and_a_failure_are_never_green(line_of, status):
    assert line_of(said(status)).state is not Tried.WORKS


@pytest.mark.parametrize("line_of", AT_HOME)
def test_what_the_console_may_not_call_is_not_tried_and_not_the_hosts_fault(line_of):
    assert line_of(FORBIDDEN).state is Tried.NOT_PROVEN


@pytest.mark.parametrize(
    ("line", "state"),
    [
        (discovery_line(said(200), {}, 1), Tried.WORKS),
        (discovery_line(said(200), {}, None), Tried.FAILS),
        (discovery_line(said(200), None, None), Tried.FAILS),
        (discovery_line(said(404), None, None), Tried.FAILS),
        (reading_line(said(404, "run_not_found")), Tried.WORKS),
        (reading_line(said(404, "not_found")), Tried.WORKS),
        (reading_line(said(404)), Tried.NOT_PROVEN),
        (reading_line(said(200)), Tried.FAILS),
        (reading_line(said(401, "unauthenticated")), Tried.FAILS),
        (reading_line(said(403, "forbidden")), Tried.FAILS),
        (reading_line(said(403, "id_tenant_mismatch")), Tried.NOT_PROVEN),
        (reading_line(said(404, "run_forbidden")), Tried.NOT_PROVEN),
        (interrupt_line(said(403, "id_tenant_mismatch")), Tried.NOT_PROVEN),
        (interrupt_line(said(404, "interrupt_not_found")), Tried.WORKS),
        (interrupt_line(said(404, "run_not_found")), Tried.WORKS),
        (interrupt_line(said(404, "not_found")), Tried.NOT_PROVEN),
        (interrupt_line(said(404)), Tried.FAILS),
        (interrupt_line(said(405)), Tried.FAILS),
        (interrupt_line(said(400, "validation_error")), Tried.NOT_PROVEN),
        (interrupt_line(said(403, "forbidden")), Tried.FAILS),
        (interrupt_line(said(200)), Tried.FAILS),
        (ping_in_line(said(200), is_echoed=True), Tried.WORKS),
        (ping_in_line(said(200), is_echoed=False), Tried.FAILS),
        (ping_in_line(said(401), is_echoed=False), Tried.FAILS),
        (ping_out_line(said(204)), Tried.WORKS),
        (ping_out_line(said(401)), Tried.FAILS),
        (canary_line(said(201), is_kept=False), Tried.WORKS),
        (canary_line(said(201), is_kept=True), Tried.FAILS),
        (canary_line(said(401), is_kept=False), Tried.FAILS),
        (leak_line(said(400), reason=LEAK, is_repeated=False), Tried.WORKS),
        (leak_line(said(400), reason=LEAK, is_repeated=True), Tried.FAILS),
        (leak_line(said(400), reason="canary_over", is_repeated=False), Tried.NOT_PROVEN),
        (leak_line(said(401), reason="", is_repeated=False), Tried.NOT_PROVEN),
        (leak_line(said(201), reason="", is_repeated=False), Tried.FAILS),
        (heard_line(Came(), BEGAN), Tried.WAITING),
        (heard_line(Came(canary_at=SINCE), BEGAN), Tried.WORKS),
        (heard_line(Came(event_at=SINCE), BEGAN), Tried.WORKS),
        (heard_line(Came(event_at=BEFORE), BEGAN), Tried.NOT_PROVEN),
        (heard_line(Came(unproven={"signature_mismatch": 2}), BEGAN), Tried.FAILS),
        (heard_line(Came(delivery_at=SINCE, unproven={"x": 2}), BEGAN), Tried.WORKS),
        (without_address("reading"), Tried.NOT_APPLICABLE),
        (NO_WEBHOOK, Tried.NOT_APPLICABLE),
    ],
)
def test_what_came_back_decides(line, state):
    assert line.state is state
    assert line.words.endswith(".")
    assert line.fix or state is Tried.WORKS
