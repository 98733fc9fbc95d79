"""The pages of hosts: what their administrators see, and what they can do there."""

import html
from types import SimpleNamespace

import pytest
from channels.db import database_sync_to_async
from click.testing import CliRunner
from django.test import Client
from django.utils import timezone

from openwop_console.asgi import application
from openwop_console.cli import hosts, keys, main
from runs.actions.hosts import connect_host, create_key
from runs.actions.people import grant
from runs.actions.webhook_secrets import rotate_secret, secrets_of
from runs.models import Host, HostKey, OwnHost, PulledHost, Role
from runs.sealing import unseal
from tests.factories import add_host_named, decided, event, person, send, verified
from tests.sockets import opened
from verification import bells
from verification.actions.connecting import ask_for_test, try_connection
from verification.actions.job_runs import console_host
from verification.models import AuditEntry

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

    assert client.post(address, {"do": "key"}).status_code == 302
    shown = page(client, address)
    key = shown.split('<code class="id">')[1].split("</code>")[0]

    headers = {"authorization": f"Bearer {key}"}
    sent = Client().post("/api/v1/events", event(0), "application/json", headers=headers)
    assert sent.status_code in {200, 201}
    assert f"export OPENWOP_CONSOLE_API_KEY={key}" in shown
    assert key not in page(client, address)


def test_a_secret_waits_sealed_and_for_the_page_of_its_host_only(client, host):
    other = add_host_named("beta", workspace="acme")
    client.post(f"/settings/hosts/{host.slug}", {"do": "key"})

    kept = str(client.session["shown_once"])
    elsewhere = page(client, f"/settings/hosts/{other.slug}")
    shown = page(client, f"/settings/hosts/{host.slug}")

    key = shown.split('<code class="id">')[1].split("</code>")[0]
    assert key.startswith("owc_live_")
    assert key not in kept
    assert "shown this once" not in elsewhere
    assert "shown_once" not in client.session


def test_what_is_done_about_keys_and_secrets_is_on_the_record_without_them(client, host):
    address = f"/settings/hosts/{host.slug}"
    client.post(address, {"do": "key"})
    key = page(client, address).split('<code class="id">')[1].split("</code>")[0]
    client.post(address, {"do": "secret"})
    client.post(address, {"do": "revoke", "key": key.split("_")[2]})

    entries = AuditEntry.objects.order_by("seq")

    assert [each.action for each in entries] == [
        "key.created",
        "webhook_secret.rotated",
        "key.revoked",
    ]
    assert {each.subject for each in entries} == {"host:alpha"}
    assert key.split("_")[3] not in str([each.detail for each in entries])


def test_the_secret_by_which_a_host_is_told_is_shown_once_after_a_redirect(client, host):
    sent = client.post(f"/settings/deliveries/{host.slug}/webhook", {"url": "https://h.example/x"})

    assert sent.status_code == 302
    assert "whsec_" in page(client, "/settings/deliveries")
    assert "whsec_" not in page(client, "/settings/deliveries")


def test_nobody_is_offered_to_tell_the_console_itself(client, host):
    own = console_host(host.workspace)

    assert f"/{own.slug}/webhook" not in page(client, "/settings/deliveries")
    sent = client.post(f"/settings/deliveries/{own.slug}/webhook", {"url": "https://h.example/x"})
    assert sent.status_code == 404


def test_revoking_is_asked_about_first(client, host):
    key = HostKey.objects.get(host=host)

    asked = page(client, f"/settings/hosts/{host.slug}?revoke={key.key_id}")

    assert f"Revoke {key.key_id}?" in asked
    key.refresh_from_db()
    assert key.revoked_at is None


def test_a_revoked_key_is_refused_at_once(client, host):
    key = HostKey.objects.get(host=host)

    client.post(f"/settings/hosts/{host.slug}", {"do": "revoke", "key": key.key_id})

    headers = {"authorization": f"Bearer {host.key_for_tests}"}
    refused = Client().post("/api/v1/events", event(0), "application/json", headers=headers)
    assert refused.status_code == 401


