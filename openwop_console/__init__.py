"""The project: it assembles the two apps and decides nothing itself."""

from openwop_console.celery import app as celery_app

__all__ = ["celery_app"]
