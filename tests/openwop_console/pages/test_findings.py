"""The findings page, the sheet of each finding, and the meter of what nobody verified."""

import json
import re
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from django.test import Client
from django.utils import timezone

from openwop_console.asgi import application
from openwop_console.pages import finding as sheet
from openwop_console.pages import findings as listing
from runs.models import CapabilitySnapshot
from tests.factories import add_host_named, decided, event, person, run_of, send, verified
from tests.sockets import opened
from verification.domain.evidence import SignatureBroken, check
from verification.models import Finding, Judgement, SigningKey
from verification.queries.findings import PAGE

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client, ada):
    client.force_login(ada)
    return client


def violate(host, run="r-1"):
    send(host, event(0, "run.started", run=run), decided(1, run=run))
    send(host, verified(2, f"{run}-e1", "fail", run=run), event(3, "run.completed", run=run))
    return Finding.objects.get(run=run_of(host, run), kind="success_after_fail")


def off_schema(sequence):
    return event(sequence, "runOrchestrator.decided", payload={"decision": "yes"})


def listed(reader, **query):
    text = reader.get("/findings", query).text
    return re.findall(r'<tr id="finding-(\d+)"', text)


class TestTheList:
    def test_a_violation_is_listed_with_what_happened_where(self, host, reader):
        found = violate(host)
        text = reader.get("/findings").text

        assert found.explanation.replace("'", "&#x27;") in text
        assert "Success after fail" in text
        assert f'href="/findings/{found.pk}"' in text

    def test_findings_of_other_tenants_are_not(self, host, other_host, reader):
        violate(other_host)

        assert listed(reader, status="any") == []
        assert "omega" not in reader.get("/findings").text

    @pytest.mark.parametrize(
        ("query", "count"),
        [
            ({}, 3),
            ({"severity": "violation"}, 1),
            ({"severity": "advisory"}, 1),
            ({"kind": "success_after_fail"}, 2),
            ({"kind": "self_verified"}, 1),
            ({"host": "beta"}, 1),
            ({"run": "r-1"}, 3),
            ({"run": "r-2"}, 0),
            ({"within": "1h"}, 3),
            ({"status": "withdrawn"}, 1),
            ({"status": "any"}, 4),
            ({"severity": "nonsense"}, 0),
            ({"within": "nonsense"}, 0),
            ({"host": "omega"}, 0),
            ({"before": "nonsense"}, 3),
        ],
    )
    def test_every_filter_narrows_it(self, host, reader, query, count):
        beta = add_host_named("beta", workspace="acme", gating=False)
        violate(host)
        send(host, decided(4, node="n9"), verified(5, "r-1-e4", "pass", "worker-1"))
        violate(beta)
        Finding.objects.create(
            run=run_of(host), kind="clock_skew", severity="soft", status="withdrawn",
            explanation="x", opened_at=timezone.now(),
        )  # fmt: skip

        assert len(listed(reader, **query)) == count

    def test_old_findings_are_left_out_by_time(self, host, reader):
        found = violate(host)
        Finding.objects.filter(pk=found.pk).update(opened_at=timezone.now() - timedelta(days=2))

        assert (len(listed(reader, within="24h")), len(listed(reader, within="7d"))) == (0, 1)

    def test_counts_follow_the_other_filters(self, host, reader):
        violate(host)
        violate(add_host_named("beta", workspace="acme", gating=False))
        page = listing.content(reader_of(reader), {"host": "alpha", "severity": "advisory"})

        assert {tile["key"]: tile["count"] for tile in page["tiles"]}["violation"] == 1
        assert {tile["key"]: tile["count"] for tile in page["tiles"]}["advisory"] == 0

    def test_it_is_read_in_pages_and_none_is_lost_or_twice(self, host, reader):
        run = run_of_many(host, PAGE + 7)
        shown, address = [], "/findings"
        while address:
            text = reader.get(address).text
            shown += re.findall(r'<tr id="finding-(\d+)"', text)
            older = re.search(r'href="([^"]*)" rel="next"', text)
            address = older[1].replace("&amp;", "&") if older else ""

        assert len(shown) == len(set(shown)) == Finding.objects.filter(run=run).count()

    def test_it_is_not_for_strangers(self, client):
        assert client.get("/findings").status_code == 302


