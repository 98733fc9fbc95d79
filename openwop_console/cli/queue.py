"""`queue`: the reviewer queue from a terminal, through the API, as the person whose token it is."""

import json
import uuid
from typing import Any

import click
import httpx

from openwop_console.cli.instance import card
from openwop_console.cli.options import data_dir, output, show_json, show_table
from openwop_console.supervisor.folder import Folder

_TIMEOUT_S = 30


class Caller:
    """Calls the API of a Console as one person."""

    def __init__(self, url: str, token: str) -> None:
        if not token:
            raise click.ClickException(
                "Say who you are: --token or OPENWOP_CONSOLE_TOKEN. `tokens create` makes one."
            )
        self._url, self._headers = url.rstrip("/"), {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer's document; what is refused ends the command with its sentence."""
        headers = {**self._headers, "Idempotency-Key": str(uuid.uuid4())}
        try:
            answer = httpx.request(
                method, f"{self._url}/api/v1{path}", json=body, headers=headers,
                timeout=_TIMEOUT_S,
            )  # fmt: skip
        except httpx.HTTPError as error:
            reason = type(error).__name__
            raise click.ClickException(f"{self._url} cannot be reached: {reason}.") from error
        try:
            document = answer.json()
        except ValueError as error:
            raise click.ClickException(f"The answer is no JSON ({answer.status_code}).") from error
        if answer.is_error:
            raise click.ClickException(str(document.get("message", answer.status_code)))
        return document


def as_person(command: Any) -> Any:
    """Add `--url` and `--token`, handed over as the `Caller` argument `caller`."""

    @data_dir
    @click.option("--url", envvar="OPENWOP_CONSOLE_URL", help="[default: the running Console's]")
    @click.option("--token", envvar="OPENWOP_CONSOLE_TOKEN", help="[env: OPENWOP_CONSOLE_TOKEN]")
    def run(folder: Folder, url: str | None, token: str | None, **more: Any) -> Any:
        return command(caller=Caller(url or str(card(folder)["url"]), token or ""), **more)

    run.__doc__, run.__click_params__ = (  # type: ignore[attr-defined]
        command.__doc__,
        [*getattr(command, "__click_params__", []), *run.__click_params__],  # type: ignore[attr-defined]
    )
    return run


@click.group("queue")
def command() -> None:
    """List, claim, release and resolve escalations, as yourself."""


@command.command("list")
@click.option("--state", default="open", help="open, claimed, resolved, moot, expired.")
@output
@as_person
def show(caller: Caller, state: str, *, as_json: bool) -> None:
    """List escalations, those that wait where nothing else is said."""
    rows = caller.call("GET", f"/escalations?state={state}")["escalations"]
    if as_json:
        show_json(rows)
    else:
        show_table(rows, ["id", "state", "reason", "target", "runId", "dueAt", "claimedBy"])


@command.command("show")
@click.argument("escalation", type=int)
@as_person
def show_one(caller: Caller, escalation: int) -> None:
    """Print one escalation with what can be decided."""
    show_json(caller.call("GET", f"/escalations/{escalation}"))


@command.command("claim")
@click.argument("escalation", type=int)
@as_person
def claim(caller: Caller, escalation: int) -> None:
    """Take an escalation for a while."""
    taken = caller.call("POST", f"/escalations/{escalation}/claim", {})
    actions = ", ".join(each["action"] for each in taken["actions"])
    click.echo(f"Yours until {taken['claimUntil']}. Possible: {actions}.")


@command.command("release")
@click.argument("escalation", type=int)
@as_person
def release(caller: Caller, escalation: int) -> None:
    """Give a claim back."""
    caller.call("POST", f"/escalations/{escalation}/release", {})
    click.echo("Released.")


@command.command("resolve")
@click.argument("escalation", type=int)
@click.argument("action")
@click.option("--reason", default="", help="Stays in the Console.")
@click.option("--feedback", default="", help="Goes to the host.")
@click.option("--answer", "answers", multiple=True, metavar="NAME=VALUE", help="May be repeated.")
@as_person
def resolve(
    caller: Caller, escalation: int, action: str, reason: str, feedback: str,
    answers: tuple[str, ...],
) -> None:  # fmt: skip
    """Decide an escalation that you hold, as it is now. ACTION is one that `claim` lists."""
    now = caller.call("GET", f"/escalations/{escalation}")
    body: dict[str, Any] = {
        "action": action,
        "expectedVersion": now["version"],
        "seenDigest": now["seenDigest"],
        "seenPosition": now["seenPosition"],
    }
    said = {"reason": reason, "feedback": feedback, "answers": _answers(answers)}
    body |= {name: value for name, value in said.items() if value}
    done = caller.call("POST", f"/escalations/{escalation}/resolve", body)
    states = ", ".join(each["state"] for each in done["deliveries"]) or "nothing to deliver"
    click.echo(f"{done['state'].capitalize()}. Delivery: {states}.")


def _answers(given: tuple[str, ...]) -> dict[str, Any]:
    """Return answers by name; a value that is JSON is taken as that."""
    answers: dict[str, Any] = {}
    for each in given:
        name, is_pair, value = each.partition("=")
        if not is_pair:
            raise click.BadParameter(f"{each}: write NAME=VALUE")
        try:
            answers[name] = json.loads(value)
        except ValueError:
            answers[name] = value
    return answers
