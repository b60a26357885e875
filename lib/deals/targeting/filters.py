"""Translates a package's targeting to report filters; the two APIs don't know each other.

Rules of a targeting (decisions, Targeting elements): any of a kind, all of the kinds; an exclusion wins;
empty is everything. Filters are joined by AND, so two key fields of one kind ("Germany or the city of
Lyon") can't be said by them. What can't be said is left out and named: the figures are then those of more.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from lib.deals.models import AppList, DomainList, ListTarget, Targeting
from lib.deals.targeting.kinds import KINDS, Target, TargetingKind, key_field
from lib.slicers.models import Slicer
from lib.wire.filters import Filter

Lists = Mapping[tuple[str, int], tuple[str, ...]]


@dataclass(frozen=True)
class Translation:
    """The filters, and a sentence for each part of the targeting that they leave out."""

    filters: tuple[Filter, ...]
    left_out: tuple[str, ...]


def report_filters(
    targeting: Targeting, slicer: Slicer, lists: Lists, media_type: str | None = None
) -> Translation:
    """The filters of this slicer that select the same as the targeting.

    `lists` are the entries of domain and app lists, by kind (`domain_list`, `app_list`) and id.
    """
    filters: list[Filter] = []
    left_out: list[str] = []
    for name, kinds in groupby(KINDS, lambda kind: kind.group):
        parts = [part for kind in kinds for part in _parts(kind, targeting, slicer, lists, left_out)]
        positive = [part for part in parts if part.match == "equals"]
        filters += [part for part in parts if part.match != "equals"]
        if len({part.name for part in positive}) > 1:
            fields = " or ".join((slicer.key_field(part.name).description or part.name) for part in positive)
            left_out.append(f"{name}: a filter can't say {fields}.")
        else:
            filters += positive
    if media_type is not None and "media_type" in slicer.key_names:
        filters.append(Filter(name="media_type", value=(media_type,), match="equals"))
    elif media_type is not None:
        left_out.append("Media type: this slicer has no key field for it.")
    return Translation(tuple(filters), tuple(left_out))


def entries(lists: Iterable[DomainList | AppList]) -> dict[tuple[str, int], tuple[str, ...]]:
    """The entries of lists as `report_filters` takes them."""
    by_id: dict[tuple[str, int], tuple[str, ...]] = {}
    for entry_list in lists:
        if entry_list.id is not None and isinstance(entry_list, DomainList):
            by_id["domain_list", entry_list.id] = entry_list.domains
        elif entry_list.id is not None and isinstance(entry_list, AppList):
            by_id["app_list", entry_list.id] = entry_list.apps
    return by_id


def _parts(
    kind: TargetingKind, targeting: Targeting, slicer: Slicer, lists: Lists, left_out: list[str]
) -> Iterator[Filter]:
    """At most one filter for included values, and one for excluded ones."""
    targets = kind.of(targeting)
    field = key_field(kind, slicer)
    if not targets:
        return
    if field is None:
        left_out.append(f"{kind.title}: this slicer has no key field for it.")
        return
    for is_excluded in (False, True):
        side = [target for target in targets if target.is_excluded == is_excluded]
        if values := _values(kind, side, lists, left_out):
            yield Filter(name=field.name, value=values, match="not equals" if is_excluded else "equals")


def _values(
    kind: TargetingKind, targets: Iterable[Target], lists: Lists, left_out: list[str]
) -> tuple[str, ...]:
    """The values of the key field; empty if any list is unknown, as its entries are too."""
    values: list[str] = []
    for target in targets:
        if not isinstance(target, ListTarget):
            values.append(kind.value(target))
        elif members := lists.get((kind.name, target.id)):
            values += members
        else:
            left_out.append(f"{kind.title}: {kind.value(target)} is empty, or its entries are not known.")
            return ()
    return tuple(dict.fromkeys(values))
