"""Takes from the log an index that its primary key makes useless, and a check that its writer makes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Drop the index and the foreign key of `Event.run`."""

    dependencies = [("runs", "0003_pulls_and_webhooks")]

    operations = [
        migrations.AlterField(
            model_name="event",
            name="run",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="runs.run",
            ),
        ),
    ]