def test_the_old_webhook_secret_stays_good_for_a_while(client, host):
    old = secrets_of(host, timezone.now())

    client.post(f"/settings/hosts/{host.slug}", {"do": "secret"})

    shown = page(client, f"/settings/hosts/{host.slug}")

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
    assert "once it is known where it answers" in page(client, f"/settings/hosts/{host.slug}")


NEW = {"name": "Gamma host", "workspace": "acme", "protocol": "2", "base_url": "", "api_key": ""}


class TestANewHost:
    def test_it_is_added_and_its_key_and_secret_are_shown_once(self, client, host):
        answer = client.post("/settings/hosts/new", {**NEW, "base_url": "https://h.example/"})

        added = Host.objects.get(slug="gamma-host")
        assert answer.headers["Location"] == "/settings/hosts/gamma-host"
        assert (added.base_url, added.protocol_major) == ("https://h.example", 2)
        shown = page(client, "/settings/hosts/gamma-host")
        assert shown.count("shown this once") == 2
        assert page(client, "/settings/hosts/gamma-host").count("shown this once") == 0
        assert AuditEntry.objects.filter(action="host.added").count() == 1

    @pytest.mark.parametrize(
        ("wrong", "why"),
        [
            ({"name": "Alpha"}, "There is a host alpha already"),
            ({"name": ""}, "required"),
            ({"workspace": "other"}, "valid choice"),
            ({"protocol": "3"}, "valid choice"),
            ({"base_url": "ftp://x"}, "Only https addresses"),
            ({"base_url": "https://u:p@x.example"}, "user name or password"),
            ({"base_url": "https://x.example/v1/"}, "ends before /v1"),
            ({"base_url": "https://x.example/?a=1"}, "no query"),
            ({"api_key": "schlüssel"}, "plain ASCII"),
            ({"tenant": "a/b"}, "1 to 128 of the characters"),
        ],
        ids=str,
    )
    def test_what_does_not_fit_is_said_and_adds_nothing(self, client, host, other_host, wrong, why):
        answer = client.post("/settings/hosts/new", NEW | wrong)

        assert answer.status_code == 422
        assert why in answer.content.decode()
        assert Host.objects.count() == 2

    def test_another_tenants_name_is_neither_taken_nor_told(self, client, host, other_host):
        answer = client.post("/settings/hosts/new", {**NEW, "name": "omega"})

        assert answer.headers["Location"] == "/settings/hosts/omega-2"

    def test_whoever_administers_nothing_adds_nothing(self, host, ada):
        client = Client()
        client.force_login(ada)

        assert client.post("/settings/hosts/new", NEW).status_code == 422
        assert Host.objects.count() == 1


class TestWhereAHostAnswers:
    def test_it_is_kept_and_an_empty_key_keeps_the_key(self, client, host):
        address = f"/settings/hosts/{host.slug}"
        client.post(address, {"do": "connect", "base_url": "https://a.example", "api_key": "k-1"})
        client.post(
            address,
            {"do": "connect", "base_url": "https://a.example/b", "api_key": "", "tenant": "acme"},
        )

        host.refresh_from_db()
        assert (host.base_url, host.tenant) == ("https://a.example/b", "acme")
        assert unseal(host.sealed_api_key) == "k-1"
        assert "k-1" not in page(client, address)

    @pytest.mark.parametrize("elsewhere", ["https://b.example", "http://a.example"])
    def test_a_key_is_not_led_elsewhere_by_somebody_who_does_not_know_it(
        self, client, host, elsewhere
    ):
        address = f"/settings/hosts/{host.slug}"
        client.post(address, {"do": "connect", "base_url": "https://a.example", "api_key": "k-1"})
        straight = client.post(address, {"do": "connect", "base_url": elsewhere, "api_key": ""})
        client.post(address, {"do": "connect", "base_url": "", "api_key": ""})
        by_nowhere = client.post(address, {"do": "connect", "base_url": elsewhere, "api_key": ""})

        host.refresh_from_db()
        assert (straight.status_code, by_nowhere.status_code) == (422, 422)
        assert host.base_url == ""

    def test_an_address_that_cannot_be_is_not_kept(self, client, host):
        answer = client.post(
            f"/settings/hosts/{host.slug}", {"do": "connect", "base_url": "gopher://x"}
        )

        assert answer.status_code == 422
        host.refresh_from_db()
        assert host.base_url == ""


