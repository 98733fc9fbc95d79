"""`worker`: one more Celery worker, or the only one of a container."""

import os
import sys

import click

from openwop_console.cli.instance import point_at
from openwop_console.cli.options import data_dir
from openwop_console.supervisor.folder import Folder
from openwop_console.supervisor.programs import worker_words


@click.command("worker", context_settings={"ignore_unknown_options": True})
@data_dir
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True)
@click.argument("celery_words", nargs=-1, type=click.UNPROCESSED)
def command(folder: Folder, processes: int, celery_words: tuple[str, ...]) -> None:
    """Run one Celery worker in the foreground.

    Further words go to Celery as they are, such as `--queues jobs`.
    """
    point_at(folder)
    words = [sys.executable, *worker_words(processes), *celery_words]
    os.execv(sys.executable, words)  # noqa: S606  (no shell is meant)
