"""`audit`: whether the chain of who did what holds, and all of it for elsewhere."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from openwop_console.cli.instance import adopt
from openwop_console.cli.options import data_dir, output, show_json
from openwop_console.supervisor.folder import Folder

if TYPE_CHECKING:
    from runs.models import Workspace


@click.group("audit")
def command() -> None:
    """Verify and export the audit chain of a workspace."""


@command.command("verify")
@click.option("--workspace", default="default", help="Slug. [default: default]")
@click.option("--from", "first", type=click.IntRange(1), default=1, help="First entry.")
@click.option("--to", "last", type=click.IntRange(1), help="Last entry.")
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An earlier export: shows what was cut off or written anew since.",
)
@output
@data_dir
def check(
    folder: Folder, workspace: str, first: int, last: int | None, against: Path | None,
    *, as_json: bool,
) -> None:  # fmt: skip
    """Check every hash, link and checkpoint. Exits 1 when something does not fit.

    Without --against, entries cut off together with their checkpoints cannot be missed.
    """
    adopt(folder)
    from verification.queries.audit import verify

    kept = _checkpoints_in(against) if against else []
    result = verify(_workspace(workspace), first, last, kept)
    if as_json:
        show_json(result)
    else:
        _say(result)
    if not (result["chainValid"] and result["checkpointsValid"]):
        raise SystemExit(1)


@command.command("export")
@click.option("--workspace", default="default", help="Slug. [default: default]")
@click.argument("file", type=click.File("wb"), default="-")
@data_dir
def export_chain(folder: Folder, workspace: str, file: Any) -> None:
    """Write the chain and its signed checkpoints to FILE, as JSON lines. Keep it elsewhere."""
    adopt(folder)
    from verification.actions.checkpoints import sign
    from verification.queries.audit import export

    found = _workspace(workspace)
    sign(workspace=found)
    for line in export(found):
        file.write(line)


def _say(result: dict[str, Any]) -> None:
    span = f"entries {result['fromSeq']} to {result['toSeq']}"
    checkpoints = len(result["checkpoints"])
    if result["chainValid"] and result["checkpointsValid"]:
        click.echo(f"The chain holds: {span}, {checkpoints} checkpoint(s).")
        return
    click.echo(f"The chain does not hold: {span}.")
    for anomaly in result["anomalies"]:
        click.echo(f"  entry {anomaly['seq']}: {anomaly['kind']}")


def _checkpoints_in(file: Path) -> list[dict[str, Any]]:
    found = []
    for line in file.read_text().splitlines():
        document = json.loads(line)
        if isinstance(document.get("checkpoint"), dict):
            found.append(document["checkpoint"])
    return found


def _workspace(slug: str) -> "Workspace":
    from runs.models import Workspace

    found = Workspace.objects.filter(slug=slug).first()
    if found is None:
        raise click.ClickException(f"There is no workspace {slug}.")
    return found
