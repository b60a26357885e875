"""The alert on a saved view: which figure is watched, when it fires, and how it is."""

import math
from collections.abc import Callable

import streamlit as st

from lib.reporting import watched
from lib.reporting.models import DataField
from lib.reporting.watched import FigureUnavailable
from lib.settings import Settings
from lib.ui.charts import alert_words, numbers
from lib.ui.charts.numbers import Numbers
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import ask, link
from lib.views import ALERT_RULES, Alert, SavedView
from lib.views.alerts import CHECK_MINUTES, CHECK_SECONDS
from lib.wire.errors import TrancheError

PROBLEM = "view_alert_problem"
FACTS = {"name", "description", "display_precision", "display_pattern"}
HELP = (
    "An alert looks at the view's complete days. Noise is how much the same weekdays of earlier weeks vary: "
    "at least four are needed."
)


def draw(here: Here, view: SavedView) -> None:
    """The alerts of a view, each with a button to remove it, and a form for a new one."""
    alert = here.clients.kept.alerts.of_view(view.id)
    st.caption("Alert", help=HELP)
    number, problem = st.session_state.get(PROBLEM, (0, ""))
    if problem and number == view.id:
        st.error(plain(problem), icon=":material/error:")
    if alert is not None:
        _watched(here, view, alert)
    if here.slicer.data_fields:
        _form(here, view, alert)


def _watched(here: Here, view: SavedView, alert: Alert) -> None:
    reader = Numbers.of(st.context.locale)
    icon = "notifications_active" if alert.state == "firing" else "notifications"
    st.markdown(f":material/{icon}: {plain(alert_words.watched(alert, reader))}")
    st.caption(plain(alert_words.now(alert, reader)))
    st.button("Remove alert", key="view_alert_remove", on_click=_remove, args=(here, view))


def _form(here: Here, view: SavedView, alert: Alert | None) -> None:
    names = [field.name for field in here.slicer.data_fields]
    field, rule, bound = (f"view_alert_{part}_{view.id}" for part in ("field", "rule", "bound"))
    shown = names.index(alert.field) if alert is not None and alert.field in names else 0
    chosen = st.selectbox("Figure", names, shown, key=field, format_func=lambda name: _title(here, name))
    st.caption(plain(_figure_now(here, view, here.slicer.data_field(chosen))))
    with st.form("view_alert", border=False):
        st.selectbox(
            "Fires when it",
            ALERT_RULES,
            0 if alert is None else ALERT_RULES.index(alert.rule),
            key=rule,
            format_func=alert_words.RULES.__getitem__,
        )
        st.number_input(
            "Bound, for above and below", value=None if alert is None else alert.bound, key=bound, format="%f"
        )
        st.form_submit_button("Set alert", on_click=_watch, args=(here, view, field, rule, bound))
    st.caption(plain(_first_check()))


def _figure_now(here: Here, view: SavedView, field: DataField) -> str:
    """The figure as the next check would find it, and the days that it looks at."""
    reading = link.from_params(view.params, here.slicer, here.project, here.slicer_name)
    if reading.left_out:
        return f"The view no longer fits: {' '.join(reading.left_out)}"
    try:
        days = watched.complete_days(reading.query, here.slicer)
        answer = ask.audience(here, watched.total_query(reading.query, field.name, days))
        found = watched.figure(answer, field.name)
    except FigureUnavailable as unavailable:
        return str(unavailable)
    except TrancheError as error:
        return f"The figure could not be loaded: {error.reason.rstrip('.')}."
    reader = Numbers.of(st.context.locale)
    side = reader.percent(100 * found.side / abs(found.value)) if found.side and found.value else ""
    is_rough = math.isinf(found.side)
    off = " (an estimate from too few records)" if is_rough else f" ± {side}" if side else ""
    return f"Now {reader.full(found.value, field)}{off}, {numbers.days(*days)}: the view's complete days."


def _first_check() -> str:
    """When an alert that is set now is checked."""
    if not Settings.current().alerts:
        return "This desk checks no alerts (setting alerts)."
    often = f"then after each import and every {CHECK_MINUTES} minutes"
    return f"Checked first within {CHECK_SECONDS} seconds after it is set, {often}."


def _title(here: Here, name: str) -> str:
    return numbers.title(here.slicer.data_field(name), with_unit=True)


def _watch(here: Here, view: SavedView, field: str, rule: str, bound: str) -> None:
    state = st.session_state
    chosen: DataField = here.slicer.data_field(state[field])
    facts = chosen.model_dump(include=FACTS)
    _told(
        view, lambda: here.clients.kept.alerts.watch(view.id, chosen.name, facts, state[rule], state[bound])
    )


def _remove(here: Here, view: SavedView) -> None:
    _told(view, lambda: here.clients.kept.alerts.remove(view.id))


def _told(view: SavedView, work: Callable[[], None]) -> None:
    """Do it; a failure is shown until something else is done."""
    problem = ""
    try:
        work()
    except TrancheError as error:
        problem = f"{error.reason.rstrip('.')}."
    st.session_state[PROBLEM] = (view.id, problem)
