"""The admin's form for models that jobs may use. A key goes in, is sealed, and never comes out."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from runs.sealing import seal
from verification.models import CataloguedModel

if TYPE_CHECKING:
    _Form = forms.ModelForm[CataloguedModel]
    _Admin = admin.ModelAdmin[CataloguedModel]
else:  # Django's classes take no parameters when they run
    _Form, _Admin = forms.ModelForm, admin.ModelAdmin


class CataloguedModelForm(_Form):
    """A model, with its key write-only."""

    base_url = forms.URLField(
        label="Base URL",
        required=False,
        assume_scheme="https",
        help_text="Empty: the provider's own address.",
    )
    new_key = forms.CharField(
        label="New key",
        required=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="Empty: the key in force stays. It is never shown again.",
    )
    forget_key = forms.BooleanField(label="Forget the key", required=False)

    class Meta:
        """What is edited."""

        model = CataloguedModel
        fields = ("name", "provider", "model", "base_url", "has_schemas", "is_enabled")


@admin.register(CataloguedModel)
class CataloguedModelAdmin(_Admin):
    """The list and the form."""

    form = CataloguedModelForm
    list_display = ("name", "provider", "model", "has_key", "is_enabled", "changed_at")
    fields = (*CataloguedModelForm.Meta.fields, "new_key", "forget_key")

    @admin.display(boolean=True, description="Key")
    def has_key(self, row: CataloguedModel) -> bool:
        """Say whether there is a key."""
        return bool(row.sealed_key)

    def save_model(
        self, request: HttpRequest, obj: CataloguedModel, form: Any, change: bool
    ) -> None:
        """Seal the key, if one was given, and remember who changed it."""
        if form.cleaned_data["new_key"]:
            obj.sealed_key = seal(form.cleaned_data["new_key"])
        elif form.cleaned_data["forget_key"]:
            obj.sealed_key = b""
        obj.changed_by_id = request.user.pk
        super().save_model(request, obj, form, change)
