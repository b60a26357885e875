"""What was changed around a fall: its net effect, whether it can make a step fall, and what undid it since.

A change can be a cause only if it came before the fall, was not undone before it, and takes something away: a
higher floor, targeting that lets less through, fewer packages. Later changes that give back are repairs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import ValidationError

from lib.deals.models import EntityChange, Targeting
from lib.deals.targeting.kinds import KINDS
from lib.slicers.dates import day_of
from lib.slicers.roles import PACKAGE

DAYS_BEFORE = 2  # before a fall; a change on one of them may be its cause
USUAL_DAYS = 28  # before a fall, four weeks; what a field was for most of them is its usual value
SALES = ("bids", "wins", "impressions")
ENTRIES = {"domains": "domain_list", "apps": "app_list"}


@dataclass(frozen=True)
class Entity:
    """Whose history a change is from: a deal, one of its packages, or a list that a package includes or
    excludes."""

    kind: str
    id: int
    name: str = ""
    is_excluded: bool = False

    @property
    def label(self) -> str:
        """`the deal`, `package Sports`, `domain list`."""
        noun = {"demand_deals": "the deal", "supply_deals": "package"}.get(self.kind)
        return f"{noun or self.kind.replace('_', ' ').rstrip('s')} {self.name}".strip()


@dataclass(frozen=True)
class Removal:
    """Values of a key field, by its kind of targeting or its name, that can't come any more.

    `is_rest`: all others can't. `is_everything`: these were all there were. `is_known` is false for lists,
    whose entries the history does not have.
    """

    kind: str
    values: tuple[str, ...]
    is_rest: bool = False
    is_everything: bool = False
    is_known: bool = True


LEAST_GROWTH = 0.05  # of a price, as a part of it; a smaller change makes no step fall


@dataclass(frozen=True)
class FieldChange:
    """One field of an entity that was changed: from what to what, the last time at that moment."""

    entity: Entity
    at: datetime
    day: date
    field: str
    before: Any
    after: Any

    @property
    def growth(self) -> float:
        """By how much a price grew, as a part of it; 0 where it has none on a side."""
        try:
            before, after = Decimal(str(self.before)), Decimal(str(self.after))
            return float(after / before) - 1 if before > 0 else 0.0
        except (InvalidOperation, ZeroDivisionError):
            return 0.0

    @property
    def is_of_deal(self) -> bool:
        """Whether it is of the deal itself: no other deal can fall by it."""
        return self.entity.kind == "demand_deals"

    @property
    def reverse(self) -> "FieldChange":
        """The change that would undo it."""
        return replace(self, before=self.after, after=self.before)

    def can_lower(self, step: str, is_first: bool, is_fixed: bool) -> bool:
        """Whether it can make this step of a funnel fall. `is_first`: it is the first, so that what is
        offered counts; `is_fixed`: the price is not a floor."""
        if self.field == "price":
            # A buyer bids what a fixed price is: a lower one loses against others, a higher one wins.
            growth = -self.growth if is_fixed else self.growth
            return growth >= LEAST_GROWTH and step in (SALES[1:] if is_fixed else SALES)
        return is_first and bool(self.removals())

    def can_raise(self, step: str, is_first: bool, is_fixed: bool) -> bool:
        """Whether it can make this step rise, and takes nothing away."""
        if self.field == "is_active":
            return bool(self.after) and not self.before
        is_loss = self.can_lower(step, is_first, is_fixed)
        return not is_loss and self.reverse.can_lower(step, is_first, is_fixed)

    def removals(self) -> list[Removal]:
        """What can't come any more since; empty where it only became more."""
        if self.field == "is_active" and self.entity.kind == "supply_deals":
            return [Removal(PACKAGE, (str(self.entity.id),))] if self.before and not self.after else []
        if self.field == "supply_deals":
            before, after = _link_ids(self.before), _link_ids(self.after)
            lost_values = [number for number in before if number not in after]
            return _removal(PACKAGE, lost_values, len(lost_values) == len(before))
        if self.field in ENTRIES:
            entries = [self.before or (), self.after or ()]
            less, more = entries[::-1] if self.entity.is_excluded else entries
            lost_values = [name for name in less if name not in {*more}]
            is_everything = not self.entity.is_excluded and len(lost_values) == len(less)
            return _removal(ENTRIES[self.field], lost_values, is_everything)
        if self.field == "media_type" and self.before:
            return _removal("media_type", [self.before], True)
        return _target_removals(self) if self.field in Targeting.model_fields else []


def changes(histories: Iterable[tuple[Entity, Sequence[EntityChange]]], hours: int) -> list[FieldChange]:
    """All changed fields of these histories, the earliest first, in a zone so many hours ahead of UTC.

    A price that changed with its currency is none of them: nothing says which of the two is higher.
    """
    all_changes = [
        FieldChange(
            entity, change.at, day_of(change.at, hours), field, (change.before or {}).get(field), after
        )
        for entity, history in histories
        for change in sorted(history, key=lambda change: change.id)
        if change.action == "changed"
        for field, after in (change.after or {}).items()
        if not (field == "price" and "currency" in (change.after or {}))
    ]
    return sorted(all_changes, key=lambda change: change.at)


def net(changes: Iterable[FieldChange]) -> list[FieldChange]:
    """One change per field of an entity: from before the first to after the last; none that were undone."""
    whole = [replace(edits[-1], before=edits[0].before) for edits in _by_field(changes)]
    return [change for change in whole if change.before != change.after]


