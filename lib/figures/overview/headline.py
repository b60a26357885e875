"""What the figures of the Audience page say, as texts and values: for the page, and for answers beside it."""

import math
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, TypeVar

from lib.figures import numbers, series
from lib.figures.numbers import NOT_SET
from lib.figures.query import ask, compared_answers, filters, periods, precision, values
from lib.figures.query.compared_answers import Change, ComparedAnswers
from lib.figures.query.focus import Focus
from lib.figures.series import Series
from lib.reporting.answers import Audience
from lib.reporting.models import API_ROWS_LIMIT, ROWS_LIMITS, AudienceQuery
from lib.slicers import dates
from lib.slicers.dates import Days
from lib.slicers.measures import SEVERAL
from lib.slicers.models import DataField, Order
from lib.wire.filters import Filter
from lib.wire.text import straight

MOST_FILTERS = 6
Clause = tuple[Filter, ...]
Item = TypeVar("Item")


def figure(
    focus: Focus, now: Audience, comparisons: Sequence[ComparedAnswers | None], lines: Sequence[Series] = ()
) -> dict[str, Any]:
    """The total of the focus's data field, with its change, its range, and its sparkline in words.

    As lib/serving/front/overview_route.py describes it. `lines` are the field's values over time, and those
    compared.
    """
    field = focus.field
    value = now.total.values.get(field.name)
    changes = [Change(None) if answers is None else answers.total(field) for answers in comparisons]
    change, sides = changes[0], [line.without_parts.values for line in lines[:2]]
    is_noise = len(sides) == 2 and comparisons[0] is not None and compared_answers.is_noise(*sides)
    style = compared_answers.style(field, change, is_noise)
    # The full figure, the field's description, and notes on the change.
    reason = now.total.withheld(field.name)
    text = reason or focus.numbers.full(value, field)
    parts = [text, field.annotation or "", field.formula_description or ""]
    if not change.is_certain:
        parts.append("The change is smaller than its uncertainty: it may not be a real rise or fall")
    elif is_noise and change.ratio is not None:
        parts.append("The change is within what single days differ by")
    if change.low is not None and change.high is not None and math.isfinite(change.high - change.low):
        low, high = (focus.numbers.full(side, field) for side in (change.low, change.high))
        parts.append(f"95 % range of the change: {low} to {high}")
    if focus.comparison is not None and change.coverage:
        parts.append(_compared_days(*focus.comparison, comparisons[0]))
    about = [" · ".join(part for part in parts if part), *_others(focus, field, changes[1:])]
    course, spark = lines[0].without_parts if lines else None, ""
    if course is not None and series.has_course(course):
        spark = series.text(course, field, focus.period, focus.numbers)
    return {
        "name": field.name,
        "title": straight(numbers.title(field)) + (", all values" if focus.view.data_filters else ""),
        "text": focus.numbers.short(value, field),
        "delta": None if reason else compared_answers.delta(focus, field, change, is_noise),
        "coverage": "" if change.amount is None else change.coverage,
        "color": style.color,
        "arrow": style.arrow,
        "range": reason or compared_answers.range_text(focus, field, now),
        "is_noise": is_noise or not change.is_certain,
        "help": straight(" · ".join(about)),
        "spark": straight(spark),
    }


def _compared_days(now: Days, before: Days, answers: ComparedAnswers | None) -> str:
    """Which days a change compares, and how, where some are missing or the sides are of unlike length."""
    text = f"Compares {numbers.days(*now)} with {numbers.days(*before)}"
    if answers is None or answers.coverage.is_thin:
        return f"{text}: no change is shown, as less than half of the days have data"
    if answers.coverage.now == answers.coverage.before:
        return text
    return f"{text}: sums per day; unique users, minima and maxima are not compared"


def _others(focus: Focus, field: DataField, changes: Sequence[Change]) -> Iterator[str]:
    """The changes against the days compared beside the first."""
    for side, change in zip(focus.comparisons[1:], changes, strict=True):
        if side.comparison is not None:
            text = compared_answers.delta(focus, field, change)
            yield f"Against {numbers.days(*side.comparison.before)}: {text}"


def is_there(audience: Audience) -> bool:
    """Whether the answer has any records."""
    return audience.total.records_found > 0 and len(audience) > 0


def no_data(focus: Focus) -> tuple[str, str, AudienceQuery | None]:
    """Why the question has no results: the days, or the filter that leaves out the largest volume.

    A sentence, and the label and query of a button that leads on (empty and None without one).
    """
    days = numbers.days(*focus.period)
    first, last = focus.slicer.first_date, focus.slicer.last_date
    has_data = (
        first is None
        or last is None
        or (focus.period[0].isoformat() <= last and focus.period[1].isoformat() >= first)
    )
    if not (focus.query.filters or focus.query.any_of) or not has_data:
        span = numbers.days(*map(date.fromisoformat, (first, last))) if first and last else ""
        coverage = f" The data covers {span}." if span else ""
        start, end = dates.default_days(focus.slicer, ask.today(focus.context, focus.query))
        query = focus.query.model_copy(update={"start_date": start, "end_date": end})
        return f"There is no data for {days}.{coverage}", "Show the last days with data", query
    text = f"Nothing matches these filters for {days}."
    obstacle, rest, most = _most_in_the_way(focus)
    if rest is None:
        return f"{text} Remove filters, or choose other days.", "", None
    descriptions = values.of_filters(focus.context, focus.query, obstacle)
    if obstacle in focus.query.any_of:
        clause = filters.group_sentence(obstacle, focus.slicer, descriptions)
    else:
        clause = filters.sentence(obstacle[0], focus.slicer, descriptions[obstacle[0].name])
    return f"{text} Without “{clause}” there are {most}.", f"Remove “{clause}”", rest


