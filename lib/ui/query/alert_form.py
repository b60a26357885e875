"""The alert of a saved view: how it is now, and a form that says when an alert like it would have fired."""

import math
from collections.abc import Callable

import streamlit as st

from lib.figures import alert_text, numbers
from lib.figures.numbers import Numbers
from lib.figures.query import ask
from lib.reporting import links, watched
from lib.reporting.watched import FigureHistory, FigureUnavailable
from lib.settings import Settings
from lib.slicers.models import DataField
from lib.ui.kit import problems, reader
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.views import ALERT_RULES, Alert, AlertRule, SavedView
from lib.views.alerts import CHECK_MINUTES, CHECK_SECONDS
from lib.wire.errors import TrancheError

PROBLEM = "view_alert_problem"
FIELD_FACTS = {"name", "description", "display_precision", "display_pattern"}
WEEKS = 26
"""How far back the form looks for days on which an alert would have fired."""
HELP = (
    "An alert looks at the view's complete days. Noise is how much the same comparison with the four weeks "
    "before varies on earlier days: at least five weeks of data are needed."
)


def draw_view_alert(context: PageContext, view: SavedView) -> None:
    """The alert of a view with a button to remove it, and the form for another one."""
    alert = context.clients.view_store.alerts.of_view(view.id)
    st.caption("Alert", help=HELP)
    number, problem = st.session_state.get(PROBLEM, (0, ""))
    if problem and number == view.id:
        st.error(plain(problem), icon=":material/error:")
    if alert is not None:
        texts = Numbers.of(reader.locale())
        icon = "notifications_active" if alert.state == "firing" else "notifications"
        st.markdown(f":material/{icon}: {plain(alert_text.condition_text(alert, texts))}")
        st.caption(plain(alert_text.alert_state(alert, texts)))
        remove = context.clients.view_store.alerts.remove
        st.button("Remove alert", key="view_alert_remove", on_click=_attempt, args=(view, remove, view.id))
    if context.slicer.data_fields:
        _draw_form(context, view, alert)


def _draw_form(context: PageContext, view: SavedView, alert: Alert | None) -> None:
    fields = {field.name: field for field in context.slicer.data_fields}
    index = [*fields].index(alert.field) if alert is not None and alert.field in fields else 0
    field = fields[
        st.selectbox(
            "Metric",
            fields,
            index,
            key=f"view_alert_field_{view.id}",
            format_func=lambda name: numbers.title(fields[name], with_unit=True),
        )
    ]
    history, now = _watch(context, view, field)
    st.caption(plain(now))
    rule: AlertRule = st.selectbox(
        "Fires when it", ALERT_RULES, 0 if alert is None else ALERT_RULES.index(alert.rule),
        key=f"view_alert_rule_{view.id}", format_func=alert_text.RULES.__getitem__,
    )  # fmt: skip
    bound = None
    if rule != "changed":
        value = None if alert is None else alert.bound
        bound = st.number_input("Threshold", value=value, key=f"view_alert_bound_{view.id}", format="%f")
    st.button("Set alert", key="view_alert_set", on_click=_set_alert, args=(context, view))
    # Below the button: it may not move under the click that also ends the typing of a threshold.
    if history is not None:
        st.caption(plain(past_sentence(history, rule, bound)))
    if Settings.current().alerts.alerts:
        often = f"then after each import and every {CHECK_MINUTES} minutes"
        st.caption(f"Checked first within {CHECK_SECONDS} seconds after it is set, {often}.")
    else:
        st.caption("This desk checks no alerts (setting alerts).")


def _watch(context: PageContext, view: SavedView, field: DataField) -> tuple[FigureHistory | None, str]:
    """The figures that such an alert looks at, and the last of them as a sentence; or why there are none."""
    reading = links.from_params(view.params, context.slicer, context.project, context.slicer_name)
    if reading.left_out:
        return None, f"The view no longer fits: {' '.join(reading.left_out)}"
    try:
        history = watched.watch(
            reading.query, field.name, context.slicer, lambda query: ask.audience(context, query), WEEKS
        )
    except FigureUnavailable as unavailable:
        return None, str(unavailable)
    except TrancheError as error:
        return None, f"The figure could not be loaded: {error.sentence}"
    now, texts = history.figures[-1], Numbers.of(reader.locale())
    value = now.value or 0.0
    off = " (an estimate from too few records)" if math.isinf(now.side) else ""
    if now.side and value and not off:
        off = f" ± {texts.percent(100 * now.side / abs(value))}"
    days = numbers.days(*history.days[-1])
    return history, f"Now {texts.full(value, field)}{off}, {days}: the view's complete days."


def past_sentence(history: FigureHistory, rule: AlertRule, bound: float | None) -> str:
    """`Would have fired on 3 of 112 days since 1 Aug 2026, last on 14 Nov 2026.`"""
    if rule != "changed" and bound is None:
        return "With a threshold this says on which earlier days the alert would have fired."
    judgments = history.past(rule, bound)
    first, last = history.days[-1]
    if not judgments:
        return "Nothing is known of earlier days on which it could have fired: there are too few data."
    length = (last - first).days + 1
    preposition, periods = (
        ("on", "earlier days") if length == 1 else ("in", f"earlier periods of {length} days")
    )
    among = f"{len(judgments)} {periods} since {numbers.days(judgments[0][0][0], judgments[0][0][0])}"
    alarms = [days for days, fires in judgments if fires]
    if not alarms:
        return f"Would not have fired {preposition} any of {among}."
    last_time = f"last {preposition} {numbers.days(*alarms[-1])}"
    return f"Would have fired {preposition} {len(alarms)} of {among}, {last_time}."


def _set_alert(context: PageContext, view: SavedView) -> None:
    # What was typed may come with the click, after the run that drew the button: the session has it.
    form = {part: st.session_state.get(f"view_alert_{part}_{view.id}") for part in ("field", "rule", "bound")}
    field = context.slicer.data_field(str(form["field"]))
    figure = field.model_dump(include=FIELD_FACTS)
    watch = context.clients.view_store.alerts.watch
    _attempt(view, watch, view.id, field.name, figure, form["rule"], form["bound"])


def _attempt(view: SavedView, act: Callable[..., None], *args: object) -> None:
    """Do it; a failure is shown until something else is done. A callback."""
    _, problem = problems.attempt(lambda: act(*args))
    st.session_state[PROBLEM] = (view.id, problem)
    st.rerun()  # the list of alerts that fire, and the cards of views
