"""The drawer of one package or deal: its facts, its delivery, its history, and what can be done with it."""

import re
from collections.abc import Callable
from datetime import timedelta, timezone

import streamlit as st

from lib.deals.abilities import Abilities, Verb
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui import leaving
from lib.ui.deals import abilities, actions, catalogue, change, delivery, details, facts, history
from lib.ui.deals.places import OPEN, SAID
from lib.ui.deals.rows import KINDS, Key
from lib.ui.deals.table import COLORS
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.problems import show, told
from lib.wire.errors import NotFound, TrancheError

VERBS: tuple[Verb, ...] = ("create", "change", "delete")
SHOWN, WIDTH = "drawer_shown", 720
FACTS, DELIVERY, CHANGE, HISTORY = "Facts", "Delivery", "Change", "History"
ADDRESS = re.compile(r"(supply_deals|demand_deals)-([1-9][0-9]{0,15})")
Entity = SupplyPackage | DemandDeal


def opened() -> Key | None:
    """Which one the URL says is open."""
    found = ADDRESS.fullmatch(st.query_params.get(OPEN, ""))
    return (found[1], int(found[2])) if found else None


def open_one(key: Key) -> None:
    """Let this one be open from the next run on."""
    st.query_params[OPEN] = f"{key[0]}-{key[1]}"


def close() -> None:
    """Let none be open. A callback."""
    st.query_params.pop(OPEN, None)
    st.session_state.pop(SHOWN, None)


def draw(here: Here) -> None:
    """The drawer of the one that is open, if any."""
    key = opened()
    if key is None:
        return
    try:
        entity = catalogue.client(here).get(change.MODELS[key[0]], key[1])
    except NotFound:
        close()
        catalogue.forget()
        st.warning(f"{KINDS[key[0]]} {key[1]} is not there any more.", icon=":material/link_off:")
        return
    except TrancheError as error:
        show(error, f"{KINDS[key[0]]} {key[1]}", "Nothing was changed.")
        return
    icon = ":material/inventory_2:" if key[0] == "supply_deals" else ":material/handshake:"
    title = plain(entity.name or f"{KINDS[key[0]]} {key[1]}")
    drawer = st.dialog(title, position="right", width=WIDTH, icon=icon, on_dismiss=close)
    drawer(_content)(here, key)


def _content(here: Here, key: Key) -> None:
    """Read anew on each run of the drawer, so that it shows what is there now."""
    with told(f"{KINDS[key[0]]} {key[1]}", "What you typed is kept."):
        _sections(here, key, catalogue.client(here).get(change.MODELS[key[0]], key[1]))


def _sections(here: Here, key: Key, entity: Entity) -> None:
    """Its head, and the section that is chosen."""
    if said := st.session_state.pop(SAID, None):
        st.toast(said)
    does = abilities.of(here)
    may_change = not does.why_not(key[0], "change")
    _head(here, key, entity, does)
    actions.problem()
    sections: dict[str, Callable[[], None]] = {
        FACTS: lambda: details.draw(here, entity),
        DELIVERY: lambda: delivery.draw(here, key),
        CHANGE: lambda: change.draw(here, key, entity),
        HISTORY: lambda: history.draw(here, key),
    }
    names = [name for name in sections if may_change or name != CHANGE]
    if st.session_state.get(SHOWN) not in (None, *names):
        del st.session_state[SHOWN]
    unsaved = may_change and change.is_unsaved(here, key)
    shown = st.segmented_control(
        "Section",
        names,
        default=CHANGE if unsaved else FACTS,
        format_func=lambda name: f"{name} •" if name == CHANGE and unsaved else name,
        required=True,
        key=SHOWN,
        persist_state="session",
        label_visibility="collapsed",
    )
    sections[shown]()
    leaving.ask_before(unsaved)


def _head(here: Here, key: Key, entity: Entity, does: Abilities) -> None:
    """The status, what it is, what can be done, and why the rest can't."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if entity.status:
            st.badge(entity.status.capitalize(), color=COLORS.get(entity.status, "gray"))
        st.caption(f"{KINDS[key[0]]} {key[1]}", width="content")
        st.space("stretch")
        actions.draw(here, key, entity, does)
    if reason := does.why_not(key[0], *VERBS):
        st.caption(f":material/lock: {plain(reason)}.")
    if entity.as_of is not None:
        since = facts.moment(entity.as_of.astimezone(_zone()))
        st.caption(f":material/history: As it was known on {since}; this service does not show it by itself.")


def _zone() -> timezone:
    """The zone of the reader's clock."""
    return timezone(-timedelta(minutes=st.context.timezone_offset or 0))
