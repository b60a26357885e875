"""The forecast: days and booked periods whose figures are worked out by hand in each test."""

import datetime as dt
import itertools
import math
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import LAST_DAY
from dealing import clients
from inventory import DEFINITION, asked, embedded, known
from scipy.stats import t as student
from standin.app import served
from standin.state import TOKEN, State
from statements import CASES, NOISES, RARE, forecast_rates

from lib.figures.numbers import Numbers
from lib.insight import seat_prices
from lib.insight.forecast import forecast, weekdays
from lib.insight.win_prices import WinFields
from lib.reporting import noise
from lib.reporting.answers import Audience, DayFigure, Estimate, Total
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.slicers.models import DataField
from lib.ui.charts import bars
from lib.ui.deals.insight import targeting_figures
from lib.wire.filters import Filter

MONDAY = dt.date(2026, 11, 2)
BIDS = DataField(name="bids", description="Bids")
UTC = dt.UTC


def days(*values: float | None) -> tuple[DayFigure, ...]:
    """These figures, one a day, from Monday 2 November 2026 on."""
    return tuple(DayFigure(MONDAY + dt.timedelta(days=n), Estimate(value)) for n, value in enumerate(values))


def at(day: int, hour: int = 0) -> dt.datetime:
    """A moment of December 2026, which begins on a Tuesday."""
    return dt.datetime(2026, 12, day, hour, tzinfo=UTC)


TWO_WEEKS = days(10, 20, 30, 40, 50, 5, 6, 14, 18, 30, 44, 50, 9, 2)


def test_days_of_a_period() -> None:
    """Tuesday 1 December to Wednesday 9 December at noon: eight days, and half a Wednesday more."""
    assert weekdays(at(1), at(9, 12), 0) == {0: 1, 1: 2, 2: 1.5, 3: 1, 4: 1, 5: 1, 6: 1}
    assert weekdays(at(1, 18), at(2, 6), 0) == {1: 0.25, 2: 0.25}
    assert weekdays(at(2), at(1), 0) == {}


def test_bids_that_fall_to_nothing_are_not_forecast_below_it() -> None:
    """Where a count has fallen to nothing, estimate and range stay at zero or above, and 80 of 100 ranges
    hold what came, though the fall that they extend has ended; what was negative may be forecast to be."""
    draw, held = np.random.default_rng(3), []
    rates = np.maximum(40 - 0.7 * np.arange(77), 0.2)
    for _ in range(200):
        counts = draw.poisson(rates)
        result = forecast(days(*map(float, counts[:70])), dict.fromkeys(range(7), 1.0))
        if math.isnan(result.low):
            continue
        assert 0 <= result.low <= result.value <= result.high
        held.append(result.low <= counts[70:].sum() <= result.high)
    assert len(held) > 100 and np.mean(held) >= 0.8
    assert forecast(days(*(-number for number in range(70))), dict.fromkeys(range(7), 1.0)).value < 0


def test_the_zone_of_the_slicer() -> None:
    """Midnight in UTC is two o'clock in the morning where the days begin two hours earlier."""
    assert weekdays(at(1), at(2), 2) == {1: pytest.approx(22 / 24), 2: pytest.approx(2 / 24)}


def test_the_figure_of_a_period() -> None:
    """A Monday and two Saturdays of the last week, 14 and twice 9; too little history for a range."""
    result = forecast(TWO_WEEKS, {0: 1, 5: 2})
    assert result.value == 14 + 2 * 9 and math.isnan(result.low)


def test_a_day_without_data_makes_no_estimate() -> None:
    """Without data of a needed weekday in the last week, or without a week, nothing is estimated."""
    gap = days(
        *[day.figure.value for day in TWO_WEEKS[:7]], None, *[day.figure.value for day in TWO_WEEKS[8:]]
    )
    assert math.isnan(forecast(gap, {0: 1}).value)
    assert math.isnan(forecast(TWO_WEEKS[8:], {0: 1}).value)


def past_errors(figures: np.ndarray, weeks: int, length: int, ahead: int) -> list[float]:
    """By what the mean of so many weeks missed on each past day, as a logarithm."""
    errors = []
    for origin in range(7 * weeks, len(figures) - ahead - length + 1):
        before = [figures[origin - 7 * week : origin - 7 * week + 7 or None] for week in range(1, weeks + 1)]
        meant = sum(np.mean([week[(ahead + number) % 7] for week in before]) for number in range(length))
        errors.append(float(np.log(figures[origin + ahead : origin + ahead + length].sum() / meant)))
    return errors


