"""The comparison of two periods: which data fields can be compared, and the notes that a reader needs."""

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
    """The answers to one question for both periods, and the number of days with data in each."""

    now: Audience
    before: Audience
    now_days: int = 1
    before_days: int = 1

    def total(self, field: DataField) -> Change:
        """The change of a data field's total."""
        return self._change(field, of_total(self.now, field.name), of_total(self.before, field.name))

    def rows(self, field: DataField) -> dict[tuple[str, ...], Change]:
        """The change of each row's value; missing for rows that did not exist before."""
        before = dict(zip(_keys(self.before), of_rows(self.before, field.name), strict=True))
        now = zip(_keys(self.now), of_rows(self.now, field.name), strict=True)
        return {key: self._change(field, value, before[key]) for key, value in now if key in before}

    def _change(self, field: DataField, now: Estimate, before: Estimate) -> Change:
        """If periods differ in length: sums are compared per day, ratios directly, others not at all."""
        if self.now_days == self.before_days:
            return change(now, before)
        if field.name in self.now.percents:
            return change(now, before.times(self.now_days / self.before_days))
        return change(now, before) if _is_ratio(field) else Change(None)


def asked(seen: Focus, query: AudienceQuery, whole: Audience) -> Compared | None:
    """Both sides of a question, given its answer `whole` for the period; None without a comparison."""
    if seen.comparison is None:
        return None
    days_now, days_before = seen.comparison
    before = ask.quickly(seen.here, seen.in_days(query, days_before))
    now = whole if days_now == seen.period else ask.quickly(seen.here, seen.in_days(query, days_now))
    return Compared(now, before, _with_data(now, days_now), _with_data(before, days_before))


def notes(seen: Focus, found: Compared | None) -> Iterator[str]:
    """Notes for the reader where the periods compared are incomplete or differ in length."""
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
    """The number of days with data; all of them if the service does not say."""
    return len(audience.total.dates) or periods.length(days)


def _is_ratio(field: DataField) -> bool:
    return field.formula is not None and "/" in field.formula


def _keys(audience: Audience) -> list[tuple[str, ...]]:
    return list(audience.names.itertuples(index=False, name=None))
