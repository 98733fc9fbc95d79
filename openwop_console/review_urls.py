"""Addresses of the pages around reviewing: of an escalation, queues, deliveries, audit, people."""

from django.urls import path

from openwop_console.pages import escalation, escalation_content

urlpatterns = [
    path("queue/<int:pk>/beat", escalation.beat, name="escalation-beat"),
    path("queue/<int:pk>/draft", escalation.draft, name="escalation-draft"),
    path("queue/<int:pk>/content", escalation_content.view, name="escalation-content"),
]
