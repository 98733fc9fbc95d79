"""The app that keeps facts: what a host says happened."""

from django.apps import AppConfig
from django.urls import register_converter

from runs.converters import RunConverter


class RunsConfig(AppConfig):
    """Hosts, runs and their events."""

    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Teach addresses how run ids travel."""
        register_converter(RunConverter, "run")
