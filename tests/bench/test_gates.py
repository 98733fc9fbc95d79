"""How long judging and showing take where there is very much of it, over HTTP."""

import time

import httpx
import pytest

from tests.factories import decided, event, verified

pytestmark = [pytest.mark.bench, pytest.mark.system]

MANY = 10_000
AT_ONCE = 1000


@pytest.fixture(scope="module")
def caller(console):
    headers = {"Authorization": f"Bearer {console.card['host']['key']}"}
    with httpx.Client(base_url=console.card["url"], headers=headers, timeout=120) as client:
        yield client


def took(do) -> float:
    begun = time.perf_counter()
    do()
    return time.perf_counter() - begun


def sent(caller, events) -> float:
    """Send events in batches; return how long the slowest took."""
    slowest = 0.0
    for start in range(0, len(events), AT_ONCE):
        batch = {"events": events[start : start + AT_ONCE]}

        def post(batch=batch):
            assert caller.post("/api/v1/events", json=batch).status_code == 200

        slowest = max(slowest, took(post))
    return slowest


def shown(visitor, path) -> float:
    """Return how long the server takes for a page that somebody has opened before."""
    request = visitor.context.request
    request.get(path)

    def get():
        assert request.get(path).ok

    return took(get)


def test_ten_thousand_verdicts_on_one_run(console, caller, visitor):
    run, host = "very-many", console.card["host"]["id"]
    events = [event(0, "run.started", run=run)]
    for at in range(1, 2 * MANY, 2):
        events.append(decided(at, node=f"n{at}", run=run))
        verdict = "fail" if at % 1000 == 1 else "pass"
        events.append(verified(at + 1, f"{run}-e{at}", verdict, run=run))
    whole = took(lambda: sent(caller, events))
    one = sent(caller, [verified(2 * MANY + 1, f"{run}-e3", "revise", run=run)])
    page = shown(visitor, f"/runs/{host}/{run}")
    back = shown(visitor, f"/runs/{host}/{run}?at={MANY}")
    gate = took(lambda: caller.get(f"/api/v1/gates/{run}-e1", params={"run": run}))

    print(
        f"\n{MANY} verdicts on one run: {whole:.1f} s to take, {1000 * one:.0f} ms for one more; "
        f"page {1000 * page:.0f} ms, looking back {1000 * back:.0f} ms, gate {1000 * gate:.0f} ms"
    )
    assert page < 1


def test_ten_thousand_runs_with_one_verdict_each(caller, visitor):
    events = []
    for number in range(MANY):
        run = f"each-{number}"
        events.append(decided(1, run=run))
        verdict = "fail" if number % 100 == 0 else "pass"
        events.append(verified(2, f"{run}-e1", verdict, run=run))
    whole = took(lambda: sent(caller, events))
    pages = {path: shown(visitor, path) for path in ("/runs", "/findings", "/queue")}

    said = ", ".join(f"{path} {1000 * each:.0f} ms" for path, each in pages.items())
    print(f"\n{MANY} runs: {whole:.1f} s to take, {1000 * whole / MANY:.1f} ms each; {said}")
    assert max(pages.values()) < 1
