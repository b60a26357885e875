"""Packages that have the name of another one already."""

import unicodedata

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import SupplyPackage
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

CACHE, MOST = "np_same_name", 100


def warning(context: PageContext, name: str) -> str:
    """A sentence that names packages of this name; empty without any, and where that is not known."""
    text = name.strip()
    cached: tuple[str, str] | None = st.session_state.get(CACHE)
    if cached is None or cached[0] != text:
        cached = st.session_state[CACHE] = (text, _look_up(context, text) if text else "")
    return cached[1]


def ids_of_name(client: Deals, name: str) -> list[str]:
    """The ids of packages of this name, whatever their case, width and spaces."""
    if not _fold(name):
        return []
    results = list(client.list(SupplyPackage, search=name, limit=MOST).results)
    if len(results) == MOST and client.abilities.finds:
        results += client.list(SupplyPackage, name=name.strip(), limit=MOST).results
    return list(
        dict.fromkeys(str(package.id) for package in results if _fold(package.name or "") == _fold(name))
    )


def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()


def _look_up(context: PageContext, name: str) -> str:
    try:
        ids = ids_of_name(context.deals, name)
    except TrancheError:
        return ""
    if not ids:
        return ""
    which = f"package {ids[0]}" if len(ids) == 1 else f"packages {', '.join(ids)}"
    return f"This name is taken by {which}. You can still use it."
