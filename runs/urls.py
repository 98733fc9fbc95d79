"""Addresses of the API of facts."""

from django.urls import path

from runs import api, webhooks_api

urlpatterns = [
    path("events", api.EventsView.as_view(), name="events"),
    path("runs", api.RunsView.as_view(), name="runs"),
    path("runs/<run:run>/events", api.RunEventsView.as_view(), name="run-events"),
    path("runs/<run:run>", api.RunView.as_view(), name="run"),
    path("webhooks/<slug:host>", webhooks_api.WebhookView.as_view(), name="webhook"),
    path("limits", api.LimitsView.as_view(), name="limits"),
]
