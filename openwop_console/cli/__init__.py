"""The `openwop-console` command. Each subcommand is imported only when it is called."""

from importlib import import_module

import click

COMMANDS = {
    "serve": ("openwop_console.cli.serve", "Start everything on this machine; Ctrl-C stops it."),
    "worker": ("openwop_console.cli.worker", "Run one Celery worker in the foreground."),
    "migrate": ("openwop_console.cli.migrate", "Apply pending database migrations."),
    "doctor": ("openwop_console.cli.doctor", "Check that everything is well, and say what to do."),
    "demo": ("openwop_console.cli.demo", "Play a few minutes of real work into a Console."),
    "ingest": ("openwop_console.cli.ingest", "Send a JSONL file of run events."),
    "gate": ("openwop_console.cli.gate", "Ask what may be done with a result."),
    "evidence": ("openwop_console.cli.evidence", "Check signed evidence, offline."),
    "runs": ("openwop_console.cli.runs", "List runs, and show one."),
    "jobs": ("openwop_console.cli.jobs", "Have judges heard: run, watch, cancel jobs."),
    "hosts": ("openwop_console.cli.hosts", "Add, connect and list hosts; new secrets."),
    "people": ("openwop_console.cli.people", "Add people and give them roles."),
    "queue": ("openwop_console.cli.queue", "List, claim, release and resolve escalations."),
    "deliveries": ("openwop_console.cli.deliveries", "List deliveries; send again what failed."),
    "audit": ("openwop_console.cli.audit", "Verify and export the audit chain."),
    "export": ("openwop_console.cli.export", "Write runs to a JSONL file, as `ingest` takes it."),
    "purge": ("openwop_console.cli.purge", "Erase runs, one by name or all that are old."),
    "tokens": ("openwop_console.cli.tokens", "Create, list and revoke personal tokens."),
    "keys": ("openwop_console.cli.keys", "Create, list, rotate and revoke host keys."),
}


class _Later(click.Group):
    """A group whose subcommands live in modules that are imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name][0]).command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=_Later, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="openwop-console")
def main() -> None:
    """See what agents did, what was checked, and who decided.

    Commands talk to the Console that runs on DATA_DIR (default: ./var of this project), or to the
    servers that DATABASE_URL and REDIS_URL name.
    """
