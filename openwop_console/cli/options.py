"""Options and output shapes that several commands share."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click

from openwop_console.supervisor.folder import PROJECT, Folder

_Command = TypeVar("_Command", bound=Callable[..., object])


def data_dir(command: _Command) -> _Command:
    """Add `--data-dir`, handed over as the `Folder` argument `folder`."""
    return click.option(
        "--data-dir",
        "folder",
        envvar="DATA_DIR",
        default=str(PROJECT / "var"),
        metavar="PATH",
        callback=lambda ctx, param, value: Folder(Path(value).absolute()),
        help="Folder of the Console's own files. [env: DATA_DIR; default: ./var]",
    )(command)


def output(command: _Command) -> _Command:
    """Add `-o table|json`, and `--json` for short, handed over as `as_json`."""

    def chosen(ctx: click.Context, param: click.Parameter, value: str) -> bool:
        return value == "json"

    for option in (
        click.option("--json", "as_json", flag_value="json", callback=chosen, help="Print JSON."),
        click.option(
            "-o",
            "--output",
            "as_json",
            type=click.Choice(["table", "json"]),
            default="table",
            callback=chosen,
            help="How to print. [default: table]",
        ),
    ):
        command = option(command)
    return command


def reaching(command: _Command) -> _Command:
    """Add `--url` and `--key`: which Console is asked, and as which host."""
    for option in (
        click.option(
            "--url",
            envvar="OPENWOP_CONSOLE_URL",
            help="The Console's address. [env: OPENWOP_CONSOLE_URL; default: the one on DATA_DIR]",
        ),
        click.option(
            "--key",
            envvar=["OPENWOP_CONSOLE_API_KEY", "OPENWOP_CONSOLE_KEY"],
            help="Host key. [env: OPENWOP_CONSOLE_API_KEY; default: the first host's]",
        ),
    ):
        command = option(command)
    return command


def moment(at: datetime | None) -> str | None:
    """Return a time as every command writes it, in UTC."""
    return None if at is None else f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def show_json(content: object) -> None:
    """Print a value as JSON: indented for a person, one line for a pipe."""
    click.echo(json.dumps(content, indent=2 if os.isatty(1) else None, default=str))


def show_table(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    """Print rows under their column names, each column as wide as its widest cell."""
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for line in ([name.upper() for name in columns], *cells):
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


def _cell(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return "-" if value in {None, ""} else str(value)
