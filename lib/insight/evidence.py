"""Evidence of a change: the days before and after it, held against packages or deals that were not touched.

A day after the change is paired with the same weekday before it; the day of the change is left out. What
counts of a pair is the logarithm of the figure's ratio less that of the untouched ones together, a difference
in differences (Angrist and Pischke 2009, "Mostly Harmless Econometrics", section 5.2). The difference is the
mean of the pairs. How far it moves where nothing happened is seen at the days before the change: each of them
has the same difference around it, a placebo (lib/reporting/noise.py).
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lib.deals.models import EntityChange, PackageOrDeal, SupplyPackage
from lib.insight.deal_report import DealReport
from lib.reporting import noise
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.reporting.query_batch import Lookup
from lib.slicers.dates import Days, day_of
from lib.slicers.granularities import time_key_field
from lib.slicers.models import DataField

DAY, ONE_DAY = time_key_field("day"), timedelta(days=1)
MOST_DAYS = 7  # on each side of a change: every weekday once
FEWEST_DAYS = 4  # after a change, and pairs of days with figures, without which nothing is said
ROUNDING = 1e-9
SEEN_ACTION = "seen"
Daily = Mapping[date, float]


@dataclass(frozen=True)
class EvidenceDays:
    """The days before and after the day of a change: the same weekdays on both sides, up to a week.

    `history` are the days before these in which placebos are looked for; None where the report has none.
    """

    before: Days
    after: Days
    history: Days | None = None

    @property
    def day(self) -> date:
        return self.after[0] - ONE_DAY

    def pairs(self) -> list[tuple[date, date]]:
        """A day before, and the day of the same weekday after."""
        after = {day.weekday(): day for day in _days(self.after)}
        return [(day, after[day.weekday()]) for day in _days(self.before)]


@dataclass(frozen=True)
class Difference:
    """By how much a figure changed beyond the untouched ones, as a part of it (0.1 is 10 %), from `pairs`.

    `as_large` of the `placebos`, the same difference around earlier days without a change, were as large. A
    fall by the part `reliable` or more is found in POWER of cases; a smaller one may not show in these days.
    """

    value: float
    low: float
    high: float
    pairs: int
    placebos: int
    as_large: int
    reliable: float

    @property
    def is_certain(self) -> bool:
        """Whether its range leaves out "no difference"."""
        return self.low > 0 or self.high < 0

    @property
    def record(self) -> str:
        """How often the figure moved as much around earlier days on which nothing was changed."""
        spans = "fortnights" if self.pairs == MOST_DAYS else f"spans of {self.pairs} and {self.pairs} days"
        return f"Moved as much in {self.as_large} of {self.placebos} past {spans}"


@dataclass(frozen=True)
class EvidenceFigure:
    """A data field's totals before and after, and the difference; None where there is no such figure."""

    field: DataField
    own: tuple[float | None, float | None]
    others: tuple[float | None, float | None] | None
    difference: Difference | None


@dataclass(frozen=True)
class Evidence:
    """A change's figures before and after it, and what else was changed around it.

    `also` are the other changes of the entity in these days, `beside` the ids of its deals (or packages) that
    have changed since the first of them, `others` the untouched ones that it is compared with. There is none
    before FEWEST_DAYS after the change.
    """

    FEWEST_DAYS: ClassVar[int] = FEWEST_DAYS
    entity: PackageOrDeal
    around: EvidenceDays
    also: Sequence[EntityChange]
    beside: Sequence[int]
    others: Sequence[PackageOrDeal]
    figures: Sequence[EvidenceFigure]


def days_around(report: DealReport, at: datetime) -> EvidenceDays | None:
    """The days of the report around a change at that moment; None as long as it has too few after it."""
    first = report.slicer.first_date
    earliest = None if first is None else date.fromisoformat(first)
    return days(at, report.slicer.timezone, report.period(1)[1], earliest)


def lookup(
    report: DealReport,
    around: EvidenceDays,
    entity: PackageOrDeal,
    subject: EntityChange,
    changes: Sequence[EntityChange],
    entities: Iterable[PackageOrDeal],
    counterparts: Sequence[PackageOrDeal],
    fields: Sequence[DataField],
) -> Lookup[Evidence]:
    """The evidence of one of an entity's changes, in these data fields.

    `entities` are all packages (or deals), `counterparts` all deals (or packages).
    """
    hours, first, last = report.slicer.timezone, around.before[0], around.after[1]
    also = [other for other in changes if other is not subject and first <= day_of(other.at, hours) <= last]
    others = control_group(entities, counterparts, entity, first, hours)
    beside, change_dates = changed_with(entity, counterparts, first, hours), change_days(changes, hours)
    base = report.query(1, data_fields=tuple(field.name for field in fields))
    return Lookup(
        questions(report, base, entity, others, around),
        lambda answers: Evidence(
            entity, around, also, beside, others, figures(fields, answers, around, change_dates)
        ),
    )


