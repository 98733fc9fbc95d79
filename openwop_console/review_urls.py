"""Addresses of the pages around reviewing: of an escalation, queues, deliveries, audit, people."""

from django.urls import path

from openwop_console.pages import audit, escalation, escalation_content

urlpatterns = [
    path("audit", audit.view, name="audit"),
    path("audit/export", audit.download, name="audit-export"),
    path("runs/<slug:host>/<run:run>/audit", audit.of_run, name="run-audit"),
    path("queue/<int:pk>/beat", escalation.beat, name="escalation-beat"),
    path("queue/<int:pk>/draft", escalation.draft, name="escalation-draft"),
    path("queue/<int:pk>/content", escalation_content.view, name="escalation-content"),
]
