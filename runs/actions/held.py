"""What a host's runs hold already, read under their locks: what arrives is weighed against it.

Every ingest request asks this, so the statements are written out. They must find their rows by
index whatever the planner knows of the table: on a fresh one it knows nothing, and joins all of it.
"""

from collections.abc import Iterable, Sequence

from runs.domain.intake import Held
from runs.domain.log import Envelope
from runs.models import Host, Run
from runs.rows import columns, fetch, instance

_LOCK = f"""
    SELECT {columns(Run, "r")} FROM runs_run r
     WHERE r.host_id = %s AND r.run_id = ANY(%s)
     ORDER BY r.run_id FOR NO KEY UPDATE
"""  # noqa: S608  (constant text)


def locked_runs(host: Host, run_ids: Iterable[str]) -> dict[str, Run]:
    """Return the runs, locked in the order of their ids, those not heard of before created.

    Where there are several, nothing is locked before every new one is in: whoever held a lock while
    waiting for another's new run could be what that other waits for.
    """
    wanted = sorted(run_ids)
    known: set[str] = set()
    if len(wanted) == 1:
        found = _lock(host, wanted)
        if found:
            return found
    else:
        rows = Run.objects.filter(host=host, run_id__in=wanted)
        known.update(rows.values_list("run_id", flat=True))
    new = [
        Run(host=host, workspace_id=host.workspace_id, run_id=each)
        for each in wanted
        if each not in known
    ]
    if new:
        Run.objects.bulk_create(new, ignore_conflicts=True)
    return _lock(host, wanted)


def _lock(host: Host, run_ids: Sequence[str]) -> dict[str, Run]:
    runs = (instance(Run, row) for row in fetch(_LOCK, [host.pk, list(run_ids)]))
    return {run.run_id: run for run in runs}


_BESIDE = """
    SELECT event_id, sequence, digest FROM runs_event
     WHERE run_id = %s AND event_id = ANY(%s::text[])
     UNION ALL
    SELECT event_id, sequence, digest FROM runs_event
     WHERE run_id = %s AND sequence = ANY(%s::bigint[]) AND origin = 'host'
"""


def held_beside(run: Run, arriving: Iterable[Envelope]) -> list[Held]:
    """Return the held events of a run that share an id or a sequence with what arrives."""
    if not run.last_position:
        return []
    ids, sequences = [], []
    newest = -1 if run.last_sequence is None else run.last_sequence
    for envelope in arriving:
        ids.append(envelope.event_id)
        if envelope.sequence <= newest:
            sequences.append(envelope.sequence)
    rows = fetch(_BESIDE, [run.pk, ids, run.pk, sequences])
    return [Held(event_id, at, bytes(digest)) for event_id, at, digest in rows]
