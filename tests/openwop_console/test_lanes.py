"""A host that is slow fills its own lane and nobody else's."""

import asyncio

import pytest

from openwop_console.lanes import LaneFull, Lanes, NoTurn


def lanes(**more) -> Lanes:
    return Lanes(**{"abreast": 2, "most_bytes": 10**6, "wait_s": 5.0} | more)


async def hold(of: Lanes, lane: str, until: asyncio.Event) -> None:
    async with of.turn(lane):
        await until.wait()


async def test_a_full_lane_does_not_hold_up_the_next_one():
    some, released = lanes(), asyncio.Event()
    slow = [asyncio.create_task(hold(some, "slow", released)) for _ in range(5)]
    await asyncio.sleep(0)

    async with asyncio.timeout(1), some.turn("quick"):
        pass

    released.set()
    await asyncio.gather(*slow)


async def test_only_so_many_of_a_lane_are_worked_on_at_once():
    some, at_once, most = lanes(), 0, 0

    async def work() -> None:
        nonlocal at_once, most
        async with some.turn("a"):
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0)
            at_once -= 1

    await asyncio.gather(*(work() for _ in range(9)))

    assert most == 2


async def test_turns_come_in_the_order_of_asking():
    some, done = lanes(abreast=1), []

    async def work(number: int) -> None:
        async with some.turn("a"):
            await asyncio.sleep(0)
            done.append(number)

    await asyncio.gather(*(work(number) for number in range(6)))

    assert done == list(range(6))


async def test_who_waits_too_long_is_told():
    some, released = lanes(abreast=1, wait_s=0.01), asyncio.Event()
    slow = asyncio.create_task(hold(some, "a", released))
    await asyncio.sleep(0)

    with pytest.raises(NoTurn):
        async with some.turn("a"):
            pass

    released.set()
    await slow


async def test_a_lane_holds_so_many_bytes_and_no_more():
    some = lanes(most_bytes=200_000)

    with some.room("a", 150_000):
        with pytest.raises(LaneFull), some.room("a", 60_000):
            pass
        with some.room("b", 200_000):
            pass
    with some.room("a", 200_000):
        pass


async def test_one_body_always_fits():
    with lanes(most_bytes=10).room("a", 10**9):
        pass


async def test_a_lane_that_nobody_uses_is_forgotten():
    some = lanes()
    with some.room("a", 1):
        async with some.turn("a"):
            assert len(some._lanes) == 1

    assert some._lanes == {}
