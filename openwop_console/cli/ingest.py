"""`ingest`: a recorded log, sent through the same door a host uses."""

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import IO

import click
import httpx

from openwop_console.cli.instance import address_and_key, card
from openwop_console.cli.options import data_dir, output, reaching, show_json
from openwop_console.cli.sending import Sender, SendingStopped, Tally, batches
from openwop_console.supervisor.folder import Folder

SHOWN_REFUSALS = 20


@click.command("ingest")
@click.argument("file", type=click.File("rb"), metavar="FILE|-")
@reaching
@click.option("--from-line", type=click.IntRange(1), default=1, help="Skip the lines before this.")
@click.option(
    "--give-up-after",
    type=click.FloatRange(0),
    default=300.0,
    show_default=True,
    help="Seconds to keep trying while the Console is away or busy.",
)
@output
@data_dir
@click.pass_context
def command(
    ctx: click.Context,
    folder: Folder,
    file: IO[bytes],
    url: str | None,
    key: str | None,
    from_line: int,
    give_up_after: float,
    *,
    as_json: bool,
) -> None:
    """Send run events, one JSON object a line, and say what became of them.

    Sending the same file again is harmless: what is held counts as a duplicate. Exit 1 when a line
    was refused, 2 when the Console stayed away; `--from-line` goes on from there.
    """
    began = time.monotonic()
    if not key:
        click.echo(f"No key is given: sending as {_first_host(folder)}.", err=True)
    with _client(folder, url, key) as client, _bar(file) as draw:
        sender = Sender(client, give_up_after_s=give_up_after)
        stopped = ""
        try:
            for batch in batches(file, from_line):
                sender.send(batch)
                draw(sum(len(line.content) + 1 for line in batch))
        except SendingStopped as error:
            resume = max(sender.tally.last_line + 1, from_line)
            stopped = f"{error} Go on with --from-line {resume}."
    _report(sender.tally, time.monotonic() - began, as_json=as_json)
    if stopped:
        click.echo(stopped, err=True)
        ctx.exit(2)
    ctx.exit(1 if sender.tally.refusals else 0)


def _client(folder: Folder, url: str | None, key: str | None) -> httpx.Client:
    url, key = address_and_key(folder, url, key)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}
    return httpx.Client(base_url=url, headers=headers, timeout=60.0)


def _first_host(folder: Folder) -> str:
    host = card(folder)["host"]
    return f"host {host['id']}" if isinstance(host, dict) else "the first host"


@contextmanager
def _bar(file: IO[bytes]) -> Iterator[Callable[[int], object]]:
    """Yield what to call with the bytes sent; it draws only where somebody looks at a known end."""
    status = os.fstat(file.fileno())
    if not (stat.S_ISREG(status.st_mode) and sys.stderr.isatty()):
        yield lambda sent: None
        return
    with click.progressbar(length=status.st_size, file=sys.stderr, label="Sending") as bar:
        yield bar.update


def _report(tally: Tally, seconds: float, *, as_json: bool) -> None:
    if as_json:
        show_json(
            {
                "accepted": tally.accepted,
                "duplicates": tally.duplicates,
                "rejected": [asdict(refusal) for refusal in tally.refusals],
                "lastLine": tally.last_line,
                "seconds": round(seconds, 3),
            }
        )
        return
    for refusal in tally.refusals[:SHOWN_REFUSALS]:
        click.echo(f"line {refusal.line}: {refusal.error}: {refusal.message}")
    if len(tally.refusals) > SHOWN_REFUSALS:
        click.echo(f"... and {len(tally.refusals) - SHOWN_REFUSALS} more; -o json lists all")
    total = tally.accepted + tally.duplicates + len(tally.refusals)
    click.echo(
        f"{total} events in {seconds:.1f} s: {tally.accepted} new, {tally.duplicates} duplicates, "
        f"{len(tally.refusals)} refused"
    )
