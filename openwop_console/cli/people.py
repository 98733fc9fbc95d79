"""`people`: who may sign in, and what they may do."""

import click

from openwop_console.cli.instance import adopt
from openwop_console.cli.options import data_dir, output, show_json, show_table
from openwop_console.supervisor.folder import Folder

ROLES = ("viewer", "operator", "reviewer", "admin", "auditor")


@click.group("people")
def command() -> None:
    """Add people, give them roles, list them."""


@command.command("add")
@click.argument("name")
@click.option("--workspace", default="default", show_default=True, help="Slug of the workspace.")
@click.option("--role", type=click.Choice(ROLES), default="viewer", show_default=True)
@click.option("--email", default="", help="Where notifications go.")
@output
@data_dir
def add(folder: Folder, name: str, workspace: str, role: str, email: str, *, as_json: bool) -> None:
    """Add somebody and print their first password. It is shown this once."""
    adopt(folder)
    from runs.actions.people import NameTaken, add_person
    from runs.models import Role, Workspace

    try:
        password = add_person(username=name, email=email, workspace=workspace, role=Role(role))
    except Workspace.DoesNotExist:
        raise click.ClickException(f"There is no workspace {workspace}.") from None
    except NameTaken as taken:
        raise click.ClickException(str(taken)) from None
    if as_json:
        show_json({"username": name, "password": password})
    else:
        click.echo(f"{name} signs in with the password {password}")


@command.command("grant")
@click.argument("name")
@click.option("--workspace", default="default", show_default=True, help="Slug of the workspace.")
@click.option("--role", type=click.Choice(ROLES), required=True)
@data_dir
def grant(folder: Folder, name: str, workspace: str, role: str) -> None:
    """Give somebody a role in a workspace, in place of the one they had."""
    adopt(folder)
    from django.contrib.auth.models import User

    from runs.actions.people import grant as give
    from runs.models import Role, Workspace

    user = User.objects.filter(username=name).first()
    tenant = Workspace.objects.filter(slug=workspace).first()
    if user is None or tenant is None:
        raise click.ClickException(f"There is no {workspace if user else name}.")
    give(user=user, workspace=tenant, role=Role(role))


@command.command("admin")
@click.argument("name")
@click.password_option(help="Asked for when not given.")
@data_dir
def admin(folder: Folder, name: str, password: str) -> None:
    """Make sure that an administrator of this name and password exists."""
    adopt(folder)
    from runs.actions.people import ensure_admin

    ensure_admin(username=name, password=password)


@command.command("list")
@output
@data_dir
def show(folder: Folder, *, as_json: bool) -> None:
    """List people and their roles."""
    adopt(folder)
    from runs.models import Membership

    members = Membership.objects.select_related("user", "workspace")
    rows = [
        {"name": each.user.username, "workspace": each.workspace.slug, "role": each.role}
        for each in members.order_by("user__username", "workspace__slug")
    ]
    if as_json:
        show_json(rows)
    else:
        show_table(rows, ["name", "workspace", "role"])
