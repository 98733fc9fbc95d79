"""`purge`: erases runs, one by name or all that are old enough."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from openwop_console.cli.instance import adopt, named_run
from openwop_console.cli.options import data_dir, moment, output, show_json, show_table
from openwop_console.supervisor.folder import Folder

if TYPE_CHECKING:
    from runs.models import Run


@click.command("purge")
@click.argument("run", required=False)
@click.option("--host", default="", help="Whose run, where several hosts have one of that id.")
@click.option("--older-than", "days", type=click.IntRange(1), help="All without an event for DAYS.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and let it be.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@output
@data_dir
def command(
    folder: Folder,
    run: str | None,
    host: str,
    days: int | None,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Erase the run RUN, or all old ones: their logs and what was judged, decided and written.

    The audit chain keeps an entry for each, with what was erased. A run stays while somebody is
    asked about it, a decision is on its way, or a job works on it. There is no way back.
    """
    if (run is None) == (days is None):
        raise click.UsageError("Name a RUN, or say --older-than DAYS.")
    adopt(folder)
    before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    found = _old_ones(host, before) if before else [named_run(str(run), host)]
    if found and not dry_run and not yes:
        what = f"the run {run}" if run else f"{len(found)} runs"
        click.confirm(f"Erase {what}? There is no way back.", abort=True, err=True)
    rows, kept = ([_row(each) for each in found], []) if dry_run else _erase(found, before)
    if as_json:
        show_json(rows)
    else:
        show_table(rows, ["host", "runId", "lastEventAt", "events"])
        would = "would be erased" if dry_run else "erased"
        click.echo(f"{len(rows)} run{'' if len(rows) == 1 else 's'} {would}.", err=True)
    if kept:
        raise click.ClickException("\n".join(kept))


def _old_ones(host: str, before: datetime) -> "list[Run]":
    from runs.models import Run
    from verification.erasable import old_runs

    rows = Run.objects.filter(host__slug=host) if host else Run.objects.all()
    return list(old_runs(rows, before).select_related("host"))


def _erase(runs: "list[Run]", before: datetime | None) -> tuple[list[dict[str, Any]], list[str]]:
    """Erase runs; return those that are gone, and why the others stay."""
    from verification.actions.erasing import StillNeeded, erase_run
    from verification.actions.host_settings import COMMAND_LINE

    gone, kept = [], []
    for each in runs:
        try:
            receipt = erase_run(run=each.pk, actor=COMMAND_LINE, silent_since=before)
        except StillNeeded as needed:
            kept.append(str(needed))
        else:
            gone.append({**_row(each), "erased": receipt.counts})
    return gone, kept


def _row(run: "Run") -> dict[str, Any]:
    return {
        "host": run.host.slug,
        "runId": run.run_id,
        "lastEventAt": moment(run.last_event_at),
        "events": run.event_count,
    }
