"""Lets the few lines with a mistyped name be found without reading all lines of their run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Index the near misses."""

    dependencies = [("runs", "0004_lines_are_cheap_to_write")]

    operations = [
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                fields=["run"],
                condition=models.Q(flags__has_key="nearMissOf"),
                name="near_misses_of_a_run",
            ),
        ),
    ]
