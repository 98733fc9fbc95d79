"""Which passes are looked at by a person although nothing is wrong with them.

The choice is a digest of what the pass is about: the same for whoever asks, however often, and not
to be foreseen by a host that does not know the Console's salt.
"""

import hashlib

_WHOLE = 2**64


def is_sampled(about: str, percent: float, salt: str = "") -> bool:
    """Say whether a pass is in the share.

    Args:
        about: host, run and target.
        percent: 0 to 100.
        salt: the Console's own.
    """
    drawn = int.from_bytes(hashlib.sha256(f"{salt}:{about}".encode()).digest()[:8], "big")
    return drawn < _WHOLE * min(max(percent, 0.0), 100.0) / 100
