"""Evidence of a change: the days before and after it, held against packages or deals that were not touched.

A day after the change is paired with the same weekday before it; the day of the change is left out. What
counts of a pair is the logarithm of the figure's ratio less that of the untouched ones together, a difference
in differences (Angrist and Pischke 2009, "Mostly Harmless Econometrics", section 5.2). The difference is the
mean of the pairs, and its range the 95 % interval of Student's t (Student 1908, "The probable error of a
mean"): as wide as the pairs differ among themselves, be it by chance or because the days are estimates.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

from scipy.special import stdtrit

from lib.deals.models import PackageOrDeal, SupplyPackage
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery, Filter, time_key_field

DAY, ONE = time_key_field("day"), timedelta(days=1)
LONGEST, FEWEST, CONFIDENCE = 7, 4, 0.95


@dataclass(frozen=True)
class EvidenceDays:
    """The days before and after the day of a change: the same weekdays on both sides, up to a week."""

    before: Days
    after: Days

    def pairs(self) -> list[tuple[date, date]]:
        """A day before, and the day of the same weekday after."""
        after = {day.weekday(): day for day in _days(self.after)}
        return [(day, after[day.weekday()]) for day in _days(self.before)]


@dataclass(frozen=True)
class DayPair:
    """A figure on two days of the same weekday: of what was changed, and of the untouched ones together.

    None where a day has no such figure.
    """

    before: date
    after: date
    own: tuple[float | None, float | None]
    others: tuple[float | None, float | None] | None

    @property
    def logarithm(self) -> float | None:
        """The change beyond that of the untouched ones; None where a figure is missing or not above 0."""
        own = _log_ratio(self.own)
        others = 0.0 if self.others is None else _log_ratio(self.others)
        return None if own is None or others is None else own - others


@dataclass(frozen=True)
class Difference:
    """By how much a figure changed beyond the untouched ones, as a part of it (0.1 is 10 %), from `pairs`."""

    value: float
    low: float
    high: float
    pairs: int

    @property
    def is_certain(self) -> bool:
        """Whether its range leaves out "no difference"."""
        return self.low > 0 or self.high < 0


def days(at: datetime, hours: int, last: date) -> EvidenceDays | None:
    """The days around a change at that moment, in a zone so many hours ahead of UTC.

    `last` is the last complete day with data; None before there are FEWEST days after the change.
    """
    day = day_of(at, hours)
    count = min(LONGEST, (last - day).days)
    if count < FEWEST:
        return None
    first = day - (LONGEST if count == LONGEST else LONGEST - 1) * ONE
    return EvidenceDays((first, first + (count - 1) * ONE), (day + ONE, day + count * ONE))


def day_of(at: datetime, hours: int) -> date:
    """The day of a moment in a zone so many hours ahead of UTC."""
    return at.astimezone(timezone(timedelta(hours=hours))).date()


def untouched(
    entities: Iterable[PackageOrDeal],
    linked: Iterable[PackageOrDeal],
    changed: PackageOrDeal,
    since: date,
    hours: int,
) -> list[int]:
    """The ids of those that were there before that day and have not changed from then on, nor have theirs.

    `linked` are the deals where `entities` are packages, and the packages where these are deals. Those that
    share one with the changed entity are left out, and those whose service does not say when they were
    changed: a change of the one can change the other.
    """
    still = {one.id for one in linked if _is_older(one, since, hours)}
    touched = _linked(changed)
    return [
        one.id
        for one in entities
        if one.id is not None
        and one.id != changed.id
        and _is_older(one, since, hours)
        and _linked(one) <= still - touched
    ]


def changed_with(
    changed: PackageOrDeal, linked: Iterable[PackageOrDeal], since: date, hours: int
) -> list[int]:
    """The ids of the deals of a changed package, or the packages of a deal, that changed since that day."""
    touched = _linked(changed)
    return [
        one.id
        for one in linked
        if one.id is not None and one.id in touched and not _is_older(one, since, hours)
    ]


def questions(
    base: AudienceQuery, field: str, own: int, others: Sequence[int], around: EvidenceDays
) -> list[AudienceQuery]:
    """The days before and after by day: of the changed one, then, if there are any, of the others together.

    `field` is the key field that tells them apart.
    """
    queries = []
    for ids in ((own,), others):
        some = Filter(name=field, value=tuple(map(str, ids)), match="equals")
        for first, last in (around.before, around.after):
            dates = {"start_date": first.isoformat(), "end_date": last.isoformat()}
            if ids:
                queries.append(base.model_copy(update=dates | {"filters": (some,), "split_by": (DAY,)}))
    return queries


def day_pairs(answers: Sequence[Audience], name: str, around: EvidenceDays) -> list[DayPair]:
    """The pairs of a data field from the answers to `questions`."""
    own_before, own_after, *rest = (_by_day(answer, name) for answer in answers)
    return [
        DayPair(
            before,
            after,
            (own_before.get(before), own_after.get(after)),
            (rest[0].get(before), rest[1].get(after)) if rest else None,
        )
        for before, after in around.pairs()
    ]


def difference(pairs: Iterable[DayPair]) -> Difference | None:
    """The difference with its range; None with fewer than FEWEST pairs that have figures."""
    logarithms = [found for pair in pairs if (found := pair.logarithm) is not None]
    count = len(logarithms)
    if count < FEWEST:
        return None
    mean = math.fsum(logarithms) / count
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in logarithms) / (count - 1))
    side = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * spread / math.sqrt(count)
    return Difference(math.expm1(mean), math.expm1(mean - side), math.expm1(mean + side), count)


def _is_older(one: PackageOrDeal, since: date, hours: int) -> bool:
    """Whether it was there before that day and has not changed from then on, as far as is known."""
    known = one.updated_at or one.created_at
    return one.created_at is not None and known is not None and day_of(known, hours) < since


def _linked(one: PackageOrDeal) -> set[int | None]:
    """The ids of a package's deals, or of a deal's packages."""
    links = one.demand_deals if isinstance(one, SupplyPackage) else one.supply_deals
    return {link.id for link in links}


def _by_day(answer: Audience, name: str) -> Mapping[date, float]:
    found = zip(answer.names[DAY], answer.values[name], strict=True)
    return {date.fromisoformat(str(day)[:10]): float(value) for day, value in found if math.isfinite(value)}


def _log_ratio(figures: tuple[float | None, float | None]) -> float | None:
    before, after = figures
    return math.log(after / before) if before and after and before > 0 and after > 0 else None


def _days(span: Days) -> list[date]:
    first, last = span
    return [first + number * ONE for number in range((last - first).days + 1)]
