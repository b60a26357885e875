"""One page of a list: searched, filtered, ordered."""

from typing import Any

from sqlalchemy import ColumnElement, func, or_, select

from lib.deals.fields import LARGEST_ID
from lib.deals.queries import Query
from lib.deals.store.filters import FILTERS, ordered
from lib.deals.store.noun import Noun
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems


def page(work: Work, noun: Noun, query: Query, problems: Problems) -> tuple[int, list[Fields]]:
    """How many entities the query finds, and those of its page. Invalid if `problems` has any in the end."""
    conditions = _conditions(work, noun, query, problems)
    problems.check()
    ids = noun.table.c.id
    count = work.connection.execute(
        select(func.count()).select_from(noun.table).where(*conditions)
    ).scalar_one()
    order: list[Any] = []
    for name, falls in query.ordering:
        by = ordered(noun, work, name)
        order.append(by.desc().nulls_last() if falls else by.asc().nulls_last())
    question = select(ids).where(*conditions).order_by(*order, ids).limit(query.limit).offset(query.offset)
    return count, noun.show(work, [row.id for row in work.rows(question)])


def _conditions(work: Work, noun: Noun, query: Query, problems: Problems) -> list[ColumnElement[bool]]:
    found = [_sought(noun, query.search)] if query.search else []
    for name, texts in query.filters.items():
        try:
            found.append(FILTERS[noun.entity][name].condition(work, texts))
        except ValueError as error:
            problems.add((name,), f"This {error}.")
    return found


def _sought(noun: Noun, text: str) -> ColumnElement[bool]:
    """The text in the name, the deal id or the external id, whatever its case; a number is an id too."""
    within = noun.table.c.folded.contains(text.casefold(), autoescape=True)
    if text.isascii() and text.isdigit() and len(text) < 17 and int(text) <= LARGEST_ID:
        return or_(within, noun.table.c.id == int(text))
    return within