def side_of(errors: list[float], figures: np.ndarray, weeks: int, length: int, ahead: int) -> float:
    """Student's t by how many errors are independent (Satterthwaite), and no narrower than their rank."""
    drawn = np.zeros(7 * weeks + ahead + length)
    drawn[7 * weeks + ahead :] = 1
    for number, week in itertools.product(range(length), range(weeks)):
        drawn[7 * week + (ahead + number) % 7] -= 1 / weeks
    days = np.arange(len(errors) + len(drawn) - 1)
    each = np.array([np.roll(np.pad(drawn, (0, len(errors) - 1)), shift) for shift in range(len(errors))])
    covariance = each @ noise.persistence(figures) ** np.abs(days[:, None] - days) @ each.T
    freedom = len(errors) ** 2 / ((covariance / covariance[0, 0]) ** 2).sum()
    if freedom < 3:
        return math.nan
    rank = min(math.ceil(0.95 * (len(errors) + 1)) + 1, len(errors))
    by_t = float(np.sqrt(np.mean(np.square(errors)))) * float(student.ppf(0.975, freedom))
    return max(by_t, sorted(map(abs, errors))[rank - 1])


@pytest.mark.parametrize(("weeks", "persistence"), [(4, 0.0), (1, 1.0)])
def test_the_range_is_that_of_past_forecasts(weeks: int, persistence: float) -> None:
    """Of three days, five days ahead: the mean of four weeks where each day is on its own, else the last
    week. The range is that of the errors of past forecasts; the same one, by what was known on each past
    day, is counted where it held."""
    draw, level = np.random.default_rng(4), 0.0
    figures = np.empty(90)
    for day, shock in enumerate(draw.normal(0, 0.2, 90)):
        level = persistence * level + shock
        figures[day] = 150 * np.exp(level)
    shape = (weeks, 3, 5)
    result = forecast(days(*figures), {0: 1, 1: 1, 2: 1}, ahead=5)
    errors = past_errors(figures, *shape)
    first = (days(*figures)[-1].day.weekday() + 1) % 7
    last = figures[-7 * weeks :].reshape(weeks, 7).mean(axis=0)
    assert result.value == pytest.approx(sum(last[(weekday - first) % 7] for weekday in (0, 1, 2)))
    side = side_of(errors, figures, *shape)
    assert np.log([result.high / result.value, result.value / result.low]) == pytest.approx([side, side])
    held = []
    for origin in range(2, len(errors) - 5 - 3 + 1):
        if not math.isnan(known := side_of(errors[:origin], figures, *shape)):
            held.append(abs(errors[origin + 5 + 3 - 1]) <= known)
    assert (result.hits, result.tests) == (sum(held), len(held))


