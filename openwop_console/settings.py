"""Placeholder while the house is being laid; the lead replaces it within minutes."""

SECRET_KEY = "placeholder"  # noqa: S105
INSTALLED_APPS: list[str] = ["django.contrib.contenttypes", "django.contrib.auth"]
USE_TZ = True
