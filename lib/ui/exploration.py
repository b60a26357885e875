"""The screen Slicers: what a slicer is, its latest figures, its fields, and the top values of one of them."""

from datetime import date

import numpy as np
import streamlit as st

from lib.reporting.models import DESK_ROWS_LIMIT, AudienceQuery, DataField, Slicer, time_key_field
from lib.ui import ask, fields, focus, periods, precision, series
from lib.ui.frame import Here
from lib.ui.numbers import Numbers, days, title
from lib.ui.periods import Days

NARROWEST = 132


def last_days(here: Here) -> AudienceQuery:
    """The question of this screen: the slicer's last complete days, whatever is asked on the others."""
    start, end = periods.usual(here.slicer, ask.today(here, _everything(here)))
    return _everything(here).model_copy(update={"start_date": start, "end_date": end})


def facts(here: Here) -> None:
    """What the slicer is, its days, its zone and its audience sources."""
    about = here.slicer.annotation or here.slicer_name
    st.markdown(f"**{about}** · :small[{' · '.join(_facts(here.slicer))}]")


def headline(here: Here) -> None:
    """The slicer's first figures in its last complete days, each with its course over these days."""
    names = focus.usual_metrics(here.slicer)
    if not names:
        return
    numbers, query = Numbers.of(st.context.locale), last_days(here)
    by_day = time_key_field("day") in {field.name for field in here.slicer.key_fields}
    split = {"split_by": (time_key_field("day"),) if by_day else (), "data_fields": names, "precision": 1}
    answer = ask.audience(here, query.model_copy(update=split))
    shown_days = period(here, query)
    with st.grid(max(len(names), 4), min_column_width=NARROWEST, gap="small"):
        for field in map(here.slicer.data_field, names):
            course = series.over(answer, field.name, "day", shown_days).values if by_day else None
            _metric(field, numbers.short(answer.total.values.get(field.name), field), course)
    st.caption(f"{days(*shown_days)} · {precision.sentence(answer, names[0], numbers)}")


def _metric(field: DataField, value: str, course: series.Numbers | None) -> None:
    st.metric(
        title(field),
        value,
        chart_data=None if course is None else course[~np.isnan(course)].tolist(),
        chart_type="line",
        help=" · ".join(fields.about(field)) or None,
    )


def _everything(here: Here) -> AudienceQuery:
    """A question of this slicer without dates of its own yet."""
    return AudienceQuery(
        project_name=here.project,
        slicer_name=here.slicer_name,
        start_date="today",
        end_date="today",
        audience_rows_limit=DESK_ROWS_LIMIT,
    )


def period(here: Here, query: AudienceQuery) -> Days:
    """The days of a question."""
    return periods.resolved(query.start_date, query.end_date, ask.today(here, query))


def _facts(slicer: Slicer) -> list[str]:
    texts = []
    if slicer.first_date and slicer.last_date:
        first, last = date.fromisoformat(slicer.first_date), date.fromisoformat(slicer.last_date)
        count = (last - first).days + 1
        texts.append(f"{days(first, last)}, {count:,} day{'s' * (count != 1)}")
    zone = "other zones can be asked for" if slicer.supports_timezone else "in no other zone"
    texts.append(f"UTC{slicer.timezone:+d}, {zone}")
    for source in slicer.audience_sources:
        about = f" ({source.annotation})" if source.annotation else ""
        texts.append(f"{source.description or source.name}{about}")
    return texts
