"""One's own settings: personal tokens, and how one wants to be told of things."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from openwop_console.frame import back_to
from openwop_console.pages import shown_once
from openwop_console.pages.settings_frame import person_of, tabs
from openwop_console.pages.shown_once import Secret
from runs.domain.destinations import Refused, read_url
from verification.actions.notifying import mark_read, set_wish
from verification.actions.tokens import create_token, revoke_token
from verification.domain.notifying import Mode
from verification.models import PersonalToken, Wish


class TokenForm(forms.Form):
    """A new token."""

    name = forms.CharField(
        max_length=64,
        help_text="What it is for.",
        widget=forms.TextInput(attrs={"class": "input"}),
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=3650,
        required=False,
        help_text="Empty: no end.",
        widget=forms.NumberInput(attrs={"class": "input"}),
    )


class WishForm(forms.Form):
    """How a person wants to be told."""

    mode = forms.ChoiceField(choices=[(mode.value, mode.value) for mode in Mode])
    by_mail = forms.BooleanField(required=False)
    webhook_url = forms.CharField(max_length=512, required=False, label="Webhook address")
    webhook_form = forms.ChoiceField(choices=[("slack", "Slack"), ("plain", "Plain")])

    def clean_webhook_url(self) -> str:
        """Refuse what could never be connected to; where it leads is judged at every message."""
        url = str(self.cleaned_data.get("webhook_url") or "").strip()
        read = read_url(url) if url else None
        if isinstance(read, Refused):
            raise forms.ValidationError(read.words)
        return url


@require_http_methods(["GET", "POST"])
@never_cache
def view(request: HttpRequest) -> HttpResponse:
    """Show one's tokens, and make one; its secret is shown this once."""
    person = person_of(request)
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        days = form.cleaned_data["days"]
        end = timezone.now() + timedelta(days=days) if days else None
        made = create_token(user=person, name=form.cleaned_data["name"], expires_at=end)
        shown_once.keep(request, page="profile", secrets=[Secret("token", made)])
        return redirect("settings-profile")
    tokens = PersonalToken.objects.filter(user=person).order_by("-created_at")
    wanted = request.GET.get("revoke", "")
    shown = {
        "tabs": tabs(request, "settings-profile"),
        "form": form,
        "made": shown_once.taken(request, page="profile"),
        "sure": tokens.filter(token_id=wanted, revoked_at=None).first() if wanted else None,
        "tokens": tokens,
    }
    return render(request, "settings/profile.html", shown, status=422 if form.errors else 200)


@require_POST
def revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    """Stop one of one's tokens at once."""
    try:
        revoke_token(user=person_of(request), token_id=token_id)
    except PersonalToken.DoesNotExist:
        raise Http404 from None
    messages.success(request, "The token is revoked.")
    return redirect("settings-profile")


@require_http_methods(["GET", "POST"])
def notifications(request: HttpRequest) -> HttpResponse:
    """Show and keep how one wants to be told."""
    person = person_of(request)
    wish = Wish.objects.filter(user=person).first() or Wish(user=person)
    known = {name: getattr(wish, name) for name in WishForm.base_fields}
    form = WishForm(request.POST or None, initial=known)
    if request.method == "POST" and form.is_valid():
        set_wish(user=person, **form.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("settings-notifications")
    shown: dict[str, Any] = {
        "tabs": tabs(request, "settings-notifications"), "form": form, "mail": person.email,
    }  # fmt: skip
    return render(request, "settings/notifications.html", shown)


@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    """Mark everything under the bell as read."""
    mark_read(user=person_of(request), now=timezone.now())
    return back_to(request.POST.get("next", ""), otherwise="queue")
