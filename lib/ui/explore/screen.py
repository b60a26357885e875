"""The screen Slicers: facts of a slicer, its latest figures, its fields, and the top values of a field."""

from datetime import date

import streamlit as st

from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery, DataField, Slicer, time_key_field
from lib.ui.charts import series, sparkline
from lib.ui.charts.numbers import Numbers, days, title
from lib.ui.explore import fields
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import ask, focus, periods, precision, saved

NARROWEST = 132


def last_days(context: PageContext) -> AudienceQuery:
    """The question of this screen: the slicer's last complete days, independent of other screens."""
    start, end = periods.usual(context.slicer, ask.today(context, _everything(context)))
    return _everything(context).model_copy(update={"start_date": start, "end_date": end})


def facts(context: PageContext) -> None:
    """Draw the slicer's description, dates, time zone and audience sources."""
    about = context.slicer.annotation or context.slicer_name
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        st.markdown(f"**{plain(about)}** · :small[{' · '.join(_facts(context.slicer))}]", width="stretch")
        with st.container(width="content"):
            views(context)


@st.fragment
def views(context: PageContext) -> None:
    """Draw the saved views of the slicer; a click opens one on Audience."""
    saved.draw(context, "audience", is_elsewhere=True)


def headline(context: PageContext) -> None:
    """Draw the slicer's main figures for its last complete days, each with a sparkline."""
    names = focus.usual_metrics(context.slicer)
    if not names:
        return
    numbers, query = Numbers.of(st.context.locale), last_days(context)
    by_day = time_key_field("day") in {field.name for field in context.slicer.key_fields}
    split = {"split_by": (time_key_field("day"),) if by_day else (), "data_fields": names, "precision": 1}
    answer = ask.quickly(context, query.model_copy(update=split))
    shown_days = period(context, query)
    with st.grid(max(len(names), 4), min_column_width=NARROWEST, gap="small"):
        for field in map(context.slicer.data_field, names):
            with st.container(gap="xxsmall"):
                _metric(field, numbers.short(answer.total.values.get(field.name), field))
                if by_day:
                    course = series.over(answer, field.name, "day", shown_days)
                    sparkline.draw(course, field, "day", shown_days, numbers)
    exact = precision.over(answer, [context.slicer.data_field(name) for name in names], numbers)
    st.caption(f"{days(*shown_days)} · {plain(exact)}")


def _metric(field: DataField, value: str) -> None:
    st.metric(plain(title(field)), plain(value), help=plain(" · ".join(fields.about(field))) or None)


def _everything(context: PageContext) -> AudienceQuery:
    """A question about this slicer, with its dates still to be set."""
    return AudienceQuery(
        project_name=context.project,
        slicer_name=context.slicer_name,
        start_date="today",
        end_date="today",
    )


def period(context: PageContext, query: AudienceQuery) -> Days:
    """The days of a question."""
    return periods.resolved(query.start_date, query.end_date, ask.today(context, query))


def _facts(slicer: Slicer) -> list[str]:
    texts = []
    if slicer.first_date and slicer.last_date:
        first, last = date.fromisoformat(slicer.first_date), date.fromisoformat(slicer.last_date)
        count = (last - first).days + 1
        texts.append(f"{days(first, last)}, {count:,} day{'s' * (count != 1)}")
    zone = "other time zones available" if slicer.supports_timezone else "fixed time zone"
    texts.append(f"UTC{slicer.timezone:+d}, {zone}")
    texts += [text] if (text := precision.source(slicer)) else []
    for source in slicer.audience_sources:
        about = f" ({source.annotation})" if source.annotation else ""
        texts.append(f"{source.description or source.name}{about}")
    return texts
