"""What is forecast of a slicer, as values that can be stored, and what came of it.

A subject is the question of a forecast without its days: a figure of a data field within filters, what seats
won at or above their prices, or the median of what wins cost. Its document is JSON.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

from lib.deals.forecasts import Kind, NewForecast
from lib.insight import forecast, seat_prices, win_prices
from lib.insight.broken_deals import PATIENCE
from lib.insight.conformal import Span
from lib.insight.forecast import DayFigure
from lib.insight.seat_prices import SeatPrice
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, Filter, Slicer
from lib.wire.errors import BadRequest

ONE = timedelta(days=1)
Ask = Callable[[AudienceQuery], Audience]
Document = dict[str, Any]
NO_DAYS, NO_FIELD = "The slicer can't be split by day any more", "The slicer has no data field '{}' any more"
NO_DATA, NO_WINS = "The report has no data for {}", "Nothing was won in these days"


@dataclass(frozen=True)
class Subject:
    """What is forecast: a data field within filters, or by `prices` what these seats win at or above them.

    With `is_price` it is the median of what wins cost. `parts` are the shares of the first and the last day
    that count, where these are not whole days.
    """

    project: str
    slicer: str
    field: str
    filters: tuple[Filter, ...] = ()
    prices: tuple[tuple[int, SeatPrice], ...] = ()
    is_price: bool = False
    parts: tuple[float, float] = (1.0, 1.0)

    @property
    def document(self) -> Document:
        """All but project, slicer and field, as JSON."""
        prices = [
            {"seat": seat, "amount": None if one.amount is None else str(one.amount), "fixed": one.is_fixed}
            for seat, one in self.prices
        ]
        parts = {"prices": prices, "is_price": self.is_price, "parts": [*self.parts]}
        is_used = {"prices": bool(prices), "is_price": self.is_price, "parts": self.parts != (1.0, 1.0)}
        filters = [one.model_dump(mode="json", exclude_defaults=True) for one in self.filters]
        return {"filters": filters, **{name: part for name, part in parts.items() if is_used[name]}}

    @classmethod
    def read(cls, project: str, slicer: str, field: str, document: Mapping[str, Any]) -> "Subject":
        """The subject of a document."""
        filters = tuple(Filter.model_validate(one) for one in document.get("filters", ()))
        prices = tuple((int(one["seat"]), _price(one)) for one in document.get("prices", ()))
        first, last = map(float, document.get("parts", (1, 1)))
        is_price = bool(document.get("is_price"))
        return cls(project, slicer, field, filters, prices, is_price, (first, last))

    def query(self, days: Days) -> AudienceQuery:
        """The question about these days, from as many records as can be read."""
        return AudienceQuery(
            project_name=self.project,
            slicer_name=self.slicer,
            start_date=days[0].isoformat(),
            end_date=days[1].isoformat(),
            filters=self.filters,
            data_fields=(self.field,),
            audience_rows_limit=ROWS_LIMITS[1],
            precision=1,
            exact_within=PATIENCE,
        )


def _price(document: Mapping[str, Any]) -> SeatPrice:
    amount = document.get("amount")
    return SeatPrice(None if amount is None else Decimal(amount), bool(document.get("fixed")))


def outcomes(subject: Subject, slicer: Slicer, ask: Ask, periods: Sequence[Days]) -> list[float | str]:
    """What came of the subject in each of these periods, or why that can't be said, as a sentence.

    Raises why the report can't be read.
    """
    if subject.field not in {field.name for field in slicer.data_fields}:
        return [NO_FIELD.format(subject.field)] * len(periods)
    if forecast.DAY not in {field.name for field in slicer.key_fields}:
        return [NO_DAYS] * len(periods)
    try:
        if subject.is_price:
            return [_median(subject, slicer, ask, days) for days in periods]
        span = min(first for first, _ in periods), max(last for _, last in periods)
        daily = {one.day: one for one in _daily(subject, slicer, ask, span)}
    except BadRequest as error:
        return [f"{error.reason.rstrip('.')}"] * len(periods)
    return [_sum(daily, days, subject.parts) for days in periods]


def _daily(subject: Subject, slicer: Slicer, ask: Ask, days: Days) -> Sequence[DayFigure]:
    query = subject.query(days)
    if not subject.prices:
        answer = ask(query.model_copy(update={"split_by": (forecast.DAY,)}))
        return forecast.daily(answer, subject.field, days)
    fields, prices = win_prices.win_fields(slicer), dict(subject.prices)
    if fields is None or not seat_prices.tells_seats(slicer):
        raise BadRequest("The slicer can't tell what seats won any more")
    queries = seat_prices.daily_questions(query, slicer, fields, prices)
    answers = [ask(_all_records(one)) for one in queries]
    return seat_prices.daily_wins(answers, prices, fields, days)


def _sum(daily: Mapping[date, DayFigure], days: Days, parts: tuple[float, float]) -> float | str:
    """The figures of these days together; of the first and the last only their parts."""
    count = (days[1] - days[0]).days + 1
    each = [days[0] + number * ONE for number in range(count)]
    values = [daily[day].figure.value for day in each]
    if None in values:
        return NO_DATA.format(f"{each[values.index(None)]:%-d %b %Y}")
    shares = [1.0] * count
    shares[0] *= parts[0]
    shares[-1] *= parts[1]
    return math.fsum(share * (value or 0.0) for share, value in zip(shares, values, strict=True))


def _median(subject: Subject, slicer: Slicer, ask: Ask, days: Days) -> float | str:
    """The median of the win CPM, by wins."""
    fields = win_prices.win_fields(slicer)
    if fields is None:
        return NO_FIELD.format(subject.field)
    query = _all_records(seat_prices.question(subject.query(days), slicer, fields, None))
    quartiles = win_prices.win_prices(ask(query), fields)
    return NO_WINS if quartiles is None else quartiles.median


def _all_records(query: AudienceQuery) -> AudienceQuery:
    return query.model_copy(update={"audience_rows_limit": ROWS_LIMITS[1], "exact_within": PATIENCE})


def booked_days(start: datetime, end: datetime, hours: int) -> tuple[Days, tuple[float, float]]:
    """The days that a period covers in a zone so many hours ahead of UTC, and the shares of the first and the
    last that count; of a single day the first is the share, and the second is 1."""
    zone = timezone(timedelta(hours=hours))
    first, last = start.astimezone(zone), end.astimezone(zone)
    days = first.date(), (last - timedelta(microseconds=1)).date()
    begin, finish = (datetime.combine(day, time(), zone) for day in days)
    if days[0] == days[1]:
        return days, ((last - first) / ONE, 1.0)
    return days, ((begin + ONE - first) / ONE, (last - finish) / ONE)


def to_keep(
    kind: Kind, subject: Subject, days: Days, data_day: date, span: Span | None, scale: float
) -> list[NewForecast]:
    """The forecast as the ledger has it, `span` before it is scaled; none without a range, or for days that
    the data has already."""
    if span is None or days[0] <= data_day or not math.isfinite(span.high - span.low):
        return []
    first, last, until = (day.isoformat() for day in (*days, data_day))
    after = span.scale_by(scale)
    new = NewForecast(
        kind=kind, project=subject.project, slicer=subject.slicer, field=subject.field,
        first_day=first, last_day=last, data_day=until, subject=subject.document,
        estimate=span.estimate, low=after.low, high=after.high, raw_low=span.low, raw_high=span.high,
        scale=scale,
    )  # fmt: skip
    return [new]
