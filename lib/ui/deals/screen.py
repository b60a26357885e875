"""The screen Deals: the list, and the drawer of the open package or deal."""

from collections.abc import Callable

import streamlit as st

from lib.deals.abilities import Abilities, Verb
from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight.filters import entries, report_filters
from lib.ui.deals import (
    add_deals,
    bring_in,
    catalogue,
    change,
    clone,
    costs,
    dead,
    delivery,
    details,
    facts,
    history,
    overlap,
    pages,
    per_day,
    permission,
    prices,
    table,
    undo,
)
from lib.ui.deals.columns import TONES
from lib.ui.deals.edits import Fields
from lib.ui.deals.new_package import state
from lib.ui.deals.places import OPEN, SAID, opened
from lib.ui.deals.prices import Prices
from lib.ui.deals.rows import KINDS, Key
from lib.ui.deals.targeting import picker, words
from lib.ui.kit import clock, notes, screens, unsaved
from lib.ui.kit.frame import Here
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import is_open, older, reported, show
from lib.wire.errors import NotFound, TrancheError

Entity = SupplyPackage | DemandDeal

PROBLEM = "action_problem"


def draw_actions(here: Here, key: Key, entity: Entity, does: Abilities) -> None:
    """Draw the buttons."""
    if entity.is_active is not None and not does.why_not(key[0], "change"):
        _pause(here, key, entity)
    if not does.why_not(key[0], "create"):
        clone.draw(here, key, entity)
    if not does.why_not(key[0], "delete"):
        with st.popover("Delete", icon=":material/delete:", key="action_delete"):
            _delete(here, key, entity)


def _pause(here: Here, key: Key, entity: Entity) -> None:
    is_active = bool(entity.is_active)
    st.button(
        "Pause" if is_active else "Resume",
        icon=":material/pause:" if is_active else ":material/play_arrow:",
        key="action_active",
        disabled=(is_over := entity.status == "complete"),
        help="It has ended" if is_over else None,
        on_click=set_active,
        args=(here, key, not is_active, entity.etag),
    )


def problem() -> None:
    """Draw the error of the last action, once."""
    if said := st.session_state.pop(PROBLEM, None):
        st.error(plain(said), icon=":material/error:")


def set_active(here: Here, key: Key, is_active: bool, etag: str | None) -> None:
    """Pause or resume it, unless it changed since it was shown. A callback."""
    if _did(lambda: catalogue.client(here).change(*key, {"is_active": is_active}, etag)):
        st.session_state[SAID] = "Resumed" if is_active else "Paused"
        st.rerun()


def delete(here: Here, key: Key, etag: str | None) -> None:
    """Delete it, unless it changed since it was shown. A callback."""
    if _did(lambda: _gone(here, key, etag)):
        st.query_params.pop(OPEN, None)
        st.session_state[SAID] = f"{KINDS[key[0]]} {key[1]} is deleted"
        st.rerun()


def dependants(entity: Entity) -> list[str]:
    """The entities that keep it from being deleted, by name and id."""
    if isinstance(entity, DemandDeal):
        return []
    return [f"{deal.name or 'Deal'} ({deal.id})" for deal in entity.demand_deals]


def _delete(here: Here, key: Key, entity: Entity) -> None:
    """Draw the entities that depend on it; without any, the button that deletes it."""
    if names := dependants(entity):
        count = f"{len(names)} deal{' depends' if len(names) == 1 else 's depend'}"
        st.markdown(f"**{count} on this package.** It can be deleted once they are deleted or unlinked:")
        st.markdown("\n".join(f"- {plain(name)}" for name in names))
        return
    if isinstance(entity, DemandDeal) and entity.supply_deals:
        packages = ", ".join(plain(one.name or str(one.id)) for one in entity.supply_deals)
        st.markdown(f"The seat loses its access to {packages}.")
    st.markdown("This can't be undone; the history stays.")
    st.button(
        "Delete permanently",
        type="primary",
        key="action_delete_sure",
        on_click=delete,
        args=(here, key, entity.etag),
    )


def _gone(here: Here, key: Key, etag: str | None) -> None:
    """Delete it; a second click that finds it deleted is no error."""
    try:
        catalogue.client(here).remove(*key, etag)
    except NotFound:
        return


def _did(work: Callable[[], None]) -> bool:
    """Run `work` and return whether it succeeded; errors are shown in the drawer."""
    try:
        work()
    except TrancheError as error:
        done = "It may have succeeded" if is_open(error) else "Nothing was changed"
        st.session_state[PROBLEM] = f"{error.reason.rstrip('.')}. {done}."
        return False
    finally:
        catalogue.forget()
    return True


KEPT = "gone_kept"


