"""Whether a package of this name is there already: said, and no reason not to create another one."""

import streamlit as st

from lib.deals.models import SupplyPackage
from lib.ui.frame.frame import Here
from lib.ui.supply import catalogue
from lib.wire.errors import TrancheError

FOUND, MOST = "np_same_name", 100


def same(here: Here, name: str) -> str:
    """A sentence that names packages of the same name; empty without any, and where that is not known."""
    wanted = name.strip()
    kept: tuple[str, str] | None = st.session_state.get(FOUND)
    if kept is None or kept[0] != wanted:
        kept = st.session_state[FOUND] = (wanted, _looked_up(here, wanted) if wanted else "")
    return kept[1]


def _looked_up(here: Here, wanted: str) -> str:
    try:
        page = catalogue.client(here).list(SupplyPackage, search=wanted, limit=MOST)
    except TrancheError:
        return ""
    found = [str(one.id) for one in page.results if (one.name or "").strip().casefold() == wanted.casefold()]
    if not found:
        return ""
    which = f"package {found[0]}" if len(found) == 1 else f"packages {', '.join(found)}"
    return f"This name is taken by {which}. You can still use it."
