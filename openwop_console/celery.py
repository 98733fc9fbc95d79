"""The Celery app. Messages are bells: they carry ids, and losing one costs a delay, never data."""

import gc
import importlib
import logging.config
import os
from typing import Any

from celery import Celery, signals
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")

NICE = 5
"""How far work that takes long stands back where processors are scarce: requests come first."""

app = Celery("openwop_console")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def configure_logs(**kwargs: Any) -> None:
    """Log as the web process does, not as Celery would."""
    logging.config.dictConfig(settings.LOGGING)


@signals.worker_init.connect
def load_once(sender: Any, **kwargs: Any) -> None:
    """Load before processes are forked what they then share, and keep it shared; stand back.

    What models are asked with is large: it is loaded here where jobs are worked on and models are
    set up; elsewhere the first call loads it. Frozen objects are left alone by the collector, whose
    marks would give each process a copy of its own.
    """
    if "jobs" in sender.app.amqp.queues.consume_from:
        os.nice(NICE)
        if settings.MODELS:
            importlib.import_module("verification.providers")
    gc.collect()
    gc.freeze()
