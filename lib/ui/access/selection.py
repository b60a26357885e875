"""Widget keys for tables with a selection: Streamlit selects by position, so other rows need another key."""

import hashlib
from collections.abc import Hashable, Iterable


def key(prefix: str, rows: Iterable[Hashable]) -> str:
    """The key of a table with these rows; a selection among other rows is dropped."""
    digest = hashlib.sha256(repr([*rows]).encode()).hexdigest()
    return f"{prefix}_{digest[:16]}"
