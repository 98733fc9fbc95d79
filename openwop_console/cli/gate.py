"""`gate`: one word about a result, as an exit code.

Exit codes are the command's answer, so nothing else may use them: a wrong option, a missing Console
and a crash all end with 5, never with the 1 or 2 that would read as a verdict.
"""

from typing import Any, NoReturn

import click
import httpx

from openwop_console.cli.gate_checking import (
    ERROR,
    EXIT_CODES,
    UNKNOWN,
    NoAnswer,
    Question,
    ask_until,
)
from openwop_console.cli.instance import address_and_key
from openwop_console.cli.options import data_dir, output, reaching, show_json
from openwop_console.supervisor.folder import Folder


class FailsClosed(click.Command):
    """A command that ends with code 5 whatever goes wrong in it."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line."""
        try:
            return super().make_context(*args, **kwargs)
        except click.ClickException as error:
            error.exit_code = ERROR  # type: ignore[misc]  # click asks the instance
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except click.exceptions.Exit:
            raise
        except click.ClickException as error:
            error.exit_code = ERROR  # type: ignore[misc]  # click asks the instance
            raise
        except (KeyboardInterrupt, click.Abort):
            _fail("Interrupted.")
        except Exception as error:
            _fail(f"Something went wrong: {type(error).__name__}.")


@click.group("gate")
def command() -> None:
    """Ask what may be done with a result."""


@command.command("check", cls=FailsClosed)
@click.argument("target")
@click.option("--run", "run_id", default="", metavar="RUN", help="The run that the target is in.")
@click.option("--host", default="", help="Its host, where several have a run of that id.")
@click.option(
    "--wait",
    type=click.FloatRange(0, 24 * 3600),
    default=0.0,
    metavar="SECONDS",
    help="How long to wait for an answer. [default: not at all]",
)
@reaching
@output
@data_dir
@click.pass_context
def check(
    ctx: click.Context,
    folder: Folder,
    target: str,
    run_id: str,
    host: str,
    wait: float,
    url: str | None,
    key: str | None,
    *,
    as_json: bool,
) -> None:
    """Say what may be done with TARGET: the id of a result, child run or tool call.

    Exit code 0: pass. 1: fail. 2: revise. 3: pending, or nobody has said anything about it in time.
    4: unknown, because something is missing or unreadable, or there is no such run. 5: error.
    """
    question = Question(target, run_id, host)
    try:
        with _client(folder, url, key) as client:
            answer = ask_until(client, question, wait)
    except NoAnswer as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        show_json(answer)
    else:
        click.echo(f"{answer['decision']} ({answer['basis']})")
    if answer is UNKNOWN:
        click.echo("The Console knows no such run or target.", err=True)
    elif answer.get("complete") is False:
        click.echo("Events of this run are missing.", err=True)
    ctx.exit(EXIT_CODES[answer["decision"]])


def _client(folder: Folder, url: str | None, key: str | None) -> httpx.Client:
    url, key = address_and_key(folder, url, key)
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"})


def _fail(sentence: str) -> NoReturn:
    click.echo(f"Error: {sentence}", err=True)
    raise click.exceptions.Exit(ERROR)
