"""What may be an id: short, printable, and the same to every eye that reads it.

Ids are opaque, in any script. What cannot be seen is refused and never stripped, because stripping
would make two ids one.

Source: OpenWOP run-event.schema.json (v1 lengths); ids.schema.json (v2 tenant-bound run ids).
"""

import re

_TENANT_BOUND = re.compile(r"(?:anon:)?[A-Za-z0-9._~-]{1,128}/[A-Za-z0-9._~-]{16,128}")

RESERVED_PREFIX = "console:"
"""Ids of the lines that the Console itself writes into a run's log."""


def fault_in_id(value: object, most: int) -> str | None:
    """Why a value cannot be an id of at most `most` characters; None if it can."""
    if type(value) is not str:
        return "type"
    if not value or len(value) > most:
        return "schema"
    # Printable leaves out controls, joiners, direction marks, surrogates and every space but one.
    if not value.isprintable() or value[0] == " " or value[-1] == " ":
        return "id_charset"
    return None


def fault_in_event_id(value: object, most: int) -> str | None:
    """Why a value cannot be the id of a host's event; None if it can."""
    fault = fault_in_id(value, most)
    if fault is None and str(value).startswith(RESERVED_PREFIX):
        return "id_reserved"
    return fault


def fault_in_run_id(value: object, most: int) -> str | None:
    """Why a value cannot be a run's id; None if it can. Only a tenant-bound one may be longer."""
    if type(value) is str and len(value) > most and _TENANT_BOUND.fullmatch(value):
        return None
    return fault_in_id(value, most)