def test_a_test_is_asked_for_and_its_lines_are_shown(client, host, monkeypatch):
    rung = []
    monkeypatch.setattr(bells, "ring", lambda *what: rung.append(what))
    address = f"/settings/hosts/{host.slug}"
    assert "Not tried yet" in page(client, address)

    client.post(address, {"do": "test"})

    assert rung == [(bells.CONNECT, host.pk)]
    shown = page(client, address)
    assert "Being tried" in shown
    assert "console-canary-" in shown
    assert shown.count("<span>Waiting</span>") == 8


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


class TestTheConsolesOwnHost:
    """Who could write as it could say what its judges never said."""

    @pytest.fixture
    def own(self, host):
        return console_host(host.workspace)

    @pytest.mark.parametrize("do", ["key", "secret", "read", "revoke"])
    def test_its_page_shows_it_and_gives_nothing_out(self, client, own, do):
        address = f"/settings/hosts/{own.slug}"

        shown = page(client, address)

        assert "The Console itself" in shown
        assert all(word not in shown for word in ("New key", "webhook secret", "Connect it"))
        assert client.post(address, {"do": do}).status_code == 404

    @pytest.mark.parametrize(
        "give_out",
        [
            lambda own: create_key(host=own),
            lambda own: rotate_secret(host=own),
            lambda own: connect_host(host_id=own.slug, base_url="http://x.invalid", api_key="k"),
        ],
        ids=["key", "secret", "address"],
    )
    def test_no_action_gives_a_way_in(self, own, give_out):
        with pytest.raises(OwnHost):
            give_out(own)

        own.refresh_from_db()
        assert not HostKey.objects.filter(host=own).exists()
        assert (own.base_url, bytes(own.sealed_webhook_secret)) == ("", b"")

    def test_the_command_line_says_why_not(self, own, monkeypatch):
        for module in (hosts, keys):
            monkeypatch.setattr(module, "adopt", lambda folder: None)
        for words in (
            ["keys", "create", own.slug],
            ["hosts", "rotate", own.slug],
            ["hosts", "connect", own.slug, "--base-url", "http://x.invalid"],
        ):
            shown = CliRunner().invoke(main, words)
            assert (shown.exit_code, "own host" in shown.output) == (1, True)


class TestLive:
    @pytest.mark.django_db(transaction=True)
    async def test_each_line_of_a_test_comes_to_the_open_page(self, host):
        root = await elsewhere(admin_of)(host)
        socket = await opened(application, f"/ws/settings/hosts/{host.slug}/", root)
        await socket.say("{}")
        assert "Not tried yet" in await socket.hears()

        await elsewhere(tried)(host)
        while "Being tried" in (news := await socket.hears()) or "Not tried" in news:
            assert not news.startswith("closed")
        await socket.close()

        assert "Does not apply" in news

    @pytest.mark.django_db(transaction=True)
    async def test_whoever_does_not_administer_it_hears_nothing(self, host, ada):
        socket = await opened(application, f"/ws/settings/hosts/{host.slug}/", ada)

        assert await socket.hears() == "closed 4404"


def admin_of(host):
    user = person("root")
    grant(user=user, workspace=host.workspace, role=Role.ADMIN)
    return user


def tried(host):
    ask_for_test(host=host, by="person:1")
    try_connection(host=host.pk)


def elsewhere(do):
    """Do it in a thread that gives its connection back, as a request would."""
    return database_sync_to_async(do, thread_sensitive=False)


def test_the_python_example_is_a_whole_program(client, host):
    shown = html.unescape(page(client, f"/settings/hosts/{host.slug}"))
    program = shown.split('aria-label="From Python">')[1].split("</pre>")[0]
    sent = {}
    exec(
        program.replace("import os, httpx", ""),
        {
            "os": SimpleNamespace(environ={"OPENWOP_CONSOLE_API_KEY": host.key_for_tests}),
            "httpx": SimpleNamespace(post=lambda url, **more: sent.update(more) or Answer()),
        },
    )

    assert sent["headers"]["Authorization"] == f"Bearer {host.key_for_tests}"
    assert send(host, *sent["json"]["events"]).accepted == 1


class Answer:
    def raise_for_status(self):
        return self
