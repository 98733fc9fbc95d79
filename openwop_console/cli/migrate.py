"""`migrate`: the database as this version wants it."""

import click

from openwop_console.cli.instance import adopt
from openwop_console.cli.options import data_dir
from openwop_console.supervisor.folder import Folder


@click.command("migrate")
@data_dir
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if something is pending.")
def command(folder: Folder, *, check: bool) -> None:
    """Apply pending database migrations."""
    adopt(folder)
    from django.core.management import call_command

    from openwop_console.supervisor.pending import pending_migrations

    pending = pending_migrations()
    if check and pending:
        raise click.ClickException(f"Pending: {', '.join(pending)}")
    if pending:
        call_command("migrate", interactive=False)
    else:
        click.echo("Nothing to migrate.")
