"""Counts the entities of a list per value of a filter, ignoring that filter itself."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, select

from lib.deals.store.filters import FILTERS
from lib.deals.store.noun import Noun
from lib.deals.store.work import Work

COUNTED = ("status", "media_type", "seat", "dsp")


def countable(entity: str) -> list[str]:
    """The filters whose values can be counted."""
    return [name for name in COUNTED if name in FILTERS[entity]]


def counts(work: Work, noun: Noun, name: str, found: Sequence[ColumnElement[bool]]) -> dict[str, int]:
    """Value, as text → the number of entities with it that match these conditions."""
    one, ids = FILTERS[noun.entity][name], noun.table.c.id
    value: ColumnElement[Any] = one.column(work).label("value")
    reached = one.reached(work)
    if one.owner is None or reached is None:
        question = select(value, func.count()).select_from(noun.table).where(*found).group_by("value")
    else:
        theirs = reached.add_columns(value).subquery()
        whose, value = theirs.c[0], theirs.c["value"]
        joined = noun.table.join(theirs, one.owner == whose)
        question = select(value, func.count(ids.distinct())).select_from(joined).where(*found).group_by(value)
    return {str(value): count for value, count in work.connection.execute(question) if value is not None}