HISTORY_DAYS = 91  # before a change, among which placebos are looked for: thirteen weeks


def days(at: datetime, hours: int, last: date, earliest: date | None = None) -> EvidenceDays | None:
    """The days around a change at that moment, in a zone so many hours ahead of UTC.

    `last` is the last complete day with data, `earliest` the first; None before there are FEWEST_DAYS after
    the change.
    """
    day = day_of(at, hours)
    count = min(MOST_DAYS, (last - day).days)
    if count < FEWEST_DAYS:
        return None
    first = day - (MOST_DAYS if count == MOST_DAYS else MOST_DAYS - 1) * ONE_DAY
    start = max(day - HISTORY_DAYS * ONE_DAY, earliest or date.min)
    history = (start, first - ONE_DAY) if start < first else None
    before = first, first + (count - 1) * ONE_DAY
    return EvidenceDays(before, (day + ONE_DAY, day + count * ONE_DAY), history)


def control_group(
    entities: Iterable[PackageOrDeal],
    counterparts: Iterable[PackageOrDeal],
    entity: PackageOrDeal,
    since: date,
    hours: int,
) -> list[PackageOrDeal]:
    """Those that were there before that day and have not changed from then on, nor have theirs.

    `counterparts` are the deals where `entities` are packages, and the packages where these are deals. Those
    that share one with the changed entity are left out, and those whose service does not say when they were
    changed: a change of the one can change the other.
    """
    old_ids = {other.id for other in counterparts if _is_older(other, since, hours)}
    links = _link_ids(entity)
    return [
        other
        for other in entities
        if other.id is not None
        and other.id != entity.id
        and _is_older(other, since, hours)
        and _link_ids(other) <= old_ids - links
    ]


def changed_with(
    entity: PackageOrDeal, counterparts: Iterable[PackageOrDeal], since: date, hours: int
) -> list[int]:
    """The ids of the deals of a changed package, or the packages of a deal, that changed since that day."""
    links = _link_ids(entity)
    return [
        counterpart.id
        for counterpart in counterparts
        if counterpart.id is not None and counterpart.id in links and not _is_older(counterpart, since, hours)
    ]


def questions(
    report: DealReport,
    base: AudienceQuery,
    entity: PackageOrDeal,
    others: Sequence[PackageOrDeal],
    around: EvidenceDays,
) -> list[AudienceQuery]:
    """The days before and after by day, then those of the history: of the changed entity, then, if there are
    any, of the others together."""
    queries = []
    for entities in filter(None, ((entity,), others)):
        filters = report.only(entities)
        for first, last in filter(None, (around.before, around.after, around.history)):
            dates = {"start_date": first.isoformat(), "end_date": last.isoformat()}
            queries.append(base.model_copy(update=dates | {"filters": filters, "split_by": (DAY,)}))
    return queries


def figures(
    fields: Iterable[DataField],
    answers: Sequence[Audience],
    around: EvidenceDays,
    change_days: Collection[date] = (),
) -> list[EvidenceFigure]:
    """The data fields from the answers to `questions`; totals are the service's own."""
    own, *others = sides(answers, around)
    return [
        EvidenceFigure(
            field,
            _totals(own, field.name),
            _totals(others[0], field.name) if others else None,
            difference(
                daily(own, field.name), daily(others[0], field.name) if others else None, around, change_days
            ),
        )
        for field in fields
    ]


def sides(answers: Sequence[Audience], around: EvidenceDays) -> list[Sequence[Audience]]:
    """The answers to `questions` of the changed one, and of the others, if any: before, after, history."""
    count = 2 if around.history is None else 3
    return [answers[first : first + count] for first in range(0, len(answers), count)]


def _totals(side: Sequence[Audience], name: str) -> tuple[float | None, float | None]:
    before, after = (answer.total_of(name) for answer in side[:2])
    return before.value, after.value if before.is_comparable(after) else None


def daily(answers: Iterable[Audience], name: str) -> Daily:
    """A data field's figures by day from answers split by day, as far as they have any."""
    answers = list(answers)
    if len({answer.total.currencies.get(name, "") for answer in answers if len(answer)}) > 1:
        return {}
    return {
        date.fromisoformat(str(day)[:10]): float(value)
        for answer in answers
        for day, value in zip(answer.names[DAY], answer.comparable(name), strict=True)
        if math.isfinite(value)
    }


