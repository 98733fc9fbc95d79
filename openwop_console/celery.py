"""The Celery app. Messages are bells: they carry ids, and losing one costs a delay, never data."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openwop_console.settings")

app = Celery("openwop_console")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
