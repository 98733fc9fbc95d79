"""The root of what can go wrong with a judgement; each rule defines its own exceptions below it."""


class VerificationError(Exception):
    """A judgement or decision was not possible. Subclasses name the fact and carry its values."""