def change_days(changes: Iterable[EntityChange], hours: int) -> set[date]:
    """The days on which something was changed: no placebo may touch one."""
    return {day_of(change.at, hours) for change in changes if change.action != SEEN_ACTION}


CONFIDENCE = 0.95  # of the range of a difference
POWER = 0.8  # the part of cases in which a fall by `reliable` is found
ENOUGH_FOR_RANK = 65  # placebos, of about 90 days: their rank alone is then the range


def difference(
    own: Daily, others: Daily | None, around: EvidenceDays, change_days: Collection[date] = ()
) -> Difference | None:
    """The difference with its range, from figures by day. `change_days` are the days of other changes.

    None with fewer than FEWEST_DAYS pairs that have figures, or too little history to know what is usual.
    Days of an outage before the change are no pair, and count in placebos as what the weeks around them had.
    """
    if around.history is None:
        return None
    span = _days((around.history[0], around.day - ONE_DAY))
    raw = np.array([_logarithm(day, own, others) for day in span])
    # An outage that counts as an ordinary day moves no placebo, and would make the others look rare.
    is_outage = np.abs(raw - np.log(noise.without_outages(np.exp(raw)))) > ROUNDING
    series = np.where(is_outage, np.nan, raw)
    before = dict(zip(span, series, strict=True))
    differences = [_logarithm(after, own, others) - before[day] for day, after in around.pairs()]
    pairs = [difference for difference in differences if math.isfinite(difference)]
    if len(pairs) < FEWEST_DAYS:
        return None
    placebos = _placebos(series, span, around, change_days)
    # What each day counts in the difference, from the first before to the last after.
    signs = {
        day: sign / len(around.pairs())
        for pair in around.pairs()
        for day, sign in zip(pair, (-1, 1), strict=True)
    }
    weights = [signs.get(day, 0.0) for day in _days((around.before[0], around.after[1]))]
    usual = noise.spread(placebos, weights, noise.persistence(series))
    if usual is None:
        return None
    mean = math.fsum(pairs) / len(pairs)
    side = usual.rank_side(CONFIDENCE) if len(usual.sizes) >= ENOUGH_FOR_RANK else usual.side(CONFIDENCE)
    finite = placebos[np.isfinite(placebos)]
    return Difference(
        math.expm1(mean),
        math.expm1(mean - side),
        math.expm1(mean + side),
        len(pairs),
        len(finite),
        int(np.sum(np.abs(finite) >= abs(mean))),
        -math.expm1(-side - usual.power_margin(POWER)),
    )


def _placebos(
    series: npt.NDArray[np.float64], span: Sequence[date], around: EvidenceDays, change_days: Collection[date]
) -> npt.NDArray[np.float64]:
    """The same difference around each day of which the days around lie in the span; NaN where a day was
    changed among them, or figures are missing."""
    before = np.array([(first - around.before[0]).days for first, _ in around.pairs()])
    after = np.array([(second - around.before[0]).days for _, second in around.pairs()])
    reach = (around.after[1] - around.before[0]).days + 1
    has_change = np.array([day in change_days for day in span])
    means = np.full(max(len(span) - reach + 1, 0), np.nan)
    for start in range(len(means)):
        pairs = series[start + after] - series[start + before]
        pairs = pairs[np.isfinite(pairs)]
        if len(pairs) >= FEWEST_DAYS and not has_change[start : start + reach].any():
            means[start] = pairs.mean()
    return means


def _logarithm(day: date, own: Daily, others: Daily | None) -> float:
    """A day's figure beside that of the others; NaN where one is missing or not above 0."""
    figures = (own.get(day, 0.0), 1.0 if others is None else others.get(day, 0.0))
    return math.log(figures[0] / figures[1]) if min(figures) > 0 else math.nan


def _is_older(entity: PackageOrDeal, since: date, hours: int) -> bool:
    """Whether it was there before that day and has not changed from then on, as far as is known."""
    latest = entity.updated_at or entity.created_at
    return entity.created_at is not None and latest is not None and day_of(latest, hours) < since


def _link_ids(entity: PackageOrDeal) -> set[int | None]:
    """The ids of a package's deals, or of a deal's packages."""
    links = entity.demand_deals if isinstance(entity, SupplyPackage) else entity.supply_deals
    return {link.id for link in links}


def _days(span: Days) -> list[date]:
    first, last = span
    return [first + number * ONE_DAY for number in range((last - first).days + 1)]
