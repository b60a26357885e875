"""Whether a package of this name is there already: said, and no reason not to create another one."""

import unicodedata

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import SupplyPackage
from lib.ui.deals import catalogue
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

FOUND, MOST = "np_same_name", 100


def taken(client: Deals, name: str) -> list[str]:
    """The ids of packages of this name, whatever their case, width and spaces."""
    if not _folded(name):
        return []
    results = list(client.list(SupplyPackage, search=name, limit=MOST).results)
    if len(results) == MOST and client.abilities.finds:
        results += client.list(SupplyPackage, name=name.strip(), limit=MOST).results
    return list(dict.fromkeys(str(one.id) for one in results if _folded(one.name or "") == _folded(name)))


def same(context: PageContext, name: str) -> str:
    """A sentence that names packages of the same name; empty without any, and where that is not known."""
    wanted = name.strip()
    kept: tuple[str, str] | None = st.session_state.get(FOUND)
    if kept is None or kept[0] != wanted:
        kept = st.session_state[FOUND] = (wanted, _looked_up(context, wanted) if wanted else "")
    return kept[1]


def _looked_up(context: PageContext, wanted: str) -> str:
    try:
        found = taken(catalogue.client(context), wanted)
    except TrancheError:
        return ""
    if not found:
        return ""
    which = f"package {found[0]}" if len(found) == 1 else f"packages {', '.join(found)}"
    return f"This name is taken by {which}. You can still use it."


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()
