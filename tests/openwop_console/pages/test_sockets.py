"""A page's socket takes whatever is sent to it, and tells strangers from what there is."""

import pytest
from channels.db import database_sync_to_async

from openwop_console.asgi import application
from tests.factories import event, send
from tests.sockets import opened

pytestmark = pytest.mark.django_db(transaction=True)

RUBBISH = (
    "",
    "nothing",
    "[" * 100_000,
    '{"a":' * 100_000,
    "9" * 5000,
    "[]",
    '{"query": {"a": 1}}',
    '{"query": "q=%00&before=\\ud800&days=99999999999999999999"}',
    '{"position": 1e999, "sequence": NaN}',
    '{"position": "99999999999999999999", "sequence": []}',
    '{"position": -1, "sequence": 9223372036854775808}',
)


@pytest.mark.parametrize("address", ["/ws/", "/ws/runs/", "/ws/runs/alpha/r-1/", "/ws/queue/"])
async def test_no_message_breaks_a_socket(host, ada, address):
    await in_a_thread(send)(host, event(0, "run.started"))
    socket = await opened(application, address, ada)

    for each in RUBBISH:
        await socket.say(each)
    await socket.say("{}")
    heard = await socket.hears()
    await socket.close()

    assert "<" in heard


@pytest.mark.parametrize(
    "address",
    ["/ws", "/ws/nothing/", "/ws/jobs/1/", "/ws/runs/alpha/a~00/", "/ws/runs/alpha/a\0b/"],
)
async def test_an_address_that_is_none_closes_as_what_is_not_there(host, ada, address):
    socket = await opened(application, address, ada)

    assert await socket.hears() == "closed 4404"


def in_a_thread(do):
    """Do it in a thread that gives its connection back, as a request would."""
    return database_sync_to_async(do, thread_sensitive=False)
