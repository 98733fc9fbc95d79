"""The audit chain: what a change to it shows as, who may read it, what erasing leaves behind."""

import json
import os
import random
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from runs.actions.people import grant
from runs.models import Role, Workspace
from tests.deciding import decide, pause
from tests.factories import decided, event, person, run_of, send, verified
from verification.actions import escalations
from verification.actions.audit import record
from verification.actions.checkpoints import sign, sign_due
from verification.actions.retention import erase_expired
from verification.domain.decisions import Action, Decision
from verification.models import AuditEntry, Checkpoint, Content, Escalation
from verification.queries.audit import entries_of_run, export, verify

pytestmark = pytest.mark.django_db

COUNT = int(os.environ.get("DRILL_ENTRIES", "40"))
TAMPERS = int(os.environ.get("DRILL_TAMPERS", "40"))
SEED = int(os.environ.get("DRILL_SEED", "20261130"))
TEXTS = ("actor", "action", "subject", "prev_hash", "hash")


@pytest.fixture
def chain(host) -> Workspace:
    """So many entries, with a checkpoint over the first thirty and one over all."""
    for number in range(1, COUNT + 1):
        record(
            workspace=host.workspace_id,
            actor=f"person:{number % 7}",
            action="escalation.claimed",
            subject=f"escalation:{number}",
            detail={"version": number},
        )
        if number in (30, COUNT):
            sign(workspace=host.workspace)
    return host.workspace


def execute(sql: str, *values) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def is_whole(workspace, **more) -> bool:
    result = verify(workspace, **more)
    return result["chainValid"] and result["checkpointsValid"]


def test_an_untouched_chain_holds(chain):
    result = verify(chain)

    assert (result["fromSeq"], result["toSeq"]) == (1, COUNT)
    assert (result["chainValid"], result["checkpointsValid"]) == (True, True)
    assert [each["seq"] for each in result["checkpoints"]] == [30, COUNT]
    assert result["anomalies"] == []


def change_of(dice: random.Random, text: str) -> str:
    """Return a text with one character changed."""
    at = dice.randrange(len(text))
    other = dice.choice([c for c in "0123456789abcdef:." if c != text[at]])
    return text[:at] + other + text[at + 1 :]


def flip(dice: random.Random, chain) -> int:
    """Change one byte of one entry; return its number."""
    entry = AuditEntry.objects.get(workspace=chain, seq=dice.randint(1, COUNT))
    name = dice.choice([*TEXTS, "detail", "at"])
    value = getattr(entry, name)
    if name == "detail":
        value = {change_of(dice, "version"): entry.seq} if dice.random() < 0.5 else {"version": -1}
    elif name == "at":
        value += timedelta(microseconds=dice.choice([-1, 1, 1000]))
    else:
        value = change_of(dice, value)
    AuditEntry.objects.filter(pk=entry.pk).update(**{name: value})
    return int(entry.seq)


def delete(dice: random.Random, chain) -> int:
    seq = dice.randint(1, COUNT - 1)
    AuditEntry.objects.filter(workspace=chain, seq=seq).delete()
    return seq


def swap(dice: random.Random, chain) -> int:
    one, other = sorted(dice.sample(range(1, COUNT + 1), 2))
    for seq, becomes in ((one, COUNT + 9), (other, one), (COUNT + 9, other)):
        AuditEntry.objects.filter(workspace=chain, seq=seq).update(seq=becomes)
    return one


def truncate(dice: random.Random, chain) -> int:
    seq = dice.randint(1, COUNT)
    AuditEntry.objects.filter(workspace=chain, seq__gte=seq).delete()
    if dice.random() < 0.5:  # with the checkpoints over them: only one kept elsewhere tells
        Checkpoint.objects.filter(seq__gte=seq).delete()
    return seq


def rewrite(dice: random.Random, chain) -> int:
    seq = dice.randint(1, COUNT)
    rewrite_from(chain, seq)
    if dice.random() < 0.5:
        Checkpoint.objects.filter(seq__gte=seq).delete()
    return seq


def forge(dice: random.Random, chain) -> int:
    """Change one byte of a checkpoint, by somebody who has not its key."""
    checkpoint = dice.choice(list(Checkpoint.objects.filter(workspace=chain)))
    checkpoint.document["hash"] = change_of(dice, checkpoint.document["hash"])
    checkpoint.save()
    return int(checkpoint.seq)


