"""The app that keeps judgements: what we make of what hosts say."""

from django.apps import AppConfig


class VerificationConfig(AppConfig):
    """Verdicts, gates, escalations and what people decide."""

    name = "verification"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Listen for appended events."""
        from verification import receivers

        receivers.connect()
