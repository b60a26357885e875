"""Beside a seat's price: what wins cost in a targeting, and where the typed price is among them.

It is computed in the background and never waited for: what is typed is drawn at once, and the sentence comes
when it is there. Another targeting gives up what was asked before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import streamlit as st

from lib.deals.fields import TERMS
from lib.deals.models import DemandDeal, Seat, price_type_of
from lib.deals.targeting.filters import Translation
from lib.figures import numbers
from lib.figures.deals import deal_report, field_text
from lib.figures.deals.field_text import BY_CPM, Prices
from lib.figures.numbers import Numbers
from lib.insight import SeatPrices
from lib.reporting.models import AudienceQuery
from lib.reporting.query_batch import QueryBatch
from lib.slicers.models import DataField
from lib.slicers.roles import tells_seats
from lib.ui.deals import catalog, counts
from lib.ui.deals.forms.draft import Draft
from lib.ui.deals.insight import report
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

MOST, DAYS = 12, 30
NO_FIELDS = "This slicer has no data field for the win CPM, or none that counts wins, to compare prices with."


@dataclass(frozen=True)
class SeatPrice:
    """The price of a seat's deal by CPM; None where it has none yet. It is a floor, or fixed.

    One in another `currency` than the report's is none to compare with: `amount` is None then.
    """

    amount: Decimal | None = None
    is_fixed: bool = False
    currency: str = ""


def seat_price(context: PageContext, price: Decimal | None, terms: Mapping[str, Any]) -> SeatPrice:
    """A deal's price to compare with the report's; one in another currency can't be compared.

    `terms` are the deal's by name. Where they don't settle it, it is a floor or fixed as the setting says.
    """
    usual, money = context.clients.usual_terms, field_text.prices_of(context)
    is_comparable = money.of(terms["currency"]) == money
    kind = price_type_of(terms["deal_type"], terms["price_type"], usual.get("price_type", ""))
    other = "" if is_comparable or price is None else str(terms["currency"])
    return SeatPrice(price if is_comparable else None, kind == "fixed", other)


def of_draft(context: PageContext, draft: Draft) -> dict[int, SeatPrice]:
    """By the id of the seat; empty where no deal is chosen."""
    if draft.deals == "existing":
        return of_deals(context, draft.links)
    if draft.deals == "none":
        return {}
    return {
        seat: seat_price(context, terms.amount, draft.new_deals.of(seat))
        for seat, terms in draft.seats.items()
    }


def of_deals(context: PageContext, ids: Sequence[int]) -> dict[int, SeatPrice]:
    """By the id of the seat: that of its cheapest deal among these that is not paused, by the prices that can
    be compared."""
    price_of_seat: dict[int, SeatPrice] = {}
    for deal in catalog.by_id(context, DemandDeal, ids):
        if deal.is_active is False or deal.seat is None or deal.seat.id is None:
            continue
        price = seat_price(context, deal.price, {name: getattr(deal, name) for name in TERMS})
        lowest = price_of_seat.get(deal.seat.id)
        if (
            lowest is None
            or lowest.amount is None
            or (price.amount is not None and price.amount < lowest.amount)
        ):
            price_of_seat[deal.seat.id] = price
    return price_of_seat


@dataclass(frozen=True)
class SeatGuide:
    """A sentence for each seat's price, and what they are all computed from; `batch` is under way."""

    by_seat: Mapping[int, str]
    note: str = ""
    batch: QueryBatch | None = None


NOTHING = SeatGuide({})