def before_fall(changes: Iterable[FieldChange], day: date) -> list[FieldChange]:
    """The changes that may be the cause of a fall on that day: none came after it.

    A field counts from what it was for most of the four weeks before: 4 → 3 → 4 within days is no change.
    """
    recent = (change for change in changes if 0 <= (day - change.day).days <= USUAL_DAYS)
    latest = [edits for edits in _by_field(recent) if (day - edits[-1].day).days <= DAYS_BEFORE]
    whole = [replace(edits[-1], before=_usual(edits, day)) for edits in latest]
    return [change for change in whole if change.before != change.after]


DAYS_AFTER = 1  # after a fall; a change on one of them is listed beside it


def around_fall(changes: Iterable[FieldChange], day: date) -> list[FieldChange]:
    """Every change of the days around a fall, as it was made, the earliest first."""
    return [change for change in changes if -DAYS_BEFORE <= (change.day - day).days <= DAYS_AFTER]


def repair(
    changes: Sequence[FieldChange], since: date, step: str, is_first: bool, is_fixed: bool
) -> FieldChange | None:
    """The last change after that day that gives back, as far as nothing took it away again."""
    later = net(change for change in changes if change.day > since)
    lifting = [change for change in later if change.can_raise(step, is_first, is_fixed)]
    return max(lifting, key=lambda change: change.at, default=None)


def repair_title(change: FieldChange, earlier: Iterable[FieldChange]) -> str:
    """`Put back to 1.35`: what a repair did. `earlier` are changes before it."""
    if change.field == "is_active":
        return "Resumed" if change.is_of_deal else f"{change.entity.label.capitalize()} resumed"
    is_back = any(
        (past.entity, past.field) == (change.entity, change.field)
        and (
            past.before == change.after
            or (change.field == "price" and money(past.before) == money(change.after))
        )
        for past in earlier
    )
    if change.field == "price":
        verb = "Put back" if is_back else "Lowered" if change.growth < 0 else "Raised"
        return f"{verb} to {money(change.after)}"
    name = change.field.replace("_", " ").capitalize()
    return f"{name} of {change.entity.label} {'put back' if is_back else 'widened'}"


def money(value: object) -> str:
    """A price as it is written in the history: two decimals."""
    try:
        return f"{Decimal(str(value)):,.2f}"
    except InvalidOperation:
        return str(value)


def _by_field(changes: Iterable[FieldChange]) -> list[list[FieldChange]]:
    """The edits of each field in their order; one that doesn't go on from the one before begins anew, as the
    history then has a gap."""
    fields: dict[tuple[Entity, str], list[list[FieldChange]]] = {}
    for change in changes:
        runs = fields.setdefault((change.entity, change.field), [])
        if runs and runs[-1][-1].after == change.before:
            runs[-1].append(change)
        else:
            runs.append([change])
    return [run for runs in fields.values() for run in runs]


def _usual(edits: Sequence[FieldChange], day: date) -> Any:
    """What a field was for most of the four weeks before a day, by its edits in them; before the last one."""
    began = [day - timedelta(days=USUAL_DAYS), *(edit.day for edit in edits)]
    spans = [
        (after - before, edit.before) for before, after, edit in zip(began, began[1:], edits, strict=False)
    ]
    return max(
        (value for _, value in spans),
        key=lambda value: sum((length for length, other in spans if other == value), timedelta()),
    )


def _target_removals(change: FieldChange) -> list[Removal]:
    """The values of a targeting that it had, and has no more; or all but those that it is now limited to."""
    field = change.field
    try:
        sides = [Targeting.model_validate({field: side or ()}) for side in (change.before, change.after)]
    except ValidationError:
        return []  # a history of another service, in a form of its own
    kinds = [kind for kind in KINDS if kind.field == field]
    inclusions, exclusions = (
        [
            {
                kind: [
                    str(getattr(target, "id", None) or kind.value(target))
                    for target in kind.of(side)
                    if target.is_excluded == is_excluded
                ]
                for kind in kinds
            }
            for side in sides
        ]
        for is_excluded in (False, True)
    )
    was_open, is_open = (not any(side.values()) for side in inclusions)
    is_none_left = not any({*inclusions[0][kind]} & {*inclusions[1][kind]} for kind in kinds)
    removals: list[Removal] = []
    for kind in kinds:
        is_known = not kind.is_list
        if not was_open and not is_open:
            lost_values = [value for value in inclusions[0][kind] if value not in inclusions[1][kind]]
            removals += _removal(kind.name, lost_values, is_none_left, is_known)
        lost_values = [value for value in exclusions[1][kind] if value not in exclusions[0][kind]]
        removals += _removal(kind.name, lost_values, False, is_known)
    if was_open and not is_open:
        limits = [kind for kind in kinds if inclusions[1][kind]]
        removals += [
            Removal(
                kind.name, tuple(inclusions[1][kind]), True, is_known=len(limits) == 1 and not kind.is_list
            )
            for kind in limits[:1]
        ]
    return removals


def _removal(
    kind: str, values: Iterable[object], is_everything: bool, is_known: bool = True
) -> list[Removal]:
    names = tuple(map(str, values))
    return [Removal(kind, names, is_everything=is_everything, is_known=is_known)] if names else []


def _link_ids(links: Any) -> list[int]:
    """The ids of links, as numbers or as objects with one."""
    return [int(link["id"]) if isinstance(link, dict) else int(link) for link in links or ()]
