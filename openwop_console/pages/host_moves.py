"""What administrators do on a host's page; each ends in a redirect: a reload repeats nothing."""

from collections.abc import Callable, Mapping

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone

from openwop_console.pages import shown_once
from openwop_console.pages.host_form import AddressForm
from openwop_console.pages.settings_frame import person_of
from openwop_console.pages.shown_once import Secret
from runs.actions.due import look_at_host
from runs.models import Host, HostKey
from runs.sealing import SealBroken
from verification.actions.audit import actor_of
from verification.actions.connecting import ask_for_test
from verification.actions.host_settings import (
    KeyNeeded,
    connect_host,
    create_key,
    revoke_key,
    rotate_secret,
)
from verification.actions.subscribing import subscribe, unsubscribe
from verification.domain.subscriptions import NotSubscribed

_OLD_SECRET = "The old one is good for a day more, so that the host can change over."  # noqa: S105


def act(request: HttpRequest, found: Host, do: str) -> bool:
    """Make a move and say whether there is one of that name.

    Args:
        request: of an administrator of the host's workspace.
        found: a host that is not the Console's own.
        do: the name of the button.
    """
    move = _MOVES.get(do)
    if move is not None:
        move(request, found)
    return move is not None


def connected(request: HttpRequest, found: Host, form: AddressForm) -> bool:
    """Keep where the host answers; false where the form says why not."""
    given = form.cleaned_data
    key = given["api_key"] or None
    try:
        connect_host(
            host=found,
            by=_by(request),
            base_url=given["base_url"],
            api_key=key,
            tenant=given["tenant"],
        )
    except (SealBroken, KeyNeeded) as refused:
        form.add_error("api_key", str(refused))
        return False
    messages.success(request, "Saved. A worker reads the host now." if found.base_url else "Saved.")
    return True


def _test(request: HttpRequest, found: Host) -> None:
    ask_for_test(host=found, by=_by(request))


def _key(request: HttpRequest, found: Host) -> None:
    _show_once(request, found, Secret("new key", create_key(host=found, by=_by(request))))


def _secret(request: HttpRequest, found: Host) -> None:
    made = rotate_secret(host=found, by=_by(request))
    _show_once(request, found, Secret("new webhook secret", made, _OLD_SECRET))


def _revoke(request: HttpRequest, found: Host) -> None:
    key = get_object_or_404(HostKey, host=found, key_id=request.POST.get("key", ""))
    revoke_key(key_id=key.key_id, by=_by(request))
    messages.success(request, f"Key {key.key_id} is refused from now on.")


def _read(request: HttpRequest, found: Host) -> None:
    if not settings.PULL or not found.base_url:
        messages.error(request, "The Console does not know where this host answers.")
        return
    look_at_host(host=found, now=timezone.now())
    messages.success(request, "A worker reads the host now. Reload to see how that went.")


def _subscribe(request: HttpRequest, found: Host) -> None:
    try:
        subscribe(host=found, by=_by(request))
    except NotSubscribed as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The host delivers its events here from now on, signed.")


def _unsubscribe(request: HttpRequest, found: Host) -> None:
    try:
        unsubscribe(host=found, by=_by(request))
    except NotSubscribed as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The host delivers here no more.")


_MOVES: Mapping[str, Callable[[HttpRequest, Host], None]] = {
    "test": _test,
    "key": _key,
    "secret": _secret,
    "revoke": _revoke,
    "read": _read,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
}


def _show_once(request: HttpRequest, found: Host, secret: Secret) -> None:
    shown_once.keep(request, page=f"host:{found.slug}", secrets=[secret])


def _by(request: HttpRequest) -> str:
    return actor_of(person_of(request))
