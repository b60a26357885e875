"""Sentences about precision: the range of a figure, and how many records were read for it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from lib.figures.numbers import Numbers, title
from lib.figures.query import ask
from lib.reporting.answers import Audience
from lib.reporting.models import ExportQuery
from lib.slicers.digits import DIGITS, LARGEST_WHOLE
from lib.slicers.models import DataField, KeyField, Slicer

FILE = "The service decides the layout of the file: all its data fields, its own order of rows"
MINUTE, HOUR, DAY = 60, 3600, 86400
MOST_SECONDS = ask.REFINED["exact_within"] / 1000
LEAST_RANGE, EXACT, EXACT_TO_DIGITS = 0.05, "Exact", f"Exact to {DIGITS} digits"


def of_a_file(slicer: Slicer, query: ExportQuery) -> str:
    """How a file of a plain service differs from its preview."""
    has_words = query.with_mappings and any(slicer.key_field(name).mapping for name in query.split_by)
    return f"{FILE}, descriptions next to the codes." if has_words else f"{FILE}."


def source(slicer: Slicer) -> str:
    """What reads the rows, and how old they are: "PostgreSQL, live, 3 minutes old". Empty if not known."""
    if not slicer.engine:
        return ""
    if not slicer.as_of:
        return slicer.engine
    seconds = (datetime.now(UTC) - datetime.fromisoformat(slicer.as_of)).total_seconds()
    if seconds < MINUTE:
        return f"{slicer.engine}, less than a minute old"
    unit, name = next(
        (step for step in ((DAY, "day"), (HOUR, "hour")) if seconds >= step[0]), (MINUTE, "minute")
    )
    count = int(seconds // unit)
    return f"{slicer.engine}, {count} {name}{'s' * (count != 1)} old"


def is_plain(slicer: Slicer) -> bool:
    """Whether the service implements the specification alone, without our extensions."""
    return not slicer.extensions


def has_words(slicer: Slicer, field: KeyField) -> bool:
    """Whether the service returns descriptions of a key field's values."""
    return not field.mapping or slicer.knows("include_mappings")


def codes(slicer: Slicer, names: Iterable[str]) -> list[str]:
    """A sentence that values are shown as codes; empty if that is so for no key field."""
    fields = [slicer.key_field(name) for name in names]
    labels = [field.description or field.name for field in fields if not has_words(slicer, field)]
    return [f"{', '.join(labels)} as codes: this service returns no descriptions."] if labels else []


def optional_field_note(slicer: Slicer, field: DataField) -> list[str]:
    """A sentence that an optional data field can't be requested, or that an own metric is computed here."""
    if field.name in {own.name for own in slicer.own_fields} and not slicer.knows("own_fields"):
        return [f"{title(field)} is computed here from its parts: the range of an estimate is not known."]
    if field.is_optional and not slicer.knows("data_fields"):
        return [f"This service does not return {title(field)}."]
    return []


def not_finite_notes(audience: Audience, slicer: Slicer, numbers: Numbers) -> Iterator[str]:
    """Sentences on numbers that are none: `3 rows hold NaN or infinity as Cost, which counts as missing.`"""
    for name, count in (audience.precision.not_finite if audience.precision else {}).items():
        rows = f"{numbers.number(count)} row{'s hold' if count > 1 else ' holds'}"
        field = next((field for field in slicer.data_fields if field.name == name), None)
        yield f"{rows} NaN or infinity as {title(field) if field else name}, which counts as missing."


def count(audience: Audience, numbers: Numbers, groups: int | None = None) -> str:
    """How many groups an answer has (all, or `groups`): `1,234`; of a sample `at least 1,234`.

    A sample misses groups, mostly small ones: their number in it is a lower bound.
    """
    text = numbers.number(audience.total.records_found if groups is None else groups)
    return f"at least {text}" if audience.is_sampled else text


def others(audience: Audience, numbers: Numbers, label: str, count: int) -> str:
    """The label of the rows that are not shown, with their number: `Others (14)`, `Others (≥ 14)`."""
    return f"{label} ({'≥ ' if audience.is_sampled else ''}{numbers.number(count)})"


def half_range(low: float | None, high: float | None, value: float | None) -> float:
    """The larger side of a range in percent of the value; 0 without a range, NaN without a value."""
    if low is None or high is None:
        return 0.0
    if value is None or not math.isfinite(value):
        return math.nan
    side = max(high - value, value - low)
    if side <= 0:
        return 0.0
    return 100 * side / abs(value) if value else math.nan


def total_range(audience: Audience, field: str) -> float:
    """The larger side of the range of a data field's total, in percent."""
    total = audience.total
    if field not in total.low and total.confidence_range is not None:
        return float(total.confidence_range)
    if field in total.low and total.low[field] is None:
        return math.nan
    return half_range(total.low.get(field), total.high.get(field), total.values.get(field))


def sentence(audience: Audience, field: str, numbers: Numbers) -> str:
    """`± 1.3 % (10,000 of 1.2M rows)`, or that the figures are exact.

    Where the total is exact but the rows of a split are estimates, that is what it says.
    """
    off = total_range(audience, field)
    if math.isnan(off) and audience.total.values.get(field) is not None:
        return f"Estimate from too few records for an interval{_read(audience, numbers)}"
    if off >= LEAST_RANGE:
        return f"± {numbers.percent(off)}{_read(audience, numbers)}"
    if _has_estimates(audience, field):
        return f"Total exact, rows estimated{_read(audience, numbers)}"
    return EXACT_TO_DIGITS if abs(audience.total.values.get(field) or 0) >= LARGEST_WHOLE else EXACT


def summary(audience: Audience, fields: Sequence[DataField], numbers: Numbers) -> str:
    """The same for all the fields shown, the main one first: "Exact" means that all of them are exact."""
    front, others = fields[0], fields[1:]
    text = sentence(audience, front.name, numbers)
    vague = [field for field in others if sentence(audience, field.name, numbers) != EXACT]
    if text == EXACT:
        parts = [f"{title(field)} {sentence(audience, field.name, numbers)}" for field in vague]
        return f"Exact except {'; '.join(parts)}" if parts else EXACT
    widest = max(vague, key=lambda field: _width(audience, field), default=front)
    if _width(audience, widest) <= _width(audience, front):
        return text
    return f"{text}; {title(widest)} ± {numbers.percent(_width(audience, widest))}"


def _width(audience: Audience, field: DataField) -> float:
    off = total_range(audience, field.name)
    return off if math.isfinite(off) else 0.0


def _has_estimates(audience: Audience, field: str) -> bool:
    if audience.low is None or audience.high is None or field not in audience.low:
        return False
    if audience.precision is not None and not audience.precision.is_sampled:
        return False
    return bool((audience.high[field] > audience.low[field]).any())


def _read(audience: Audience, numbers: Numbers) -> str:
    precision = audience.precision
    if precision is None or not precision.is_sampled:
        return ""
    total = numbers.rough(precision.records_in_range) if precision.records_in_range >= 1e5 else None
    total = total or numbers.number(precision.records_in_range)
    seconds = (precision.exact_milliseconds or 0) / 1000
    exact = f"; exact takes about {round(seconds)} s" if seconds > MOST_SECONDS else ""
    return f" ({numbers.number(precision.records_read)} of {total} rows{exact})"
