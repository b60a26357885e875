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


def draw(focus: Focus) -> None:
    """Draw a sentence on why there are no results, and one button that leads on."""
    with st.container(key=PLACE):
        _draw(focus)


def _draw(focus: Focus) -> None:
    days = numbers.days(*focus.period)
    if not focus.query.filters or not _has_data(focus):
        first, last = focus.slicer.first_date, focus.slicer.last_date
        there = f" The data covers {plain(first)} to {plain(last)}." if first and last else ""
        st.info(f"There is no data for {days}.{there}", icon=":material/event_busy:")
        st.button(
            "Show the last days with data", icon=":material/event:", on_click=_usual_days, args=(focus,)
        )
        return
    text = f"Nothing matches these filters for {days}."
    place, most = _most_in_the_way(focus)
    if place is None:
        st.info(f"{text} Remove filters, or choose other days.", icon=":material/filter_alt_off:")
        return
    words = filter_words.sentence(focus.query.filters[place], focus.slicer, _described(focus, place))
    st.info(f"{text} Without “{plain(words)}” there are {plain(most)}.", icon=":material/filter_alt_off:")
    st.button(f"Remove “{plain(words)}”", icon=":material/close:", on_click=_remove, args=(focus, place))


def _has_data(focus: Focus) -> bool:
    """Whether the slicer has data on any of the question's days, as far as it says so."""
    first, last = focus.slicer.first_date, focus.slicer.last_date
    if first is None or last is None:
        return True
    return focus.period[0].isoformat() <= last and focus.period[1].isoformat() >= first


def _most_in_the_way(focus: Focus) -> tuple[int | None, str]:
    """The place of the filter whose removal brings the largest volume, and that volume."""
    by = values.frequent(focus.slicer)
    if by is None:
        return None, ""
    found = [(_volume_without(focus, place, by), place) for place in range(len(focus.query.filters[:TRIED]))]
    most, place = max(found)
    field = focus.slicer.data_field(by)
    text = f"{focus.numbers.short(most, field)} {numbers.title(field).lower()}"
    return (place, text) if most > 0 else (None, "")


def _volume_without(focus: Focus, place: int, by: str) -> float:
    changes = {"filters": _without(focus, place), "split_by": (), "data_fields": (by,), "order_by": ()}
    return ask.audience(focus.here, focus.query.model_copy(update=changes)).total.values.get(by) or 0.0


def _without(focus: Focus, place: int) -> tuple[Filter, ...]:
    return (*focus.query.filters[:place], *focus.query.filters[place + 1 :])


def _described(focus: Focus, place: int) -> dict[str, str]:
    filter_ = focus.query.filters[place]
    return values.words(focus.here, focus.query, filter_.name, filter_.value)


def _usual_days(focus: Focus) -> None:
    start, end = periods.usual(focus.slicer, ask.today(focus.here, focus.query))
    question.ask(focus.query.model_copy(update={"start_date": start, "end_date": end}))
    st.rerun()


def _remove(focus: Focus, place: int) -> None:
    question.ask(focus.query.model_copy(update={"filters": _without(focus, place)}))
    st.rerun()
