"""Shared by all entities: conversion of fields and rows, rules, and dependencies.

A kind of entity that is columns alone is an `EntityStore`; one with links of its own is a subclass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, Row, Table, delete, func, select, update

from lib.deals import moments
from lib.deals.models import ENTITIES
from lib.deals.store.work import EntityKey, Fields, Work
from lib.deals.validation import Problems
from lib.deals.values import Request
from lib.wire.errors import InUse, NotFound

NAMED_DEPENDANTS = 5
OTHERS = "others that you can't see"


@dataclass(frozen=True)
class Dependants:
    """Entities in `table` that depend on an entity through their `column`.

    With `via`, `column` is of a table of links, and `via` says there whose link it is.
    """

    noun: str
    table: Table
    column: ColumnElement[Any]
    via: ColumnElement[Any] | None = None

    def of(self, entity_id: int) -> ColumnElement[bool]:
        """The condition on `table` for those that depend on this one."""
        if self.via is None:
            return self.column == entity_id
        return self.table.c.id.in_(select(self.via).where(self.column == entity_id))


@dataclass(frozen=True)
class EntityStore:
    """A kind of entity: its path name, its table, and its request model."""

    entity: str
    table: Table
    request: type[Request]
    dependants: tuple[Dependants, ...] = ()
    search_fields: tuple[str, ...] = ("name",)
    links: ClassVar[Mapping[str, str]] = {}  # field of links → the entity on the other side, which shows them
    parts: ClassVar[Mapping[str, Table]] = {}  # field that lists others → their table: some may be hidden

    @property
    def noun(self) -> str:
        return ENTITIES[self.entity].noun

    def show(self, work: Work, ids: Sequence[int]) -> list[Fields]:
        """The entities as returned, in the order of `ids`, as far as the caller may see them."""
        return self.cut(work, self.whole(work, ids))

    def whole(self, work: Work, ids: Sequence[int]) -> list[Fields]:
        """The same with the parts that the caller may not see: what a change starts from."""
        visible = (self.table.c.id.in_(ids), *work.scope.visibility(self.table))
        row_of = {row.id: row for row in work.rows(self.selection(work).where(*visible))}
        rows = [row_of[entity_id] for entity_id in ids if entity_id in row_of]
        stamps = {
            row.id: {name: moments.write(row._mapping[name]) for name in ("created_at", "updated_at")}
            for row in rows
        }
        return [body | stamps[body["id"]] for body in self.bodies(work, rows)]

    def cut(self, work: Work, bodies: Sequence[Fields]) -> list[Fields]:
        """The bodies without the parts that the caller may not see."""
        copies = [dict(body) for body in bodies]
        for field in self.parts if work.scope.is_limited else ():
            hidden_ids = self.hidden_parts(work, field, copies)
            for body in copies:
                if body.get(field) is not None:
                    body[field] = [part for part in body[field] if part_id(part) not in hidden_ids]
        return copies

    def hidden_parts(self, work: Work, field: str, bodies: Sequence[Fields]) -> set[int]:
        """The ids of what this field of the bodies lists and the caller may not see."""
        ids = {part_id(part) for body in bodies for part in body.get(field) or ()}
        return ids - work.names(self.parts[field], ids).keys()

    def missing(self, entity_id: int) -> NotFound:
        """The error for an entity that is not there, or not for the caller: both in the same words."""
        return NotFound(f"There is no {self.noun} {entity_id}")

    def selection(self, work: Work) -> Any:
        """The select whose rows `bodies` takes."""
        return select(self.table)

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        return [{"id": row.id, **self.own(row)} for row in rows]

    def own(self, row: Row[Any]) -> Fields:
        """The request's fields that are columns, as returned."""
        values, fields = row._mapping, {}
        for name in self._own_columns:
            value = values[name]
            if isinstance(value, datetime):
                value = moments.write(moments.at_offset(value, values[f"{name}_offset"]))
            fields[name] = value
        return fields

    @cached_property
    def _own_columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.request.model_fields if name in self.table.c)

    def state(self, body: Fields) -> Fields:
        """The state for the history: the fields that can be set, with ids and names of other entities."""
        return {name: _brief(body[name]) for name in self.request.model_fields if name in body}

    def check(self, work: Work, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """Add the violated rules of `fields`. `before` is the current entity; None for a new one."""
        self.check_rules(fields, before, problems)

    def check_rules(self, fields: Fields, before: Fields | None, problems: Problems) -> None:
        """The same of the rules that need no look at other entities."""

    def affected_keys(self, fields: Fields, before: Fields | None) -> set[EntityKey]:
        """The existing other entities whose links change with this request."""
        keys: set[EntityKey] = set()
        for name, entity in self.links.items():
            if name in fields:
                both = [*(fields[name] or ()), *((before or {}).get(name) or ())]
                keys |= {(entity, link["id"]) for link in both if "id" in link}
        return keys

    def create(self, work: Work, fields: Fields) -> list[EntityKey]:
        """Write a new entity, and those created with it; returns their keys, its own first."""
        values = self.columns(fields)
        entity_id = work.insert(self.table, values | self.found_by(values))
        return [(self.entity, entity_id), *self.link(work, entity_id, fields)]

    def change(self, work: Work, entity_id: int, fields: Fields) -> list[EntityKey]:
        """Write these fields; returns the keys of entities created with the change. NotFound without it."""
        mine = self.table.c.id == entity_id
        visible = (mine, *work.scope.visibility(self.table))
        row = work.connection.execute(select(self.table).where(*visible)).one_or_none()
        if row is None:
            raise self.missing(entity_id)
        values = self.columns(fields)
        values |= self.found_by({**row._mapping, **values})
        work.connection.execute(update(self.table).where(mine).values(values))
        return self.link(work, entity_id, fields)

    def link(self, work: Work, entity_id: int, fields: Fields) -> list[EntityKey]:
        """Write these links; returns the keys of entities created for them."""
        return []

    def remove(self, work: Work, entity_id: int) -> None:
        """Delete the entity. InUse names what depends on it; NotFound without it."""
        name = work.names(self.table, [entity_id]).get(entity_id)
        if name is None:
            raise self.missing(entity_id)
        if users := [text for kind in self.dependants if (text := _depending(work, kind, entity_id))]:
            raise InUse(f"The {self.noun} {entity_id} '{name}' can't be deleted: {'; '.join(users)}")
        work.connection.execute(delete(self.table).where(self.table.c.id == entity_id))

    def columns(self, fields: Fields) -> Fields:
        """The values of the row's columns: times with their offsets, other entities by their ids."""
        values: Fields = {}
        for name, value in fields.items():
            if name in self.table.c:
                values[name] = value
            elif f"{name}_id" in self.table.c:
                values[f"{name}_id"] = None if value is None else value["id"]
            if f"{name}_offset" in self.table.c:
                values[f"{name}_offset"] = None if value is None else moments.offset_minutes(value)
        return values

    def found_by(self, row: Mapping[str, Any]) -> Fields:
        """The searched columns, computed from the row's other columns."""
        return {"folded": "\n".join(row[name] for name in self.search_fields if row.get(name)).casefold()}


def refer(
    names: Mapping[int, str], noun: str, links: Any, where: tuple[str | int, ...], problems: Problems
) -> None:
    """Add a problem for each of a list of `{"id": …}` that is not among the `names` ones, or is repeated."""
    ids = linked_ids(links)
    for number, entity_id in enumerate(ids):
        if entity_id is not None and entity_id not in names:
            problems.add((*where, number, "id"), f"There is no {noun} {entity_id}.")
        elif entity_id is not None and entity_id in ids[:number]:
            problems.add((*where, number, "id"), f"The {noun} {entity_id} is given twice.")


def part_id(part: Fields) -> int:
    """The id of a listed entity; of a seat choice, the seat's."""
    return int(part["seat"]["id"] if "seat" in part else part["id"])


def linked_ids(links: Any) -> list[int | None]:
    """The ids of a list of `{"id": …}`."""
    return [link.get("id") for link in links or ()]


def _brief(value: Any) -> Any:
    if isinstance(value, list):
        return [_brief(link) for link in value]
    if isinstance(value, dict):
        names = ("id", "name", "is_excluded") if "id" in value else value
        return {name: _brief(value[name]) for name in names if name in value}
    return value


def _depending(work: Work, kind: Dependants, entity_id: int) -> str:
    """`the demand deals 4 'A', 5 'B' and 7 more depend on it`; empty without any.

    Of those that the caller may not see, only that there are some.
    """
    is_theirs, visible = kind.of(entity_id), work.scope.visibility(kind.table)
    counting = select(func.count()).select_from(kind.table).where(is_theirs)
    total, count = (
        work.connection.execute(query).scalar_one() for query in (counting, counting.where(*visible))
    )
    column = kind.table.c
    rows = select(column.id, column.name).where(is_theirs, *visible).order_by(column.id)
    names = [f"{row.id} '{row.name}'" for row in work.rows(rows.limit(NAMED_DEPENDANTS))]
    more = [f"{count - NAMED_DEPENDANTS} more"] if count > NAMED_DEPENDANTS else []
    unseen = [OTHERS] if total > count else []
    if not count:
        return f"{kind.noun}s that you can't see depend on it" if unseen else ""
    *others, last = [", ".join(names), *more, *unseen]
    text = f"{', '.join(others)} and {last}" if others else last
    return f"the {kind.noun} {text} depends on it" if total == 1 else f"the {kind.noun}s {text} depend on it"
