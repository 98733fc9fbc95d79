"""A number that no 64 bits hold is kept as it came, and every page that shows it can be read."""

import pytest
from django.test import Client

from tests.factories import event, send, verified
from verification.models import Escalation, Finding

pytestmark = pytest.mark.django_db

PAST_64_BITS = (2e19, -2e19, 1e308)


@pytest.mark.parametrize("number", PAST_64_BITS)
def test_every_page_shows_it(host, ada, number):
    client = Client()
    client.force_login(ada)
    edits = {
        "actions": ["accept", "edit-accept"],
        "artifactData": {"n": number},
    }
    ask = {"kind": "approval", "interruptId": "i-1", "config": edits}
    send(
        host,
        event(0, "run.started", payload={"workflowId": "wf"}),
        event(1, "agent.decided", nodeId="n1", payload={"agentId": "w-1", "decision": number}),
        verified(2, "r-1-e1", "fail"),
        event(3, "node.suspended", nodeId="g", payload=ask),
        event(4, "node.resumed", nodeId="g", payload={"resumeValue": number}),
        event(5, "node.suspended", nodeId="h", payload=ask),
        event(6, "agent.decided", nodeId="n2", payload={"agentId": "w-1", "confidence": number}),
    )
    pages = [f"/runs/alpha/r-1/lines/{place}" for place in range(1, 8)]
    pages += [f"/queue/{each.pk}" for each in Escalation.objects.all()]
    send(host, event(7, "run.completed", payload={"outputs": {"n": number}}))
    pages += [f"/findings/{each.pk}" for each in Finding.objects.all()]

    assert len(pages) > 9
    assert [client.get(page).status_code for page in pages] == [200] * len(pages)
