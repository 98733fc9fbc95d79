"""`runs`: what is known of runs, for a terminal or a program."""

import time
from typing import TYPE_CHECKING

import click

from openwop_console.cli.gate import FailsClosed
from openwop_console.cli.instance import adopt, named_run
from openwop_console.cli.options import data_dir, output, show_json, show_table
from openwop_console.cli.watching import Follower, RunsFollower, shown, told
from openwop_console.supervisor.folder import Folder
from runs.domain.projection import RunStatus
from verification.domain.gates import GateState

if TYPE_CHECKING:
    from runs.models import Run

MOST = 1000
LOOK_EVERY_S = 0.5
GOOD, BAD, UNFINISHED, IN_QUESTION, INTERRUPTED = 0, 1, 3, 4, 130


@click.group("runs")
def command() -> None:
    """List runs, show one, and watch them."""


@command.command("list")
@click.option("--host", "host_id", default="", metavar="HOST", help="Of this host only.")
@click.option(
    "--status",
    type=click.Choice([each.value for each in RunStatus]),
    metavar="STATUS",
    help="Only these, such as failed or waiting-approval.",
)
@click.option(
    "--standing",
    type=click.Choice([each.value for each in GateState]),
    metavar="STATE",
    help="Only runs whose worst gate is so, such as blocked.",
)
@click.option(
    "--search",
    default="",
    help="Only runs with this id: of a run, workflow, event or judged or judging agent.",
)
@click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True)
@output
@data_dir
def show_all(
    folder: Folder,
    host_id: str,
    status: str | None,
    standing: str | None,
    search: str,
    limit: int,
    *,
    as_json: bool,
) -> None:
    """List runs, newest activity first."""
    adopt(folder)
    from django.utils import timezone

    from runs.models import Host, Run
    from runs.queries.api import run_document
    from runs.queries.run_list import RunFilters, narrow

    if host_id and not Host.objects.filter(slug=host_id).exists():
        raise click.ClickException(f"There is no host {host_id}; see `hosts list`.")
    filters = RunFilters(host=host_id, status=status or "", standing=standing or "", q=search)
    found = narrow(Run.objects.all(), filters, now=timezone.now()).select_related("host")
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
    from runs.queries.api import run_document

    document = run_document(named_run(run_id, host_id))
    if as_json:
        show_json(document)
        return
    for name, value in document.items():
        click.echo(f"{name:16} {'-' if value in (None, '', []) else value}")


@command.command("watch", cls=FailsClosed)
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--host", "host_id", default="", metavar="HOST", help="Where several have the id.")
@click.option("--wait", type=click.FloatRange(0), metavar="SECONDS", help="Stop after this long.")
@output
@data_dir
@click.pass_context
def watch(
    ctx: click.Context,
    folder: Folder,
    run_id: str | None,
    host_id: str,
    wait: float | None,
    *,
    as_json: bool,
) -> None:
    """Print the lines of RUN as they come, as on its page, until it ends.

    Without RUN, the lines of all runs from now on. With --json, one document a line.

    Exit code 0: the run met its goal, or ended without saying. 1: it failed, gave up or was
    cancelled. 3: it had not ended in time. 4: it ended, and is held, or its gates or findings
    stand against it. 5: error. 130: Ctrl-C.
    """
    adopt(folder)
    follower = Follower(named_run(run_id, host_id)) if run_id else RunsFollower(host_id)
    ends_at = None if wait is None else time.monotonic() + wait
    try:
        while True:
            for line in follower.news():
                click.echo(shown(line) if as_json else told(line))
            if follower.has_ended or (ends_at is not None and time.monotonic() >= ends_at):
                break
            pause()
    except KeyboardInterrupt:
        ctx.exit(INTERRUPTED)
    if isinstance(follower, RunsFollower):
        ctx.exit(0)
    click.echo(follower.sentence, err=True)
    ctx.exit(_exit_code(follower.run) if follower.has_ended else UNFINISHED)


def pause() -> None:
    """Wait before the next look."""
    time.sleep(LOOK_EVERY_S)


def _exit_code(run: "Run") -> int:
    if run.outcome not in {"goal_met", "ended"}:
        return BAD
    stands_against = run.held or run.worst_finding == "violation"
    return IN_QUESTION if stands_against or run.standing in NOT_OPEN else GOOD


NOT_OPEN = {"blocked", "revise_asked", "in_review", "upheld", "unknown"}
"""States of a gate that let nothing through."""
