"""Two periods side by side: what of a data field can be compared, and what a reader has to know about it."""

from collections.abc import Iterator
from dataclasses import dataclass

from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery, DataField
from lib.ui.charts import numbers
from lib.ui.charts.change import Change, Estimate, change, of_rows, of_total
from lib.ui.question import ask, periods
from lib.ui.question.focus import Focus


@dataclass(frozen=True)
class Compared:
    """The answers to one question about the days compared, and how many days with data each has."""

    now: Audience
    before: Audience
    now_days: int = 1
    before_days: int = 1

    def total(self, field: DataField) -> Change:
        """By how much the total of a data field changed."""
        return self._change(field, of_total(self.now, field.name), of_total(self.before, field.name))

    def rows(self, field: DataField) -> dict[tuple[str, ...], Change]:
        """By how much each row's value changed; rows that were not there before are left out."""
        before = dict(zip(_keys(self.before), of_rows(self.before, field.name), strict=True))
        now = zip(_keys(self.now), of_rows(self.now, field.name), strict=True)
        return {key: self._change(field, value, before[key]) for key, value in now if key in before}

    def _change(self, field: DataField, now: Estimate, before: Estimate) -> Change:
        """Of periods of different length sums are compared per day, ratios as they are, others not at all."""
        if self.now_days == self.before_days:
            return change(now, before)
        if field.name in self.now.percents:
            return change(now, before.times(self.now_days / self.before_days))
        return change(now, before) if _is_ratio(field) else Change(None)


def asked(seen: Focus, query: AudienceQuery, whole: Audience) -> Compared | None:
    """Both sides of a question whose answer for the whole period is `whole`; None where there is no other."""
    if seen.comparison is None:
        return None
    days_now, days_before = seen.comparison
    before = ask.quickly(seen.here, seen.in_days(query, days_before))
    now = whole if days_now == seen.period else ask.quickly(seen.here, seen.in_days(query, days_now))
    return Compared(now, before, _with_data(now, days_now), _with_data(before, days_before))


def notes(seen: Focus, found: Compared | None) -> Iterator[str]:
    """What is compared, where it is not the whole period with as many days."""
    if seen.compared is None:
        return
    if seen.comparison is None or found is None:
        yield f"Not compared: no complete days with data on both sides of {numbers.days(*seen.compared)}."
        return
    now, before = seen.comparison
    if now != seen.period:
        yield (
            f"Changes compare {numbers.days(*now)} with {numbers.days(*before)}: the {periods.length(now)} "
            f"of {periods.length(seen.period)} days with complete data on both sides."
        )
    if found.now_days != found.before_days:
        yield (
            f"Changes compare {found.now_days} days with {found.before_days}: sums per day; unique "
            "users, minima and maxima are not compared."
        )


def _with_data(audience: Audience, days: Days) -> int:
    """How many of the days have data; all of them where the service does not say."""
    return len(audience.total.dates) or periods.length(days)


def _is_ratio(field: DataField) -> bool:
    return field.formula is not None and "/" in field.formula


def _keys(audience: Audience) -> list[tuple[str, ...]]:
    return list(audience.names.itertuples(index=False, name=None))