@pytest.mark.parametrize("tamper", [flip, delete, swap, truncate, rewrite, forge])
def test_every_kind_of_tampering_is_found_wherever_it_is(chain, tamper):
    """`DRILL_TAMPERS` says how often each is done at random, `DRILL_ENTRIES` on how long a chain;
    by hand `DRILL_TAMPERS=1000 DRILL_ENTRIES=200` with `--timeout 0`."""
    dice = random.Random(SEED)
    kept = [json.loads(line) for line in export(chain)]
    outside = [each["checkpoint"] for each in kept if "checkpoint" in each]
    for _ in range(TAMPERS):
        with transaction.atomic():
            seq = tamper(dice, chain)
            result = verify(chain, kept_elsewhere=outside)
            assert not (result["chainValid"] and result["checkpointsValid"]), seq
            if tamper in (flip, delete, swap):
                assert not result["chainValid"], seq
                assert min(each["seq"] for each in result["anomalies"]) in (seq, seq + 1)
            transaction.set_rollback(True)
    assert is_whole(chain, kept_elsewhere=outside)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE verification_auditentry SET at = at + interval '1 microsecond' WHERE seq = 9",
        "UPDATE verification_auditentry SET detail = '{\"version\": 99}' WHERE seq = 9",
        "UPDATE verification_auditentry SET detail = detail || '{\"more\": 1}' WHERE seq = 9",
        "DELETE FROM verification_auditentry WHERE seq = 9",
        "DELETE FROM verification_auditentry WHERE seq = 1",
        "UPDATE verification_auditentry SET seq = CASE seq WHEN 9 THEN 1010 ELSE seq END",
    ],
)
def test_a_change_in_the_middle_is_found(chain, change):
    execute(change)

    assert not verify(chain)["chainValid"]


def test_two_entries_that_change_places_are_found(chain):
    execute("UPDATE verification_auditentry SET seq = 1009 WHERE seq = 9")
    execute("UPDATE verification_auditentry SET seq = 9 WHERE seq = 10")
    execute("UPDATE verification_auditentry SET seq = 10 WHERE seq = 1009")

    assert not verify(chain)["chainValid"]


def rewrite_from(chain, seq: int) -> None:
    """Write the end of the chain anew, as somebody with the database and the code can."""
    kept = list(AuditEntry.objects.filter(workspace=chain, seq__gte=seq).order_by("seq"))
    AuditEntry.objects.filter(workspace=chain, seq__gte=seq).delete()
    for entry in kept:
        record(
            workspace=chain.pk,
            actor="person:666",
            action=entry.action,
            subject=entry.subject,
            detail=entry.detail,
            now=entry.at,
        )


def test_a_chain_written_anew_does_not_fit_its_checkpoints(chain):
    rewrite_from(chain, 25)

    result = verify(chain)
    assert result["chainValid"]
    assert not result["checkpointsValid"]
    assert result["anomalies"][0] == {"seq": 30, "kind": "checkpoint_mismatch"}


def test_a_cut_end_is_missed_by_the_checkpoint_over_it(chain):
    AuditEntry.objects.filter(workspace=chain, seq__gt=35).delete()

    result = verify(chain)
    assert result["chainValid"]
    assert {"seq": COUNT, "kind": "truncated"} in result["anomalies"]


def test_cut_with_its_checkpoints_it_is_missed_only_by_one_kept_elsewhere(chain):
    kept = [json.loads(line) for line in export(chain)]
    outside = [each["checkpoint"] for each in kept if "checkpoint" in each]
    AuditEntry.objects.filter(workspace=chain, seq__gt=35).delete()
    Checkpoint.objects.filter(seq__gt=35).delete()

    assert is_whole(chain)
    assert not is_whole(chain, kept_elsewhere=outside)


def test_a_checkpoint_that_was_written_by_somebody_else_does_not_count(chain):
    checkpoint = Checkpoint.objects.get(seq=COUNT)
    checkpoint.document["hash"] = "0" * 64
    checkpoint.save()

    assert {"seq": COUNT, "kind": "signature"} in verify(chain)["anomalies"]


def test_a_stretch_is_checked_from_the_hash_before_it(chain):
    assert is_whole(chain, from_seq=10, to_seq=20)
    execute("UPDATE verification_auditentry SET actor = 'person:9' WHERE seq = 15")
    assert not is_whole(chain, from_seq=10, to_seq=20)
    assert verify(chain, from_seq=16, to_seq=20)["chainValid"]


def test_an_export_holds_every_entry_as_it_is_hashed(chain):
    import hashlib

    import rfc8785

    lines = [json.loads(line) for line in export(chain)]
    entries = [line for line in lines if "seq" in line]
    assert len(entries) == COUNT
    for entry in entries:
        body = {key: value for key, value in entry.items() if key != "hash"}
        assert hashlib.sha256(rfc8785.dumps(body)).hexdigest() == entry["hash"]


