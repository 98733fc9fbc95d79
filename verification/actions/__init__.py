"""Writes of more than one row: keyword-only, atomic, each naming who acts."""
