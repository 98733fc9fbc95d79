"""`export`: runs as their hosts sent them, for elsewhere or for `ingest`."""

import hashlib
import json
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import click

from openwop_console.cli.instance import adopt, named_run
from openwop_console.cli.options import data_dir
from openwop_console.supervisor.folder import Folder

if TYPE_CHECKING:
    from runs.models import Run


@click.command("export")
@click.argument("file", type=click.File("wb"), metavar="FILE|-")
@click.option("--run", "run_ids", multiple=True, metavar="RUN", help="Only this; may be repeated.")
@click.option("--host", default="", metavar="HOST", help="Only of this host.")
@data_dir
def command(folder: Folder, file: IO[bytes], run_ids: tuple[str, ...], host: str) -> None:
    """Write the events of runs to FILE, one JSON object a line, a run after another in its order.

    `ingest` takes such a file: sent to where the runs came from it changes nothing, sent elsewhere
    it makes the same runs, gates and findings. What people decided is no event of a host, and is
    not in it; nor is a payload that was too large to be kept.
    """
    adopt(folder)
    runs, lines, digest = 0, 0, hashlib.sha256()
    for run in _wanted(run_ids, host):
        runs += 1
        for event in _events(run):
            line = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            file.write(line)
            digest.update(line)
            lines += 1
    file.flush()
    counted = f"{runs} run{'' if runs == 1 else 's'}, {lines} event{'' if lines == 1 else 's'}"
    click.echo(f"{counted}, sha256 {digest.hexdigest()}", err=True)


def _wanted(run_ids: tuple[str, ...], host: str) -> "Iterator[Run]":
    from runs.models import Host, Run

    if host and not Host.objects.filter(slug=host).exists():
        raise click.ClickException(f"There is no host {host}; see `hosts list`.")
    if run_ids:
        yield from [named_run(each, host) for each in run_ids]
        return
    rows = Run.objects.filter(host__slug=host) if host else Run.objects.all()
    yield from rows.select_related("host").order_by("pk").iterator()


def _events(run: "Run") -> Iterator[dict[str, Any]]:
    from runs.models import Event
    from runs.queries.api import event_document

    rows = Event.objects.filter(run=run, origin="host").order_by("sequence")
    for event in rows.iterator():
        yield event_document(run, event)
