"""The pages of hosts: what their administrators see, and what they can do there."""

import pytest
from django.test import Client
from django.utils import timezone

from runs.actions.people import grant
from runs.actions.webhook_secrets import secrets_of
from runs.models import HostKey, PulledHost, Role
from tests.factories import decided, event, person, send, verified

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(host) -> Client:
    user = person("root")
    grant(user=user, workspace=host.workspace, role=Role.ADMIN)
    client = Client()
    client.force_login(user)
    return client


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_host_that_sent_nothing_is_listed_as_such(client, host):
    assert "nothing yet" in page(client, "/settings/hosts")


def test_refused_events_are_shown_by_reason_and_never_by_content(client, host):
    send(host, event(0), event(1, nodeId=["CANARY"]), event(2, timestamp="CANARY"))
    counted = {each.reason: each.count for each in host.refusals.all()}
    assert sum(counted.values()) == 2

    shown = page(client, f"/settings/hosts/{host.slug}")

    assert all(reason in shown for reason in counted)
    assert "CANARY" not in shown
    assert "<b>2</b>" in page(client, "/settings/hosts")


def test_what_a_host_advertises_stands_next_to_what_its_runs_show(client, host):
    send(
        host,
        event(0, "run.started"),
        decided(1),
        verified(2, "r-1-e1", "fail"),
        event(3, "run.completed"),
    )

    shown = page(client, f"/settings/hosts/{host.slug}")

    assert "gates commits" in shown
    assert "1 verdict in 1 run" in shown
    assert "Success after fail" in shown


def test_a_new_key_is_shown_once_and_lets_the_host_in(client, host):
    address = f"/settings/hosts/{host.slug}"

    shown = client.post(address, {"do": "key"}).content.decode()
    key = shown.split('<code class="id">')[1].split("</code>")[0]

    headers = {"authorization": f"Bearer {key}"}
    sent = Client().post("/api/v1/events", event(0), "application/json", headers=headers)
    assert sent.status_code in {200, 201}
    assert key not in page(client, address)


def test_a_revoked_key_is_refused_at_once(client, host):
    key = HostKey.objects.get(host=host)

    client.post(f"/settings/hosts/{host.slug}", {"do": "revoke", "key": key.key_id})

    headers = {"authorization": f"Bearer {host.key_for_tests}"}
    refused = Client().post("/api/v1/events", event(0), "application/json", headers=headers)
    assert refused.status_code == 401


def test_the_old_webhook_secret_stays_good_for_a_while(client, host):
    old = secrets_of(host, timezone.now())

    shown = client.post(f"/settings/hosts/{host.slug}", {"do": "secret"}).content.decode()

    host.refresh_from_db()
    now_good = secrets_of(host, timezone.now())
    assert now_good[0] in shown
    assert now_good[1:] == old


def test_a_host_whose_address_is_known_is_read_when_asked(client, host):
    host.base_url = "http://host.invalid"
    host.save()

    client.post(f"/settings/hosts/{host.slug}", {"do": "read"})

    assert PulledHost.objects.get(host=host).next_at <= timezone.now()


def test_without_an_address_nothing_is_read_and_the_page_says_what_to_do(client, host):
    client.post(f"/settings/hosts/{host.slug}", {"do": "read"})

    assert not PulledHost.objects.filter(host=host, next_at__isnull=False).exists()
    assert "hosts connect" in page(client, f"/settings/hosts/{host.slug}")


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_host_of_another_workspace_does_not_exist(client, other_host, method):
    keys = HostKey.objects.filter(host=other_host).count()

    answer = getattr(client, method)(f"/settings/hosts/{other_host.slug}", {"do": "key"})

    assert answer.status_code == 404
    assert HostKey.objects.filter(host=other_host).count() == keys


def test_somebody_who_administers_nothing_sees_no_host_and_makes_no_key(host):
    user = person("ada")
    grant(user=user, workspace=host.workspace, role=Role.REVIEWER)
    client = Client()
    client.force_login(user)

    assert host.slug not in page(client, "/settings/hosts")
    assert client.post(f"/settings/hosts/{host.slug}", {"do": "key"}).status_code == 404
