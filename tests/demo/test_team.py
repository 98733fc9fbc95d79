"""The demo's team of twelve tasks."""

import pytest

from openwop_console.demo.team import request
from tests.verification.jobs.building import worked
from tests.verification.jobs.test_tasks import findings
from verification.actions.jobs import Asker, start
from verification.domain.jobs.requests import read_any
from verification.models import JudgeVote
from verification.queries.job_tasks import team_view

pytestmark = pytest.mark.django_db(transaction=True)


def test_twelve_tasks_are_judged_by_rules_and_one_is_revised(host):
    asker = Asker("key:demo", host.workspace, host)
    job = worked(start(request=read_any(request(pause_s=0)), asker=asker).job)

    assert (job.basis, job.verdict) == ("quorum", "pass")
    view = team_view(job)
    assert len(view.tasks) == 12
    assert {task.verdict for task in view.tasks} == {"pass"}
    revised = [task.title for task in view.tasks if task.rounds == 2]
    assert revised == ["Tell the beginning"]
    assert JudgeVote.objects.filter(job=job, accepted=False).exists()
    assert view.synthesis.startswith("In 1858")
    assert findings(job) == []