class TestCheckpoints:
    def test_are_signed_after_a_minute(self, host):
        now = timezone.now()
        record(workspace=host.workspace_id, actor="person:1", action="a", subject="b", now=now)
        sign_due(now + timedelta(seconds=59))
        assert not Checkpoint.objects.exists()

        sign_due(now + timedelta(seconds=60))
        sign_due(now + timedelta(seconds=90))
        assert Checkpoint.objects.count() == 1

    def test_are_signed_at_once_when_there_is_much(self, host, settings):
        settings.CHECKPOINT_ENTRIES = 3
        for _ in range(3):
            record(workspace=host.workspace_id, actor="person:1", action="a", subject="b")
        sign_due(timezone.now())

        assert Checkpoint.objects.get().seq == 3


class TestErasing:
    @pytest.fixture
    def decided_one(self, host, ada):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        return decide(ada, Decision(Action.SEND_BACK, feedback="CANARY-3 cite it"))

    def test_takes_the_words_and_leaves_the_proof(self, host, decided_one):
        later = timezone.now() + timedelta(days=91)
        digests = set(Content.objects.values_list("sha256", flat=True))

        assert erase_expired(later) == len(digests) > 0
        assert all(bytes(body) == b"" for body in Content.objects.values_list("body", flat=True))
        assert set(Content.objects.values_list("sha256", flat=True)) == digests
        assert is_whole(host.workspace)
        entry = AuditEntry.objects.order_by("seq").last()
        assert (entry.actor, entry.action) == ("system:retention", "content.erased")

    def test_keeps_what_still_has_to_reach_a_host(self, host, ada):
        pause(host, "accept")
        decide(ada, Decision(Action.ACCEPT))

        assert erase_expired(timezone.now() + timedelta(days=91)) == 0

    def test_takes_nothing_before_its_time(self, decided_one):
        assert erase_expired(timezone.now()) == 0


class TestWhoReads:
    @pytest.fixture
    def auditor(self, host):
        user = person("audrey")
        grant(user=user, workspace=host.workspace, role=Role.AUDITOR)
        return user

    def get(self, user, path):
        client = Client()
        client.force_login(user)
        return client.get(path)

    def test_an_auditor_reads_the_chain_and_whether_it_holds(self, chain, auditor):
        page = self.get(auditor, "/audit?verify=1").content.decode()
        assert "The chain holds." in page
        assert "cannot show" in page

        document = self.get(auditor, "/api/v1/audit/verify?fromSeq=5&toSeq=9").json()
        assert {"fromSeq", "toSeq", "chainValid", "checkpoints", "anomalies"} <= set(document)
        assert (document["fromSeq"], document["toSeq"]) == (5, 9)
        assert len(self.get(auditor, "/api/v1/audit").json()["entries"]) == COUNT

    def test_the_page_names_the_first_bad_entry(self, chain, auditor):
        execute("UPDATE verification_auditentry SET actor = 'person:9' WHERE seq = 15")

        page = self.get(auditor, "/audit?verify=1").content.decode()
        assert "The first bad entry is 15" in page

    def test_a_reviewer_reads_no_chain(self, chain, ada):
        assert self.get(ada, "/audit").status_code == 403
        assert self.get(ada, "/api/v1/audit").status_code == 403
        assert self.get(ada, "/audit/export").status_code == 403

    def test_nobody_reads_another_tenants(self, chain, other_host):
        mallory = person("mallory")
        grant(user=mallory, workspace=other_host.workspace, role=Role.ADMIN)

        assert self.get(mallory, "/api/v1/audit").json()["entries"] == []
        assert self.get(mallory, "/api/v1/audit?workspace=acme").status_code == 404

    def test_whoever_sees_a_run_sees_what_people_did_about_it(self, host, ada, cy, other_host):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        escalations.claim(escalation=Escalation.objects.get().pk, by=ada)
        record(workspace=host.workspace_id, actor="person:1", action="key.made", subject="key:1")

        assert [each.action for each in entries_of_run(run_of(host))] == ["escalation.claimed"]
        page = self.get(cy, "/runs/alpha/r-1/audit")
        assert "escalation.claimed" in page.content.decode()
        mallory = person("mallory")
        grant(user=mallory, workspace=other_host.workspace, role=Role.ADMIN)
        assert self.get(mallory, "/runs/alpha/r-1/audit").status_code == 404
