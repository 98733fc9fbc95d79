"""Who else looks."""

import re

import pytest
from channels.db import database_sync_to_async

from openwop_console.asgi import application
from openwop_console.pages.presence import (
    FORGOTTEN_AFTER_S,
    Watchers,
    arrival,
    departure,
    sentence,
)
from tests.factories import decided, event, send, verified
from tests.sockets import Socket, opened
from verification.models import Escalation


def test_others_come_and_go_and_oneself_is_none_of_them():
    watchers = Watchers("ada")
    assert watchers.hear(arrival("mia", asks=True), now=0)
    assert not watchers.hear(arrival("ada", asks=True), now=0)
    assert not watchers.hear(arrival("mia", asks=False), now=1)
    assert watchers.others(now=1) == ["mia"]
    assert watchers.hear(departure("mia"), now=2)
    assert watchers.others(now=2) == []


def test_who_vanishes_is_forgotten():
    watchers = Watchers("ada")
    watchers.hear(arrival("mia", asks=True), now=0)

    assert watchers.others(now=FORGOTTEN_AFTER_S) == []


def test_it_is_said_in_words():
    assert sentence([]) == ""
    assert sentence(["mia"]) == "mia is"
    assert sentence(["ben", "cy", "mia"]) == "ben, cy and mia are"


async def hears(socket: Socket, words: str) -> None:
    """Wait until a page is told of others in exactly these words."""
    while True:
        found = re.search(r'id="others"[^>]*>(.*?)</p>', await socket.hears(), re.DOTALL)
        if found and re.sub(r"<[^>]*>", "", found[1]).strip() == words:
            return


@pytest.mark.django_db(transaction=True)
async def test_whoever_closes_one_of_two_tabs_still_looks(host, ada, ben):
    send_all = database_sync_to_async(send)
    await send_all(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    pk = await database_sync_to_async(lambda: Escalation.objects.get().pk)()
    adas = await opened(application, f"/ws/queue/{pk}/", ada)
    first = await opened(application, f"/ws/queue/{pk}/", ben)
    second = await opened(application, f"/ws/queue/{pk}/", ben)
    await hears(adas, "ben is looking")

    await second.close()
    await hears(adas, "ben is looking")
    await first.close()
    await hears(adas, "")
    await adas.close()
