"""Figures of a targeting: volume per day, a forecast of the booked period, and what each target costs."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pandas as pd
import streamlit as st

from lib.deals.models import Targeting
from lib.deals.targeting.filters import Lists
from lib.deals.targeting.kinds import KINDS, Element
from lib.figures import numbers, palette
from lib.figures.deals import deal_report, field_text, targeting_text
from lib.figures.deals.targeting_text import Descriptions
from lib.figures.numbers import Numbers
from lib.insight import Forecast, TargetCost
from lib.reporting.answers import Audience, DayFigure, Estimate
from lib.slicers.granularities import time_key_field
from lib.slicers.models import DataField
from lib.slicers.roles import BIDS, IMPRESSIONS, field_of, tells_seats
from lib.ui.charts import bars, theme
from lib.ui.deals import catalog, counts
from lib.ui.deals.insight import report
from lib.ui.deals.insight.seat_guide import SeatPrice
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import report_errors
from lib.ui.kit.tables import with_figures
from lib.wire.filters import Filter

DAY = time_key_field("day")
DAYS = 30
ALL_BUYERS = "what all buyers together may have"
Booking = tuple[datetime | None, datetime | None]
Figures = list[tuple[DataField, tuple[DayFigure, ...]]]
Prices = Mapping[int, SeatPrice]
NO_RANGE = "range unknown"


@st.fragment(parallel=True)
def draw_days(
    context: PageContext, place: str, filters: tuple[Filter, ...], booking: Booking, prices: Prices
) -> None:
    """The chart and the sentences, once the answers are there. `prices` are of the seats that are to buy."""
    fields = [
        field for names in (BIDS, IMPRESSIONS) if (field := field_of(context.slicer, names)) is not None
    ]
    st.header("Per day, and in the booked period", anchor=False)
    if not fields:
        st.caption("This slicer has no data field for bids or impressions.")
        return
    if DAY not in context.slicer.key_names:
        st.caption("This slicer can't be split by day.")
        return
    with report_errors("The forecast", effect="What you entered is kept."):
        money, seats = field_text.prices_of(context), catalog.seats(context)
        if money.unit.upper() != field_text.BY_CPM:
            prices = {seat: SeatPrice() for seat in prices}
        others = sorted({price.currency for price in prices.values() if price.currency})
        prices = {seat: price for seat, price in prices.items() if not price.currency and seat in seats}
        has_wins = 0 < len(prices) <= Forecast.MOST_SEATS and tells_seats(context.slicer)
        asking, names = deal_report.insight(context), tuple(field.name for field in fields)
        query = asking.query(Forecast.HISTORY_DAYS, filters=filters, data_fields=names, split_by=(DAY,))
        wins = asking.win_fields if has_wins else None
        amounts = [(seats[seat], price.amount) for seat, price in prices.items()]
        win_lookup = (
            None if wins is None else asking.daily_wins(wins, filters, amounts, Forecast.HISTORY_DAYS)
        )
        answers = report.answers_with_data(
            context, place, [query, *(win_lookup.queries if win_lookup else ())], "the figures per day"
        )
        if answers is None:
            return
        answer, *answers_by_seat = answers
        period = asking.period(Forecast.HISTORY_DAYS)
        figures = [(field, answer.by_day(field.name, period)) for field in fields]
        shown_days = (period[1] - timedelta(days=DAYS - 1), period[1])
        _chart(place, [(field, daily[-DAYS:]) for field, daily in figures], numbers.days(*shown_days))
        texts = counts.numbers()
        phrases = {ALL_BUYERS: figures}
        if wins is not None and win_lookup is not None:
            daily = win_lookup.read(answers_by_seat)
            phrases = {wins_of(prices): [(context.slicer.data_field(wins.wins), daily)], **phrases}
        start, end = booking
        is_running = start is not None and start < datetime.now(UTC)
        remainder = (datetime.now(UTC) if is_running else start, end)  # as a guarantee is compared
        for sentence in sentences(phrases, remainder, context.slicer.timezone, texts, is_running=is_running):
            st.markdown(plain(sentence))
        rest = left_out(prices, wins is not None) + not_comparable(others, money)
        st.caption(plain(caution(figures, numbers.days(*period), rest)))


def wins_of(prices: Prices) -> str:
    """`what this seat may win at or above its floor`, `what these 3 seats may win at any price`."""
    who, whose = ("this seat", "its") if len(prices) == 1 else (f"these {len(prices)} seats", "their")
    flags = [price.is_fixed for price in prices.values() if price.amount is not None]
    if not flags:
        return f"what {who} may win at any price"
    noun = "price" if any(flags) else "floor"
    rest = "" if len(flags) == len(prices) else f" ({len(prices) - len(flags)} without one at any price)"
    return f"what {who} may win at or above {whose} {noun}{'s' if len(prices) > 1 else ''}{rest}"


def left_out(prices: Prices, has_wins: bool) -> str:
    """What the forecast leaves out, and why."""
    if has_wins:
        return (
            "Wins reach a price where those of a site (or deal) and day do on average. Seasons and holidays "
            "are not in it."
        )
    if len(prices) > Forecast.MOST_SEATS:
        why = f"With more than {Forecast.MOST_SEATS} seats, they and their prices"
    else:
        why = "This slicer can't tell what a seat won: seats and prices" if prices else "Seats, prices"
    return f"{why}, seasons and holidays are not in it."


def not_comparable(currencies: Sequence[str], money: field_text.Prices) -> str:
    """That prices in these currencies are left out; empty without any."""
    if not currencies:
        return ""
    names = " and ".join(currencies)
    return f" Prices in {names} are not comparable in {money.currency}: their seats are left out."


def sentences(
    phrases: Mapping[str, Figures], booking: Booking, hours: int, texts: Numbers, *, is_running: bool = False
) -> list[str]:
    """The forecasts for the booked period, or for what is left of one that `is_running`, of figures by whose
    they are; or why there are none."""
    start, end = booking
    if start is None:
        return ["Choose a start to see what the booked period would have."]
    last = end or start + timedelta(days=DAYS)
    if (length := (last - start) / timedelta(days=1)) <= 0:
        return ["The booked period has no days."]
    days = f"{texts.number(length, 0 if length == int(length) else 1)} {'day' if length == 1 else 'days'}"
    what = f"{'What is left of the' if is_running else 'The'} booked period ({days})"
    if not end:
        what = f"The {'next' if is_running else 'first'} {DAYS} days (no end is booked)"
    return [
        f"{what}, {whose}: "
        + "; ".join(
            _sentence(field, Forecast.of_booking(daily, start, last, hours), texts)
            for field, daily in figures
        )
        + "."
        for whose, figures in phrases.items()
    ]


def _sentence(field: DataField, outlook: Forecast, texts: Numbers) -> str:
    """The range with how often it held in the past, the figure alone, or that there is none."""
    name = numbers.title(field).lower()
    if math.isnan(outlook.value):
        return f"no estimate of {name}, since days of the last week have no data"
    if math.isnan(outlook.low):
        reason = "too few past periods to test one, or it held in too few"
        return f"about {texts.rough(outlook.value)} {name} (no range: {reason})"
    span = f"{texts.rough(outlook.low)} to {texts.rough(outlook.high)} {name}"
    return f"{span} (such a range held {counts.track_record(outlook.hits, outlook.tests, outlook.days)})"


def caution(figures: Figures, days: str, without_what: str) -> str:
    """Where the range comes from, and what it leaves out."""
    empty = sum(day.figure.value is None for day in figures[0][1])
    which = "1 day has no data and is" if empty == 1 else f"{empty} days have no data and are"
    without = f" {which} left out." if empty else ""
    return (
        "Repeats the last week, or the mean of the last four; tested on past periods as long and as far "
        f"ahead, {days}. {without_what}{without}"
    )


def _chart(place: str, figures: Figures, period: str) -> None:
    field, daily = figures[0]
    texts = counts.numbers()
    values = [point.figure.value for point in daily]
    title = f"{numbers.title(field)} per day"
    st.caption(plain(title))
    st.plotly_chart(
        bars.day_bars_figure([point.day for point in daily], values, field, texts), key=f"per_day_{place}",
        config=theme.CONFIG, alt=f"{title}, {period}",
    )  # fmt: skip
    with st.expander("As a table"):
        columns = {
            "Day": [f"{point.day:%a} {point.day.isoformat()}" for point in daily],
            **{
                numbers.title(each): [
                    "no data" if point.figure.value is None else texts.plain(point.figure.value, each)
                    for point in points
                ]
                for each, points in figures
            },
        }
        st.dataframe(straighten(columns), hide_index=True, alt=title)


@st.fragment(parallel=True)
def draw_costs(
    context: PageContext,
    place: str,
    targeting: Targeting,
    lists: Lists,
    media_type: str | None,
    descriptions: Descriptions,
) -> None:
    """The table, once it is computed; nothing where the targeting has no element."""
    if not any(kind.of(targeting) for kind in KINDS):
        report.forget(place)
        return
    st.header("Cost of each target", anchor=False)
    if (field := report.volume_field(context)) is None:
        return
    with report_errors("The cost of each target", effect="What you entered is kept."):
        lookup = deal_report.insight(context).target_costs(targeting, lists, media_type, field.name)
        answers = report.answers_with_data(context, place, lookup.queries, "the cost of each target")
        if answers is None:
            return
        days = numbers.days(*report.period(context, lookup.queries[0]))
        costs, trials = lookup.read(answers)
        texts = counts.numbers()
        columns = {
            numbers.title(field): [share(cost, texts) for cost in costs],
            "Without it": [without(cost, texts) for cost in costs],
        }
        index = pd.Index([plain(name(cost.element, descriptions)) for cost in costs], name="Target")
        table = with_figures(pd.DataFrame(columns, index=index), columns)
        st.table(table, border="horizontal", alt="What each target costs or brings")
        where = f"{plain(context.project)}/{plain(context.slicer_name)}"
        st.caption(f"{days} · From {where} · {precision_of(answers, field)}")
        if trials.omissions:
            names = ", ".join(name(element, descriptions) for element in trials.omissions)
            st.caption(f":material/info: Not measured, as this slicer can't tell: {plain(names)}.")
        if rest := len(trials.rest):
            st.caption(f":material/info: Measured are the first {len(costs)}; {rest} more are not.")


def precision_of(answers: list[Audience], field: DataField) -> str:
    """Whether the figures of these answers are exact."""
    if all(answer.total_of(field.name).is_exact for answer in answers):
        return "Exact"
    return "Estimates, with their 95 % ranges"


def share(cost: TargetCost, texts: Numbers) -> str:
    """`−38.0 %` for what a target costs, `brings 43.9 %`; with its range if it is estimated."""
    estimate = cost.share
    if estimate.value is None:
        return "no data" if cost.change.value is None else "none either way"
    if estimate.value == 0 and estimate.is_exact:
        return "costs nothing" if cost.restricts else "brings nothing"
    sign = palette.MINUS if cost.restricts else ""
    text = f"{'' if cost.restricts else 'brings '}{sign}{texts.percent(estimate.value)}"
    return text + range_text(estimate, lambda value: f"{sign}{texts.percent(value)}")


def without(cost: TargetCost, numbers: Numbers) -> str:
    """`4.10M more`, `1.20M fewer`, `the same`."""
    estimate = cost.change
    if estimate.value is None:
        return "no data"
    if estimate.value == 0:
        return "the same" + range_text(estimate, numbers.rough)
    more = "more" if cost.restricts else "fewer"
    return f"{numbers.rough(estimate.value)} {more}{range_text(estimate, numbers.rough)}"


def name(element: Element, descriptions: Descriptions) -> str:
    """`not Safari`; `only US, CA` for all of a kind, as its targets are named one by one too."""
    text = targeting_text.sentence(element.targeting, None if len(element.targets) <= 2 else 2, descriptions)
    return f"only {text}" if len(element.targets) > 1 and not element.is_excluded else text


def range_text(estimate: Estimate, write: Callable[[float], str]) -> str:
    """` (1.20M to 1.40M)` for an estimate; empty for an exact figure."""
    if estimate.low is None or estimate.high is None:
        return ""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return f" ({NO_RANGE})"
    return f" ({write(max(estimate.low, 0.0))} to {write(estimate.high)})"
