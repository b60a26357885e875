"""Dead targets: included values without any bid in a period, whatever else their packages target.

Of each key field one question asks for the bids of the targeted values, split by it: those without a row have
none. A value that is excluded sells nothing, so that it can't be dead; a list is dead when none of its
entries has a bid. A sample can't prove that there was no bid, and nothing is dead in days without data or in
a key field that the report does not fill.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from lib.deals.models import ListTarget, SupplyPackage
from lib.deals.targeting.filters import Lists
from lib.deals.targeting.kinds import KINDS, Target, TargetingKind, key_field
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers.granularities import time_key_field
from lib.slicers.models import Slicer
from lib.wire.filters import Filter

VALUES, DAY = 500, time_key_field("day")
Checks = tuple[tuple["IncludedTarget", ...], tuple[str, ...]]
"""What the report can tell of, and a sentence for each part of the targetings that it can't."""


@dataclass(frozen=True)
class IncludedTarget:
    """A target that packages (by id) include: its key field, and what it is called there.

    A list is called by all its entries.
    """

    kind: TargetingKind
    target: Target
    field: str
    values: tuple[str, ...]
    packages: tuple[int, ...]


@dataclass(frozen=True)
class BidValues:
    """The values with bids in a period, by key field, as far as they were asked for.

    `days` is how many days have data, `empty` are key fields without any value, and `is_exact` says whether
    every record was read.
    """

    values: Mapping[str, frozenset[str]]
    has_data: bool
    days: int
    empty: frozenset[str]
    is_exact: bool


@dataclass(frozen=True)
class DeadTarget:
    """A target without any bid in the period. `last` is the last day before it with one, None without.

    Unless `is_exact`, `last` is of a sample: there may be a later day.
    """

    target: IncludedTarget
    last: date | None
    is_exact: bool


def checks(packages: Iterable[SupplyPackage], slicer: Slicer, lists: Lists) -> Checks:
    """The included targets of these packages; `lists` are the entries as for `report_filters`."""
    packages_of: dict[tuple[str, str], tuple[TargetingKind, Target, list[int]]] = {}
    unread = 0
    for package in packages:
        unread += any(kind.field in package.unread for kind in KINDS)
        for kind in KINDS:
            for target in kind.of(package):
                if not target.is_excluded:
                    ids = packages_of.setdefault((kind.name, kind.identity(target)), (kind, target, []))[2]
                    ids.append(package.id or 0)
    targets: list[IncludedTarget] = []
    gaps: dict[str, None] = {}
    for kind, target, ids in packages_of.values():
        field = key_field(kind, slicer)
        names: Iterable[str] = (kind.value(target),)
        if isinstance(target, ListTarget):
            names = lists.get((kind.name, target.id), ())
        values = tuple(dict.fromkeys(names))
        if field is None:
            gaps[f"{kind.title}: this slicer has no key field for it."] = None
        elif not values:
            name = kind.value(target)
            gaps[f"{kind.title}: {name} is empty, or its entries are not known."] = None
        else:
            targets.append(IncludedTarget(kind, target, field.name, values, tuple(dict.fromkeys(ids))))
    if unread:
        noun = "package" if unread == 1 else "packages"
        gaps[f"Targeting that Tranche can't read, of {unread} {noun}."] = None
    return tuple(targets), tuple(gaps)


def questions(period: AudienceQuery, targets: Iterable[IncludedTarget]) -> list[AudienceQuery]:
    """The questions of `read_bids`: all bids of the period, those with any value of a field, each value's."""
    values = _by_field(targets)
    non_empty = [_with(period, Filter(name=name, value=("",), match="not equals")) for name in values]
    return [period, *non_empty, *_split(period, values)]


def read_bids(queries: Sequence[AudienceQuery], answers: Sequence[Audience], field: str) -> BidValues:
    """What the answers to `questions` say; `field` counts the bids."""
    values: dict[str, set[str]] = {}
    empty = set()
    for query, answer in zip(queries, answers, strict=True):
        if query.split_by:
            pairs = zip(answer.names[query.split_by[0]], answer.values[field], strict=True)
            values.setdefault(query.split_by[0], set()).update((value for value, bids in pairs if bids > 0))
        elif query.filters and not answer.total_of(field).value:
            empty.add(query.filters[0].name)
    return BidValues(
        {name: frozenset(with_bids) for name, with_bids in values.items()},
        has_data=answers[0].has_data,
        days=len(answers[0].total.dates),
        empty=frozenset(empty),
        is_exact=not any(answer.is_sampled for answer in answers),
    )


def without_bids(targets: Iterable[IncludedTarget], bids: BidValues) -> list[IncludedTarget]:
    """The targets of which nothing was seen, though their key fields have values; none without any data."""
    if not bids.has_data:
        return []
    return [
        target
        for target in targets
        if target.field not in bids.empty
        and bids.values.get(target.field, frozenset()).isdisjoint(target.values)
    ]


def last_questions(before: AudienceQuery, dead: Iterable[IncludedTarget]) -> list[AudienceQuery]:
    """The questions for the last days with bids of these targets, in the days before the period."""
    return [*_split(before, _by_field(dead), DAY)]


def last_days(
    dead: Iterable[IncludedTarget], queries: Sequence[AudienceQuery], answers: Sequence[Audience], field: str
) -> list[DeadTarget]:
    """The dead targets, with what the answers to `last_questions` say of their last days."""
    last: dict[tuple[str, str], date] = {}
    for query, answer in zip(queries, answers, strict=True):
        name = query.split_by[0]
        days = zip(answer.names[name], answer.names[DAY], answer.values[field], strict=True)
        for value, day, bids in days:
            if bids > 0:
                at = date.fromisoformat(day[:10])
                last[name, value] = max(at, last.get((name, value), at))
    is_exact, result = not any(answer.is_sampled for answer in answers), list[DeadTarget]()
    for target in dead:
        bid_days = (last.get((target.field, value)) for value in target.values)
        result.append(DeadTarget(target, max(filter(None, bid_days), default=None), is_exact))
    return result


def _by_field(targets: Iterable[IncludedTarget]) -> dict[str, list[str]]:
    by_field: dict[str, dict[str, None]] = {}
    for target in targets:
        by_field.setdefault(target.field, {}).update(dict.fromkeys(target.values))
    return {name: [*values] for name, values in by_field.items()}


def _split(query: AudienceQuery, values: Mapping[str, Sequence[str]], *more: str) -> Iterator[AudienceQuery]:
    """The question for these values of each key field, some at a time, split by it."""
    for name, field_values in values.items():
        for first in range(0, len(field_values), VALUES):
            filter_ = Filter(name=name, value=tuple(field_values[first : first + VALUES]), match="equals")
            yield _with(query, filter_).model_copy(update={"split_by": (name, *more)})


def _with(query: AudienceQuery, filter_: Filter) -> AudienceQuery:
    return query.model_copy(update={"filters": (filter_,)})
