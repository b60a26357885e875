"""The screen Portfolio: every active deal with a verdict, as a picture and a list, and a plan of changes."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight import portfolio_report
from lib.insight.deal_report import DealReport
from lib.insight.filters import Lists, entries
from lib.insight.portfolio import Standing, Verdict
from lib.insight.portfolio_report import DealBook, Portfolio
from lib.reporting.models import Direction
from lib.ui.charts import numbers, scatter, theme
from lib.ui.charts.numbers import Numbers
from lib.ui.charts.scatter import Dot, DotGroup
from lib.ui.deals import catalog, portfolio_plan, report, screen
from lib.ui.deals.change_steps import count_label
from lib.ui.deals.facts import BY_CPM, amount
from lib.ui.deals.view import OPEN, open_key
from lib.ui.kit import address, listing, notes, redraw, session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import (
    ListCell,
    ListColumn,
    Listing,
    ListRow,
    OpenRow,
    PhonePlace,
    SelectRows,
    SortBy,
    new_acts,
)
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.kit.rows import NO_RECEIPT, ActReceipt
from lib.ui.kit.session_cache import SessionCache

CACHE, VIEW, LIST, DOTS, ONLY = (
    "portfolio_cache", "portfolio_view", "portfolio_list", "portfolio_dots", "portfolio_only"
)  # fmt: skip
SECONDS, MOMENT_SECONDS, PAGE, MOST_DOTS = 300.0, 0.3, 50, 1_000
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
TONES: dict[Verdict, str] = {
    "Capped": "orange", "Never reached scale": "orange", "Could end": "green", "Competes": "blue", "Keep": "",
    "Too little data": "gray",
}  # fmt: skip
COLORS: dict[Verdict, str] = {
    "Capped": theme.LINES[1], "Never reached scale": theme.LINES[2], "Could end": theme.LINES[3],
    "Competes": theme.LINES[0], "Keep": theme.GRAY, "Too little data": theme.GRAY,
}  # fmt: skip
ALONE = "Bid requests that no other deal of its seat reaches"
Measure = Callable[[Standing], Any]
SORTS: dict[str, Measure] = {
    "name": lambda one: one.deal.id,
    "verdict": lambda one: -VERDICTS.index(one.verdict),
    "spend": lambda one: one.spend,
    "trend": lambda one: one.trend,
    "rate": lambda one: one.win_rate,
    "alone": lambda one: one.competition.alone,
    "loss": lambda one: one.competition.loss.high,
}


@dataclass(frozen=True)
class PortfolioView:
    """The chosen deals, the order, the page, and the last act taken."""

    selection: frozenset[int] = field(default_factory=frozenset)
    order: tuple[str, Direction] = ("spend", "desc")
    page: int = 0
    receipt: ActReceipt = NO_RECEIPT


def draw(context: PageContext) -> None:
    """Draw the screen."""
    with report_errors("The portfolio", effect="Nothing was changed."):
        report_context = report.of_deals(context)
        if report_context is None:
            st.info(
                "No report that you may see tells deals apart: it needs the key fields deal and "
                "supply_package.", icon=":material/query_stats:",
            )  # fmt: skip
            return
        portfolio = _portfolio(context, report_context)
        if portfolio is not None:
            _sections(context, report_context, portfolio)


def _sections(context: PageContext, report_context: PageContext, portfolio: Portfolio) -> None:
    if not portfolio.standings:
        st.info("There are no active deals yet.", icon=":material/handshake:")
        return
    view = catch_up()
    only = _filter(portfolio)
    visible = [one for one in portfolio.standings if not only or one.verdict in only]
    _picture(context, portfolio, visible)
    standings = [one for one in portfolio.standings if one.deal.id in view.selection]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(_about(context, report_context, portfolio)), width="stretch")
        if context.now().deals.proposes:
            portfolio_plan.draw_button(standings)
    _list(context, portfolio, visible, view)
    for sentence in portfolio.scope:
        st.caption(f":material/info: {plain(sentence)}")
    if open_key() is None:
        notes.draw()
        portfolio_plan.draw_dialog(context, report_context, portfolio, standings)
    screen.draw_drawer(context, partial(_evidence, portfolio))


def _portfolio(context: PageContext, report_context: PageContext) -> Portfolio | None:
    """The portfolio of this person's deals; None while it is computed, which is said."""
    cache: SessionCache[Portfolio] = session_cache.of(CACHE, partial(SessionCache, SECONDS, 2))
    key = (context.person.username, report_context.project, report_context.slicer_name)
    words = st.session_state.setdefault(f"{CACHE}_words", ["reading the deals"])
    future: Future[Portfolio] | None = cache.find(key)
    if future is None:
        fetch = partial(
            _read, context.deals, entries(catalog.lists(context)), context.clients.price_unit == BY_CPM,
            report.deal_report(report_context, report_context.reporting), partial(words.__setitem__, 0),
        )  # fmt: skip
        future = cache.begin(key, fetch)[0]
    try:
        return future.result(MOMENT_SECONDS)
    except WaitedTooLong:
        redraw.when(future.done, "portfolio_done", lambda: _draw_progress(words))
        return None