def reader_of(reader):
    from django.contrib.auth.models import User

    return User.objects.get(pk=reader.session["_auth_user_id"])


def run_of_many(host, count):
    send(host, event(0, "run.started"))
    run, now = run_of(host), timezone.now()
    Finding.objects.bulk_create(
        Finding(
            run=run, kind="verdict_reversed", target=f"t{at}", severity="soft", explanation="x",
            opened_at=now - timedelta(seconds=at // 3),
        )
        for at in range(count)
    )  # fmt: skip
    return run


class TestTheSheet:
    def test_it_holds_everything_that_the_finding_rests_on(self, host, reader):
        found = violate(host)
        text = reader.get(f"/findings/{found.pk}").text

        assert "must not end a run as a success" in text
        assert "RFC 0090 §B" in text
        assert "An override or a reversal at a lower sequence would withdraw it" in text
        for event_id in ("r-1-e1", "r-1-e2", "r-1-e3"):
            assert f"Payload of {event_id}" in text
        assert len(re.findall(r'data-copy="[0-9a-f]{64}"', text)) == 3
        assert "&quot;gating&quot;: true" in text

    def test_a_finding_of_another_tenant_does_not_exist(self, other_host, reader):
        assert reader.get(f"/findings/{violate(other_host).pk}").status_code == 404

    def test_payloads_are_shown_as_text(self, host, reader):
        found = violate(host)
        hostile = event(4, "run.completed", payload={"x": "<script>alert(1)</script>"})
        send(host, hostile)
        Finding.objects.filter(pk=found.pk).update(evidence=[{"eventId": "r-1-e4"}])

        text = reader.get(f"/findings/{found.pk}").text
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text

    def test_what_was_withdrawn_says_why(self, host, reader):
        found = violate(host)
        Finding.objects.filter(pk=found.pk).update(
            status="withdrawn",
            withdrawn_at=timezone.now(),
            withdrawn_because="The verifier took it back.",
        )
        text = reader.get(f"/findings/{found.pk}").text

        assert "The verifier took it back." in text
        assert "What would change this" not in text

    def test_its_history_is_told_by_the_runs_own_lines(self, host, reader):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        send(host, event(4, "run.completed"))
        found = Finding.objects.get(kind="success_after_fail")
        send(host, event(3))

        history = sheet.content(Finding.objects.select_related("run__host").get(pk=found.pk))
        told = [each["severity"] for each in history["history"]]
        assert told == ["not_provable", "violation"]

    def test_where_an_event_misses_its_schema_stands_on_the_sheet_and_in_the_file(
        self, host, reader
    ):
        send(host, event(0, "run.started"), off_schema(1))
        found = Finding.objects.get(kind="schema_mismatch")
        text = reader.get(f"/findings/{found.pk}").text
        file = reader.get(f"/api/v1/findings/{found.pk}/evidence").json()

        assert '<span class="id">/payload/decision</span>: type' in text
        assert {"pointer": "/payload/decision", "reason": "type"} in file["events"][0]["mismatches"]

    def test_it_claims_no_more_of_the_end_than_the_run_says(self, host, reader):
        found = violate(host)
        run = reader.get("/runs/alpha/r-1").text

        assert "from completing the run, with no word that it gave up, at sequence 3" in (
            found.explanation
        )
        assert "Completed with no word that it gave up." in run


class TestTheMeter:
    def test_commits_without_a_verdict_are_counted_by_host(self, host, reader):
        for run in ("a", "b", "c"):
            send(host, decided(1, run=run), event(2, "run.completed", run=run))
        send(host, decided(1, run="d"), verified(2, "d-e1", "pass", run="d"))
        send(host, event(3, "run.completed", run="d"))
        text = reader.get("/findings").text

        assert "3 of 4" in text
        assert "75.0 %" in text

    def test_the_runs_behind_the_number_are_listed(self, host, other_host, reader):
        send(host, decided(1, run="silent"), event(2, "run.completed", run="silent"))
        send(other_host, decided(1, run="foreign"), event(2, "run.completed", run="foreign"))
        text = reader.get("/findings/unverified?host=alpha").text

        assert "1 of 1 (100.0 %)" in text
        assert "silent-e1" in text
        assert "foreign" not in reader.get("/findings/unverified").text

    def test_a_child_run_that_its_parent_judges_as_a_whole_is_not_without_a_verdict(
        self, host, reader
    ):
        send(host, decided(1, run="child"), event(2, "run.completed", run="child"))
        merged = {"workerId": "w", "parentRunId": "r-1", "childRunId": "child"}
        handed = [
            event(at, "core.workflowChain.event", payload={"phase": phase, **merged})
            for at, phase in ((1, "dispatch.succeeded"), (2, "child.completed"))
        ]
        send(host, event(0, "run.started"), *handed)
        assert "1 of 1 (100.0 %)" in reader.get("/findings/unverified").text
        assert "No verifier turn in this run yet" in reader.get("/runs/alpha/child").text
        send(host, verified(3, "child", "pass"))

        text = reader.get("/findings/unverified").text
        assert ("0 of 1 (0.0 %)" in text, "Every commit had a verdict" in text) == (True, True)
        seen = reader.get("/runs/alpha/child").text
        assert "is judged in its parent" in seen
        assert seen.count('href="/runs/alpha/r-1"') == 2

    def test_another_hosts_verdict_on_a_run_of_the_same_name_says_nothing(
        self, host, other_host, reader
    ):
        send(host, decided(1, run="child"), event(2, "run.completed", run="child"))
        merged = {"workerId": "w", "parentRunId": "r-1", "childRunId": "child"}
        handed = event(
            1, "core.workflowChain.event", payload={"phase": "child.completed", **merged}
        )
        send(other_host, event(0, "run.started"), handed, verified(2, "child", "pass"))

        assert "1 of 1 (100.0 %)" in reader.get("/findings/unverified").text

    def test_the_hosts_own_page_shows_the_number(self, host, client):
        send(host, decided(1), event(2, "run.completed"))
        admin = person("root")
        admin.is_superuser = True
        admin.save()
        client.force_login(admin)
        text = client.get("/settings/hosts/alpha").text

        assert 'href="/findings/unverified?host=alpha">1 of 1 (100.0 %)</a>' in text

    def test_a_late_verdict_that_stands_before_the_end_takes_it_out(self, host, reader):
        send(host, decided(1), event(3, "run.completed"))
        assert Judgement.objects.get().unverified == 1
        send(host, verified(2, "r-1-e1", "pass"))

        assert Judgement.objects.get().unverified == 0

    def test_a_run_that_gave_up_committed_nothing(self, host, reader):
        decision = {"kind": "terminate", "successCriteria": [{"key": "a", "met": False}]}
        gave_up = event(2, "runOrchestrator.decided", payload={"decision": decision})
        send(host, decided(1), gave_up, event(3, "run.completed"))

        assert not Judgement.objects.filter(commits__gt=0).exists()


class TestEvidence:
    @pytest.fixture
    def evidence(self, host):
        caller = Client(headers={"Authorization": f"Bearer {host.key_for_tests}"})
        answer = caller.get(f"/api/v1/findings/{violate(host).pk}/evidence")
        assert answer.headers["Content-Disposition"].startswith("attachment")
        return answer.content

    def test_it_can_be_checked_and_holds_events_hashes_and_what_was_advertised(self, evidence):
        document = check(evidence).document

        assert [each["event"]["eventId"] for each in document["events"]] == [
            "r-1-e1",
            "r-1-e2",
            "r-1-e3",
        ]
        assert all(len(each["sha256"]) == 64 for each in document["events"])
        (snapshot,) = document["capabilities"]
        verifier = snapshot["document"]["multiAgent"]["executionModel"]["verifier"]
        assert verifier == {"supported": True, "gating": True}
        assert document["rule"]["force"] == "MUST"

    @pytest.mark.parametrize("word", ["violation", "fail", "r-1-e2", "true", "alpha"])
    def test_changing_a_word_of_it_is_noticed(self, evidence, word):
        changed = evidence.replace(word.encode(), b"false" if word == "true" else b"other", 1)
        assert changed != evidence

        with pytest.raises(SignatureBroken):
            check(changed)

    def test_the_key_is_made_once_and_the_console_tells_which(self, evidence, host, reader):
        again = reader.get(f"/api/v1/findings/{Finding.objects.first().pk}/evidence").content
        (key,) = reader.get("/api/v1/signing-keys").json()["keys"]

        assert check(again, key["keyId"]).key_id == check(evidence, key["publicKey"]).key_id
        assert SigningKey.objects.count() == 1

    def test_the_private_half_is_kept_sealed(self, evidence):
        held = SigningKey.objects.get()

        assert bytes(held.sealed_private_key).startswith(b"gAAAA")
        assert held.public_key.encode() in evidence

    def test_a_key_from_the_settings_is_used_instead(self, host, settings, reader):
        settings.SIGNING_KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        raw = reader.get(f"/api/v1/findings/{violate(host).pk}/evidence").content

        assert check(raw).key_id == "56475aa75463474c"
        assert not SigningKey.objects.exists()

    def test_evidence_of_another_tenant_does_not_exist(self, other_host, reader):
        found = violate(other_host)

        assert reader.get(f"/api/v1/findings/{found.pk}/evidence").status_code == 404

    def test_numbers_that_canonical_json_cannot_write_do_not_spoil_it(self, host, reader):
        found = violate(host)
        send(host, event(4, payload={"n": 2**60}))
        CapabilitySnapshot.objects.update(document={"big": 2**70})
        Finding.objects.filter(pk=found.pk).update(evidence=[{"eventId": "r-1-e4"}])
        document = check(reader.get(f"/api/v1/findings/{found.pk}/evidence").content).document

        assert document["events"][0]["event"]["payload"]["reason"] == "not_canonical"
        assert document["capabilities"][0]["document"]["reason"] == "not_canonical"


class TestLive:
    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("address", ["/ws/findings/", "/ws/findings/{pk}/"])
    async def test_a_bell_brings_what_changed(self, host, ada, address):
        badge = 'data-shape="solid"'  # only a violation looks like this
        pk = await elsewhere(unproved)(host)
        socket = await opened(application, address.format(pk=pk), ada)
        await socket.say(json.dumps({"query": ""}))
        assert "Not provable" in await socket.hears()

        await elsewhere(send)(host, event(3))
        while badge not in (news := await socket.hears()):
            assert not news.startswith("closed")
        await socket.close()

        assert "Not provable</span></span></td>" not in news

    @pytest.mark.django_db(transaction=True)
    async def test_a_strangers_socket_is_closed(self, other_host, ada):
        found = await elsewhere(violate)(other_host)
        socket = await opened(application, f"/ws/findings/{found.pk}/", ada)

        assert await socket.hears() == "closed 4404"


def elsewhere(do):
    """Do it in a thread that gives its connection back, as a request would."""
    return database_sync_to_async(do, thread_sensitive=False)


def unproved(host):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    send(host, event(4, "run.completed"))
    return Finding.objects.get(kind="success_after_fail").pk