def draw_gone(here: Here, key: Key) -> None:
    """Draw who deleted it and what becomes of unsaved edits, and let the list be read again.

    Those of a package become the draft of a new one, unless another draft would be lost: then it is asked.
    """
    catalogue.forget()
    said = sentence(here, key)
    st.warning(plain(said), icon=":material/link_off:")
    if key[0] == "demand_deals":
        _list(change.unsaved(here, key), prices.of(here))
    elif change.is_unsaved(here, key):
        if not state.is_held(here.clients.drafts, catalogue.named_lists(here)):
            _keep(here, key, said)
        else:
            st.markdown("New package holds an unfinished draft. What you typed here would replace it.")
            st.button(
                "Replace draft", type="primary", key="gone_replace", on_click=_keep, args=(here, key, said)
            )
    if st.session_state.get(KEPT) == key:
        st.markdown("What you typed is kept as the draft of a new package.")
        st.page_link(screens.NEW_PACKAGE, label="Open the draft", icon=":material/edit:", query_params={})


def sentence(here: Here, key: Key) -> str:
    """Why it can't be shown, by its history, which a service may keep after a deletion."""
    what = f"{KINDS[key[0]]} {key[1]:d}"
    try:
        changes = catalogue.client(here).history(*key)
    except NotFound:
        return f"{what} does not exist."
    except TrancheError:
        return f"{what} does not exist; it may have been deleted."
    if not changes or changes[0].action != "removed":
        return f"{what} does not exist; it may have been deleted."
    return f"{what} was deleted by {changes[0].who} on {facts.moment(changes[0].at)}."


def _keep(here: Here, key: Key, said: str) -> None:
    """Make the edit the draft of a new package. A callback."""
    draft = change.as_draft(here, key[1])
    state.fill(draft, f"{said} This draft has what you typed.")
    state.keep(here.clients.drafts, draft)
    change.forget(key)
    st.session_state[KEPT] = key


def _list(edited: Fields, money: Prices) -> None:
    """Draw the edits of a deal, which no form can take over."""
    if edited:
        lines = [
            f"- {plain(facts.title(name, money))}: {plain(facts.value(name, value))}"
            for name, value in edited.items()
        ]
        st.markdown("\n".join(["What you typed, and was not saved:\n", *lines]))


PLACE = "drawer"


def draw_targeting(here: Here, entity: SupplyPackage | DemandDeal) -> None:
    """The targeting in words, its days and the cost of its targets."""
    if not isinstance(entity, SupplyPackage):
        return
    with reported("The targeting", kept="Nothing was changed."):
        described = picker.described(here, catalogue.usual_days(here), entity)
        lists = entries(catalogue.lists(here))
        st.markdown(plain(words.sentence(entity, None, described)))
        if unread := words.unread(entity):
            st.caption(
                f":material/info: Not counted in, as Tranche can't read it: {plain(', '.join(unread))}."
            )
        translation = report_filters(entity, here.slicer, lists, entity.media_type)
        for sentence in translation.left_out:
            st.caption(f":material/info: Not counted in: {plain(sentence)}")
        per_day.draw(here, f"{PLACE}_days", translation.filters, (entity.start_date, entity.end_date))
        costs.draw(here, PLACE, entity, lists, entity.media_type, described)


VERBS: tuple[Verb, ...] = ("create", "change", "delete")
SHOWN, WIDTH = "drawer_shown", 720
FACTS, ADD, TARGETING, DELIVERY = "Facts", "Add deals", "Targeting", "Delivery"
CHANGE, HISTORY = "Change", "History"


def close() -> None:
    """Close the drawer. A callback."""
    st.query_params.pop(OPEN, None)
    st.session_state.pop(SHOWN, None)


def draw_drawer(here: Here) -> None:
    """Draw the drawer of the open package or deal, if any."""
    key = opened()
    if key is None:
        return
    try:
        entity = catalogue.client(here).get(change.MODELS[key[0]], key[1])
    except NotFound:
        close()
        draw_gone(here, key)
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
            draw_gone(here, key)
            return
        _sections(here, key, entity)


def _sections(here: Here, key: Key, entity: Entity) -> None:
    """Draw the head and the chosen section."""
    does = permission.of(here)
    may_change = not does.why_not(key[0], "change")
    _head(here, key, entity, does)
    notes.draw()
    problem()
    sections: dict[str, Callable[[], None]] = {
        FACTS: lambda: details.draw(here, entity),
        ADD: lambda: add_deals.draw(here, entity),
        TARGETING: lambda: draw_targeting(here, entity),
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
        draw_actions(here, key, entity, does)
    if reason := does.why_not(key[0], *VERBS):
        st.caption(f":material/lock: {plain(reason)}.")
    if entity.as_of is not None:
        since = facts.moment(entity.as_of.astimezone(clock.zone()))
        st.caption(f":material/history: As last known on {since}; this service can't return a single one.")


def draw(here: Here) -> None:
    """Draw the packages or the deals."""
    with reported("The deals", kept="Nothing was changed."):
        does = permission.of(here)
        if does.refuses:
            st.caption(f":material/lock: {plain(does.refuses)}.")
        if not does.lists:
            st.caption(f":material/history: {bring_in.WHAT_IT_IS}.")
        table.draw(here)
        if trouble := pages.trouble(here) or catalogue.trouble(here):
            older(trouble, "The deals")
    if opened() is None:
        overlap.shown(here)
        dead.shown(here)
        undo.shown(here)
    draw_drawer(here)


def leave() -> None:
    """Another screen was opened: no dialog is to open again when this one is."""
    overlap.close()
    dead.leave()
    undo.leave()
