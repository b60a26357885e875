"""The form of a new package, in the order in which an account manager thinks."""

import streamlit as st

from lib.deals.abilities import Abilities
from lib.deals.models import DemandDeal
from lib.insight.filters import Translation
from lib.insight.kinds import KINDS
from lib.ui.deals import catalogue, links, package_form, permission, prices, seat_guide, seats
from lib.ui.deals.draft import PLAIN, Draft
from lib.ui.deals.new_package import state
from lib.ui.deals.targeting import picker
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

GUIDES = seat_guide.GuidePlace("form_prices")
SEE_THERE = "Some targeting isn't included; see the panel."
DEALS = {"new": "New deals for seats", "existing": "Existing deals", "none": "None yet"}
SHOWN = (
    *((name,) for name in PLAIN), ("create_demand_deals",), ("demand_deals",),
    *((kind.field,) for kind in KINDS),
)  # fmt: skip


def draw(context: PageContext, draft: Draft, problems: FieldProblems, translation: Translation) -> None:
    """All fields; each says under it what is wrong with it. Closed, with the reason, where none is made.

    `translation` is the targeting as report filters.
    """
    does = permission.of(context)
    reason = does.why_not("supply_deals", "create")
    closed = bool(reason)
    if reason:
        st.info(f"{plain(reason)}.", icon=":material/lock:")
    st.header("Name and dates", anchor=False)
    package_form.draw(context, state.PREFIX, problems, PLAIN, disabled=closed)
    st.header("Targeting", anchor=False)
    st.caption("Only: one of these. Never: none of these. A kind that is left empty allows everything.")
    query = catalogue.usual_days(context)
    offer = picker.PickerOffer(takes_ids=not does.lists, disabled=closed)
    picker.draw(context, query, state.TARGETING, catalogue.named_lists(context), problems, offer)
    st.header("Demand deals", anchor=False)
    st.segmented_control(
        "Demand deals", list(DEALS), format_func=DEALS.__getitem__, key=state.DEALS, required=True,
        persist_state="session", label_visibility="collapsed", disabled=closed,
    )  # fmt: skip
    if draft.deals == "new":
        typed = {seat: terms.amount for seat, terms in draft.seats.items()}
        guide = seat_guide.of(context, GUIDES, translation, typed, prices.of(context))
        left_out = SEE_THERE if translation.left_out else ""
        seats.draw(
            context, state.PREFIX, problems, guide.by_seat,
            lambda: seat_guide.draw_note(guide, left_out), disabled=closed,
        )  # fmt: skip
    elif draft.deals == "existing":
        _links(context, problems, does, closed)


def _links(context: PageContext, problems: FieldProblems, does: Abilities, closed: bool) -> None:
    chosen = st.session_state.get(state.LINKS, ())
    seats.draw_numbers(
        "Deals to link",
        links.options(context, "deals to link", "np_links_search", DemandDeal, chosen, closed),
        state.LINKS,
        "Type a name, a seat or an id",
        takes_ids=not does.lists,
        disabled=closed,
    )
    beside(problems.at("demand_deals"))
