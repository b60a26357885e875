"""What is on record about the deals, packages and seats of a question, on the days that it compares.

Who has followed a change of a figure to one deal finds here what was changed about that deal, and who did it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import streamlit as st

from lib.deals.models import DemandDeal, Dsp, EntityChange, Resource, Seat, SupplyPackage
from lib.figures import numbers
from lib.figures.deals import change_text, field_text
from lib.slicers.dates import Days, day_of
from lib.slicers.roles import DEAL, DSP, PACKAGE, SEAT, tells_deals
from lib.ui.kit import problems, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import current_focus
from lib.wire.errors import Forbidden, NotFound

MOST_ENTITIES, MOST_CHANGES = 3, 6
MODELS: dict[str, type[Resource]] = {DEAL: DemandDeal, PACKAGE: SupplyPackage, SEAT: Seat, DSP: Dsp}


class RecordedChange(NamedTuple):
    """A change of an entity, and what the entity is called."""

    label: str
    change: EntityChange


@st.fragment
def draw(context: PageContext) -> None:
    """Draw the changes, below What moved on a question about single deals, packages or seats."""
    if not tells_deals(context.slicer):
        return
    page_focus = current_focus.current(context)
    entities = [
        (MODELS[filter_.name], int(value))
        for filter_ in page_focus.query.filters
        if filter_.name in MODELS and filter_.match == "equals"
        for value in filter_.value
        if value.isascii() and value.isdigit()
    ]
    entities = entities if len(entities) <= MOST_ENTITIES else []
    if page_focus.comparison is None or not entities or not context.now().deals.reads:
        return
    before = page_focus.comparison.before
    days = min(before[0], page_focus.period[0]), max(before[1], page_focus.period[1])
    with problems.report_errors("What is on record"):
        changes = [change for entity in entities for change in changes_of(context, *entity, days)]
        changes.sort(key=lambda record: record.change.at, reverse=True)
        st.markdown(f"**On record**, {numbers.days(*days)}")
        for record in changes[:MOST_CHANGES]:
            at = field_text.moment(record.change.at.astimezone(times.zone()))
            sentences = "; ".join(change_text.sentences(record.change, field_text.prices_of(context)))
            st.markdown(plain(f"{at} · {record.label} · {sentences} · {record.change.who}"))
        if len(changes) > MOST_CHANGES:
            st.caption(f"{len(changes) - MOST_CHANGES} earlier changes are in Deals.")
        if not changes:
            st.caption("Nothing was changed in Deals.")


def changes_of(
    context: PageContext, model: type[Resource], number: int, days: Days
) -> Iterator[RecordedChange]:
    """The changes of an entity on these days, and of a deal those of its packages; none of what is hidden."""
    try:
        entity = context.deals.get(model, number)
        changes = context.deals.history(model, number)
    except (Forbidden, NotFound):
        return
    label = f"{model.noun.capitalize()} {entity.name}"
    for change in changes:
        if days[0] <= day_of(change.at, context.slicer.timezone) <= days[1]:
            yield RecordedChange(label, change)
    for package in entity.supply_deals if isinstance(entity, DemandDeal) else ():
        if package.id is not None:
            yield from changes_of(context, SupplyPackage, package.id, days)
