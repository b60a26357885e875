"""The message for a question without results, with a button that leads on."""

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import Filter
from lib.ui.charts import numbers
from lib.ui.kit.markdown import plain
from lib.ui.query import ask, filter_words, periods, question, values
from lib.ui.query.focus import Focus

TRIED, PLACE = 6, "nothing"


def is_there(audience: Audience) -> bool:
    """Whether the answer has any records."""
    return audience.total.records_found > 0 and len(audience) > 0


def draw(seen: Focus) -> None:
    """Draw a sentence on why there are no results, and one button that leads on."""
    with st.container(key=PLACE):
        _draw(seen)


def _draw(seen: Focus) -> None:
    days = numbers.days(*seen.period)
    if not seen.query.filters or not _has_data(seen):
        first, last = seen.slicer.first_date, seen.slicer.last_date
        there = f" The data covers {plain(first)} to {plain(last)}." if first and last else ""
        st.info(f"There is no data for {days}.{there}", icon=":material/event_busy:")
        st.button("Show the last days with data", icon=":material/event:", on_click=_usual_days, args=(seen,))
        return
    said = f"Nothing matches these filters for {days}."
    place, most = _most_in_the_way(seen)
    if place is None:
        st.info(f"{said} Remove filters, or choose other days.", icon=":material/filter_alt_off:")
        return
    words = filter_words.sentence(seen.query.filters[place], seen.slicer, _described(seen, place))
    st.info(f"{said} Without “{plain(words)}” there are {plain(most)}.", icon=":material/filter_alt_off:")
    st.button(f"Remove “{plain(words)}”", icon=":material/close:", on_click=_remove, args=(seen, place))


def _has_data(seen: Focus) -> bool:
    """Whether the slicer has data on any of the question's days, as far as it says so."""
    first, last = seen.slicer.first_date, seen.slicer.last_date
    if first is None or last is None:
        return True
    return seen.period[0].isoformat() <= last and seen.period[1].isoformat() >= first


def _most_in_the_way(seen: Focus) -> tuple[int | None, str]:
    """The place of the filter whose removal brings the largest volume, and that volume."""
    by = values.frequent(seen.slicer)
    if by is None:
        return None, ""
    found = [(_volume_without(seen, place, by), place) for place in range(len(seen.query.filters[:TRIED]))]
    most, place = max(found)
    field = seen.slicer.data_field(by)
    text = f"{seen.numbers.short(most, field)} {numbers.title(field).lower()}"
    return (place, text) if most > 0 else (None, "")


def _volume_without(seen: Focus, place: int, by: str) -> float:
    changes = {"filters": _without(seen, place), "split_by": (), "data_fields": (by,), "order_by": ()}
    return ask.audience(seen.here, seen.query.model_copy(update=changes)).total.values.get(by) or 0.0


def _without(seen: Focus, place: int) -> tuple[Filter, ...]:
    return (*seen.query.filters[:place], *seen.query.filters[place + 1 :])


def _described(seen: Focus, place: int) -> dict[str, str]:
    wanted = seen.query.filters[place]
    return values.words(seen.here, seen.query, wanted.name, wanted.value)


def _usual_days(seen: Focus) -> None:
    start, end = periods.usual(seen.slicer, ask.today(seen.here, seen.query))
    question.ask(seen.query.model_copy(update={"start_date": start, "end_date": end}))
    st.rerun()


def _remove(seen: Focus, place: int) -> None:
    question.ask(seen.query.model_copy(update={"filters": _without(seen, place)}))
    st.rerun()
