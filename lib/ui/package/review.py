"""The review in words, the one button that asks for the package, and what became of it."""

import streamlit as st

from lib.deals.models import SupplyPackage
from lib.ui import screens
from lib.ui.deals import catalogue
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


def draw(here: Here, draft: Draft, problems: FieldProblems, described: Described) -> None:
    """What will be created, in words; under it the button, and what is wrong at no field in particular."""
    st.subheader("What will be created", anchor=False)
    deals = {deal.id: deal.name or "" for deal in catalogue.deals(here) if deal.id is not None}
    st.markdown("\n\n".join(sentences(draft, catalogue.seats(here), deals, described)))
    if problems:
        beside(problems.elsewhere(form.SHOWN) or ["Not created yet: see what is said at the fields."])
    if failure := st.session_state.get(state.FAILURE):
        st.error(failure, icon=":material/error:")
    with st.container(horizontal=True):
        st.button(
            "Create the package",
            type="primary",
            key="np_create_button",
            on_click=create,
            args=(here,),
        )
        st.button(
            "Start anew", type="tertiary", key="np_anew", disabled=draft.is_untouched, on_click=state.clear
        )


def create(here: Here) -> None:
    """Ask for the package, with the form's key: whatever is clicked twice, it is created once."""
    kept = st.session_state
    if kept.get(state.CREATED) is not None:
        return
    for key in (state.PROBLEMS, state.FAILURE):
        kept.pop(key, None)
    package, is_once = None, True
    try:
        deals = catalogue.client(here)
        is_once = deals.abilities.repeats
        package = state.read(catalogue.named_lists(here)).package()
        kept[state.CREATED] = deals.create(SupplyPackage, package, kept[state.KEY])
        catalogue.forget()
    except TrancheError as error:
        if isinstance(error, Invalid) and package is not None:
            kept[state.PROBLEMS] = FieldProblems.of(error, package.sent())
        else:
            kept[state.FAILURE] = failure(error, is_once)


def failure(error: TrancheError, is_once: bool) -> str:
    """What happened, what was kept and what to do next. `is_once`: asked for twice, it is created once."""
    said = plain(error.reason.rstrip("."))
    if isinstance(error, Conflict):
        return f"{said}. What you entered is kept: look in Deals whether it was created already."
    if is_open(error) and is_once:
        return f"{said}. What you entered is kept; try again: it will be created once at most."
    if is_open(error):
        return f"{said}. It may have been created all the same: look before you try again. {KEPT}"
    return f"{said}. Nothing was created. {KEPT}"


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