def of(
    context: PageContext,
    place: str,
    translation: Translation,
    price_of: Mapping[int, SeatPrice],
    without: DemandDeal | None = None,
) -> SeatGuide:
    """What is known by now; what is missing is asked for, once for a place on the screen.

    `translation` is the targeting, `price_of` the price of each seat, if there is one; 0 stands for no seat.
    Wins of the deal `without` are left out.
    """
    asking = deal_report.insight(context)
    fields = asking.win_fields
    if not price_of or fields is None:
        report.forget(place)
        return SeatGuide({}, NO_FIELDS) if price_of else NOTHING
    seats: list[Seat] = []
    if tells_seats(context.slicer):
        visible = catalog.seats(context)
        seats = [visible[seat] for seat in price_of if seat in visible][:MOST]
    lookup = asking.seat_prices(fields, translation.filters, [None, *seats], DAYS, without)
    batch = report.query_batch(context, place, lookup.queries)
    if not batch.is_done:
        return SeatGuide({}, "Computing what wins cost in this targeting.", batch)
    try:
        answers = batch.answers()
    except TrancheError as error:
        report.forget(place)
        return SeatGuide({}, f"What wins cost could not be loaded: {error.sentence}")
    every, *by_each_seat = lookup.read(answers)
    leaves_out = without is not None
    cpm = context.slicer.data_field(fields.cpm)
    text = SeatText(cpm, counts.numbers(), field_text.prices_of(context), leaves_out)
    own_prices = dict(zip((seat.id or 0 for seat in seats), by_each_seat, strict=True))
    by_seat = {seat: text.sentence(price, every, own_prices.get(seat)) for seat, price in price_of.items()}
    note = _note(context, lookup.queries, (every, *by_each_seat), fields.wins, leaves_out)
    return SeatGuide(by_seat if every.win_prices else {}, note)


def draw_note(guide: SeatGuide, left_out: str = "") -> None:
    """Draw what the sentences are computed from and leave out; look again until they are there."""
    if guide.note:
        icon = ":material/hourglass_top:" if guide.batch else ":material/info:"
        sentence = f"{guide.note} {left_out}" if guide.by_seat and left_out else guide.note
        st.caption(f"{icon} {plain(sentence)}")
    if guide.batch is not None:
        report.look_again(guide.batch)


@dataclass(frozen=True)
class SeatText:
    """How win CPMs are written: the data field, the reader's numbers and the unit of prices.

    `leaves_out`: a deal's own wins are left out.
    """

    field: DataField
    numbers: Numbers
    money: Prices
    leaves_out: bool

    def sentence(self, price: SeatPrice, every: SeatPrices, own: SeatPrices | None) -> str:
        """The quartiles of a seat's wins, else of all seats', with the place of the price among them."""
        if own is None or own.win_prices is None:
            others = " by other deals" if self.leaves_out else ""
            first = "" if own is None else f"This seat won nothing{others} in this targeting. "
            return f"{first}Wins of all seats: {self._figures(price, every)}"
        return f"Wins of this seat: {self._figures(price, own)}"

    def _figures(self, price: SeatPrice, prices: SeatPrices) -> str:
        if prices.win_prices is None:
            return "none."
        low, median, high = (
            self.numbers.short(value, field=self.field)
            for value in (prices.win_prices.low, prices.win_prices.median, prices.win_prices.high)
        )
        parts = [f"quartiles {low}, {median} and {high}."]
        if price.amount is not None and self.money.unit.upper() == BY_CPM:
            share = prices.win_prices.share_from(price.amount)
            parts.append(
                f"Your fixed price is at or below what {share} of these wins cost."
                if price.is_fixed
                else f"As a floor, your price lets through {share} of these wins."
            )
        elif price.currency:
            parts.append(f"Your price in {price.currency} is not comparable in {self.money.currency}.")
        if prices.win_rate is not None:
            parts.append(f"Win rate {self.numbers.percent(prices.win_rate)}.")
        return " ".join(parts)


def _note(
    context: PageContext,
    queries: Sequence[AudienceQuery],
    prices_by_seat: Sequence[SeatPrices],
    wins_field: str,
    leaves_out: bool,
) -> str:
    """The days, how exact the figures are, and what they are of."""
    days = numbers.days(*report.period(context, queries[0]))
    win_prices = [seat_price.win_prices for seat_price in prices_by_seat if seat_price.win_prices is not None]
    if not win_prices:
        others = " of other deals" if leaves_out else ""
        return f"No wins{others} are recorded in this targeting, {days}."
    names = " and ".join(context.slicer.key_field(name).description or name for name in queries[0].split_by)
    exact = "Exact" if all(price.is_exact for price in win_prices) else "Estimated from a sample"
    wins = (context.slicer.data_field(wins_field).description or wins_field).lower()
    groups = f"averages by {names.lower()}, " if names else ""
    others = " of other deals" if leaves_out else ""
    return (
        f"Win CPM{others} in this targeting, {days} · {context.project}/{context.slicer_name} · {exact} · "
        f"{groups}weighted by {wins}; single auctions scatter more widely."
    )
