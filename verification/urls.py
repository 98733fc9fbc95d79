"""Addresses of the API of judgements."""

from django.urls import path

from verification import api, audit_api, jobs_api, review_api

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
    path("models", jobs_api.ModelsView.as_view(), name="models"),
]
