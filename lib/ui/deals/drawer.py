"""The drawer of a package or deal: facts, delivery, history, and actions."""

from collections.abc import Callable

import streamlit as st

from lib.deals.abilities import Abilities, Verb
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals import actions, add_deals, change, delivery, details, gone, history, targeting
from lib.ui.deals.columns import TONES
from lib.ui.deals.places import OPEN, opened
from lib.ui.frame import clock, notes, unsaved
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import reported, show
from lib.ui.supply import catalogue, facts, permission
from lib.ui.supply.rows import KINDS, Key
from lib.wire.errors import NotFound, TrancheError

VERBS: tuple[Verb, ...] = ("create", "change", "delete")
SHOWN, WIDTH = "drawer_shown", 720
FACTS, ADD, TARGETING, DELIVERY = "Facts", "Add deals", "Targeting", "Delivery"
CHANGE, HISTORY = "Change", "History"
Entity = SupplyPackage | DemandDeal


def close() -> None:
    """Close the drawer. A callback."""
    st.query_params.pop(OPEN, None)
    st.session_state.pop(SHOWN, None)


def draw(here: Here) -> None:
    """Draw the drawer of the open package or deal, if any."""
    key = opened()
    if key is None:
        return
    try:
        entity = catalogue.client(here).get(change.MODELS[key[0]], key[1])
    except NotFound:
        close()
        gone.draw(here, key)
        return
    except TrancheError as error:
        show(error, f"{KINDS[key[0]]} {key[1]:d}", "Nothing was changed.")
        return
    icon = ":material/inventory_2:" if key[0] == "supply_deals" else ":material/handshake:"
    title = plain(entity.name or f"{KINDS[key[0]]} {key[1]:d}")
    drawer = st.dialog(title, position="right", width=WIDTH, icon=icon, on_dismiss=close)
    drawer(_content)(here, key)


def _content(here: Here, key: Key) -> None:
    """Draw the content, read again on each run of the drawer so that it is current."""
    with reported(f"{KINDS[key[0]]} {key[1]:d}", "What you typed is kept."):
        try:
            entity = catalogue.client(here).get(change.MODELS[key[0]], key[1])
        except NotFound:
            gone.draw(here, key)
            return
        _sections(here, key, entity)


def _sections(here: Here, key: Key, entity: Entity) -> None:
    """Draw the head and the chosen section."""
    does = permission.of(here)
    may_change = not does.why_not(key[0], "change")
    _head(here, key, entity, does)
    notes.draw()
    actions.problem()
    sections: dict[str, Callable[[], None]] = {
        FACTS: lambda: details.draw(here, entity),
        ADD: lambda: add_deals.draw(here, entity),
        TARGETING: lambda: targeting.draw(here, entity),
        DELIVERY: lambda: delivery.draw(here, key),
        CHANGE: lambda: change.draw(here, key, entity),
        HISTORY: lambda: history.draw(here, key),
    }
    hidden = {
        name
        for name, is_offered in (
            (CHANGE, may_change),
            (ADD, add_deals.is_offered(entity, does)),
            (TARGETING, isinstance(entity, SupplyPackage)),
        )
        if not is_offered
    }
    names = [name for name in sections if name not in hidden]
    if st.session_state.get(SHOWN) not in (None, *names):
        del st.session_state[SHOWN]
    is_unsaved = may_change and change.is_unsaved(here, key)
    shown = st.segmented_control(
        "Section",
        names,
        default=CHANGE if is_unsaved else FACTS,
        format_func=lambda name: f"{plain(name)} •" if name == CHANGE and is_unsaved else plain(name),
        required=True,
        key=SHOWN,
        persist_state="session",
        label_visibility="collapsed",
    )
    sections[shown]()
    unsaved.ask_before(is_unsaved)


def _head(here: Here, key: Key, entity: Entity, does: Abilities) -> None:
    """Draw the status, the kind, the actions, and why other actions are not available."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if entity.status:
            st.badge(plain(entity.status.capitalize()), color=TONES.get(entity.status, "gray"))
        st.caption(f"{KINDS[key[0]]} {key[1]:d}", width="content")
        st.space("stretch")
        actions.draw(here, key, entity, does)
    if reason := does.why_not(key[0], *VERBS):
        st.caption(f":material/lock: {plain(reason)}.")
    if entity.as_of is not None:
        since = facts.moment(entity.as_of.astimezone(clock.zone()))
        st.caption(f":material/history: As last known on {since}; this service can't return a single one.")
