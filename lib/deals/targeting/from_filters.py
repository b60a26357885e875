"""Turns the filters of a question into the targeting of a package: the way back of `report_filters`.

Only what a targeting says in the same way is taken: values that equal, or don't equal, a key field that a
kind of targeting stands for. Filters are joined by AND and places by OR, so that of several fields of one
group only one can be required. What is left out is named: the package then has more than the question.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from lib.deals.models import MEDIA_TYPES, Targeting
from lib.deals.targeting.filters import Lists
from lib.deals.targeting.kinds import KINDS, TargetingKind, key_field
from lib.slicers.models import Slicer
from lib.wire.filters import Filter

EQUALS, NOT_EQUALS, MEDIA_TYPE = "equals", "not equals", "media_type"
SIZE = re.compile(r"[1-9][0-9]{0,4}x[1-9][0-9]{0,4}")


@dataclass(frozen=True)
class NewList:
    """Domains or apps that no list has yet: a package can only be restricted to them by a list."""

    kind: TargetingKind
    entries: tuple[str, ...]
    is_excluded: bool


@dataclass(frozen=True)
class LeftOut:
    """A filter that a targeting does not say, and why."""

    filter: Filter
    why: str


@dataclass(frozen=True)
class FromFilters:
    """What filters make of a package, the lists that it needs beside that, and what is left out."""

    targeting: Targeting = field(default_factory=Targeting)
    media_type: str | None = None
    lists: tuple[NewList, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the filters was taken."""
        return not (self.lists or self.media_type) and self.targeting == Targeting()

    def with_lists(self, ids: Sequence[int]) -> Targeting:
        """The targeting with the needed lists, once they have these ids."""
        more: dict[str, list[dict[str, Any]]] = {
            name: [target.model_dump() for target in getattr(self.targeting, name)]
            for name in Targeting.model_fields
        }
        for new_list, number in zip(self.lists, ids, strict=True):
            more[new_list.kind.field].append(new_list.kind.element(str(number), new_list.is_excluded))
        return Targeting.model_validate(more)


def from_filters(filters: Iterable[Filter], slicer: Slicer, lists: Lists) -> FromFilters:
    """The targeting of these filters of this slicer; `lists` as for `report_filters`."""
    kinds = {field.name: kind for kind in reversed(KINDS) if (field := key_field(kind, slicer)) is not None}
    left_out: list[LeftOut] = []
    media_type: str | None = None
    sides: dict[tuple[str, bool], tuple[TargetingKind, Filter]] = {}
    for filter_ in filters:
        is_single = filter_.match == EQUALS and len(filter_.value) == 1
        if filter_.name == MEDIA_TYPE and is_single and filter_.value[0] in MEDIA_TYPES:
            media_type = filter_.value[0]
        elif filter_.name not in kinds:
            left_out.append(LeftOut(filter_, "no target stands for this key field"))
        elif filter_.match not in (EQUALS, NOT_EQUALS) or filter_.case_insensitive or filter_.search_mappings:
            why = "a package has whole values, not parts or other spellings of them"
            left_out.append(LeftOut(filter_, why))
        else:
            _add(sides, kinds[filter_.name], filter_, left_out)
    elements: dict[str, list[dict[str, Any]]] = {}
    new_lists: list[NewList] = []
    for kind, filter_ in _one_field_each(sides.values(), left_out):
        is_excluded = filter_.match == NOT_EQUALS
        values: tuple[str, ...] = filter_.value
        if kind.is_list:
            same = (
                number
                for (name, number), entries in lists.items()
                if name == kind.name and {*entries} == {*values}
            )
            if (list_id := next(same, None)) is None:
                new_lists.append(NewList(kind, values, is_excluded))
                continue
            values = (str(list_id),)
        elements.setdefault(kind.field, []).extend(kind.element(value, is_excluded) for value in values)
    return FromFilters(Targeting.model_validate(elements), media_type, tuple(new_lists), tuple(left_out))


def _add(
    sides: dict[tuple[str, bool], tuple[TargetingKind, Filter]],
    kind: TargetingKind,
    filter_: Filter,
    left_out: list[LeftOut],
) -> None:
    """Put a filter to those of its side: of two that include, what both have; of two that exclude, all."""
    is_size = kind.field == "size_targetings"
    values = [value for value in filter_.value if value and (not is_size or SIZE.fullmatch(value))]
    if len(values) < len(filter_.value):
        rest = filter_.model_copy(update={"value": tuple(v for v in filter_.value if v not in values)})
        left_out.append(LeftOut(rest, "a package has no such target"))
    is_excluded = filter_.match == NOT_EQUALS
    if (key := (kind.name, is_excluded)) in sides:
        before = sides[key][1].value
        values = [*before, *values] if is_excluded else [value for value in before if value in values]
    if values:
        sides[key] = (kind, filter_.model_copy(update={"value": tuple(dict.fromkeys(values))}))
    elif key in sides:
        left_out.append(LeftOut(filter_, "it has no value in common with another filter on the field"))


def _one_field_each(
    sides: Iterable[tuple[TargetingKind, Filter]], left_out: list[LeftOut]
) -> Iterator[tuple[TargetingKind, Filter]]:
    """All that excludes, and of each group the last of the kinds that include: the narrowest place."""
    by_kind = sorted(sides, key=lambda pair: KINDS.index(pair[0]))
    for group, pairs in groupby(by_kind, lambda pair: pair[0].group):
        several = [*pairs]
        inclusions = [pair for pair in several if pair[1].match == EQUALS]
        yield from (pair for pair in several if pair[1].match != EQUALS)
        yield from inclusions[-1:]
        for _, filter_ in inclusions[:-1]:
            title = inclusions[-1][0].title.lower()
            left_out.append(
                LeftOut(filter_, f"a package has any of its {group.lower()}; it targets the {title}")
            )
