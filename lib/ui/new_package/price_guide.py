"""What wins cost in the question that a package comes from, and the price that it suggests for seats."""

from decimal import Decimal

import streamlit as st

from lib.deals.models import CPM, PERCENT
from lib.deals.package_questions import PackageQuestion
from lib.insight import win_prices
from lib.insight.win_prices import WinPrices
from lib.reporting.models import AudienceQuery, Slicer
from lib.ui.charts import numbers
from lib.ui.charts.numbers import Numbers
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import reported
from lib.ui.new_package import seats, state
from lib.ui.question import link
from lib.ui.supply import insights, prices, report
from lib.ui.supply.draft import Draft, number
from lib.ui.supply.prices import BY_CPM, amount

PLACE = "form_win_cpm"


@st.fragment(parallel=True)
def draw(here: Here, question: PackageQuestion | None, draft: Draft, closed: bool) -> None:
    """Draw median and quartiles with what they are computed from, and the price that the fee makes of them.

    Nothing without a question; what is missing is said.
    """
    if question is None:
        return
    st.header("Win CPM of the question", anchor=False)
    fields = win_prices.win_fields(here.slicer)
    if (question.project, question.slicer) != (here.project, here.slicer_name):
        st.caption(
            f"The question is about {plain(question.project)}/{plain(question.slicer)}: choose that slicer "
            "above to see what wins cost in it."
        )
    elif fields is None:
        st.caption("This slicer has no data field for the win CPM, or none that counts wins.")
    else:
        with reported("The win CPM", kept="What you entered is kept."):
            _draw(here, question, fields, draft, closed)


def _draw(
    here: Here, question: PackageQuestion, fields: win_prices.WinFields, draft: Draft, closed: bool
) -> None:
    read = link.from_params(question.params, here.slicer, here.project, here.slicer_name).query
    query = win_prices.win_question(read, here.slicer, fields)
    found = insights.asked(here, PLACE, [query])
    answers = insights.arrived(found, PLACE, "the win CPM")
    if answers is None:
        return
    (answer,) = answers
    days = numbers.days(*report.period(here, query))
    of = win_prices.win_prices(answer, fields)
    if of is None:
        st.caption(f"Nothing was won in {days}.")
        return
    _shown(here.slicer, of, query, fields, days)
    _proposal(of, draft, prices.of(here), closed)


def _shown(
    slicer: Slicer, of: WinPrices, query: AudienceQuery, fields: win_prices.WinFields, days: str
) -> None:
    shown = Numbers.of(st.context.locale)
    field = slicer.data_field(fields.cpm)
    low, median, high = (shown.short(value, field=field) for value in (of.low, of.median, of.high))
    st.markdown(plain(f"Median {median} · quartiles {low} and {high}"))
    named = " and ".join(slicer.key_field(name).description or name for name in query.split_by)
    wins = slicer.data_field(fields.wins).description or fields.wins
    share = "all" if of.covered >= 100 else f"{shown.percent(of.covered)} of the"
    exactness = "Exact" if of.is_exact else "Estimated from a sample"
    groups = f"{shown.number(of.groups)} groups by {named.lower()}" if named else "one group"
    st.caption(
        plain(
            f"{days} · {exactness} · Averages of {groups}, weighted by {wins.lower()} "
            f"({share} {wins.lower()}). Single auctions scatter more widely."
        )
    )


def _proposal(of: WinPrices, draft: Draft, money: prices.Prices, closed: bool) -> None:
    """Draw the price, what it is made of, and the button for the seats that have none."""
    if draft.deals != "new":
        return
    if money.unit.upper() != BY_CPM:
        st.caption(f"No price is proposed: prices here are in {plain(money.terms)}, not by CPM.")
        return
    fee = number(draft.fee) if draft.has_fee else None
    price = win_prices.proposed(of, draft.fee_type, fee)
    if price is None:
        st.caption("No price is proposed: the agency fee takes all of it.")
        return
    st.markdown(f"Proposed price: **{amount(price)} {plain(money.terms)}** ({_made_of(draft, fee, money)})")
    without = [seat for seat, terms in draft.seats.items() if not terms.price.strip()]
    st.button(
        "Use for seats without a price", key="np_use_price", disabled=closed or not without,
        on_click=_use, args=(tuple(without), price),
        help=None if without else "Choose seats first; prices that you typed are kept",
    )  # fmt: skip


def _made_of(draft: Draft, fee: Decimal | None, money: prices.Prices) -> str:
    if fee is None or draft.fee_type not in (PERCENT, CPM):
        return "the median; no fee that depends on the price"
    return f"the median is left after the fee of {plain(money.fee(fee, draft.fee_type))}"


def _use(without: tuple[int, ...], price: Decimal) -> None:
    """Put the price into the fields of these seats that are still empty. A callback."""
    for seat in without:
        key = seats.PRICE.format(seat)
        if not (st.session_state.get(key) or "").strip():
            st.session_state[key] = amount(price).replace(",", "")
            st.session_state.pop(state.PROBLEMS, None)
    st.rerun()
