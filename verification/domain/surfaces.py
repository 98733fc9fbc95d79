"""Which token opens the second of a host's two resolve surfaces, where it lacks the first.

A token is a secret: it is taken from the host's own document for one call and kept nowhere. It is
used only for a pause that the host's log shows to be open.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_LONGEST = 4096


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
