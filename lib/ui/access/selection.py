"""What is chosen in a table is known by its place alone: so a table of other rows has another key."""

import hashlib
from collections.abc import Hashable, Iterable


def key(prefix: str, rows: Iterable[Hashable]) -> str:
    """The key of a table with these rows; what was chosen among others is forgotten with theirs."""
    digest = hashlib.sha256(repr([*rows]).encode()).hexdigest()
    return f"{prefix}_{digest[:16]}"
