"""The plain fields of a package, in the form New package and in the drawer; `prefix` begins their keys."""

import unicodedata
from collections.abc import Collection

import streamlit as st

from lib.deals import fields
from lib.deals.client import Deals
from lib.deals.models import SupplyPackage
from lib.ui.deals import catalogue, inputs
from lib.ui.deals.inputs import Look
from lib.ui.deals.words import OFFSETS, offset
from lib.ui.kit import times
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

START, END, ZONE = "start_date", "end_date", "zone"
SWITCHES = fields.writable(fields.SUPPLY, fields.SWITCH)
PLACED = ("name", "media_type", START, END, *SWITCHES)
OTHERS = tuple(name for name in fields.writable(fields.SUPPLY) if name not in PLACED)
FOUND, MOST = "np_same_name", 100


def draw(
    context: PageContext,
    prefix: str,
    problems: FieldProblems,
    names: Collection[str],
    old_name: str | None = None,
    disabled: bool = False,
) -> None:
    """The fields among `names`, each with its errors; the name of another package is warned of, unless it
    is the `old_name`."""
    look = Look(disabled=disabled)
    name, media = st.columns([3, 2], vertical_alignment="top")
    with name:
        _draw_field(prefix, "name", problems, look)
        typed = st.session_state.get(f"{prefix}name") or ""
        if typed != old_name and (same := same_name(context, typed)):
            st.caption(f":orange[:material/warning: {plain(same)}]")
    with media:
        if "media_type" in names:
            _draw_field(prefix, "media_type", problems, look)
    _draw_dates(prefix, problems, names, disabled)
    switches = [one for one in SWITCHES if one in names]
    with st.container(horizontal=True, vertical_alignment="center"):
        for one in switches:
            inputs.draw(one, prefix + one, look)
        dates = {fields.BY_NAME[one].title: prefix + one for one in (START, END) if one in names}
        times.calendar(dates, f"{prefix}calendar", disabled=disabled)
    beside(text for one in switches for text in problems.at(one))
    for one in OTHERS:
        if one in names:
            _draw_field(prefix, one, problems, look)


def same_name(context: PageContext, name: str) -> str:
    """A sentence that names packages of the same name; empty without any, and where that is not known."""
    stripped = name.strip()
    cached: tuple[str, str] | None = st.session_state.get(FOUND)
    if cached is None or cached[0] != stripped:
        cached = st.session_state[FOUND] = (stripped, _look_up(context, stripped) if stripped else "")
    return cached[1]


def of_name(client: Deals, name: str) -> list[str]:
    """The ids of packages of this name, whatever their case, width and spaces."""
    if not folded(name):
        return []
    results = list(client.list(SupplyPackage, search=name, limit=MOST).results)
    if len(results) == MOST and client.abilities.finds:
        results += client.list(SupplyPackage, name=name.strip(), limit=MOST).results
    return list(dict.fromkeys(str(one.id) for one in results if folded(one.name or "") == folded(name)))


def folded(name: str) -> str:
    """A name as names are compared."""
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()


def _look_up(context: PageContext, name: str) -> str:
    try:
        found = of_name(catalogue.client(context), name)
    except TrancheError:
        return ""
    if not found:
        return ""
    which = f"package {found[0]}" if len(found) == 1 else f"packages {', '.join(found)}"
    return f"This name is taken by {which}. You can still use it."


def _draw_field(prefix: str, name: str, problems: FieldProblems, look: Look) -> None:
    inputs.draw_with_faults(name, prefix + name, problems.at(name), look)


def _draw_dates(prefix: str, problems: FieldProblems, names: Collection[str], disabled: bool) -> None:
    start, end, zone = st.columns([2, 2, 1], vertical_alignment="top")
    with start:
        if START in names:
            _draw_field(prefix, START, problems, Look(disabled=disabled))
    with end:
        if END in names:
            _draw_field(prefix, END, problems, Look(disabled=disabled, placeholder="no end"))
    with zone:
        key = prefix + ZONE
        offsets = sorted({*OFFSETS, st.session_state.get(key) or 0})
        st.selectbox(
            "Time zone", offsets, format_func=offset, key=key, persist_state="session", disabled=disabled
        )
