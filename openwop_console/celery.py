"""The Celery app. Messages are bells: they carry ids, and losing one costs a delay, never data."""

import logging.config
import os
from typing import Any

from celery import Celery, signals
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")

app = Celery("openwop_console")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def configure_logs(**kwargs: Any) -> None:
    """Log as the web process does, not as Celery would."""
    logging.config.dictConfig(settings.LOGGING)
