"""Filters in words: `Country is United States, Canada`."""

from collections.abc import Iterable, Mapping

from lib.reporting.matches import rule
from lib.reporting.models import TIME_KEY_FIELDS, Filter, Slicer
from lib.ui.charts.numbers import NOT_SET
from lib.ui.charts.series import bucket_words

LISTED = 2


def sentence(
    filter_: Filter, slicer: Slicer, descriptions: Mapping[str, str] | None = None, listed: int = LISTED
) -> str:
    """A filter as a short sentence; `described` gives the words of codes, `listed` is how many to name."""
    return f"{field(filter_.name, slicer)} {_matching(filter_, descriptions or {}, listed)}"


def together(
    filters: Iterable[Filter],
    slicer: Slicer,
    descriptions: Mapping[str, str] | None = None,
) -> str:
    """The filters on one key field in the same way: `Country is United States · is not Canada`."""
    some = tuple(filters)
    parts = " · ".join(_matching(one, descriptions or {}, LISTED) for one in some)
    return f"{field(some[0].name, slicer)} {parts}"


def field(name: str, slicer: Slicer) -> str:
    """A key field's name as people know it."""
    return slicer.key_field(name).description or name


def value_label(code: str, descriptions: Mapping[str, str]) -> str:
    """A value as people know it: its description, the code itself, or `(not set)`."""
    return descriptions.get(code) or code or NOT_SET


def both(code: str, description: str | None) -> str:
    """A value by description and code, to be found by either."""
    words = description or code or NOT_SET
    return words if words == code or not code else f"{words} · {code}"


def _matching(filter_: Filter, descriptions: Mapping[str, str], listed: int) -> str:
    is_time = filter_.name in TIME_KEY_FIELDS
    codes = map(bucket_words, filter_.value) if is_time else filter_.value
    names = [value_label(code, descriptions) for code in codes]
    rest = f" and {len(names) - listed} more" if len(names) > listed else ""
    return f"{rule(filter_.match).words} {', '.join(names[:listed])}{rest}"
