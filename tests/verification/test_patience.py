"""Waiting for a gate's answer: woken by the bell, patient without it, holding nothing meanwhile."""

import asyncio
import threading

import httpx
import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.db import connection

from openwop_console.asgi import http
from runs.actions.hosts import revoke_key
from tests.factories import decided, event, send, verified
from verification.models import GateReceipt
from verification.patience import KEY, PatientGates, patience_of

LONG_S = 60.0
"""Longer than any of these tests: who looks again only then was woken by the bell."""


class Watched:
    """An application that says how often it was asked, and when it was asked first."""

    def __init__(self, app):
        self.app, self.count, self.asked = app, 0, asyncio.Event()

    async def __call__(self, scope, receive, send):
        await self.app(scope, receive, send)
        self.count += 1
        self.asked.set()

    async def until_asked(self, times=1):
        while self.count < times:
            self.asked.clear()
            await asyncio.wait_for(self.asked.wait(), 10)


def only_woken(app):
    """Gates that look again when the bell rings, and not by themselves."""
    return PatientGates(app, look_every_s=LONG_S, without_bell_s=LONG_S)


def client(app, host):
    headers = {"Authorization": f"Bearer {host.key_for_tests}"}
    transport = httpx.ASGITransport(app=app)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)


def asking(caller, wait=30, target="r-1-e1"):
    path = f"/api/v1/gates/{target}?run=r-1&wait={wait}"
    return asyncio.create_task(caller.get(path, timeout=30))


def elsewhere(do):
    """Do it in a thread that gives its connection back, as another request would."""
    return database_sync_to_async(do, thread_sensitive=False)


arrives = elsewhere(send)


@pytest.fixture
def result(transactional_db, host):
    send(host, event(0, "run.started"), decided(1))


@pytest.mark.django_db(transaction=True)
class TestAgainstTheConsole:
    async def test_a_verdict_that_arrives_while_waiting_is_answered_at_once(self, host, result):
        watched = Watched(http)
        async with client(only_woken(watched), host) as caller:
            answer = asking(caller)
            await watched.until_asked(2)  # once, and once more when the bell could be heard
            await arrives(host, verified(2, "r-1-e1", "pass"))
            found = (await asyncio.wait_for(answer, 20)).json()

        assert (found["decision"], found["basis"]) == ("pass", "verdict")

    async def test_what_changes_nothing_wakes_and_waits_on(self, host, result):
        watched = Watched(http)
        async with client(only_woken(watched), host) as caller:
            answer = asking(caller)
            await watched.until_asked(2)
            await arrives(host, event(2))
            await watched.until_asked(3)
            assert not answer.done()
            await arrives(host, verified(3, "r-1-e1", "fail"))
            found = (await asyncio.wait_for(answer, 20)).json()

        assert found["decision"] == "fail"

    async def test_without_redis_it_looks_again_by_itself(self, host, result, settings):
        backend = settings.CHANNEL_LAYERS["default"]
        config = {**backend["CONFIG"], "hosts": ["redis://127.0.0.1:1/0"]}
        settings.CHANNEL_LAYERS = {"default": {**backend, "CONFIG": config}}
        watched = Watched(http)
        gates = PatientGates(watched, look_every_s=LONG_S, without_bell_s=0.05)
        async with client(gates, host) as caller:
            answer = asking(caller)
            await watched.until_asked()
            await arrives(host, verified(2, "r-1-e1", "revise"))
            found = (await asyncio.wait_for(answer, 20)).json()

        assert found["decision"] == "revise"

    async def test_a_bell_that_is_lost_costs_a_delay_only(self, host, result):
        watched = Watched(http)
        async with client(PatientGates(watched, look_every_s=0.05), host) as caller:
            answer = asking(caller)
            await watched.until_asked(5)
            get_channel_layer().groups.clear()  # nobody hears the bell any more
            await arrives(host, verified(2, "r-1-e1", "pass"))
            found = (await asyncio.wait_for(answer, 20)).json()

        assert found["decision"] == "pass"

    async def test_when_the_time_is_over_the_answer_is_what_is_known(self, host, result):
        async with client(PatientGates(http), host) as caller:
            found = (await asking(caller, wait=1)).json()

        assert (found["decision"], found["basis"]) == ("none", "timeout")
        assert await elsewhere(GateReceipt.objects.count)() == 1

    async def test_a_settled_answer_does_not_wait(self, host, result):
        await arrives(host, verified(2, "r-1-e1", "pass"))
        watched = Watched(http)
        async with client(only_woken(watched), host) as caller:
            found = (await asking(caller)).json()

        assert (found["decision"], watched.count) == ("pass", 1)

    async def test_a_key_that_is_revoked_meanwhile_is_refused(self, host, result):
        watched = Watched(http)
        async with client(PatientGates(watched, look_every_s=0.05), host) as caller:
            answer = asking(caller)
            await watched.until_asked()
            await elsewhere(revoke)(host)
            found = await asyncio.wait_for(answer, 20)

        assert found.status_code == 401

    async def test_an_unknown_run_is_not_waited_for(self, host, other_host, result):
        watched = Watched(http)
        async with client(PatientGates(watched, look_every_s=LONG_S), other_host) as caller:
            found = await asking(caller)

        assert (found.status_code, watched.count) == (404, 1)

    async def test_who_waits_holds_no_connection_and_no_thread(self, host, result):
        """More wait at once than the pool has connections, and all are answered."""
        many = 3 * connection.settings_dict["OPTIONS"]["pool"]["max_size"]
        watched = Watched(http)
        before = threading.active_count()
        async with client(only_woken(watched), host) as caller:
            answers = [asking(caller) for _ in range(many)]
            await watched.until_asked(2 * many)
            waiting_with = threading.active_count() - before
            await arrives(host, verified(2, "r-1-e1", "pass"))
            found = await asyncio.wait_for(asyncio.gather(*answers), 60)

        assert {each.json()["decision"] for each in found} == {"pass"}
        assert waiting_with < many / 2


