"""What a host's own snapshot says of a run beyond its log."""

from runs.models import Run, RunSnapshot


def snapshot_beyond_log(run: Run) -> RunSnapshot | None:
    """Return what the host last said of a run, where that is more than its events say.

    Once events came that are newer than the snapshot, these are what counts: None.
    """
    found = RunSnapshot.objects.filter(run=run, is_beyond_log=True).first()
    if found is None or found.status == run.status:
        return None
    is_outdated = run.last_event_at is not None and run.last_event_at > found.read_at
    return None if is_outdated else found


def parent_of(run: Run) -> str:
    """Return the id of the run that started this one, by its events or else by its snapshot."""
    if run.parent_run_id:
        return run.parent_run_id
    told = RunSnapshot.objects.filter(run=run).values_list("parent_run_id", flat=True)
    return told.first() or ""