def _draw_progress(words: Sequence[str]) -> None:
    st.caption(f":material/hourglass_top: Computing the portfolio: {plain(words[0])}.")


def _read(
    client: Deals, lists: Lists, has_cpm_prices: bool, source: DealReport, tell: Callable[[str], None]
) -> Portfolio:
    """The portfolio of all active deals that the client shows."""
    tell("reading the deals")
    active = {"is_active": True} if client.abilities.finds else {}
    deals = [
        one for one in client.everything(DemandDeal, ordering="id", **active)
        if one.id and one.is_active is not False and one.status in (None, "active")
    ]  # fmt: skip
    ids = sorted({one.id for deal in deals for one in deal.supply_deals if one.id})
    packages = {one.id: one for one in catalog.of_ids(client, SupplyPackage, ids)}
    return portfolio_report.read(source, DealBook(deals, packages, lists, has_cpm_prices), tell)


def _filter(portfolio: Portfolio) -> list[Verdict]:
    """Draw the verdicts with their numbers; those that are chosen."""
    counts = Counter(one.verdict for one in portfolio.standings)
    texts = Numbers.of(st.context.locale)
    return st.pills(
        "Verdict", [one for one in VERDICTS if counts[one]], selection_mode="multi", key=ONLY,
        format_func=lambda one: f"{one} {texts.number(counts[one])}", label_visibility="collapsed",
        on_change=_first_page,
    )  # fmt: skip


def _first_page() -> None:
    """Go to the first page. A callback."""
    st.session_state[VIEW] = replace(catch_up(), page=0)


def _picture(context: PageContext, portfolio: Portfolio, visible: Sequence[Standing]) -> None:
    """Draw what each deal brings by what it reaches alone. A click on a dot opens the deal."""
    groups = []
    spending = sorted((one for one in visible if one.spend > 0), key=lambda one: -one.spend)[:MOST_DOTS]
    for verdict in VERDICTS:
        dots = [
            Dot(one.deal.id, portfolio.name(one.deal.id), one.competition.alone, one.spend)
            for one in spending
            if one.verdict == verdict and one.competition.alone is not None
        ]
        if dots:
            groups.append(DotGroup(verdict, COLORS[verdict], dots, verdict == "Too little data"))
    if not groups:
        return
    number = st.session_state.get(f"{DOTS}_number", 0)
    key = f"{DOTS}_{number}"
    st.plotly_chart(
        scatter.figure(groups, (ALONE, _spend_title(context)), Numbers.of(st.context.locale)),
        key=key, on_select=lambda: _dot(key, number), selection_mode="points", config=theme.CONFIG,
        alt=f"Spend of {count_label('deal', len(visible))} by the share of {ALONE.lower()}; as a list below",
    )  # fmt: skip


def _spend_title(context: PageContext) -> str:
    """`Spend, USD`."""
    return ", ".join(filter(None, ("Spend", context.clients.currency)))


def _dot(key: str, number: int) -> None:
    """Open the deal of a dot. A callback."""
    points = st.session_state[key].selection.points
    if points and str(points[0].get("customdata", "")).strip("[]").isdecimal():
        address.write(OPEN, f"demand_deals-{str(points[0]['customdata']).strip('[]')}")
    st.session_state[f"{DOTS}_number"] = number + 1  # a chart without a selection


def _about(context: PageContext, report_context: PageContext, portfolio: Portfolio) -> str:
    days = numbers.days(portfolio.first, portfolio.last)
    seats = context.now().deals.seats
    own = "" if seats is None else " · Deals of the seats that you may see"
    spending = sum(one.spend > 0 for one in portfolio.standings)
    without, most = len(portfolio.standings) - spending, Numbers.of(st.context.locale).number(MOST_DOTS)
    undrawn = f" · {count_label('deal', without)} without spend not in the picture" if without else ""
    undrawn += f" · In the picture: the {most} that spend most" if spending > MOST_DOTS else ""
    source = f"{report_context.project}/{report_context.slicer_name}"
    return f"{count_label('active deal', len(portfolio.standings))} · {days} · From {source}{own}{undrawn}"


def catch_up() -> PortfolioView:
    """The view with new clicks applied, once. A callback, and the first step of a run."""
    before: PortfolioView = st.session_state.get(VIEW) or PortfolioView()
    acts, receipt = new_acts(st.session_state.get(LIST) or {}, before.receipt)
    after = replace(before, receipt=receipt)
    for act in acts:
        match act:
            case SelectRows(keys, is_ticked):
                some = {int(key) for key in keys if key.isdecimal()}
                selection = after.selection | some if is_ticked else after.selection - some
                after = replace(after, selection=selection)
            case SortBy(column, direction) if column in SORTS:
                after = replace(after, order=(column, direction), page=0)
            case OpenRow(key) if key.isdecimal():
                address.write(OPEN, f"demand_deals-{key}")
    st.session_state[VIEW] = after
    return after


