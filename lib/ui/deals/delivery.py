"""The delivery of a deal or a package, from the report: its figures of the last 30 days, and day by day."""

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, Filter
from lib.ui.charts import numbers, series, sparkline, theme, time_chart
from lib.ui.charts.numbers import Numbers
from lib.ui.charts.time_chart import Named
from lib.ui.deals import deal_health, report
from lib.ui.deals.deal_list import Key
from lib.ui.kit import screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.kit.straight import straighten
from lib.ui.query import ask, focus, link, precision

DAYS, NARROWEST = 30, 120
KEY_FIELDS = {"demand_deals": report.DEAL, "supply_deals": report.PACKAGE}


def draw(context: PageContext, key: Key) -> None:
    """Draw the figures, the chart, and a link to Audience; or why there is no delivery to show."""
    with report_errors("The delivery", kept="Nothing was changed."):
        deal_health.draw_funnel(context, key)
        seen = report.of_deals(context)
        if seen is None:
            st.info("None of the slicers that you can see has a key field for deals.", icon=":material/info:")
            return
        query = question(seen, key)
        answer = ask.audience(seen, query)
        if answer.total.records_found == 0:
            st.info(f"Nothing was delivered in the last {DAYS} days.", icon=":material/hourglass_empty:")
            return
        _figures(seen, query, answer)
        _chart(seen, query, answer)
        _closer(query)


def question(context: PageContext, key: Key) -> AudienceQuery:
    """The question about this deal or package, whose id is the value of a key field."""
    filters = (Filter(name=KEY_FIELDS[key[0]], value=(str(key[1]),), match="equals"),)
    return report.question(context, filters, DAYS, focus.usual_metrics(context.slicer), by_day=True)


def _closer(query: AudienceQuery) -> None:
    st.page_link(
        screens.AUDIENCE,
        label="Open in Audience",
        icon=":material/monitoring:",
        query_params=link.to_params(query.model_copy(update={"split_by": (), "data_fields": None})),
    )


def _figures(context: PageContext, query: AudienceQuery, answer: Audience) -> None:
    shown, period = Numbers.of(st.context.locale), report.period(context, query)
    with st.grid(4, min_column_width=NARROWEST, gap="small"):
        for name in query.data_fields or ():
            field = context.slicer.data_field(name)
            with st.container(gap="xxsmall"):
                st.metric(
                    plain(numbers.title(field)),
                    plain(shown.short(answer.total.values.get(name), field)),
                    help=plain(field.formula_description or field.annotation or "") or None,
                )
                sparkline.draw(series.over(answer, name, "day", period), field, "day", period, shown)
    where = f"{context.project}/{context.slicer_name}"
    exact = precision.over(
        answer, [context.slicer.data_field(name) for name in query.data_fields or ()], shown
    )
    st.caption(f"{numbers.days(*period)} · {plain(where)} · {plain(exact)}")


def _chart(context: PageContext, query: AudienceQuery, answer: Audience) -> None:
    """Draw the first of the figures over time, and its table."""
    name = (query.data_fields or ("",))[0]
    field, period = context.slicer.data_field(name), report.period(context, query)
    shown, numbered = series.over(answer, name, "day", period), Numbers.of(st.context.locale)
    figure = time_chart.over_time([Named(numbers.title(field), shown)], field, numbered, has_brush=False)
    st.plotly_chart(
        figure,
        key="delivery_chart",
        config=theme.CONFIG,
        alt=f"{numbers.title(field)} by day, {numbers.days(*period)}",
    )
    with st.expander("As a table"):
        columns = {
            "Day": list(shown.names),
            numbers.title(field): [numbered.plain(v, field) for v in shown.values],
        }
        st.dataframe(straighten(columns), hide_index=True, alt=f"{numbers.title(field)} by day")
