"""The delivery of a package or a deal in the drawer: figures, the buyer's counts, a chart."""

from dataclasses import replace
from functools import partial

import streamlit as st

from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.figures import numbers, series
from lib.figures.deals import deal_report
from lib.figures.query import ask, focus, precision
from lib.figures.series import ChartLine
from lib.reporting import links
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers.granularities import time_key_field
from lib.ui.charts import theme, time_chart
from lib.ui.deals import catalog, counts
from lib.ui.deals.buyers import dossier_panel
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.insight import health_view, report
from lib.ui.kit import screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import report_errors

DAY = time_key_field("day")
DAYS = 30
NARROWEST = 120


def draw(context: PageContext, key: Key, entity: PackageOrDeal) -> None:
    """Draw the figures, the buyer's counts of a deal, the chart, and a link to Audience.

    Or why there is no delivery to show.
    """
    with report_errors("The delivery", effect="Nothing was changed."):
        health_view.draw_funnel(context, key)
        if (deals_context := report.of_deals_or_note(context)) is None:
            return
        if isinstance(entity, DemandDeal):
            _draw_goal(deals_context, entity)
            dossier_panel.draw_counts(context, deals_context, entity)
        insight, names = deal_report.insight(deals_context), focus.usual_metrics(deals_context.slicer)
        query = insight.query(DAYS, filters=insight.only([entity]), data_fields=names, split_by=(DAY,))
        answer = ask.audience(deals_context, query)
        if answer.total.records_found == 0:
            st.info(f"Nothing was delivered in the last {DAYS} days.", icon=":material/hourglass_empty:")
            return
        locale_numbers, period = counts.numbers(), report.period(deals_context, query)
        with st.grid(4, min_column_width=NARROWEST, gap="small"):
            for name in query.data_fields or ():
                field = deals_context.slicer.data_field(name)
                with st.container(gap="xxsmall"):
                    st.metric(
                        plain(numbers.title(field)),
                        plain(locale_numbers.short(answer.total.values.get(name), field)),
                        help=plain(field.formula_description or field.annotation or "") or None,
                    )
                    time_chart.draw_sparkline(
                        series.over(answer, name, "day", period), field, period, locale_numbers
                    )
        where = f"{deals_context.project}/{deals_context.slicer_name}"
        exact = precision.summary(
            answer,
            [deals_context.slicer.data_field(name) for name in query.data_fields or ()],
            locale_numbers,
        )
        st.caption(f"{numbers.days(*period)} · {plain(where)} · {plain(exact)}")
        _chart(deals_context, query, answer)
        link = query.model_copy(update={"split_by": (), "data_fields": None})
        st.page_link(
            screens.AUDIENCE, label="Open in Audience", icon=":material/monitoring:",
            query_params=links.to_params(link),
        )  # fmt: skip


def _draw_goal(context: PageContext, deal: DemandDeal) -> None:
    """Draw what a guaranteed deal delivered of its goal, and what it is projected to; nothing of another."""
    if deal.units is None:
        return
    ids = [package.id for package in deal.supply_deals if package.id is not None]
    asking = replace(deal_report.insight(context), ask=partial(ask.audience, context))
    packages = catalog.by_id(context, SupplyPackage, ids)
    goal = asking.goals([deal], lambda _: packages).get(deal.id or 0)
    if goal is None:
        st.caption("Its goal is compared from the first complete day of the booking on, which needs an end.")
        return
    field, texts = context.slicer.data_field(goal.field), counts.numbers()
    st.markdown("**Delivered of the goal**")
    with st.grid(3, min_column_width=NARROWEST, gap="small"):
        for title, value in (
            ("To date", goal.to_date), ("Expected to date", goal.expected),
            ("Projected to the end", goal.projection),
        ):  # fmt: skip
            share = texts.percent(100 * value / goal.goal, 0)
            st.metric(
                title, plain(texts.short(value, field)), f"{share} of the goal", delta_color="off",
                delta_arrow="off",
            )  # fmt: skip
    exact = "" if goal.is_exact else " Estimated from a sample."
    st.markdown(plain(f"{goal.sentence(texts.rough)}{exact}"))
    period = goal.days[0], goal.days[-1]
    axis = series.days_of(period)
    lines = [
        ChartLine("Delivered", replace(axis, values=goal.delivered)),
        ChartLine("Evenly", replace(axis, values=goal.even)),
    ]
    st.plotly_chart(
        time_chart.over_time(lines, field, texts), key="goal_chart", config=theme.CONFIG,
        alt=f"Delivered and even {numbers.title(field).lower()}, added up by day, {numbers.days(*period)}",
    )  # fmt: skip


def _chart(context: PageContext, query: AudienceQuery, answer: Audience) -> None:
    name = (query.data_fields or ("",))[0]
    field, period = context.slicer.data_field(name), report.period(context, query)
    daily, texts = series.over(answer, name, "day", period), counts.numbers()
    figure = time_chart.over_time([ChartLine(numbers.title(field), daily)], field, texts)
    st.plotly_chart(
        figure, key="delivery_chart", config=theme.CONFIG,
        alt=f"{numbers.title(field)} by day, {numbers.days(*period)}",
    )  # fmt: skip
    with st.expander("As a table"):
        columns = {
            "Day": list(daily.names),
            numbers.title(field): [texts.plain(value, field) for value in daily.values],
        }
        st.dataframe(straighten(columns), hide_index=True, alt=f"{numbers.title(field)} by day")
