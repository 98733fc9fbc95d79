"""The forms of a host: to add one, and to say where one answers."""

from typing import Any

from django import forms

from runs.domain.destinations import Refused, read_url
from runs.domain.tenants import is_tenant
from runs.models import Host, Workspace


class AddressForm(forms.Form):
    """Where a host answers, and what the Console presents to it."""

    base_url = forms.CharField(
        max_length=512,
        required=False,
        label="Base URL",
        help_text="Where it answers, without /v1. Empty: it only sends.",
        widget=forms.TextInput(attrs={"class": "input", "inputmode": "url"}),
    )
    api_key = forms.CharField(
        max_length=1024,
        required=False,
        label="Its API key",
        help_text="What the Console presents to it, to read runs and to answer. Not shown again.",
        widget=forms.PasswordInput(attrs={"class": "input", "autocomplete": "off"}),
    )

    tenant = forms.CharField(
        max_length=134,
        required=False,
        help_text="OpenWOP tenant of its run ids. Empty: any; otherwise others' are refused.",
        widget=forms.TextInput(attrs={"class": "input"}),
    )

    def clean_tenant(self) -> str:
        """Refuse what is no tenant."""
        tenant = str(self.cleaned_data.get("tenant") or "").strip()
        if tenant and not is_tenant(tenant):
            raise forms.ValidationError("A tenant is 1 to 128 of the characters A-Za-z0-9._~-.")
        return tenant

    def clean_base_url(self) -> str:
        """Refuse what could never be connected to; where it leads is judged at every call."""
        url = str(self.cleaned_data.get("base_url") or "").strip().rstrip("/")
        read = read_url(url) if url else None
        if isinstance(read, Refused):
            raise forms.ValidationError(read.words)
        if read is not None and ("?" in read.path or read.path.endswith("/v1")):
            raise forms.ValidationError("The address ends before /v1, and has no query.")
        return url

    def clean_api_key(self) -> str:
        """Refuse what cannot be put in a header."""
        key = str(self.cleaned_data.get("api_key") or "").strip()
        if not key.isascii() or not key.isprintable():
            raise forms.ValidationError("A key is made of plain ASCII characters.")
        return key


class NewHostForm(AddressForm):
    """A host that is to be added."""

    name = forms.CharField(
        max_length=128,
        help_text="What people call it; its id is made from it.",
        widget=forms.TextInput(attrs={"class": "input"}),
    )
    workspace = forms.ChoiceField(widget=forms.Select(attrs={"class": "input"}))
    protocol = forms.TypedChoiceField(
        choices=[(1, "OpenWOP v1"), (2, "OpenWOP v2")],
        coerce=int,
        initial=1,
        help_text="What it advertises decides, once it was asked.",
        widget=forms.Select(attrs={"class": "input"}),
    )
    field_order = ("name", "workspace", "protocol", "base_url", "api_key", "tenant")

    def __init__(self, *args: Any, workspaces: list[Workspace], **more: Any) -> None:
        """Offer the workspaces that the person administers."""
        super().__init__(*args, **more)
        field = self.fields["workspace"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101
        field.choices = [(each.slug, each.name) for each in workspaces]


def address_form(host: Host, data: Any = None) -> AddressForm:
    """Return the form of where a host answers; its key is not in it, and empty keeps it."""
    form = AddressForm(data, initial={"base_url": host.base_url, "tenant": host.tenant})
    if host.sealed_api_key:
        form.fields["api_key"].help_text = "Empty keeps the one that is held."
    return form