def _list(context: PageContext, portfolio: Portfolio, visible: list[Standing], view: PortfolioView) -> None:
    """Draw a page of the list, and the pager."""
    name, direction = view.order
    measure: Measure = SORTS[name]
    if name == "name":
        measure = lambda one: portfolio.name(one.deal.id).casefold()  # noqa: E731
    sortable = [one for one in visible if measure(one) is not None]
    sortable.sort(key=measure, reverse=direction == "desc")
    in_order = sortable + [one for one in visible if measure(one) is None]
    page = min(view.page, max(0, (len(in_order) - 1) // PAGE))
    texts, open_row = Numbers.of(st.context.locale), open_key()
    rows = tuple(
        ListRow(
            str(one.deal.id), _cells(portfolio, one, texts), one.deal.id in view.selection,
            open_row == ("demand_deals", one.deal.id),
        )
        for one in in_order[page * PAGE : (page + 1) * PAGE]
    )  # fmt: skip
    table = Listing("Portfolio", _columns(view.order, _spend_title(context)), rows, len(in_order), ticks=True)
    with st.container(key="portfolio_table"):
        listing.draw(LIST, table, view.receipt, catch_up)  # type: ignore[arg-type]
    listing.draw_pager("portfolio", page, len(in_order), PAGE, texts.number, _turn)


def _turn(page: int) -> None:
    """Go to a page. A callback."""
    st.session_state[VIEW] = replace(catch_up(), page=page)


def _columns(order: tuple[str, Direction], spend: str) -> tuple[ListColumn, ...]:
    def column(id: str, title: str, width: float, right: bool = True, phone: PhonePlace = "") -> ListColumn:
        first: Direction = "asc" if id in ("name", "loss") else "desc"
        is_now = order[1] if order[0] == id else None
        return ListColumn(id, title, width, first if id in SORTS else None, is_now, right, phone)

    return (
        column("name", "Deal", 15.0, right=False),
        column("verdict", "Verdict", 14.0, right=False, phone="left"),
        column("spend", spend, 6.5, phone="right"),
        column("trend", "Last week", 6.0),
        column("rate", "Win rate", 5.5),
        column("alone", "Reached alone", 7.5),
        column("loss", "Wins lost without it", 9.5),
        column("needs", "Needs", 12.0, right=False),
    )


def _cells(portfolio: Portfolio, one: Standing, texts: Numbers) -> tuple[ListCell, ...]:
    verdict: str = one.verdict
    if one.verdict == "Competes":
        verdict = f"Competes with {_rival(portfolio, one.competition.rivals[0][0])}"
    loss = one.competition.loss
    span = f"{texts.number(loss.low)} to {texts.percent(loss.high, 0)}" if loss.value is not None else "–"
    return (
        ListCell(portfolio.name(one.deal.id)),
        ListCell(verdict, TONES[one.verdict]),
        ListCell(texts.number(one.spend, 2)),
        ListCell("" if one.trend is None else texts.change(one.trend)),
        ListCell(texts.percent(one.win_rate)),
        ListCell(texts.percent(one.competition.alone, 0)),
        ListCell(span),
        ListCell(_needs(portfolio, one, texts)),
    )


def _rival(portfolio: Portfolio, number: int) -> str:
    """A deal of the same seat by its package, which is what tells them apart; by name if it has several."""
    deal = next(deal for deal in portfolio.book.deals if deal.id == number)
    packages = [portfolio.book.packages.get(one.id or 0) for one in deal.supply_deals]
    only = packages[0] if len(packages) == 1 else None
    return (only and only.name) or portfolio.name(number)


def _needs(portfolio: Portfolio, one: Standing, texts: Numbers) -> str:
    """`Budget 500.00 · 1,000 impressions · 34 days left`."""
    deal = next(deal for deal in portfolio.book.deals if deal.id == one.deal.id)
    day_count = None if one.deal.end is None else (one.deal.end - portfolio.last).days
    parts = [
        None if deal.budget is None else f"Budget {amount(deal.budget)}",
        None if deal.units is None else f"{texts.number(float(deal.units))} impressions",
        None if deal.pacing is None else f"{deal.pacing} pacing",
        None if deal.frequency_cap is None else f"{texts.number(float(deal.frequency_cap))} per user and day",
        None if day_count is None else f"{count_label('day', day_count)} left",
    ]
    return " · ".join(filter(None, parts))


def _evidence(portfolio: Portfolio, key: tuple[str, int]) -> None:
    """Draw the evidence for the verdict on a deal, above its facts."""
    one = next((one for one in portfolio.standings if key == ("demand_deals", one.deal.id)), None)
    if one is None:
        return
    with st.container(border=True):
        st.badge(plain(one.verdict), color=TONES[one.verdict] or "gray")  # type: ignore[arg-type]
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in portfolio.evidence(one)))
