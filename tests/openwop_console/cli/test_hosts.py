"""`hosts` and `keys`, on the tables of a Console that runs: what they do is on the record."""

import json

import pytest
from click.testing import CliRunner

from openwop_console.cli import hosts, ingest, keys, main, tokens
from runs.models import ConnectionTest, Host, HostKey
from runs.sealing import unseal
from tests.factories import decided, event, person, send, verified
from verification import bells
from verification.actions import connecting
from verification.actions.tokens import create_token
from verification.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(monkeypatch):
    for module in (hosts, keys, tokens):
        monkeypatch.setattr(module, "adopt", lambda folder: None)  # the tables of this test
    return lambda *words: CliRunner().invoke(main, words)


@pytest.fixture
def at_once(monkeypatch):
    """Have what a worker is asked for done at once, as one would."""
    done = lambda task, host: connecting.try_connection(host=host)  # noqa: E731
    monkeypatch.setattr(bells, "ring", done)


def actions() -> list[str]:
    rows = AuditEntry.objects.filter(actor="system:command-line").order_by("seq")
    return list(rows.values_list("action", flat=True))


def test_a_name_that_is_taken_is_refused_and_nothing_is_added(run, host):
    shown = run("hosts", "add", "Alpha", "--workspace", "acme")

    assert shown.exit_code == 1
    assert "There is a host alpha already" in shown.output
    assert Host.objects.count() == 1


def test_an_address_that_cannot_be_is_refused(run, host):
    for words in (["add", "b", "--workspace", "acme"], ["connect", "alpha"]):
        shown = run("hosts", *words, "--base-url", "https://u:p@x.example")

        assert shown.exit_code == 2
        assert "user name or password" in shown.output
    assert Host.objects.count() == 1


def test_a_tenant_is_named_and_kept_until_it_is_taken_back(run, host):
    to = ["hosts", "connect", "alpha", "--base-url", "https://a.example"]

    assert run(*to, "--tenant", "a/b").exit_code == 2
    for words, tenant in (["--tenant", "acme"], "acme"), ([], "acme"), (["--tenant", ""], ""):
        assert run(*to, *words).exit_code == 0
        host.refresh_from_db()
        assert host.tenant == tenant


def test_the_key_for_a_host_is_kept_until_another_is_given(run, host):
    to = ["hosts", "connect", "alpha", "--base-url", "https://a.example"]

    for words, key in (["--api-key", "s3cret"], "s3cret"), ([], "s3cret"), (["--api-key", ""], ""):
        assert run(*to, *words).exit_code == 0
        host.refresh_from_db()
        assert unseal(host.sealed_api_key) == key


def test_a_key_that_cannot_be_opened_any_more_is_asked_for(run, host):
    Host.objects.filter(pk=host.pk).update(sealed_api_key=b"broken")

    shown = run("hosts", "connect", "alpha", "--base-url", "https://a.example")

    assert (shown.exit_code, "--api-key" in shown.output) == (1, True)


def test_what_is_done_about_hosts_and_keys_is_on_the_record_without_secrets(run, host):
    added = json.loads(run("hosts", "add", "beta", "--workspace", "acme", "--json").output)
    run("hosts", "connect", "beta", "--base-url", "https://b.example", "--api-key", "s3cret-api")
    key = json.loads(run("keys", "create", "beta", "--json").output)["key"]
    secret = json.loads(run("hosts", "rotate", "beta", "--json").output)["webhookSecret"]
    run("keys", "revoke", key.split("_")[2])

    assert actions() == [
        "host.added",
        "host.connected",
        "key.created",
        "webhook_secret.rotated",
        "key.revoked",
    ]
    kept = str(list(AuditEntry.objects.values_list("subject", "detail")))
    for hidden in (added["key"], added["webhookSecret"], "s3cret-api", secret, key.split("_")[3]):
        assert hidden not in kept


def test_rotating_says_how_long_the_old_secret_is_good(run, host):
    assert "good for 24 h" in run("hosts", "rotate", "alpha").stderr
    assert "refused from now on" in run("hosts", "rotate", "alpha", "--overlap", "0").stderr


def test_a_test_says_line_by_line_what_works_and_what_would_mend_it(run, host, at_once, settings):
    settings.CONSOLE_URL = "http://127.0.0.1:9"

    shown = run("hosts", "test", "alpha")
    told = json.loads(run("hosts", "test", "alpha", "--json").output)

    assert shown.exit_code == 1
    assert "OPENWOP_CONSOLE_URL" in shown.output
    assert "not applicable" in shown.output
    assert (told["finished"], told["fails"]) == (True, 3)
    assert {line["name"] for line in told["lines"]} >= {"discovery", "canary", "leak", "heard"}


def test_a_test_that_no_worker_makes_is_unfinished(run, host, monkeypatch):
    monkeypatch.setattr(bells, "ring", lambda *what: None)

    shown = run("hosts", "test", "alpha", "--wait", "1")

    assert shown.exit_code == 3
    assert ConnectionTest.objects.get().begun_at is None


def test_the_card_shows_what_is_advertised_next_to_what_was_done(run, host):
    send(
        host,
        event(0, "run.started"),
        decided(1),
        verified(2, "r-1-e1", "fail"),
        event(3, "run.completed"),
        event(4, nodeId=[]),
    )

    card = json.loads(run("hosts", "card", "alpha", "--json").output)

    assert (card["executionModel"], card["verifier"], card["verdicts"]) == (6, "gating", 1)
    assert card["refused7Days"] == 1
    assert card["findings"][0]["severity"] == "violation"
    assert "success_after_fail" in run("hosts", "card", "alpha").output


def test_subscribing_where_the_console_knows_no_address_says_so(run, host):
    shown = run("hosts", "subscribe", "alpha")

    assert shown.exit_code == 1
    assert "does not know where" in shown.output


def test_the_key_of_a_test_is_nobodys_to_list(run, host):
    HostKey.objects.create(host=host, key_id="abc", digest="0" * 64, is_canary=True)

    assert len(json.loads(run("keys", "list", "--json").output)) == 1


def test_times_are_written_alike(run, host):
    create_token(user=person("ada"), name="laptop")

    (token,) = json.loads(run("tokens", "list", "ada", "--json").output)
    (key,) = json.loads(run("keys", "list", "alpha", "--json").output)

    assert len(token["createdAt"]) == len(key["createdAt"]) == len("2026-11-30T08:00:00Z")


@pytest.mark.parametrize("name", ["OPENWOP_CONSOLE_API_KEY", "OPENWOP_CONSOLE_KEY"])
def test_the_key_comes_from_one_variable_and_its_former_name(monkeypatch, tmp_path, name):
    file = tmp_path / "events.jsonl"
    file.write_text("{}\n")
    given = []
    monkeypatch.setattr(ingest, "_client", lambda folder, url, key: given.append(key) or _stop())

    CliRunner().invoke(main, ["ingest", str(file)], env={name: "owc_live_x"})

    assert given == ["owc_live_x"]


def _stop():
    raise SystemExit(0)