def several_currencies(focus: Focus, now: Audience) -> tuple[str, str, AudienceQuery | None]:
    """The same where the focus's data field is money in several currencies: the largest as a filter.

    That is the one with the most volume, or records, as amounts can't be compared. The sentence is empty in
    one currency.
    """
    reason = now.total.withheld(focus.field.name)
    if not reason:
        return "", "", None
    sentence = f"{numbers.title(focus.field)}: {reason}."
    key = reason.partition(SEVERAL)[2]
    counts = [field.name for field in focus.slicer.data_fields if not (field.currency or field.formula)]
    if key not in focus.slicer.key_names:
        return sentence, "", None
    by = counts[0] if counts else focus.field.name
    changes = {"split_by": (key,), "data_fields": (by,), "order_by": (Order(name=by),), "limit": 1}
    answer = ask.audience(focus.context, focus.query.model_copy(update=changes))
    if not len(answer):
        return sentence, "", None
    only = Filter(name=key, value=(str(answer.names[key].iloc[0]),), match="equals")
    query = focus.query.model_copy(update={"filters": (*focus.query.filters, only)})
    return sentence, f"Show {only.value[0] or NOT_SET} only", query


def _most_in_the_way(focus: Focus) -> tuple[Clause, AudienceQuery | None, str]:
    """What filters without which the volume is largest, the question without it, and that volume."""
    by = values.frequent(focus.slicer)
    if by is None:
        return (), None, ""
    # Each filter, and each group of which any holds, with the question without it; a few of them.
    whole, about = focus.query, {"split_by": (), "data_fields": (by,), "order_by": ()}
    single = [
        ((filter_,), whole.model_copy(update={"filters": _without(whole.filters, index)}))
        for index, filter_ in enumerate(whole.filters)
    ]
    groups = [
        (group, whole.model_copy(update={"any_of": _without(whole.any_of, index)}))
        for index, group in enumerate(whole.any_of)
    ]
    volumes = []
    for clause, query in [*single, *groups][:MOST_FILTERS]:
        answer = ask.audience(focus.context, query.model_copy(update=about))
        volumes.append((answer.total.values.get(by) or 0.0, clause, query))
    most, clause, query = max(volumes, key=lambda volume: volume[0])
    field = focus.slicer.data_field(by)
    text = f"{focus.numbers.short(most, field)} {numbers.title(field).lower()}"
    return (clause, query, text) if most > 0 else ((), None, "")


def _without(items: tuple[Item, ...], index: int) -> tuple[Item, ...]:
    return (*items[:index], *items[index + 1 :])


def notes(focus: Focus, now: Audience) -> Iterator[str]:
    """Notes on days without data, the comparison, and fields that are not computed."""
    days, with_data = periods.length(focus.period), len(now.total.dates)
    for field in fields_in_sight(focus):
        is_in_chart = field.name == focus.field.name and focus.grain
        if not is_in_chart and (reason := now.total.withheld(field.name)):
            yield f"{numbers.title(field)}: {reason}."
    coverage = compared_answers.coverage(focus, with_data, with_data)  # what it lacks stands at the changes
    if 0 < with_data < days and (focus.comparison is None or coverage.now >= coverage.now_of):
        yield f"Data on {focus.numbers.number(with_data)} of {focus.numbers.number(days)} days."
    for side in focus.comparisons:
        yield from compared_answers.notes(side)
    yield from precision.optional_field_note(focus.slicer, focus.field)
    unread = now.precision.unread if now.precision else ()
    if unread:
        titles = (numbers.title(focus.slicer.data_field(name)) for name in unread)
        yield f"Not computed in time: {', '.join(titles)}."
    yield from precision.not_finite_notes(now, focus.slicer, focus.numbers)


def fields_in_sight(focus: Focus) -> list[DataField]:
    """The data fields shown: those of the chart and of the headline."""
    return [focus.slicer.data_field(name) for name in focus.fields]


def other_precision(focus: Focus, answer: Audience) -> dict[str, Any] | None:
    """The other precision that a click gives: all records, or the usual sample; None without another.

    `limit` is how many records to read for it, `help` what that means. All records are not offered where the
    period has more than one query may read (specification, Limits), nor to somebody who sees some rows only:
    their figures are exact.
    """
    limit, read = focus.query.audience_rows_limit, answer.precision
    if limit == ROWS_LIMITS[1]:
        return {"limit": API_ROWS_LIMIT, "help": "Go back to quick estimates"}
    if read is None or focus.slicer.restrictions or not limit < read.records_in_range <= ROWS_LIMITS[1]:
        return None
    expected, records = read.exact_milliseconds, focus.numbers.number(read.records_in_range)
    takes = "" if expected is None else f"; about {max(1, round(expected / 1000))} s"
    return {"limit": ROWS_LIMITS[1], "help": straight(f"Make it exact: reads all {records} records{takes}")}
