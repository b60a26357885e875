"""Evidence of a change: days, untouched ones and pairs by hand; the difference against scipy's t-test."""

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pytest
from conftest import LAST_DAY
from dealing import SOLD, clients, sold_rows
from scipy import stats

from lib.deals.models import DemandDeal, EntityChange, Reference, SupplyPackage
from lib.insight import evidence, evidence_file
from lib.insight.evidence import DayPair, EvidenceDays
from lib.insight.evidence_file import Matter
from lib.reporting.models import AudienceQuery, DataField, InfoQuery
from lib.settings import Settings

SUNDAY = dt.datetime(2026, 11, 1, 23, 30, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


def pairs_of(own: list[tuple[float, float]], others: list[tuple[float, float]] | None) -> list[DayPair]:
    """Pairs of days with these figures."""
    beside = others or [None] * len(own)
    day = dt.date(2026, 11, 2)
    return [DayPair(day, day + 7 * DAY, one, other) for one, other in zip(own, beside, strict=True)]


def test_a_week_on_both_sides_without_the_day_itself() -> None:
    """With a week after the change, the days are the seven before and the seven after its day."""
    found = evidence.days(SUNDAY, 0, dt.date(2026, 11, 20))
    assert found == EvidenceDays(
        (dt.date(2026, 10, 25), dt.date(2026, 10, 31)), (dt.date(2026, 11, 2), dt.date(2026, 11, 8))
    )
    assert all(before.weekday() == after.weekday() for before, after in found.pairs())
    assert len(found.pairs()) == 7


@pytest.mark.parametrize(("last", "count"), [(5, 4), (6, 5), (7, 6), (8, 7)])
def test_fewer_days_have_the_same_weekdays(last: int, count: int) -> None:
    """With four to six days after it, those before are the same weekdays."""
    found = evidence.days(SUNDAY, 0, dt.date(2026, 11, last))
    assert found is not None and len(found.pairs()) == count
    assert all(before.weekday() == after.weekday() for before, after in found.pairs())
    assert found.before[1] < SUNDAY.date() < found.after[0]


def test_too_early_and_in_the_zone_of_the_report() -> None:
    """Before four complete days there are none; the day of a change is that of the report's zone."""
    assert evidence.days(SUNDAY, 0, dt.date(2026, 11, 4)) is None
    east = evidence.days(SUNDAY, 1, dt.date(2026, 11, 20))
    assert east is not None and east.after[0] == dt.date(2026, 11, 3)


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
    assert evidence.untouched(packages, deals, packages[0], since, 0) == [2]
    assert evidence.changed_with(packages[0], deals, since, 0) == [7]
    assert evidence.changed_with(packages[1], deals, since, 0) == []


def test_a_doubling_beside_what_stays_is_a_difference_of_one() -> None:
    """Figures that double on each weekday beside ones that stay differ by exactly +100 %."""
    found = evidence.difference(pairs_of([(10.0 * n, 20.0 * n) for n in range(1, 8)], [(5.0, 5.0)] * 7))
    assert found is not None and found.is_certain
    assert (found.value, found.low, found.high, found.pairs) == pytest.approx((1, 1, 1, 7))


def test_the_range_is_that_of_a_t_test() -> None:
    """Mean and 95 % interval are scipy's of one sample of logarithms, with and without untouched ones."""
    draw = np.random.default_rng(3)
    own, others = draw.uniform(50, 150, (7, 2)), draw.uniform(500, 900, (7, 2))
    for beside in (None, others):
        logarithms = np.log(own[:, 1] / own[:, 0])
        logarithms = logarithms if beside is None else logarithms - np.log(beside[:, 1] / beside[:, 0])
        expected = stats.ttest_1samp(logarithms, 0).confidence_interval(0.95)
        found = evidence.difference(pairs_of(own.tolist(), None if beside is None else beside.tolist()))
        assert found is not None
        assert found.value == pytest.approx(np.expm1(logarithms.mean()))
        assert (found.low, found.high) == pytest.approx((np.expm1(expected.low), np.expm1(expected.high)))


def test_days_without_figures_do_not_count() -> None:
    """A pair with a zero or missing figure is left out; fewer than four pairs say nothing."""
    good = [(1.0, 2.0), (2.0, 3.0), (3.0, 5.0)]
    assert evidence.difference(pairs_of([*good, (0.0, 4.0)], None)) is None
    found = evidence.difference(pairs_of([*good, (4.0, 9.0), (0.0, 1.0)], None))
    assert found is not None and found.pairs == 4


def test_figures_of_the_days_are_those_of_the_rows(own_deals_home: Path) -> None:
    """Days, totals and the file have what pandas finds in the rows of deal 1, and of deals 2 and 3."""
    client = clients(Settings(home=own_deals_home, demo=True)).reporting
    slicer = client.info(InfoQuery(project_name="demo", slicer_name=SOLD))
    at = dt.datetime.combine(LAST_DAY - 8 * DAY, dt.time(12), dt.UTC)
    around = evidence.days(at, 0, LAST_DAY)
    assert around is not None
    base = AudienceQuery(
        project_name="demo",
        slicer_name=SOLD,
        start_date="-7d",
        end_date="yesterday",
        data_fields=("imps", "win_cpm"),
    )
    queries = evidence.questions(base, "deal", 1, [2, 3], around)
    answers = [client.audience(query, slicer) for query in queries]
    rows = sold_rows().to_pandas()
    rows = rows.assign(day=rows["time"].dt.date)
    change = EntityChange(
        id=9, at=at, who="manager", action="changed", before={"price": 2}, after={"price": 3}
    )
    matter = Matter(("demand_deals", 1), DemandDeal(id=1, name="x"), change, (), (7,), around, [2, 3])
    fields = [DataField(name="imps"), DataField(name="win_cpm")]
    told = json.loads(evidence_file.content(matter, queries, evidence_file.rows(matter, fields, answers)))
    for figure, of in zip(told["figures"], (imps, cpm), strict=True):
        for ids, side in ((("1",), "changed"), (("2", "3"), "untouched")):
            mine = rows[rows["deal"].isin(ids)]
            by_day = {str(day): of(some) for day, some in mine.groupby("day")}
            for day in figure["days"]:
                assert day[side] == pytest.approx([by_day[day["before"]], by_day[day["after"]]])
            spans = [mine[mine["day"].between(*span)] for span in (around.before, around.after)]
            assert figure["total"][side] == pytest.approx([of(span) for span in spans])
    assert told["linked_ids_changed_since"] == [7]
    assert [one["body"]["filters"][0]["value"] for one in told["requests"]] == [["1"]] * 2 + [["2", "3"]] * 2


def imps(rows: object) -> float:
    """The impressions of these rows."""
    return float(rows["imps"].sum())  # type: ignore[index]


def cpm(rows: object) -> float:
    """The win CPM of these rows."""
    return float(1000 * rows["spend"].sum() / rows["imps"].sum())  # type: ignore[index]
