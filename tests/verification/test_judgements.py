"""What a run was last judged with, and how many of its commits nobody had verified."""

import pytest
from django.db import IntegrityError

from runs.models import CapabilitySnapshot
from tests.factories import decided, event, send, verified
from verification.models import Judgement

pytestmark = pytest.mark.django_db


def test_a_run_is_judged_with_the_newest_that_its_host_advertised(host):
    send(host, decided(1), verified(2, "r-1-e1", "pass"))

    assert Judgement.objects.get().snapshot == CapabilitySnapshot.objects.get(host=host)


def test_commits_are_counted_with_the_first_of_those_that_nobody_verified(host):
    send(host, decided(1, node="a"), decided(2, node="b"), verified(3, "r-1-e1", "pass"))
    send(host, event(4, "run.completed"))
    found = Judgement.objects.get()

    assert (found.commits, found.unverified, found.unverified_targets) == (2, 1, ["r-1-e2"])


def test_a_child_run_with_a_very_long_name_is_counted_all_the_same(host):
    payload = {"phase": "output.harvested", "workerId": "w" * 900, "childRunId": "c" * 900}
    send(host, event(0, "run.started"), event(1, "core.workflowChain.event", payload=payload))
    found = Judgement.objects.get()

    assert (found.commits, found.unverified_targets) == (1, ["c" * 256])


def test_no_more_commits_are_unverified_than_there_are(host):
    send(host, decided(1), verified(2, "r-1-e1", "pass"))

    with pytest.raises(IntegrityError, match="no_more_commits_are_unverified"):
        Judgement.objects.update(commits=1, unverified=2)
