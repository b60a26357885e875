"""A page of a list: searched, filtered and sorted, with counts per value of some filters."""

from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, func, select

from lib.deals import sought
from lib.deals.queries import ListOffer, ListQuery
from lib.deals.store import search, unseen
from lib.deals.store.counting import countable, counts
from lib.deals.store.filters import FILTERS
from lib.deals.store.noun import Noun
from lib.deals.store.ordering import ordered, orderings
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems

NO_REPORT = "There is no such slicer, or you may not see it."
Conditions = dict[str, ColumnElement[bool]]


@dataclass(frozen=True)
class Listed:
    """The total count of a query, the entities of its page, and its counts by filter and value."""

    count: int
    results: list[Fields]
    counts: dict[str, dict[str, int]] = field(default_factory=dict)


def offer(entity: str) -> ListOffer:
    """The query parameters that the list of this entity supports."""
    kinds = sought.KINDS if entity in search.BY_TARGETS else ()
    filters = FILTERS[entity]
    return ListOffer(filters, orderings(entity), countable(entity), kinds, "health" in filters)


def page(work: Work, noun: Noun, query: ListQuery, problems: Problems) -> Listed:
    """The page. Invalid if there are `problems` in the end."""
    if query.report != work.report and not work.scope.may_see(*query.report):
        problems.add(("report",), NO_REPORT)
    work = replace(work, report=query.report)
    found = [*search.conditions(work, noun, query), *work.scope.seen(noun.table)]
    filters = _filters(work, noun, query, problems)
    problems.check()
    conditions = [*found, *filters.values()]
    ids = noun.table.c.id
    counted = select(func.count()).select_from(noun.table).where(*conditions)
    order: list[Any] = []
    for name, falls in query.ordering:
        by = ordered(noun, work, name)
        order.append(by.desc().nulls_last() if falls else by.asc().nulls_last())
    question = select(ids).where(*conditions).order_by(*order, ids).limit(query.limit).offset(query.offset)
    bodies = noun.show(work, [row.id for row in work.rows(question)])
    return Listed(
        work.connection.execute(counted).scalar_one(),
        unseen.left_out(work, noun.entity, bodies),
        {name: counts(work, noun, name, _without(filters, name, found)) for name in query.counts},
    )


def _without(filters: Conditions, name: str, found: list[ColumnElement[bool]]) -> list[ColumnElement[bool]]:
    """The conditions but that of one filter."""
    return [*found, *(condition for other, condition in filters.items() if other != name)]


def _filters(work: Work, noun: Noun, query: ListQuery, problems: Problems) -> Conditions:
    found: Conditions = {}
    for name, texts in query.filters.items():
        try:
            found[name] = FILTERS[noun.entity][name].condition(work, texts)
        except ValueError as error:
            problems.add((name,), f"This {error}.")
    return found
