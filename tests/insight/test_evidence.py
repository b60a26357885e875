"""Evidence of a change: days, untouched ones and placebos by hand; how often its claims are false."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import LAST_DAY
from dealing import SOLD, clients, sold_rows
from scipy import stats
from statements import NOISES, evidence_rates

from lib.deals.models import DemandDeal, Reference, SupplyPackage
from lib.insight import evidence
from lib.insight.deal_report import DealReport
from lib.insight.evidence import EvidenceDays
from lib.reporting import noise
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.settings import Settings
from lib.slicers.models import DataField

SUNDAY = dt.datetime(2026, 11, 1, 23, 30, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


CHANGED = dt.date(2026, 11, 1)


def series(level: Callable[[int], float], days: int = 68) -> dict[dt.date, float]:
    """Figures by day up to a week after the change; `level` is given the day's number after it."""
    return {CHANGED + n * DAY: level(n) for n in range(8 - days, 8)}


def around(history: int = 60) -> EvidenceDays:
    """The days around the change, with so many before it."""
    days = evidence.days(SUNDAY, 0, CHANGED + 7 * DAY, CHANGED - history * DAY)
    assert days is not None
    return days


def test_a_week_on_both_sides_without_the_day_itself() -> None:
    """With a week after the change, the days are the seven before and the seven after its day."""
    days = evidence.days(SUNDAY, 0, dt.date(2026, 11, 20))
    assert days == EvidenceDays(
        (dt.date(2026, 10, 25), dt.date(2026, 10, 31)),
        (dt.date(2026, 11, 2), dt.date(2026, 11, 8)),
        (CHANGED - evidence.HISTORY_DAYS * DAY, dt.date(2026, 10, 24)),
    )
    assert all(before.weekday() == after.weekday() for before, after in days.pairs())
    assert len(days.pairs()) == 7


@pytest.mark.parametrize(("last", "count"), [(5, 4), (6, 5), (7, 6), (8, 7)])
def test_fewer_days_have_the_same_weekdays(last: int, count: int) -> None:
    """With four to six days after it, those before are the same weekdays."""
    days = evidence.days(SUNDAY, 0, dt.date(2026, 11, last))
    assert days is not None and len(days.pairs()) == count
    assert all(before.weekday() == after.weekday() for before, after in days.pairs())
    assert days.before[1] < SUNDAY.date() < days.after[0]


def test_too_early_and_in_the_zone_of_the_report() -> None:
    """Before four complete days there are none; the day of a change is that of the report's zone."""
    assert evidence.days(SUNDAY, 0, dt.date(2026, 11, 4)) is None
    east = evidence.days(SUNDAY, 1, dt.date(2026, 11, 20))
    assert east is not None and east.after[0] == dt.date(2026, 11, 3)


def test_a_day_of_an_outage_before_the_change_is_no_pair() -> None:
    """Without a change, next to nothing on a day of the week before leaves six pairs, and no difference."""
    steady = series(lambda day: 1_000 * (1 + 0.03 * np.cos(2.4 * day)), 98)
    out = steady | {CHANGED - 3 * DAY: 20.0, CHANGED - 40 * DAY: 20.0}
    broken, usual = (evidence.difference(days, None, around(90)) for days in (out, steady))
    assert broken is not None and usual is not None
    assert (broken.pairs, usual.pairs) == (6, 7)
    assert abs(broken.value) < 0.02 and broken.high < 0.05


def test_of_many_placebos_the_rank_is_the_range() -> None:
    """Of 77 placebos of the sizes 1 to 77 the 95 % range reaches to the 76th: ⌈0.95 · 78⌉ is 75, and one
    further as neighbors are alike; of 19 to the largest."""
    for count, rank in ((77, 76.0), (19, 19.0)):
        assert noise.Spread(40.0, 20.0, np.arange(1.0, count + 1)).rank_side(0.95) == rank


def test_only_who_was_there_and_not_changed_is_untouched() -> None:
    """Packages that were changed since, are new, share a deal, have a changed deal, or do not say: none."""
    old, new = SUNDAY - 60 * DAY, SUNDAY - 2 * DAY
    shared, its, moved = (Reference(id=7),), (Reference(id=8),), (Reference(id=9),)
    deals = [
        DemandDeal(id=7, created_at=old, updated_at=new),
        DemandDeal(id=8, created_at=old, updated_at=old),
        DemandDeal(id=9, created_at=old, updated_at=new),
    ]
    packages = [
        SupplyPackage(id=1, created_at=old, updated_at=SUNDAY, demand_deals=shared),
        SupplyPackage(id=2, created_at=old, updated_at=old, demand_deals=its),
        SupplyPackage(id=3, created_at=old, updated_at=new),
        SupplyPackage(id=4, created_at=new, updated_at=new),
        SupplyPackage(id=5, created_at=old, updated_at=old, demand_deals=shared),
        SupplyPackage(id=6),
        SupplyPackage(id=7, created_at=old, updated_at=old, demand_deals=moved),
    ]
    since = (SUNDAY - 7 * DAY).date()
    untouched = evidence.control_group(packages, deals, packages[0], since, 0)
    assert [deal.id for deal in untouched] == [2]
    assert evidence.changed_with(packages[0], deals, since, 0) == [7]
    assert evidence.changed_with(packages[1], deals, since, 0) == []


def test_a_doubling_beside_what_stays_is_a_difference_of_one() -> None:
    """Figures that double on each weekday beside ones that vary a little differ by +100 %, beyond chance."""
    own = series(lambda n: (20.0 if n > 0 else 10.0) * (1 + n % 7))
    others = series(lambda n: 500.0 + n % 5)
    difference = evidence.difference(own, others, around())
    assert difference is not None and difference.is_certain and difference.as_large == 0
    assert difference.value == pytest.approx(1, abs=0.02) and difference.pairs == 7


