"""What is said where a question finds nothing, and the way out of it."""

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.ui import ask, filter_words, numbers, periods, question, values
from lib.ui.focus import Focus

TRIED = 6


def is_there(audience: Audience) -> bool:
    """Whether the answer found any record."""
    return audience.total.records_found > 0 and len(audience) > 0


def draw(seen: Focus) -> None:
    """One sentence, and one button that leads on."""
    days = numbers.days(*seen.period)
    if not seen.query.filters:
        first, last = seen.slicer.first_date, seen.slicer.last_date
        there = f"The data go from {first} to {last}." if first and last else "The slicer is empty."
        st.info(f"There are no data for {days}. {there}", icon=":material/event_busy:")
        st.button("Last days with data", on_click=_usual_days, args=(seen,))
        return
    st.info(f"Nothing matches these filters for {days}. {_way_out(seen)}", icon=":material/filter_alt_off:")


def _way_out(seen: Focus) -> str:
    """Which single filter stands most in the way."""
    by = values.frequent(seen.slicer)
    found = (
        [(seen_without(seen, place, by), place) for place in range(len(seen.query.filters[:TRIED]))]
        if by
        else []
    )
    most, place = max(found, default=(0.0, 0))
    if by is None or most <= 0:
        return "Remove filters, or choose other days."
    wanted = seen.query.filters[place]
    described = values.words(seen.here, seen.query, wanted.name, wanted.value)
    field = seen.slicer.data_field(by)
    words = filter_words.sentence(wanted, seen.slicer, described)
    return f"Without “{words}” there are {seen.numbers.short(most, field)} {numbers.title(field).lower()}."


def seen_without(seen: Focus, place: int, by: str) -> float:
    """The volume that the question finds without one of its filters."""
    filters = (*seen.query.filters[:place], *seen.query.filters[place + 1 :])
    plain: dict[str, object] = {"filters": filters, "split_by": (), "data_fields": (by,), "order_by": ()}
    asked: AudienceQuery = seen.query.model_copy(update=plain)
    return ask.audience(seen.here, asked).total.values.get(by) or 0.0


def _usual_days(seen: Focus) -> None:
    start, end = periods.usual(seen.slicer, ask.today(seen.here, seen.query))
    question.ask(seen.query.model_copy(update={"start_date": start, "end_date": end}))
    st.rerun()
