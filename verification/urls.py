"""Addresses of the API of judgements."""

from django.urls import path

from verification import api

urlpatterns = [
    path("runs/<run:run>/gates", api.RunGatesView.as_view(), name="run-gates"),
    path("runs/<run:run>/findings", api.RunFindingsView.as_view(), name="run-findings"),
    path("escalations", api.EscalationsView.as_view(), name="escalations"),
]
