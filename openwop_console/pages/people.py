"""Who may come in: the people of a workspace for its administrators, and one's own password."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from openwop_console.pages import shown_once
from openwop_console.pages.settings_frame import person_of, tabs, workspace_of
from openwop_console.pages.shown_once import Secret
from runs.actions.people import NameTaken
from runs.models import Membership, Role, Workspace
from verification.actions import people_settings
from verification.domain.errors import VerificationError

_TAB = "settings-people"
_INPUT = {"class": "input"}


class PersonForm(forms.Form):
    """Somebody new."""

    username = forms.CharField(
        max_length=150,
        label="User name",
        validators=[User.username_validator],
        widget=forms.TextInput(attrs={**_INPUT, "autocomplete": "off", "spellcheck": "false"}),
    )
    email = forms.EmailField(
        max_length=254,
        required=False,
        label="E-mail",
        help_text="For messages, if they want any.",
        widget=forms.EmailInput(attrs={**_INPUT, "autocomplete": "off"}),
    )
    role = forms.ChoiceField(
        choices=Role.choices, initial=Role.REVIEWER.value, widget=forms.Select(attrs=_INPUT)
    )


class PasswordForm(PasswordChangeForm):
    """The old password and a new one, twice."""

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.update(_INPUT)
            field.help_text = ""
        self.fields["new_password1"].help_text = "Twelve characters or more."


@require_http_methods(["GET", "POST"])
@never_cache
def view(request: HttpRequest) -> HttpResponse:
    """List the people of a workspace, and add somebody; the first password is shown once."""
    workspace = workspace_of(request)
    form = PersonForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _add(request, workspace, form):
        return _back(workspace)
    wanted = request.GET.get("sure", "")
    members = Membership.objects.filter(workspace=workspace).select_related("user")
    shown = {
        "tabs": tabs(request, _TAB),
        "workspace": workspace,
        "form": form,
        "members": members.order_by("user__username"),
        "roles": Role.choices,
        "made": shown_once.taken(request, page="people"),
        "sure": members.filter(pk=int(wanted[:18])).first() if wanted.isdecimal() else None,
        "do": request.GET.get("do", ""),
    }
    return render(request, "settings/people.html", shown, status=422 if form.errors else 200)


@require_POST
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a member another role or a new password, or take them out."""
    workspace = workspace_of(request)
    rows = Membership.objects.select_related("user", "workspace")
    member: Membership = get_object_or_404(rows, pk=pk, workspace=workspace)
    try:
        told = _done(request, member)
    except VerificationError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, told)
    return _back(workspace)


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@never_cache
def password(request: HttpRequest) -> HttpResponse:
    """Let somebody change their password; this session goes on, their others end."""
    person = person_of(request)
    form = PasswordForm(person, request.POST or None)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["new_password1"]
        people_settings.change_own_password(user=person, password=chosen)
        update_session_auth_hash(request, person)
        messages.success(request, "Your password is changed. Your other sessions have ended.")
        return redirect("settings-profile")
    shown = {"tabs": tabs(request, "settings-profile"), "form": form}
    return render(request, "settings/password.html", shown, status=422 if form.errors else 200)


def _add(request: HttpRequest, workspace: Workspace, form: PersonForm) -> bool:
    given = form.cleaned_data
    try:
        made = people_settings.add_person(
            workspace=workspace,
            by=person_of(request),
            username=given["username"],
            email=given["email"],
            role=Role(given["role"]),
        )
    except NameTaken as taken:
        form.add_error("username", str(taken))
        return False
    _keep(request, given["username"], made)
    return True


def _done(request: HttpRequest, member: Membership) -> str:
    by, name = person_of(request), member.user.get_username()
    match request.POST.get("do"):
        case "role" if request.POST.get("role") in Role.values:
            role = Role(request.POST["role"])
            people_settings.set_role(member=member, by=by, role=role)
            return f"{name} is {role.label.lower()} now."
        case "password":
            _keep(request, name, people_settings.new_password(member=member, by=by))
            return f"{name} has a new password; the old one and all sessions have ended."
        case "remove":
            people_settings.remove_person(member=member, by=by)
            return f"{name} is not in {member.workspace.name} any more."
        case _:
            return "Nothing was changed."


def _keep(request: HttpRequest, name: str, made: str) -> None:
    note = "Hand it over in a safe way; they can change it under Settings, Profile."
    shown_once.keep(request, page="people", secrets=[Secret(f"password of {name}", made, note)])


def _back(workspace: Workspace) -> HttpResponse:
    return redirect(f"{reverse(_TAB)}?workspace={workspace.slug}")
