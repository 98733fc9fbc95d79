"""The sender loses nothing, keeps order, and backs off."""

import asyncio
from typing import Any

import pytest

from openwop_console.demo.sender import Backoff, Sender

SOON = Backoff(first_s=0.005, longest_s=0.02)


def event(number: int, run_id: str = "r") -> dict[str, Any]:
    return {"eventId": f"e-{number}", "runId": run_id, "sequence": number}


async def sent(sender: Sender, events: list[dict[str, Any]]) -> None:
    """Offer events and wait until all are answered for."""
    sending = asyncio.ensure_future(sender.run())
    for one in events:
        sender.offer(one)
    async with asyncio.timeout(10):
        await sender.drained()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)


@pytest.mark.parametrize("trouble", [429, 503, 500, 502, 401, 403, 302])
async def test_a_batch_that_was_not_taken_is_sent_again(console_of, trouble):
    console = console_of(trouble, trouble)
    ingest = console.ingest

    await sent(Sender(console.url, "owc_key", SOON), [event(0), event(1)])

    assert len(ingest.batches) == 3
    assert ingest.batches[0] == ingest.batches[2] == ingest.committed == [event(0), event(1)]
    assert ingest.keys == {"Bearer owc_key"}


async def test_many_events_go_in_batches_and_in_order(console_of):
    console = console_of(503)
    ingest = console.ingest
    events = [event(number) for number in range(450)]

    await sent(Sender(console.url, "k", SOON), events)

    assert ingest.committed == events
    assert max(len(batch) for batch in ingest.batches) == 200


def test_nothing_is_lost_while_the_console_is_down(caller_for, console_of):
    down = console_of()
    down.stop()
    url, port = down.url, down.port
    caller = caller_for(console_url=url, console_key="k", backoff=SOON)
    runs = [caller.start("contract-summary") for _ in range(3)]
    for run_id in runs:
        caller.until_ended(run_id)
    assert caller.running.host.sender.pending > 90

    ingest = console_of(503, 429, port=port).ingest
    last = caller.start("research-brief")
    caller.until_ended(last)
    drained = caller.running.host.sender.drained()
    asyncio.run_coroutine_threadsafe(drained, caller.running.loop).result(10)

    for run_id in [*runs, last]:
        arrived = [one for one in ingest.committed if one["runId"] == run_id]
        assert arrived == caller.events(run_id)
    assert len({one["eventId"] for one in ingest.committed}) == len(ingest.committed)


async def test_events_refused_for_good_are_counted_and_do_not_hold_up_the_rest(console_of):
    console = console_of(refuses={"e-3"})
    ingest = console.ingest
    sender = Sender(console.url, "k", SOON)

    await sent(sender, [event(number) for number in range(8)])

    assert [one["sequence"] for one in ingest.committed] == [0, 1, 2, 4, 5, 6, 7]
    assert sender.refused == 1


async def test_a_partly_refused_batch_counts_its_refusals(console_of):
    console = console_of(207, refuses={"e-1"})
    ingest = console.ingest
    sender = Sender(console.url, "k", SOON)

    await sent(sender, [event(0), event(1)])

    assert (len(ingest.committed), sender.refused) == (1, 1)


def test_waits_double_up_to_the_longest_and_honour_retry_after():
    backoff = Backoff(first_s=0.5, longest_s=30)

    waits = [backoff.wait_s(failures, None) for failures in range(1, 9)]

    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff.wait_s(10_000, None) == 30
    assert backoff.wait_s(1, "7") == 7
    assert backoff.wait_s(1, "soon") == 0.5
