"""Where in a document something is wrong, said without repeating the document.

A JSON Pointer is made of the sender's own keys, and a key can carry a sentence as well as a value
can. So a pointer names keys only as long as they look like field names and stops at the first that
does not.
"""

import re
from collections.abc import Iterable

_FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")

Step = str | int
"""One step into a document: the key of an object or the index of an array."""


def pointer(path: Iterable[Step]) -> str:
    """An RFC 6901 pointer to `path`, or to its nearest parent that can be named.

    Source: RFC 6901 §3. No escaping is needed: a field name holds neither `~` nor `/`.
    """
    steps = []
    for step in path:
        if isinstance(step, str) and not _FIELD_NAME.fullmatch(step):
            break
        steps.append(f"/{step}")
    return "".join(steps)
