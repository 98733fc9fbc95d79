"""Addresses of the pages around reviewing: of an escalation, queues, deliveries, audit, people."""

from django.urls import path

from openwop_console.pages import (
    audit,
    bulk,
    deliveries,
    escalation,
    escalation_content,
    people,
    profile,
    queue_settings,
    retention,
)

urlpatterns = [
    path("audit", audit.view, name="audit"),
    path("audit/export", audit.download, name="audit-export"),
    path("runs/<slug:host>/<run:run>/audit", audit.of_run, name="run-audit"),
    path("queue/many", bulk.choose, name="queue-many"),
    path("queue/many/<int:batch>", bulk.view, name="queue-batch"),
    path("queue/many/<int:batch>/begin", bulk.begin, name="queue-begin"),
    path("queue/<int:pk>/beat", escalation.beat, name="escalation-beat"),
    path("queue/<int:pk>/draft", escalation.draft, name="escalation-draft"),
    path("queue/<int:pk>/content", escalation_content.view, name="escalation-content"),
    path("settings/profile", profile.view, name="settings-profile"),
    path("settings/profile/<slug:token_id>/revoke", profile.revoke, name="token-revoke"),
    path("settings/profile/password", people.password, name="settings-password"),
    path("settings/people", people.view, name="settings-people"),
    path("settings/people/<int:pk>", people.act, name="person-act"),
    path("settings/notifications", profile.notifications, name="settings-notifications"),
    path("settings/notifications/read", profile.read_all, name="notifications-read"),
    path("settings/deliveries", deliveries.view, name="settings-deliveries"),
    path("settings/deliveries/again", deliveries.send_again, name="deliveries-again"),
    path("settings/deliveries/<slug:host>/webhook", deliveries.webhook, name="host-webhook"),
    path("settings/retention", retention.view, name="settings-retention"),
    path("runs/<slug:host>/<run:run>/erase", retention.erase, name="run-erase"),
    path("settings/queues", queue_settings.view, name="settings-queues"),
    path("settings/queues/<slug:slug>", queue_settings.edit, name="settings-queue"),
    path("settings/queues/<slug:slug>/remove", queue_settings.remove, name="queue-remove"),
]
