"""The saved views of a slicer with their first figures; one opens on Audience with a click."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from lib.figures import alert_text, error_text, numbers
from lib.figures.overview import headline, over_time
from lib.figures.query import ask, compared_answers, focus, precision, state
from lib.figures.query.focus import Focus
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.ui.kit import problems, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import current_focus, saved
from lib.views import Alert, SavedView
from lib.wire.errors import TrancheError

MOST_FIGURES = 3  # of a view: its first data fields
CARD = "view_figures"


NARROWEST_CARD = 290  # pixels; on narrower screens fewer cards stand in a row


@st.fragment(parallel=True)
def draw(context: PageContext) -> None:
    """A card for each of the first views; nothing without views, or where the slicer has no data field."""
    if not context.slicer.data_fields:
        return
    with problems.report_errors("The saved views"):
        views = context.clients.view_store.views.of(context.project, context.slicer_name)
        if not views:
            return
        alerts = {alert.view_id: alert for alert in context.clients.view_store.alerts.mine()}
        start = context.clients.view_store.start.get()
        saved_views = first(views, start.id if start else 0, alerts)
        about = context.slicer, context.project, context.slicer_name
        states = [state.read(view.params, *about) for view in saved_views]
        focuses = [(focus.resolve(context, page_state), left_out) for page_state, left_out in states]
        ask.prefetch(context, (figures_query(view_focus) for view_focus, left_out in focuses if not left_out))
        st.subheader("Saved views", anchor=False)
        with st.grid(len(saved_views), min_column_width=NARROWEST_CARD, gap="small"):
            for view, (view_focus, left_out) in zip(saved_views, focuses, strict=True):
                _card(view, view_focus, left_out, alerts.get(view.id))
        if len(views) > len(saved_views):
            st.caption(f"{len(saved_views)} of {len(views)} views. The others are under Views.")
        current_focus.refine("views")


MOST_VIEWS = 4  # that have a card, of all that are saved


def first(views: list[SavedView], start: int, alerts: Mapping[int, Alert]) -> list[SavedView]:
    """The four that come first: where an alert fires, the start page, the person's own, the latest."""

    def rank(view: SavedView) -> tuple[bool, bool, bool, float]:
        fires = view.id in alerts and alerts[view.id].state == "firing"
        return not fires, view.id != start, not view.is_mine, -view.changed.timestamp()

    return sorted(views, key=rank)[:MOST_VIEWS]


def figures_query(view_focus: Focus) -> AudienceQuery:
    """The question behind a view's figures, over time: a change is held against what days differ by."""
    return view_focus.over_time().model_copy(update={"data_fields": view_focus.fields[:MOST_FIGURES]})


def _card(view: SavedView, view_focus: Focus, left_out: list[str], alert: Alert | None) -> None:
    """Draw a view's name and figures; where it no longer fits its slicer, why, and no figures."""
    with st.container(border=True, gap="xsmall", key=f"{CARD}_{view.id}"):
        icon, open_view = "group" if view.is_shared else "bookmark", partial(saved.go, True, view)
        help = f"Open {plain(view.name)} on Audience"
        widgets.icon_button(plain(view.name), icon, f"{CARD}_open_{view.id}", open_view, help)
        if left_out:
            st.caption(plain(" ".join(left_out)))
        else:
            try:
                _figures(view_focus, ask.estimate(view_focus.context, figures_query(view_focus)))
            except TrancheError as error:
                st.caption(plain(error_text.sentence(error)))
        if alert is not None and alert.state == "firing":
            condition = alert_text.condition_text(alert, view_focus.numbers)
            sentence = f"{condition} · {alert_text.alert_state(alert, view_focus.numbers)}"
            st.markdown(f":small[:material/notifications_active: {plain(sentence)}]")


NARROWEST_FIGURE = 84  # pixels, of a card's figures side by side


def _figures(view_focus: Focus, answer: Audience) -> None:
    comparisons = compared_answers.fetch_each(view_focus, figures_query(view_focus), answer)
    fields = [view_focus.slicer.data_field(name) for name in view_focus.fields[:MOST_FIGURES]]
    with st.grid(len(fields), min_column_width=NARROWEST_FIGURE, gap="small", wrap=False):
        for field in fields:
            side = replace(view_focus, field=field)
            lines = [line.series for line in over_time.lines(side, answer, comparisons)]
            figure = headline.figure(side, answer, comparisons, lines)
            st.metric(
                plain(figure["title"]), plain(figure["text"]),
                None if comparisons[0] is None else plain(figure["delta"] or ""),
                delta_color=figure["color"], delta_arrow=figure["arrow"],
            )  # fmt: skip
    exact, comparison = precision.summary(answer, fields, view_focus.numbers), view_focus.comparison
    before = f", compared with {numbers.days(*comparison.before)}" if comparison else ""
    st.caption(plain(f"{numbers.days(*view_focus.period)}{before} · {exact}"))
