"""The facts of a package or a deal, and what it is linked with, each a click away."""

from collections.abc import Iterable, Sequence

import pandas as pd
import streamlit as st

from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui import copying
from lib.ui.deals import catalogue, facts, leftovers
from lib.ui.deals.names import seat_name
from lib.ui.deals.places import OPEN
from lib.ui.deals.rows import Row, of_deal, of_package, table
from lib.ui.deals.table import COLORS
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.package.words import amount
from lib.ui.targeting import picker, words

CLICKED, ROW_HEIGHT, TALLEST = "linked_clicked", 33, 390


def draw(here: Here, entity: SupplyPackage | DemandDeal) -> None:
    """Facts first, then the linked ones."""
    if isinstance(entity, SupplyPackage):
        _facts(package_facts(here, entity))
        _linked("Deals", _deals_of(here, entity), "No deal is linked: nobody can buy it yet.")
    else:
        if entity.deal_id:
            st.caption("Deal id, for the buyer")
            copying.draw(entity.deal_id)
        _facts(deal_facts(entity))
        _linked("Packages", _packages_of(here, entity), "It gives access to no package yet.")
    leftovers.draw(entity)


def package_facts(here: Here, package: SupplyPackage) -> dict[str, str]:
    """A package's facts, by title."""
    described = picker.described(here, catalogue.usual_days(here), package)
    ways = {"dynamic bidding": package.is_dynamic_bidding, "true price": package.is_true_price_opt_enable}
    return {
        "Media type": (package.media_type or facts.NOTHING).capitalize(),
        "Runs": facts.span(package),
        "Targeting": words.sentence(package, None, described),
        "Uses": " and ".join(name for name, is_on in ways.items() if is_on) or facts.NOTHING,
        "Created": facts.moment(package.created_at),
        "Changed": facts.moment(package.updated_at),
    }


def deal_facts(deal: DemandDeal) -> dict[str, str]:
    """A deal's facts, by title."""
    dsp = deal.dsp or (deal.seat.dsp if deal.seat else None)
    return {
        "Seat": seat_name(deal) or facts.NOTHING,
        "DSP": (dsp and dsp.name) or facts.NOTHING,
        "Price": amount(deal.price),
        "Deal sync": facts.value("deal_sync", deal.deal_sync),
        "Agency fee": facts.fee(deal),
        "Contact": deal.contact_email or facts.NOTHING,
        "Created": facts.moment(deal.created_at),
        "Changed": facts.moment(deal.updated_at),
    }


def _facts(found: dict[str, str]) -> None:
    st.table({name: plain(text) for name, text in found.items()}, border="horizontal", alt="Facts")


def _linked(title: str, rows: Sequence[Row], nothing: str) -> None:
    st.markdown(f"**{title}**")
    if not rows:
        st.caption(nothing)
        return
    st.dataframe(
        _brief(rows),
        key=f"linked_{title}",
        hide_index=True,
        height=min(TALLEST, ROW_HEIGHT * (len(rows) + 1) + 3),
        column_config={
            "Name": st.column_config.ButtonColumn(
                type="tertiary", alignment="left", key=CLICKED, on_click=_open, args=(rows,), width=340
            ),
            "Status": st.column_config.MultiselectColumn(
                options=[status.capitalize() for status in COLORS], color=list(COLORS.values())
            ),
            "Price": st.column_config.TextColumn(alignment="right"),
        },
        alt=title,
    )


def _brief(rows: Iterable[Row]) -> pd.DataFrame:
    shown = list(rows)
    return table(shown)[["Name", "Status", "Targeting" if shown[0].entity == "supply_deals" else "Price"]]


def _open(rows: Sequence[Row]) -> None:
    row = rows[st.session_state[CLICKED]["row"]]
    st.query_params[OPEN] = f"{row.entity}-{row.id}"
    st.rerun()


def _deals_of(here: Here, package: SupplyPackage) -> list[Row]:
    known = {deal.id: deal for deal in catalogue.deals(here)}
    mine = [known.get(one.id) or DemandDeal(id=one.id, name=one.name) for one in package.demand_deals]
    return [of_deal(deal, {}) for deal in mine]


def _packages_of(here: Here, deal: DemandDeal) -> list[Row]:
    known = {package.id: package for package in catalogue.packages(here)}
    return [of_package(known.get(one.id, one), [deal]) for one in deal.supply_deals]
