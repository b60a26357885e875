"""The review in words, the one button that asks for the package, and what became of it."""

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import SupplyPackage
from lib.ui import screens
from lib.ui.deals import abilities, catalogue
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.package import form, state
from lib.ui.package.draft import Draft
from lib.ui.package.words import sentences
from lib.ui.problems import is_open
from lib.ui.targeting.words import Described
from lib.wire.errors import Conflict, Invalid, TrancheError

KEPT = "What you entered is kept."
LOOK = f"Whether it was created is not known: look at the service, and in Deals, before you ask again. {KEPT}"


def draw(here: Here, draft: Draft, problems: FieldProblems, described: Described) -> None:
    """What will be created, in words; under it the button, and what is wrong at no field in particular."""
    st.subheader("What will be created", anchor=False)
    deals = {deal.id: deal.name or "" for deal in catalogue.deals(here) if deal.id is not None}
    st.markdown("\n\n".join(sentences(draft, catalogue.seats(here), deals, described)))
    if problems:
        beside(problems.elsewhere(form.SHOWN) or ["Not created yet: see what is said at the fields."])
    is_doubtful = _doubt()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Create the package",
            type="primary",
            key="np_create_button",
            disabled=is_doubtful or bool(abilities.of(here).why_not("supply_deals", "create")),
            on_click=create,
            args=(here,),
        )
        st.button(
            "Start anew", type="tertiary", key="np_anew", disabled=draft.is_untouched, on_click=state.clear
        )


def _doubt() -> bool:
    """What went wrong; whether it is still to be looked up if it was created all the same."""
    kept = st.session_state
    is_asked = state.ASKED in kept
    if said := kept.get(state.FAILURE, LOOK if is_asked else ""):
        st.error(said, icon=":material/error:")
    return is_asked and not st.checkbox("It is not there: create it now", key=state.SURE)


def create(here: Here) -> None:
    """Ask for the package, with the form's key: whatever is clicked twice, it is created once.

    A service that honours no keys is asked again only by somebody who has looked whether it is there.
    """
    kept = st.session_state
    if kept.get(state.CREATED) is not None or (state.ASKED in kept and not kept.get(state.SURE)):
        return
    for key in (state.PROBLEMS, state.FAILURE, state.ASKED, state.SURE):
        kept.pop(key, None)
    try:
        deals, package = catalogue.client(here), state.read(catalogue.named_lists(here)).package()
    except TrancheError as error:
        kept[state.FAILURE] = f"{plain(error.reason.rstrip('.'))}. Nothing was created. {KEPT}"
    else:
        _ask(deals, package)


def _ask(deals: Deals, package: SupplyPackage) -> None:
    kept, is_once = st.session_state, deals.abilities.repeats
    if not is_once:
        kept[state.ASKED] = True
    try:
        kept[state.CREATED] = deals.create(SupplyPackage, package, kept[state.KEY])
        catalogue.forget()
    except TrancheError as error:
        if not is_open(error):
            kept.pop(state.ASKED, None)
        if isinstance(error, Invalid):
            kept[state.PROBLEMS] = FieldProblems.of(error, package.sent())
        else:
            kept[state.FAILURE] = f"{plain(error.reason.rstrip('.'))}. {advice(error, is_once)}"


def advice(error: TrancheError, is_once: bool) -> str:
    """What was kept and what to do next. `is_once`: asked for twice, it is created once."""
    if isinstance(error, Conflict):
        return "What you entered is kept: look in Deals whether it was created already."
    if is_open(error):
        return "What you entered is kept; try again: it will be created once at most." if is_once else LOOK
    return f"Nothing was created. {KEPT}"


def done(package: SupplyPackage) -> None:
    """The package that was created, and where to go from here."""
    count = len(package.demand_deals)
    with_deals = f"with {count} demand deal{'' if count == 1 else 's'}" if count else "without demand deals"
    st.success(
        f"{plain(package.name or '')} is created as package {package.id}, {with_deals}.",
        icon=":material/check_circle:",
    )
    if count:
        st.markdown("\n".join(f"- {plain(deal.name or '')} ({deal.id})" for deal in package.demand_deals))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            screens.DEALS,
            label="Look at it in Deals",
            icon=":material/handshake:",
            query_params={"open": f"supply_deals-{package.id}"},
        )
        st.button("Another package", icon=":material/add:", key="np_another", on_click=state.clear)
