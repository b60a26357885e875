"""Deals whose buyers answered and wait for us."""

from datetime import UTC, datetime

import streamlit as st

from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.negotiation import OfferTerms, seat_number
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.wire.errors import TrancheError

IDS = "answered_ids"
AT = "answered_at"
SECONDS = 30.0


def ids(person: Person) -> tuple[int, ...]:
    """The ids of the deals that this person may see and whose buyers wait for an answer.

    They are read every half minute; there are none where they can't be read.
    """
    state, now = st.session_state, datetime.now(UTC).timestamp()
    if not person.deals.reads:
        return ()
    if now - state.get(AT, 0.0) > SECONDS:
        try:
            state[IDS] = _read(person)
        except TrancheError:
            state[IDS] = ()
        state[AT] = now
    return tuple(state.get(IDS, ()))


def forget() -> None:
    """Read them again: somebody has answered here."""
    st.session_state.pop(AT, None)


def _read(person: Person) -> tuple[int, ...]:
    clients = connect.connect(person, Settings.current())
    latest = clients.negotiations.latest().items()
    rounds = {pair: last for pair, last in latest if last.side == "buyer" or last.act == "withdraws"}
    if not rounds:
        return ()
    deals = clients.open_deals()
    deal_of = deals.get_many(DemandDeal, sorted({deal for deal, _ in rounds}))
    packages = deals.get_many(
        SupplyPackage,
        sorted({package.id for deal in deal_of.values() for package in deal.supply_deals if package.id}),
    )
    return tuple(
        number
        for number, deal in deal_of.items()
        if (number, seat_number(deal)) in rounds
        and clients.negotiations.of(
            deal,
            OfferTerms.of(
                deal,
                [packages[package.id] for package in deal.supply_deals if package.id in packages],
                clients.usual_terms,
            ),
        ).waits_for_house
    )
