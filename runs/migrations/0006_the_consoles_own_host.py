"""Tells the Console's own hosts from those that others run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the mark."""

    dependencies = [("runs", "0005_near_misses_are_found")]

    operations = [
        migrations.AddField(
            model_name="host",
            name="is_own",
            field=models.BooleanField(
                default=False,
                help_text="The Console itself: its events come from within, and nobody gets a key "
                "for it.",
            ),
        ),
    ]