def test_a_range_that_did_not_hold_is_none() -> None:
    """42 days of about 100, then every other week of about 800: too many past ranges did not hold, so that
    there is a figure alone."""
    levels = [100 * (8 if day >= 42 and day // 7 % 2 else 1) for day in range(70)]
    result = forecast(
        days(*(level + day % 3 for day, level in enumerate(levels))), dict.fromkeys(range(7), 1.0)
    )
    assert result.value > 0 and math.isnan(result.low)


def test_a_trend_moves_the_forecast() -> None:
    """Of figures that grow by 1 % a day the forecast is not two weeks behind."""
    grown = [100 * 1.01**day * (1 + 0.02 * (-1) ** (day // 3)) for day in range(100)]
    result = forecast(days(*grown[:93]), dict.fromkeys(range(7), 1.0))
    assert result.value == pytest.approx(sum(grown[93:]), rel=0.02)
    assert result.low < sum(grown[93:]) < result.high < 1.1 * result.value


@pytest.mark.parametrize("name", CASES)
def test_ranges_of_forecasts_hold(name: str) -> None:
    """Ranges hold in about 95 of 100 periods: whatever the noise, under trends, and of rare figures."""
    kind, trend, size = CASES[name]
    hits, _, silent = forecast_rates(NOISES[kind], 60, 5, 14, trend, size)
    assert hits >= 0.89 and silent <= 0.15


def test_ranges_of_rare_counts_are_as_wide_as_they_must_be() -> None:
    """Of a conversion a day the range of four weeks holds, and is at most two and a half times as wide as
    that of somebody who knows its level; the last week over again had one of four times."""
    kind, size = RARE["1 a day"]
    hits, width, silent = forecast_rates(kind, 40, 5, 28, 0.0, size)
    assert hits >= 0.89 and silent <= 0.15
    assert width <= 2.5 * 100 * 2 * 1.96 / math.sqrt(28 * size)


@pytest.fixture(params=["embedded", "specification alone"])
def of(request: pytest.FixtureRequest, own_home: Path):
    """A slicer with 7 bids in DE three days ago, none two days ago and 5 in DE and 9 in US yesterday."""
    rows = (("DE", 2, 7.0), ("DE", 0, 5.0), ("US", 0, 9.0))
    columns = {
        "time": [dt.datetime.combine(LAST_DAY - dt.timedelta(days=n), dt.time(9), UTC) for _, n, _ in rows],
        "country": [country for country, _, _ in rows],
        "region": ["Somewhere"] * 3,
        "browser": ["Chrome"] * 3,
        "requested_sizes": [["300x250"]] * 3,
        "media_type": ["banner"] * 3,
        "bids": [bids for _, _, bids in rows],
    }
    table = pa.table(columns, schema=DEFINITION.schema())
    if request.param == "embedded":
        yield embedded(own_home, table)
        return
    with served(State({("demo", "inventory"): known(table)})) as service:
        place = {"base_url": service.address, "reporting_token": TOKEN, "slicers": "demo/inventory"}
        yield clients(Settings(home=own_home, demo=True, **place))


def test_no_data_is_not_zero(of: Clients) -> None:
    """The day without any row has no data; a day with rows of others alone has zero."""
    start = LAST_DAY - dt.timedelta(days=2)
    filters = (Filter(name="country", value=("US",), match="equals"),)
    answer = asked(of, filters, start_date=start.isoformat(), split_by=("granularity_day",))
    assert [day_figure.figure for day_figure in answer.by_day("bids", (start, LAST_DAY))] == [
        Estimate(0),
        Estimate(None),
        Estimate(9),
    ]


def test_daily_wins_at_a_price() -> None:
    """Of each seat count the wins of groups at or above its price. Two groups of four are left out: their 40
    wins are taken to be like the 30 + 10 of the others. A day with data and no wins has none, one without
    data no figure."""
    first, second = MONDAY.isoformat(), (MONDAY + dt.timedelta(days=1)).isoformat()
    names = pd.DataFrame({"site": ["a", "b"], "granularity_day": [first, first]})
    values = pd.DataFrame({"win_cpm": [2.0, 1.0], "wins": [30.0, 10.0]})
    answer = Audience(names, values, values, Total({"wins": 80.0}, 4, (first, second)))
    whole = replace(answer, total=Total({"wins": 40.0}, 2, (first, second)))
    prices = [Decimal("1.5"), None]
    period = (MONDAY, MONDAY + dt.timedelta(days=2))
    daily = seat_prices.daily_wins([answer, whole], prices, WinFields("win_cpm", "wins"), period)
    assert [day_figure.figure.value for day_figure in daily] == [30 * 80 / 40 + 40, 0.0, None]


def all_of(figures: targeting_figures.Figures) -> dict[str, targeting_figures.Figures]:
    """As those of all buyers."""
    return {targeting_figures.ALL_BUYERS: figures}


def test_sentences() -> None:
    """The booked period in words: a range and how often it held, a figure alone, and what can't be said."""
    shown = Numbers()
    both = [(BIDS, TWO_WEEKS)]
    assert targeting_figures.sentences(all_of(both), (at(7), at(8)), 0, shown) == [
        "The booked period (1 day), what all buyers together may have: about 14 bids (no range: too few past "
        "periods to test one, or it held in too few)."
    ]
    long = [(BIDS, days(*np.random.default_rng(1).uniform(90, 110, 90)))]
    result = forecast(long[0][1], {0: 1.0}, ahead=310)
    assert math.isnan(result.low)
    soon = long[0][1][-1].day + dt.timedelta(days=1)
    start = dt.datetime.combine(soon, dt.time(), UTC)
    (sentence,) = targeting_figures.sentences(all_of(long), (start, start + dt.timedelta(days=7)), 0, shown)
    assert re.fullmatch(
        r"The booked period \(7 days\), what all buyers together may have: \d+ to \d+ bids "
        r"\(such a range held in \d\d of 38 past weeks\)\.",
        sentence,
    )
    assert targeting_figures.sentences(all_of(both), (at(7), None), 0, shown)[0].startswith(
        "The first 30 days (no end is booked)"
    )
    assert targeting_figures.sentences(all_of(both), (None, None), 0, shown) == [
        "Choose a start to see what the booked period would have."
    ]
    assert targeting_figures.sentences(all_of(both), (at(8), at(7)), 0, shown) == [
        "The booked period has no days."
    ]
    assert (
        "no estimate of bids"
        in targeting_figures.sentences(all_of([(BIDS, TWO_WEEKS[:6])]), (at(1), at(2)), 0, shown)[0]
    )
    assert "1 day has no data and is left out" in targeting_figures.caution(
        [(BIDS, days(None, 3))], "2–3 Nov 2026", targeting_figures.left_out({}, False)
    )


def test_the_chart_marks_weekdays() -> None:
    """Mondays are named, weekends are lighter, and a day without data says so."""
    seen = (*TWO_WEEKS[:9], DayFigure(MONDAY + dt.timedelta(days=9), Estimate(None)))
    chart = bars.day_bars_figure(
        [day_figure.day for day_figure in seen],
        [day_figure.figure.value for day_figure in seen],
        BIDS,
        Numbers(),
    )
    assert chart.layout.xaxis.ticktext == ("Mon 2 Nov", "Mon 9 Nov")
    colors = chart.data[0].marker.color
    assert [place for place, color in enumerate(colors) if color != colors[0]] == [5, 6]
    assert chart.data[0].customdata[9] == "Wed 11 Nov 2026: no data"
