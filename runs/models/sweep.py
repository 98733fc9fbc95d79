"""When the Console last looked for what was left lying."""

from django.db import models


class Sweep(models.Model):
    """The latest sweep of a kind. One that grows old says that the clock or a worker is gone."""

    name = models.CharField(max_length=16, primary_key=True, help_text="hosts, reviews")
    ended_at = models.DateTimeField()
    failed = models.IntegerField(default=0, help_text="Its parts that failed.")

    def __str__(self) -> str:
        return f"{self.name} at {self.ended_at:%Y-%m-%d %H:%M:%S}"
