"""`demo`: real work from a small host, through the doors every host uses."""

import click

from openwop_console.cli.instance import card, point_at
from openwop_console.cli.options import data_dir
from openwop_console.supervisor.folder import Folder


@click.command("demo")
@data_dir
def command(folder: Folder) -> None:
    """Play a few minutes of real work into the running Console.

    A small host starts on this machine and executes scripted runs of several agents: one passes its
    critic, one fails and waits for a person, one is revised, one gives up, one asks a question.
    """
    url = str(card(folder)["url"])
    point_at(folder)
    from openwop_console.demo import play

    try:
        play.main(url, folder.path)
    except play.AlreadyPlaying as error:
        raise click.ClickException(str(error)) from None
