"""Addresses of the API of judgements, and of the Console as a host."""

from django.urls import URLPattern, URLResolver, include, path

from verification import api, audit_api, hosting_api, jobs_api, review_api
from verification.domain.hosting.majors import Major

urlpatterns = [
    path("gates/<path:target>", api.GateView.as_view(), name="gate"),
    path("receipts/<uuid:receipt>", api.ReceiptView.as_view(), name="receipt"),
    path("findings/<int:finding>/evidence", api.EvidenceView.as_view(), name="evidence"),
    path("signing-keys", api.SigningKeysView.as_view(), name="signing-keys"),
    path("runs/<run:run>/gates", api.RunGatesView.as_view(), name="run-gates"),
    path("runs/<run:run>/findings", api.RunFindingsView.as_view(), name="run-findings"),
    path("escalations", api.EscalationsView.as_view(), name="escalations"),
    path("escalations/<int:pk>", review_api.EscalationView.as_view(), name="escalation"),
    path("escalations/<int:pk>/<slug:move>", review_api.MoveView.as_view(), name="move"),
    path("audit", audit_api.AuditView.as_view(), name="audit"),
    path("audit/verify", audit_api.AuditVerifyView.as_view(), name="audit-verify"),
    path("deliveries", review_api.DeliveriesView.as_view(), name="deliveries"),
    path("deliveries/<int:pk>/redrive", review_api.RedriveView.as_view(), name="redrive"),
    path("consensus", jobs_api.ConsensusView.as_view(), name="consensus"),
    path("jobs", jobs_api.JobsView.as_view(), name="jobs"),
    path("jobs/<uuid:job>", jobs_api.JobView.as_view(), name="job"),
    path("jobs/<uuid:job>/cancel", jobs_api.CancelJobView.as_view(), name="job-cancel"),
    path("jobs/<uuid:job>/plan", jobs_api.PlanView.as_view(), name="job-plan"),
    path("models", jobs_api.ModelsView.as_view(), name="models"),
]


def hosting(major: Major) -> list[URLPattern]:
    """Return the addresses of runs that a major has, without what stands before them."""
    run = "runs/<run:run>"
    views = {
        f"{run}/events/poll": hosting_api.HostedPollView,
        f"{run}/events": hosting_api.HostedEventsView,
        f"{run}/interrupts/<str:node>": hosting_api.HostedInterruptView,
        run: hosting_api.HostedRunView,
    }
    return [
        path(address, view.as_view(major=major), name=f"hosted-{place}")
        for place, (address, view) in enumerate(views.items())
    ]


hosting_v1: list[URLPattern | URLResolver] = [
    path(".well-known/openwop", hosting_api.DiscoveryView.as_view(), name="discovery"),
    path("v1/host/sample/agents/verify-run", hosting_api.ProofView.as_view(), name="proof"),
    path("v1/", include(hosting(Major.V1))),
]