def revoke(host):
    revoke_key(key_id=host.keys.get().key_id)


def scope(path="/api/v1/gates/x", query="wait=9", **more):
    made = {"type": "http", "method": "GET", "path": path, "query_string": query.encode()}
    return {**made, "headers": [], **more}


class Said:
    """An application that notes with what patience it was asked, and answers."""

    def __init__(self, waits_for=0):
        self.asked, self.waits_for = [], waits_for

    async def __call__(self, scope, receive, send):
        patience = patience_of(scope)
        self.asked.append(patience)
        if patience and len(self.asked) <= self.waits_for and patience.asks_again("run.1"):
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"said"})


async def answered(gates, scope, received):
    """What an application is sent, and what it sends."""
    sent = []

    async def receive():
        return await received()

    async def send(message):
        sent.append(message)

    await asyncio.wait_for(gates(scope, receive, send), 10)
    return [message.get("status", message.get("body")) for message in sent]


async def silent():
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    "passed_on",
    [
        scope(query=""),
        scope(query="wait=0"),
        scope(query="wait=x"),
        scope(query="wait=-1"),
        scope(path="/api/v1/runs"),
        scope(method="POST"),
    ],
)
async def test_what_does_not_wait_is_passed_on_as_it_is(passed_on):
    app = Said()

    assert await answered(PatientGates(app), passed_on, silent) == [200, b"said"]
    assert app.asked == [None]
    assert KEY not in passed_on


async def test_nobody_waits_longer_than_a_minute():
    app = Said()
    await answered(PatientGates(app), scope(query="wait=999999"), silent)

    assert 50 < app.asked[0].left_s <= 60


async def test_when_the_client_is_gone_nothing_is_asked_any_more():
    app = Said(waits_for=10**9)

    async def gone():
        return {"type": "http.disconnect"}

    gates = PatientGates(app, look_every_s=LONG_S, without_bell_s=LONG_S)
    assert await answered(gates, scope(), gone) == []
    assert len(app.asked) <= 3


async def test_an_answer_that_may_not_wait_longer_is_sent_whatever_it_is():
    app = Said(waits_for=3)
    gates = PatientGates(app, look_every_s=0.01, without_bell_s=0.01)

    assert await answered(gates, scope(), silent) == [200, b"said"]
    assert len(app.asked) == 4


def test_a_client_cannot_claim_to_be_patient_itself():
    assert patience_of({KEY: "please"}) is None
    assert patience_of(None) is None