def test_placebos_are_the_same_difference_at_earlier_days() -> None:
    """The range is Student's t times the root mean square of the difference around each earlier day."""
    draw = np.random.default_rng(3)
    days = sorted(series(float))
    own, others = (dict(zip(days, draw.uniform(50, 150, len(days)), strict=True)) for _ in range(2))
    logs = np.log([own[day] / others[day] for day in days])
    means = [np.mean(logs[at + 1 : at + 8]) - np.mean(logs[at - 7 : at]) for at in range(7, len(days) - 7)]
    placebos, value = np.array(means[:-8]), means[-1]
    difference = evidence.difference(own, others, around())
    assert difference is not None and difference.placebos == len(placebos) == 46
    assert difference.as_large == np.sum(np.abs(placebos) >= abs(value))
    assert difference.value == pytest.approx(np.expm1(value))
    lower, upper = (np.log1p(end) - value for end in (difference.low, difference.high))
    assert lower == pytest.approx(-upper)
    assert 1.96 < upper / np.sqrt(np.mean(placebos**2)) < stats.t(3).ppf(0.975)


def test_placebos_stay_away_from_other_changes() -> None:
    """A day on which something else was changed is in no placebo's days."""
    own = series(lambda n: 100.0 + n % 5)
    assert (difference := evidence.difference(own, None, around())) is not None and difference.placebos == 46
    touched = evidence.difference(own, None, around(), {CHANGED - 30 * DAY})
    assert touched is not None and touched.placebos == 46 - 15


def test_too_little_history_says_nothing() -> None:
    """With fewer than four pairs, or fewer than about a month before the change, there is no difference."""
    own = series(lambda n: 100.0 + n % 5)
    assert evidence.difference(own, None, around(24)) is None
    assert evidence.difference(own, None, around(35)) is not None
    gone = own | {CHANGED + n * DAY: 0.0 for n in range(1, 5)}
    assert evidence.difference(gone, None, around()) is None
    fewer = own | {CHANGED + n * DAY: 0.0 for n in range(1, 4)}
    difference = evidence.difference(fewer, None, around())
    assert difference is not None and difference.pairs == 4


@pytest.mark.parametrize("name", NOISES)
def test_claims_are_seldom_false(name: str) -> None:
    """Of days on which nothing happened about a twentieth have a difference; ranges hold what was planted."""
    false, _, silent, _ = evidence_rates(NOISES[name], 300, 7)
    _, held, _, _ = evidence_rates(NOISES[name], 300, 8, effect=-0.2)
    assert silent == 0 and false <= 0.09 and held >= 0.91


def test_a_fifth_less_is_found() -> None:
    """Of falls of a fifth in noise of 5 % a day at least four fifths are found, even if it persists."""
    for name in ("white", "AR(0.6)", "heavy tails"):
        assert evidence_rates(NOISES[name], 200, 9, effect=-0.2, scale=0.05)[0] >= 0.8


@pytest.mark.parametrize("name", ["white", "AR(0.6)", "AR(0.8)"])
def test_what_may_not_show_is_said(name: str) -> None:
    """A fall as large as the smallest that is said to show usually is found in about four of five cases."""
    usual = evidence_rates(NOISES[name], 200, 12)[3]
    assert 0.7 <= evidence_rates(NOISES[name], 300, 13, effect=-usual)[0] <= 0.9


def test_figures_of_the_days_are_those_of_the_rows(own_deals_home: Path) -> None:
    """Days and totals have what pandas finds in the rows of deal 1, and of deals 2 and 3."""
    client = clients(Settings(home=own_deals_home, demo=True)).reporting
    slicer = client.info(InfoQuery(project_name="demo", slicer_name=SOLD))
    at = dt.datetime.combine(LAST_DAY - 8 * DAY, dt.time(12), dt.UTC)
    around = evidence.days(at, 0, LAST_DAY, LAST_DAY - 39 * DAY)
    assert around is not None
    base = AudienceQuery(
        project_name="demo",
        slicer_name=SOLD,
        start_date="-7d",
        end_date="yesterday",
        data_fields=("imps", "win_cpm"),
    )
    report = DealReport("demo", SOLD, slicer, LAST_DAY + DAY, lambda query: client.audience(query, slicer))
    changed, others = DemandDeal(id=1, name="x"), [DemandDeal(id=2), DemandDeal(id=3)]
    queries = evidence.questions(report, base, changed, others, around)
    answers = [client.audience(query, slicer) for query in queries]
    rows = sold_rows().to_pandas()
    rows = rows.assign(day=rows["time"].dt.date)
    fields = [DataField(name="imps"), DataField(name="win_cpm")]
    figures = evidence.figures(fields, answers, around)
    sides = evidence.sides(answers, around)
    for figure, expected in zip(figures, (imps, cpm), strict=True):
        for ids, side, totals in (("1", sides[0], figure.own), ("23", sides[1], figure.others)):
            mine = rows[rows["deal"].isin(list(ids))]
            near = mine[mine["day"].between(LAST_DAY - 39 * DAY, around.after[1])]
            by_day = {day: expected(some) for day, some in near.groupby("day") if day != around.day}
            assert evidence.daily(side, figure.field.name) == pytest.approx(by_day)
            spans = [mine[mine["day"].between(*span)] for span in (around.before, around.after)]
            assert totals == pytest.approx([expected(span) for span in spans])


def imps(rows: object) -> float:
    """The impressions of these rows."""
    return float(rows["imps"].sum())  # type: ignore[index]


def cpm(rows: object) -> float:
    """The win CPM of these rows."""
    return float(1000 * rows["spend"].sum() / rows["imps"].sum())  # type: ignore[index]
