"""A trigger refuses changes to the log, whoever asks, but for the retention job.

Retention says so for its own transaction: `SET LOCAL openwop_console.retention = 'on'`.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION runs_event_is_written_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('openwop_console.retention', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events are written once' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER events_are_written_once BEFORE UPDATE OR DELETE ON runs_event
    FOR EACH ROW EXECUTE FUNCTION runs_event_is_written_once();
"""
DROP = """
DROP TRIGGER events_are_written_once ON runs_event;
DROP FUNCTION runs_event_is_written_once();
"""


class Migration(migrations.Migration):
    """Make the log immutable."""

    dependencies = [("runs", "0001_initial")]
    operations = [migrations.RunSQL(CREATE, DROP)]
