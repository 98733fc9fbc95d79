"""What a host's own documents say about a pause: what it asks, and the token that opens it.

A token is a secret: it is taken from the host's own document for one call and kept nowhere. It is
used only for a pause that the host's log shows to be open.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_LONGEST = 4096


_SECRETS = frozenset({"token", "interruptToken", "callbackUrl", "resumeUrl", "inspectUrl"})


def described_in(
    documents: Iterable[Any], node_id: str, interrupt_id: str = ""
) -> Mapping[str, Any] | None:
    """Return what a host's documents say about a pause, without what opens it; None: nothing."""
    for pause in (each for document in documents for each in _pauses(document)):
        other = pause.get("interruptId")
        is_another = interrupt_id and isinstance(other, str) and other != interrupt_id
        if pause.get("nodeId") == node_id and not is_another:
            said: Mapping[str, Any] = without_secrets(pause)
            return said
    return None


def without_secrets(value: Any) -> Any:
    """Return a JSON value without tokens and the addresses that hold them, at any depth."""
    if isinstance(value, Mapping):
        return {k: without_secrets(v) for k, v in value.items() if k not in _SECRETS}
    if isinstance(value, list):
        return [without_secrets(each) for each in value]
    return value


def token_in(documents: Iterable[Any], node_id: str, interrupt_id: str = "") -> str:
    """Return the token of a pause in a host's documents; empty where none is named.

    Args:
        documents: the run's snapshot, and openwop-app's list of open interrupts.
        node_id: of the pause.
        interrupt_id: of the pause; where both sides name one, they must agree.
    """
    for pause in (each for document in documents for each in _pauses(document)):
        other = pause.get("interruptId")
        if interrupt_id and isinstance(other, str) and other != interrupt_id:
            continue
        if pause.get("nodeId") == node_id:
            for key in ("interruptToken", "token"):
                token = pause.get(key)
                if isinstance(token, str) and 0 < len(token) <= _LONGEST:
                    return token
    return ""


def _pauses(document: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(document, Mapping):
        return
    listed = document.get("interrupts")
    for each in (document.get("interrupt"), *(listed if isinstance(listed, list) else ())):
        if isinstance(each, Mapping):
            yield each
