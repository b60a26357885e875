"""Fields of a package or a deal that Tranche does not know or can't read: kept, and shown as JSON."""

from collections.abc import Iterator

import streamlit as st

from lib.deals.models import Resource
from lib.ui.frame.markdown import plain
from lib.ui.supply import facts
from lib.wire import exact


def draw(entity: Resource) -> None:
    """Draw these fields; nothing if all fields are known."""
    for sentence, raw in unread(entity):
        with st.expander(plain(sentence), icon=":material/data_object:"):
            st.code(raw, language="json", wrap_lines=True)
    if others := entity.model_extra:
        with st.expander(f"Other fields ({len(others)})", icon=":material/data_object:"):
            st.caption("The service returns them, and Tranche does not know them. They stay unchanged.")
            st.code(exact.readable(others), language="json", wrap_lines=True)


def unread(entity: Resource) -> Iterator[tuple[str, str]]:
    """A sentence for each field, and its JSON."""
    for name, part in entity.unread.items():
        called = facts.title(name)
        if isinstance(part, list):
            what = f"{len(part)} of {called.lower()}"
            yield f"{what} that Tranche can't read; {_stays(len(part))}", exact.readable(part)
        else:
            yield f"{called}: a value that Tranche can't read; it stays unchanged", exact.readable(part)


def _stays(count: int) -> str:
    return "it stays unchanged" if count == 1 else "they stay unchanged"
