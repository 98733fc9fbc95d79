"""`runs`: what is known of runs, for a terminal or a program."""

import click

from openwop_console.cli.instance import adopt
from openwop_console.cli.options import data_dir, output, show_json, show_table
from openwop_console.supervisor.folder import Folder

MOST = 1000


@click.group("runs")
def command() -> None:
    """List runs and show one."""


@command.command("list")
@click.option("--host", "host_id", default="", metavar="HOST", help="Of this host only.")
@click.option("--status", default="", help="Only these, such as failed or waiting-approval.")
@click.option("--standing", default="", help="Only runs whose worst gate is so, such as blocked.")
@click.option("--search", default="", help="Only runs whose id or workflow holds this.")
@click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True)
@output
@data_dir
def show_all(
    folder: Folder,
    host_id: str,
    status: str,
    standing: str,
    search: str,
    limit: int,
    *,
    as_json: bool,
) -> None:
    """List runs, newest activity first."""
    adopt(folder)
    from runs.models import Run
    from runs.queries.api import run_document
    from runs.queries.run_list import RunFilters, narrow

    filters = RunFilters(host=host_id, status=status, standing=standing, q=search)
    found = narrow(Run.objects.all(), filters).select_related("host")
    rows = [
        run_document(run, gaps=False) for run in found.order_by("-last_event_at", "-pk")[:limit]
    ]
    if as_json:
        show_json(rows)
    else:
        show_table(rows, ["runId", "host", "status", "standing", "openEscalations", "lastEventAt"])


@command.command("get")
@click.argument("run_id")
@click.option("--host", "host_id", default="", metavar="HOST", help="Where several have the id.")
@output
@data_dir
def get(folder: Folder, run_id: str, host_id: str, *, as_json: bool) -> None:
    """Show one run: what its log adds up to, what is missing, how its gates stand."""
    adopt(folder)
    from runs.models import Run
    from runs.queries.api import run_document

    found = Run.objects.filter(run_id=run_id).select_related("host")
    if host_id:
        found = found.filter(host__slug=host_id)
    runs = list(found[:2])
    if not runs:
        raise click.ClickException(f"There is no run {run_id}; see `runs list`.")
    if len(runs) > 1:
        raise click.ClickException(f"Several hosts have a run {run_id}: name one with --host.")
    document = run_document(runs[0])
    if as_json:
        show_json(document)
        return
    for name, value in document.items():
        click.echo(f"{name:16} {'-' if value in (None, '', []) else value}")
