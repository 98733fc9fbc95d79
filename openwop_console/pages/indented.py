"""Stored JSON, as people read it."""

import json


def indented(value: object) -> str:
    """Return a value from the database as indented JSON.

    Not by the fast writer: the database gives back 1e308 as an integer of 309 digits, which that
    refuses, as it does everything beyond 64 bits.
    """
    return json.dumps(value, indent=2, ensure_ascii=False)
