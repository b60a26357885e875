"""A targeting in a sentence: `US, CA · smartphone · not Safari`; values that the report lacks are marked."""

import time
from collections.abc import Iterable, Mapping, Sequence

from lib.deals.models import SupplyPackage, Targeting
from lib.insight.kinds import KINDS, Target, TargetingKind, key_field
from lib.reporting.models import AudienceQuery
from lib.ui.kit.frame import PageContext
from lib.ui.query import values

EVERYTHING = "everything"
MOST_NAMES = 3
Descriptions = Mapping[str, Mapping[str, str]]
Marks = Mapping[str, Mapping[str, str]]
UNKNOWN, NO_CHECK = "unknown", "not checked"
MOST_SECONDS = 1.5


def sentence(
    targeting: Targeting,
    limit: int | None = MOST_NAMES,
    descriptions: Descriptions | None = None,
    marks: Marks | None = None,
) -> str:
    """Included, then excluded values of each kind; `limit` is how many of a kind to name.

    `described` gives words for values and `marks` what to add to some of them (`unknown`), by the kind's
    name. What can't be read is counted.
    """
    targets = [(kind, kind.of(targeting)) for kind in KINDS if getattr(targeting, kind.field)]
    parts = [
        _part(kind, side, limit, descriptions or {}, marks or {})
        for is_excluded in (False, True)
        for kind, both in targets
        if (side := [target for target in both if target.is_excluded == is_excluded])
    ]
    return " · ".join([*parts, *unread(targeting)]) or EVERYTHING


def unread(targeting: Targeting) -> list[str]:
    """The parts of a targeting that Tranche can't read: `places: 2 unread`."""
    if not isinstance(targeting, SupplyPackage):
        return []
    parts = {name: part for name, part in targeting.unread.items() if name in Targeting.model_fields}
    return [_count_label(name, len(part) if isinstance(part, list) else None) for name, part in parts.items()]


def value_label(value: str, words: Mapping[str, str], marks: Mapping[str, str]) -> str:
    """A value in words, with its mark if it has one: `Atlantis (unknown)`."""
    word = words.get(value) or value
    return f"{word} ({marks[value]})" if value in marks else word


def _count_label(field: str, count: int | None) -> str:
    noun = next(kind.group for kind in KINDS if kind.field == field).lower()
    return f"an unread targeting by {noun}" if count is None else f"{noun}: {count} unread"


def _part(
    kind: TargetingKind,
    side: Sequence[Target],
    limit: int | None,
    descriptions: Descriptions,
    marks: Marks,
) -> str:
    """The targets of one side, the marked ones first: none of these is hidden behind `and 7 more`."""
    own_marks: Mapping[str, str] = marks.get(kind.name, {})
    values = sorted(map(kind.value, side), key=lambda value: value not in own_marks)
    names = [value_label(value, descriptions.get(kind.name, {}), own_marks) for value in values]
    rest = f" and {len(names) - limit} more" if limit is not None and len(names) > limit else ""
    return f"{'not ' if side[0].is_excluded else ''}{', '.join(names[:limit])}{rest}"


def marks(
    context: PageContext, query: AudienceQuery, targetings: Iterable[Targeting], with_gaps: bool = False
) -> Marks:
    """A word by kind and value for those that the report of these days lacks.

    `with_gaps` also marks those of which the report can't tell: it has no such key field, or does not
    answer.
    """
    several, ends = [*targetings], time.monotonic() + MOST_SECONDS
    marks_of: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        codes = list(dict.fromkeys(kind.value(target) for package in several for target in kind.of(package)))
        if codes and not kind.is_list and (with_gaps or time.monotonic() < ends):
            marks_of[kind.name] = _marks(context, query, kind, codes, with_gaps)
    return marks_of


def _marks(
    context: PageContext, query: AudienceQuery, kind: TargetingKind, codes: list[str], with_gaps: bool
) -> dict[str, str]:
    field = key_field(kind, context.slicer)
    is_known = {} if field is None else values.check(context, query, field.name, codes)
    unknown = {code: UNKNOWN for code in codes if is_known.get(code) is False}
    gaps = dict.fromkeys((code for code in codes if code not in is_known), NO_CHECK)
    return unknown | gaps if with_gaps else unknown
