"""A targeting in a sentence: `US, CA · smartphone · not Safari`; values that the report lacks are marked."""

import time
from collections.abc import Iterable, Mapping, Sequence

from lib.deals.models import SupplyPackage, Targeting
from lib.deals.targeting.kinds import KINDS, Target, TargetingKind, key_field
from lib.figures.context import RequestContext
from lib.figures.query import values
from lib.reporting.models import AudienceQuery
from lib.wire.text import and_more

EVERYTHING, MOST_NAMES = "everything", 3
UNKNOWN, NO_CHECK, MOST_SECONDS = "unknown", "not checked", 1.5
Descriptions = Mapping[str, Mapping[str, str]]
Marks = Mapping[str, Mapping[str, str]]


def sentence(
    targeting: Targeting,
    limit: int | None = MOST_NAMES,
    descriptions: Descriptions | None = None,
    marks: Marks | None = None,
) -> str:
    """Included, then excluded values of each kind; `limit` is how many of a kind to name.

    `descriptions` gives words for values and `marks` what to add to some of them (`unknown`), by the kind's
    name. What can't be read is counted.
    """
    targets = [(kind, kind.of(targeting)) for kind in KINDS if getattr(targeting, kind.field)]
    parts = [
        _part(kind, side, limit, (descriptions or {}).get(kind.name, {}), (marks or {}).get(kind.name, {}))
        for is_excluded in (False, True)
        for kind, both in targets
        if (side := [target for target in both if target.is_excluded == is_excluded])
    ]
    return " · ".join([*parts, *unread(targeting)]) or EVERYTHING


def _part(
    kind: TargetingKind,
    side: Sequence[Target],
    limit: int | None,
    descriptions: Mapping[str, str],
    marks: Mapping[str, str],
) -> str:
    """The targets of one side, the marked ones first: none of these is hidden behind `and 7 more`."""
    codes = sorted(map(kind.value, side), key=lambda code: code not in marks)
    names = [value_label(code, descriptions, marks) for code in codes]
    return f"{'not ' if side[0].is_excluded else ''}{and_more(names, len(names) if limit is None else limit)}"


def unread(targeting: Targeting) -> list[str]:
    """The parts of a targeting that Tranche can't read: `places: 2 unread`."""
    if not isinstance(targeting, SupplyPackage):
        return []
    nouns = {kind.field: kind.group.lower() for kind in reversed(KINDS)}
    return [
        f"{nouns[name]}: {len(part)} unread"
        if isinstance(part, list)
        else f"an unread targeting by {nouns[name]}"
        for name, part in targeting.unread.items()
        if name in nouns
    ]


def value_label(value: str, descriptions: Mapping[str, str], marks: Mapping[str, str]) -> str:
    """A value by its description, with its mark if it has one: `Atlantis (unknown)`."""
    description = descriptions.get(value) or value
    return f"{description} ({marks[value]})" if value in marks else description


def describe(context: RequestContext, query: AudienceQuery, targeting: Targeting) -> Descriptions:
    """Words for the values of a targeting, by kind, as far as the report has them."""
    descriptions: dict[str, Mapping[str, str]] = {}
    for kind in KINDS:
        field, codes = key_field(kind, context.slicer), [kind.value(target) for target in kind.of(targeting)]
        if field is not None and codes and not kind.is_list:
            descriptions[kind.name] = values.descriptions(context, query, field.name, codes)
    return descriptions


def marks(
    context: RequestContext, query: AudienceQuery, targetings: Iterable[Targeting], with_gaps: bool = False
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
            field = key_field(kind, context.slicer)
            is_known = {} if field is None else values.check(context, query, field.name, codes)
            gaps = {code: NO_CHECK for code in codes if with_gaps and code not in is_known}
            unknown = {code: UNKNOWN for code in codes if is_known.get(code) is False}
            marks_of[kind.name] = {**unknown, **gaps}
    return marks_of
