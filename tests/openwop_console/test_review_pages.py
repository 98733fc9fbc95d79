"""The pages around reviewing: who opens them, what they keep, what they refuse, what they say."""

import json
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from runs.actions.hosts import connect_host
from runs.actions.people import grant
from runs.models import Role, Run
from tests.deciding import decide, pause
from tests.factories import decided, event, person, send, verified
from tests.local_servers import http, serving
from tests.statements import statements
from verification import bells, sweeping
from verification.actions import bulk, escalations, notifying
from verification.actions.retention import forget_old
from verification.domain.decisions import Action, Decision
from verification.domain.many import Many
from verification.models import (
    AuditEntry,
    Batch,
    Delivery,
    Draft,
    Escalation,
    Notification,
    PersonalToken,
    Queue,
    Wish,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(host):
    user = person("root")
    grant(user=user, workspace=host.workspace, role=Role.ADMIN)
    return user


def as_(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def failed(host, run="r-1") -> Escalation:
    send(
        host,
        event(0, "run.started", run=run),
        decided(1, run=run),
        verified(2, f"{run}-e1", "fail", run=run),
    )
    return Escalation.objects.get(run__run_id=run)


class TestTheReviewPage:
    def test_what_was_typed_outlives_a_lost_claim(self, host, ada):
        found = failed(host)
        client = as_(ada)
        typed = {"action": "override", "reason": "CANARY-2 half a thought"}
        escalations.claim(escalation=found.pk, by=ada)

        assert client.post(f"/queue/{found.pk}/draft", typed).status_code == 204
        escalations.release(escalation=found.pk, by=ada)
        page = client.get(f"/queue/{found.pk}").content.decode()
        assert "CANARY-2 half a thought" in page
        assert "CANARY" not in as_(person("x")).get("/login").content.decode()

    def test_a_form_that_is_frozen_empties_no_draft(self, host, ada):
        found = failed(host)
        client = as_(ada)
        client.post(f"/queue/{found.pk}/draft", {"reason": "half a thought"})
        client.post(f"/queue/{found.pk}/draft", {"seen": "1:2:3"})
        assert "half a thought" in client.get(f"/queue/{found.pk}").content.decode()

        client.post(f"/queue/{found.pk}/draft", {"reason": ""})
        assert "half a thought" not in client.get(f"/queue/{found.pk}").content.decode()

    def test_nobody_reads_another_persons_draft(self, host, ada, ben):
        found = failed(host)
        as_(ada).post(f"/queue/{found.pk}/draft", {"reason": "CANARY-8"})

        assert "CANARY-8" not in as_(ben).get(f"/queue/{found.pk}").content.decode()

    def test_a_decision_leaves_no_draft(self, host, ada):
        found = failed(host)
        client = as_(ada)
        client.post(f"/queue/{found.pk}/draft", {"reason": "so so"})
        taken = escalations.claim(escalation=found.pk, by=ada)
        escalations.resolve(
            escalation=found.pk,
            by=ada,
            decision=Decision(Action.UPHOLD),
            seen=escalations.view_of(taken),
        )

        assert not Draft.objects.exists()

    def test_a_stale_decision_is_refused_with_what_changed(self, host, ada):
        found = failed(host)
        client = as_(ada)
        escalations.claim(escalation=found.pk, by=ada)
        page = client.get(f"/queue/{found.pk}").content.decode()
        seen = page.split('name="seen" value="')[1].split('"')[0]
        send(host, verified(3, "r-1-e1", "fail", critic="critic-2"))

        posted = {"seen": seen, "action": "override", "reason": "I say so"}
        answer = client.post(f"/queue/{found.pk}/resolve", posted)
        assert answer.status_code == 409
        assert "New: fail by critic-2" in answer.content.decode()
        assert "I say so" in answer.content.decode()
        assert "I say so" in client.get(f"/queue/{found.pk}").content.decode()

    def test_undo_is_offered_to_the_one_who_decided_and_takes_it_back(self, host, ada, ben):
        found = failed(host)
        taken = escalations.claim(escalation=found.pk, by=ada)
        escalations.resolve(
            escalation=found.pk,
            by=ada,
            decision=Decision(Action.UPHOLD),
            seen=escalations.view_of(taken),
        )

        assert f"/queue/{found.pk}/undo" not in as_(ben).get(f"/queue/{found.pk}").content.decode()
        assert f"/queue/{found.pk}/undo" in as_(ada).get(f"/queue/{found.pk}").content.decode()
        as_(ada).post(f"/queue/{found.pk}/undo")
        found.refresh_from_db()
        assert found.state == "claimed"

    def test_a_heartbeat_draws_the_claim_as_it_stands(self, host, ada, ben):
        found = failed(host)
        escalations.claim(escalation=found.pk, by=ada)

        assert "Yours for" in as_(ada).post(f"/queue/{found.pk}/beat").content.decode()
        lost = as_(ben).post(f"/queue/{found.pk}/beat").content.decode()
        assert "<b>ada</b> holds this" in lost

    def test_earlier_decisions_about_the_same_agent_are_evidence(self, host, ada):
        first = failed(host)
        taken = escalations.claim(escalation=first.pk, by=ada)
        escalations.resolve(
            escalation=first.pk,
            by=ada,
            decision=Decision(Action.UPHOLD),
            seen=escalations.view_of(taken),
        )
        second = failed(host, run="r-2")

        page = as_(ada).get(f"/queue/{second.pk}").content.decode()
        assert f'href="/queue/{first.pk}"' in page
        assert "same agent" in page

    def test_a_refusal_that_is_reloaded_shows_the_matter_again(self, host, ada):
        found = failed(host)
        escalations.claim(escalation=found.pk, by=ada)
        client = as_(ada)
        refused = client.post(f"/queue/{found.pk}/resolve", {"action": "fly"})
        assert refused.status_code == 422

        for move in ("resolve", "claim", "release", "undo"):
            answer = client.get(f"/queue/{found.pk}/{move}")
            assert (answer.status_code, answer["Location"]) == (302, f"/queue/{found.pk}")
        found.refresh_from_db()
        assert found.state == "claimed"
        assert client.get(f"/queue/{found.pk}/fly").status_code == 404
        assert client.get("/queue/next")["Location"] == "/queue"

    def test_what_is_pressed_twice_is_said_once_and_is_no_mistake(self, host, ada, ben):
        found = failed(host)
        escalations.claim(escalation=found.pk, by=ada)
        client = as_(ada)
        page = client.get(f"/queue/{found.pk}").content.decode()
        seen = page.split('name="seen" value="')[1].split('"')[0]
        posted = {"seen": seen, "action": "override", "reason": "Checked by hand."}

        client.post(f"/queue/{found.pk}/resolve", posted)
        again = client.post(f"/queue/{found.pk}/resolve", posted, follow=True)
        assert [str(each) for each in again.context["messages"]] == [
            "Decided. What becomes of it shows below."
        ]
        other = client.post(f"/queue/{found.pk}/resolve", {**posted, "action": "uphold"})
        theirs = as_(ben).post(f"/queue/{found.pk}/resolve", posted, follow=True)
        assert other.status_code == 302
        assert "already decided by ada" in str(next(iter(theirs.context["messages"])))

    def decide(self, client, found, **more):
        """Claim and decide as the form does, and return what the next page says."""
        client.post(f"/queue/{found.pk}/claim")
        page = client.get(f"/queue/{found.pk}").content.decode()
        seen = page.split('name="seen" value="')[1].split('"')[0]
        posted = {"seen": seen, "action": "send_back", "feedback": "Shorter.", **more}
        return client.post(f"/queue/{found.pk}/resolve", posted, follow=True)

    def test_on_the_next_page_it_is_said_which_one_was_decided_with_a_way_back(self, host, ada):
        found, following = failed(host), failed(host, run="r-2")
        client = as_(ada)
        answer = self.decide(client, found, then="next")

        assert answer.redirect_chain[-1][0] == f"/queue/{following.pk}"
        said = str(next(iter(answer.context["messages"])))
        assert said.startswith("Sent back: ")
        assert f'<a href="/queue/{found.pk}">See it</a>' in said
        assert f'formaction="/queue/{found.pk}/undo"' in said
        assert 'id="move"' in answer.content.decode()
        undone = client.post(f"/queue/{found.pk}/undo", follow=True)
        assert undone.redirect_chain[-1][0] == f"/queue/{found.pk}"
        assert "Yours for" in undone.content.decode()

    def test_what_cannot_be_taken_back_offers_no_undo_on_the_next_page(self, host, ada, settings):
        settings.UNDO_S = 0
        answer = self.decide(as_(ada), failed(host), then="stay")
        assert "/undo" not in answer.content.decode()

        found, _ = failed(host, run="r-2"), failed(host, run="r-3")
        said = str(next(iter(self.decide(as_(ada), found, then="next").context["messages"])))
        assert "See it" in said
        assert "/undo" not in said

    def test_a_note_that_leaves_it_open_says_on_the_next_page_which_one_it_was(self, host, ada):
        found, _ = failed(host), failed(host, run="r-2")
        passed_on = {"action": "cannot_decide", "reason": "Not my field.", "then": "next"}
        answer = self.decide(as_(ada), found, **passed_on)

        said = str(next(iter(answer.context["messages"])))
        assert "Somebody still has to decide." in said
        assert f'href="/queue/{found.pk}"' in said
        assert "/undo" not in said

    def test_a_name_in_what_is_said_is_text(self, host, ada):
        found, _ = failed(host), failed(host, run="r-2")
        Run.objects.filter(pk=found.run_id).update(workflow_id="<img src=x>")
        page = self.decide(as_(ada), found, then="next").content.decode()

        assert "&lt;img src=x&gt;</bdi>" in page
        assert "<img src=x>" not in page

    def asked(self, host) -> Escalation:
        questions = [{"id": "arrival", "question": "By when must you be in Lisbon?"}]
        asked = {"kind": "clarification", "interruptId": "i-1", "questions": questions}
        pause = event(1, "node.suspended", nodeId="ask-traveller", payload=asked)
        send(host, event(0, "run.started"), pause)
        return Escalation.objects.get()

    def test_a_question_to_a_person_is_shown_before_anybody_claims_it(self, host, ada):
        page = as_(ada).get(f"/queue/{self.asked(host).pk}").content.decode()

        what_is_asked = page.split('id="asked-title"')[1].split("</section>")[0]
        assert "By when must you be in Lisbon?" in what_is_asked

    def test_usual_reasons_are_those_of_the_actions_that_are_offered(self, host, ada):
        asked = as_(ada).get(f"/queue/{self.asked(host).pk}").content.decode()
        judged = as_(ada).get(f"/queue/{failed(host, run='r-2').pk}").content.decode()

        assert "The verdict is right." in judged
        assert "The verdict is right." not in asked
        assert "Letting it through" not in asked
        assert "Somebody closer to the matter should decide." in asked

    def test_a_usual_reason_of_another_action_is_not_taken_for_one(self, host, ada):
        found = failed(host)
        unfit = {"action": "override", "reason_template": "The verdict is right."}
        page = self.decide(as_(ada), found, **unfit).content.decode()

        assert "Choose a reason that fits the action" in page
        found.refresh_from_db()
        assert found.state == "claimed"

    @pytest.mark.parametrize(
        ("posted", "field", "sentence"),
        [
            ({"feedback": " "}, "feedback", "This action needs feedback."),
            ({"action": "override"}, "reason", "This action needs a reason."),
        ],
    )
    def test_what_is_missing_is_said_at_its_field_which_has_the_focus(
        self, host, ada, posted, field, sentence
    ):
        answer = self.decide(as_(ada), failed(host), **posted)
        page = answer.content.decode()

        assert answer.status_code == 422
        assert page.count(sentence) == 1
        assert f'<p class="error" id="{field}-error">{sentence}</p>' in page
        control = page.split(f'<textarea class="input" id="{field}"')[1].split(">")[0]
        assert f'aria-invalid="true" aria-describedby="{field}-error" autofocus' in control
        assert page.count("autofocus") == 1

    def test_an_answer_that_is_missing_is_said_at_its_question(self, host, ada):
        answer = self.decide(as_(ada), self.asked(host), action="answer", feedback="")
        page = answer.content.decode()

        assert answer.status_code == 422
        control = page.split('name="answer.arrival"')[1].split(">")[0]
        assert 'aria-invalid="true" autofocus' in control
        assert 'id="field-1-error">This is needed.</p>' in page

    def test_a_lead_hands_it_over_from_the_page_and_others_cannot(self, host, root, ada, ben, cy):
        found = failed(host)
        assert "Hand over" not in as_(ada).get(f"/queue/{found.pk}").content.decode()
        assert "Hand over" in as_(root).get(f"/queue/{found.pk}").content.decode()

        as_(ada).post(f"/queue/{found.pk}/reassign", {"to": "ben"})
        as_(root).post(f"/queue/{found.pk}/reassign", {"to": "cy"})
        found.refresh_from_db()
        assert found.claimed_by is None
        as_(root).post(f"/queue/{found.pk}/reassign", {"to": "ben"})
        found.refresh_from_db()
        assert found.claimed_by == ben

    def test_without_earlier_decisions_there_is_no_heading_over_nothing(self, host, ada):
        found = failed(host)

        page = as_(ada).get(f"/queue/{found.pk}").content.decode()
        assert "Decided before" not in page
        assert "Nobody has decided about this agent" in page

    def test_a_note_is_internal_and_shown_as_text(self, host, ada, cy):
        found = failed(host)
        as_(ada).post(f"/queue/{found.pk}/comment", {"text": "<script>alert(1)</script>"})

        page = as_(cy).get(f"/queue/{found.pk}").content.decode()
        assert "&lt;script&gt;alert(1)" in page


class TestContent:
    @pytest.fixture
    def with_artifact(self, host) -> Escalation:
        found = failed(host)
        send(host, event(3, "artifact.created", payload={"artifactId": "draft-1"}))
        return found

    def test_is_fetched_for_one_reader_put_on_record_and_kept_nowhere(
        self, host, with_artifact, ada
    ):
        body = json.dumps({"text": "CANARY-44 <b>bold</b>"}).encode()
        with serving(http(body=body)) as server:
            connect_host(host_id=host.slug, base_url=server.url, api_key="k")
            answer = as_(ada).get(f"/queue/{with_artifact.pk}/content?artifact=draft-1")
            assert b"GET /v1/runs/r-1/artifacts/draft-1 " in server.requests[0]

        assert "CANARY-44 &lt;b&gt;" in answer.content.decode()
        assert "no-store" in answer["Cache-Control"]
        entry = AuditEntry.objects.get(action="content.viewed")
        assert entry.detail == {"artifact": "draft-1"}
        from verification.models import Content

        kept = [bytes(each.body) for each in Content.objects.all()]
        assert not any(b"CANARY" in each for each in kept)

    def test_a_look_that_fails_is_on_record_too(self, host, with_artifact, ada):
        with serving(http("503 Down")) as server:
            connect_host(host_id=host.slug, base_url=server.url, api_key="k")
            answer = as_(ada).get(f"/queue/{with_artifact.pk}/content?artifact=draft-1")

        assert answer.status_code == 502
        assert AuditEntry.objects.filter(action="content.viewed").count() == 1

    def test_a_viewer_reads_none(self, with_artifact, cy):
        path = f"/queue/{with_artifact.pk}/content?artifact=draft-1"
        assert as_(cy).get(path).status_code == 403
        assert not AuditEntry.objects.exists()

    def test_an_artifact_that_the_run_does_not_name_is_not_asked_for(self, with_artifact, ada):
        path = f"/queue/{with_artifact.pk}/content?artifact=..%2f..%2fsecrets"
        assert as_(ada).get(path).status_code == 404

    def test_a_link_leads_to_the_hosts_own_view(self, with_artifact, ada, settings):
        settings.CONTENT_LINK = "https://host.example/{runId}/{artifactId}"
        answer = as_(ada).get(f"/queue/{with_artifact.pk}/content?artifact=draft-1")

        assert answer["Location"] == "https://host.example/r-1/draft-1"
        assert AuditEntry.objects.filter(action="content.viewed").exists()


class TestManyAtOnce:
    def chosen(self, user, **posted):
        """Choose, and return the address of what was chosen; none when nothing was taken."""
        answer = as_(user).post("/queue/many", posted)
        where = answer["Location"]
        return where if where.startswith("/queue/many/") else ""

    def begin(self, user, where: str, **posted):
        """Say so, let workers come, and return the page."""
        as_(user).post(f"{where}/begin", posted)
        bulk.work(batch=int(where.rpartition("/")[2]))
        return as_(user).get(where).content.decode()

    def test_all_that_match_are_closed_and_each_is_answered_for(self, host, root, ada):
        found = [failed(host, run=f"r-{n}") for n in range(3)]
        escalations.claim(escalation=found[0].pk, by=ada)
        where = self.chosen(root, do="close", all="on", query="tab=unclaimed&reason=fail")

        assert "2 chosen" in as_(root).get(where).content.decode()
        assert Escalation.objects.waiting().count() == 3
        done = self.begin(root, where)
        assert "2 of 2 closed" in done
        assert [each.pk for each in Escalation.objects.waiting()] == [found[0].pk]

    def test_each_line_says_which_matter_it_is(self, host, root):
        for run in ("r-1", "r-2"):
            failed(host, run=run)
        where = self.chosen(root, do="close", all="on", query="tab=unclaimed")

        lines = as_(root).get(where).content.decode().split("<tbody>")[1].split("</tr>")[:2]
        for run, line in zip(("r-1", "r-2"), lines, strict=True):
            assert f'href="/runs/{host.slug}/{run}"' in line
            assert f"{run}-e1" in line
            assert host.slug in line.split("</a>")[-1]

    def test_what_nobody_holds_is_skipped_with_the_reason(self, host, root):
        where = self.chosen(root, do="release", id=[str(failed(host).pk)])

        assert "would be skipped: Nobody holds it." in as_(root).get(where).content.decode()
        page = self.begin(root, where)
        assert "0 of 1 released" in page
        assert "skipped: Nobody holds it; claim it first." in page

    def test_exactly_what_was_looked_at_is_done(self, host, root):
        failed(host)
        where = self.chosen(root, do="close", all="on", query="tab=unclaimed")
        later = failed(host, run="r-2")

        assert "1 of 1 closed" in self.begin(root, where)
        later.refresh_from_db()
        assert later.state == "open"

    def test_they_are_handed_to_somebody_who_may_decide(self, host, root, ada, cy):
        found = failed(host)
        where = self.chosen(root, do="assign", id=[str(found.pk)])
        for nobody in ("", "cy", "stranger"):
            self.begin(root, where, to=nobody)
        found.refresh_from_db()
        assert found.state == "open"

        assert "1 of 1 handed over" in self.begin(root, where, to="ada")
        found.refresh_from_db()
        assert found.claimed_by == ada

    def test_how_far_it_is_shows_while_it_goes_on(self, host, root, monkeypatch):
        for n in range(3):
            failed(host, run=f"r-{n}")
        where = self.chosen(root, do="close", all="on", query="tab=unclaimed")
        monkeypatch.setattr(bulk, "AT_ONCE", 2)

        page = self.begin(root, where)
        assert 'max="3" value="2"' in page
        assert page.count("waits</span>") == 1
        assert "3 of 3 closed" in self.begin(root, where)

    def test_a_worker_that_was_lost_is_rung_for_again(self, host, root, monkeypatch):
        rung = []
        monkeypatch.setattr(bells, "ring", lambda *said: rung.append(said))
        where = self.chosen(root, do="close", id=[str(failed(host).pk)])
        pk = int(where.rpartition("/")[2])
        sweeping.ring_for_batches(timezone.now() + timedelta(hours=1))
        as_(root).post(f"{where}/begin")
        rung.clear()

        sweeping.ring_for_batches(timezone.now())
        assert rung == []
        sweeping.ring_for_batches(timezone.now() + timedelta(minutes=1))
        assert rung == [(bells.MOVE_MANY, pk)]
        bulk.work(batch=pk)
        sweeping.ring_for_batches(timezone.now() + timedelta(minutes=2))
        assert len(rung) == 1

    def test_what_another_worker_is_at_is_left_to_it(self, host, root, monkeypatch):
        where = self.chosen(root, do="close", id=[str(failed(host).pk)])
        as_(root).post(f"{where}/begin")
        rung = []
        monkeypatch.setattr(bells, "ring", lambda *said: rung.append(said))
        monkeypatch.setattr(bulk, "_move_next", lambda batch: False)  # its row is locked

        bulk.work(batch=int(where.rpartition("/")[2]))
        assert rung == []
        assert Batch.objects.get().ended_at is None

    def test_begun_twice_it_is_done_once(self, host, root):
        found = failed(host)
        where = self.chosen(root, do="close", id=[str(found.pk)])
        for _ in range(2):
            assert "1 of 1 closed" in self.begin(root, where)

        closed = AuditEntry.objects.filter(action="escalation.closed")
        assert closed.count() == 1

    def test_nothing_is_ever_decided_for_many(self, host, root):
        found = failed(host)
        for word in ("override", "uphold", "resolve", "accept"):
            assert not self.chosen(root, do=word, id=[str(found.pk)])

        assert {many.value for many in Many} == {"assign", "release", "close"}
        found.refresh_from_db()
        assert found.state == "open"

    def test_a_reviewer_closes_none(self, host, ada):
        assert not self.chosen(ada, do="close", id=[str(failed(host).pk)])

    def test_another_tenants_are_not_touched(self, host, other_host, root):
        assert not self.chosen(root, do="close", id=[str(failed(other_host, run="r-9").pk)])

    def test_nobody_sees_or_begins_what_another_chose(self, host, root, ada):
        found = failed(host)
        where = self.chosen(root, do="close", id=[str(found.pk)])

        assert as_(ada).get(where).status_code == 404
        assert as_(ada).post(f"{where}/begin").status_code == 404
        assert as_(root).get("/queue/many")["Location"] == "/queue"

    def test_old_batches_and_those_that_nobody_began_are_forgotten(self, host, root):
        where = self.chosen(root, do="close", id=[str(failed(host).pk)])
        self.begin(root, where)
        self.chosen(root, do="release", id=[str(failed(host, run="r-2").pk)])

        forget_old(timezone.now() + timedelta(days=2))
        assert [each.do for each in Batch.objects.all()] == ["close"]
        forget_old(timezone.now() + timedelta(days=91))
        assert not Batch.objects.exists()


FORM = {
    "name": "Fails", "rank": 5, "reasons": ["fail"], "workflows": "", "agents": "",
    "least_risk": "low", "required_reviews": 2, "on_timeout": "escalate",
    "sample_percent": 0, "bars_conflicts": "on",
}  # fmt: skip


class TestQueueSettings:
    def test_a_default_queue_is_there_from_the_start(self, root):
        assert "Default" in as_(root).get("/settings/queues").content.decode()

    def test_an_admin_makes_a_queue_and_it_counts_from_then_on(self, host, root):
        assert as_(root).post("/settings/queues/new", FORM).status_code == 302

        queue = Queue.objects.get(slug="fails")
        assert (queue.required_reviews, queue.reasons) == (2, ["fail"])
        assert failed(host).queue == queue
        assert AuditEntry.objects.filter(action="queue.created").exists()

    def test_a_rule_is_tried_on_the_last_days_and_keeps_nothing(self, host, root):
        failed(host)
        answer = as_(root).post("/settings/queues/new", {**FORM, "do": "try"})

        page = answer.content.decode()
        assert "<b>1</b> of 1" in page
        assert not Queue.objects.filter(slug="fails").exists()

    @pytest.mark.parametrize("wrong", [{"required_reviews": 0}, {"on_timeout": "approve"}])
    def test_what_makes_no_sense_is_refused(self, root, wrong):
        answer = as_(root).post("/settings/queues/new", {**FORM, **wrong})

        assert answer.status_code == 422
        assert not Queue.objects.filter(slug="fails").exists()

    def test_the_default_queue_stays(self, root):
        client = as_(root)
        client.get("/settings/queues")
        client.post("/settings/queues/default/remove")

        assert Queue.objects.filter(is_default=True).count() == 1

    def test_a_reviewer_sets_nothing(self, ada):
        assert as_(ada).get("/settings/queues").status_code == 403
        assert as_(ada).post("/settings/queues/new", FORM).status_code == 403


class TestOneself:
    def test_a_token_is_shown_once(self, ada):
        client = as_(ada)
        client.post("/settings/profile", {"name": "laptop"})
        page = client.get("/settings/profile").content.decode()
        token = PersonalToken.objects.get()

        assert f"owp_{token.token_id}_" in page
        assert f"owp_{token.token_id}_" not in client.get("/settings/profile").content.decode()
        asked = client.get(f"/settings/profile?revoke={token.token_id}").content.decode()
        assert "Revoke laptop?" in asked
        client.post(f"/settings/profile/{token.token_id}/revoke")
        token.refresh_from_db()
        assert token.revoked_at is not None

    def test_nobody_revokes_another_persons(self, ada, ben):
        as_(ada).post("/settings/profile", {"name": "laptop"})
        token = PersonalToken.objects.get()

        assert as_(ben).post(f"/settings/profile/{token.token_id}/revoke").status_code == 404


class TestBeingTold:
    def wish(self, user, **more):
        said = {"mode": "at_once", "by_mail": "", "webhook_url": "", "webhook_form": "slack"}
        return as_(user).post("/settings/notifications", {**said, **more})

    def test_the_bell_counts_what_waits_and_stops_when_somebody_takes_it(self, host, ada, ben):
        found = failed(host)
        assert "1<span" in as_(ben).get("/queue").content.decode().split('id="bell-count"')[1][:80]

        escalations.claim(escalation=found.pk, by=ada)
        bell = as_(ben).get("/queue").content.decode().split('id="bell-count"')[1][:80]
        assert "1<span" not in bell

    def test_a_line_of_the_bell_says_of_which_workflow_it_is(self, host, ben):
        found = failed(host)
        Run.objects.filter(pk=found.run_id).update(workflow_id="refunds")
        page = as_(ben).get("/settings/profile").content.decode()

        assert ">refunds</span> waits for a person" in page.split('id="bell-lines"')[1]

    def test_a_webhook_is_told_at_once_without_content(self, host, ada):
        with serving(http()) as server:
            self.wish(ada, webhook_url=f"{server.url}/hook")
            found = failed(host)
            notifying.send_due(timezone.now())
            (request,) = server.requests

        text = json.loads(request.partition(b"\r\n\r\n")[2])["text"]
        assert f"/queue/{found.pk}" in text
        assert "Failed verdict" in text
        assert "r-1" not in text

    def test_what_was_claimed_meanwhile_is_not_sent(self, host, ada, ben):
        with serving(http()) as server:
            self.wish(ada, webhook_url=f"{server.url}/hook")
            found = failed(host)
            Notification.objects.update(send_at=timezone.now())
            escalations.claim(escalation=found.pk, by=ben)
            Notification.objects.filter(user=ada).update(send_at=timezone.now())
            notifying.send_due(timezone.now())
            assert server.requests == []

        assert Notification.objects.get(user=ada).dropped_because == "claimed"

    def test_mail_is_one_message_for_all_that_waits(self, host, ada, settings):
        settings.EMAIL_HOST = "mail.example"
        ada.email = "ada@example.org"
        ada.save()
        Wish.objects.create(user=ada, mode="hourly", by_mail=True)
        for n in range(3):
            failed(host, run=f"r-{n}")
        notifying.send_due(timezone.now())
        assert mail.outbox == []

        Notification.objects.filter(user=ada).update(send_at=timezone.now())
        notifying.send_due(timezone.now())
        (message,) = mail.outbox
        assert message.subject == "OpenWOP Console: 3 matters for you"
        assert message.body.count("/queue/") == 3

    def test_a_webhook_that_fails_is_tried_again_and_the_bell_keeps_it(self, host, ada):
        with serving(http("500 Oops")) as server:
            self.wish(ada, webhook_url=f"{server.url}/hook")
            failed(host)
            notifying.send_due(timezone.now())

        row = Notification.objects.get(user=ada)
        assert row.send_at > timezone.now()
        assert (row.sent_at, row.read_at) == (None, None)

    def test_many_matters_cost_no_more_looks_than_few(self, host, ada):
        self.wish(ada, webhook_url="https://hooks.example/x")
        for n in range(12):
            failed(host, run=f"r-{n}")
        Notification.objects.update(send_at=None)
        Notification.objects.filter(user=ada).update(send_at=timezone.now())

        with statements() as looks:
            taken = notifying._take(ada.pk, timezone.now())
        assert len(taken) == 12
        assert len(looks) <= 12

    def test_whoever_left_is_not_told(self, host, ada):
        from runs.models import Membership

        with serving(http()) as server:
            self.wish(ada, webhook_url=f"{server.url}/hook")
            failed(host)
            Membership.objects.filter(user=ada).delete()
            notifying.send_due(timezone.now())
            assert server.requests == []

    def test_an_address_that_is_none_is_refused(self, ada):
        self.wish(ada, webhook_url="https://user:pass@evil.example/")

        assert not Wish.objects.exists()


class TestDeliveries:
    def test_what_was_given_up_is_sent_again_from_the_page(self, host, ada):
        pause(host, "accept", "reject")
        decide(ada, Decision(Action.ACCEPT))
        Delivery.objects.update(state="dead", next_attempt_at=None)
        pk = Delivery.objects.get().pk

        assert "Gave up sending" in as_(ada).get("/settings/deliveries").content.decode()
        as_(ada).post("/settings/deliveries/again", {"id": [str(pk)]})
        assert Delivery.objects.get().state == "waiting"
