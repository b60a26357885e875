"""Own metrics: a list beside the headline's figures, and a dialog that checks a formula while it is typed."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from lib.figures import numbers
from lib.figures.context import RequestContext
from lib.figures.numbers import Numbers
from lib.figures.query import ask
from lib.serving.connect import own_metrics
from lib.slicers import formulas
from lib.slicers.models import OwnField
from lib.ui.kit import problems
from lib.ui.kit.markdown import plain
from lib.ui.query import bar, history
from lib.views import OwnMetric
from lib.views.entries import MANAGERS, MOST_DIGITS, checked_unit

DRAFT, NEW = "own.draft", 0
OPEN, INSERT = "own_metric_open", "own_metric_insert"
NAME, FORMULA, UNIT, DIGITS, IS_SHARED = (
    f"own_metric_{part}" for part in ("name", "formula", "unit", "digits", "shared")
)
HELP = "Data fields, numbers, + - * / and brackets: 1000 * cost / imps. It is computed from sums."
REMOTE = (
    "This service has no own metrics: Tranche computes them from their parts. The range of an estimate is "
    "then not known, and files can't have them."
)


def draw(context: RequestContext) -> None:
    """Draw the person's metrics and the shared ones, each of which opens, and a button for a new one."""
    st.caption("Own metrics")
    with st.container(horizontal=True, gap="xsmall", key="own_metrics"):
        for metric in _metrics(context):
            fits = "" if own_metrics.field(metric, context.slicer) else " · no longer fits this slicer"
            st.button(
                plain(metric.name), icon=":material/group:" if metric.is_shared else ":material/function:",
                key=f"own_metric_{metric.id}",
                disabled=not (metric.is_mine or (metric.is_shared and context.person.role in MANAGERS)),
                help=plain(f"{metric.formula} · by {metric.owner}{fits}"), on_click=_open, args=(metric,),
            )  # fmt: skip
        add = ":material/add:"
        st.button("New metric", icon=add, key="own_metric_add", on_click=_open, args=(None,))


def draw_dialog(context: RequestContext) -> None:
    """Draw the dialog of the metric that is open, if one is."""
    number = st.session_state.get(OPEN)
    if number is None:
        return
    metric = next((metric for metric in _metrics(context) if metric.id == number), None)
    if metric is not None or number == NEW:
        dialog = st.dialog("Own metric", width="medium", icon=":material/function:", on_dismiss=_close)
        dialog(_dialog)(context, metric)


def _metrics(context: RequestContext) -> list[OwnMetric]:
    with problems.report_errors("The own metrics"):
        return context.clients.view_store.metrics.of(context.project, context.slicer_name)
    return []


def _open(metric: OwnMetric | None) -> None:
    """Open a metric, or a new one, and close the menu that would cover it."""
    state = st.session_state
    state[OPEN], state[bar.MORE] = metric.id if metric else NEW, False
    state[NAME], state[FORMULA], state[UNIT] = (
        (metric.name, metric.formula, metric.unit) if metric else ("",) * 3
    )
    state[DIGITS], state[IS_SHARED] = (metric.digits, metric.is_shared) if metric else (2, False)


def _close() -> None:
    st.session_state.pop(OPEN, None)


def _dialog(context: RequestContext, metric: OwnMetric | None) -> None:
    name = st.text_input("Name", key=NAME) or ""
    formula = st.text_input("Formula", key=FORMULA, help=HELP, live=True) or ""
    own = {field.name for field in context.slicer.own_fields}
    st.selectbox(
        "Add a data field to the formula",
        [field.name for field in context.slicer.data_fields if field.name not in own], index=None,
        format_func=lambda name: f"{numbers.title(context.slicer.data_field(name))} ({name})", key=INSERT,
        on_change=_insert,
    )  # fmt: skip
    with st.container(horizontal=True):
        unit = st.text_input("Unit", key=UNIT, placeholder="$ or %") or ""
        digits = st.number_input("Digits", 0, MOST_DIGITS, key=DIGITS)
    shares = st.checkbox(
        "Share it with everybody who may see this slicer",
        key=IS_SHARED,
        disabled=context.person.role not in MANAGERS,
        help="Managers and administrators share metrics, and change shared ones.",
    )
    problem = own_metrics.problem(formula, context.slicer) if formula.strip() else ""
    problem = problem or problems.attempt(partial(checked_unit, unit))[1]
    if problem:
        st.error(plain(problem), icon=":material/error:")
    elif formula.strip():
        _draw_figure(context, formula, unit, digits)
    _draw_use(context, metric)
    if not context.slicer.knows("own_fields"):
        st.caption(REMOTE)
    values = (name, formula, unit, digits, shares)
    with st.container(horizontal=True):
        is_ready = bool(name.strip() and formula.strip() and not problem)
        if st.button("Save metric", type="primary", key="own_metric_save", disabled=not is_ready):
            _attempt(lambda: _save(context, metric, values))
        if metric is not None:
            with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                st.markdown("Views that use it are shown without it.")
                if st.button("Delete metric", key="own_metric_delete"):
                    _attempt(lambda: context.clients.view_store.metrics.delete(metric.id))


def _insert() -> None:
    """Put the chosen data field at the end of the formula."""
    name = st.session_state[INSERT]
    if name is not None:
        st.session_state[FORMULA] = f"{st.session_state[FORMULA] or ''} {formulas.Field(name)}".strip()
        st.session_state[INSERT] = None


def _draw_figure(context: RequestContext, formula: str, unit: str, digits: int) -> None:
    """What the formula gives for the question that is shown."""
    field = OwnField(
        name=DRAFT, formula=formula, display_precision=digits, display_pattern=own_metrics.pattern(unit)
    )
    changes = {"split_by": (), "order_by": (), "limit": None, "data_fields": (DRAFT,), "own_fields": (field,)}
    with problems.report_errors("The figure"):
        answer = ask.audience(context, history.current(context).query.model_copy(update=changes))
        value = Numbers.of(context.locale).full(answer.total.values.get(DRAFT), field.data_field)
        st.markdown(plain(f"{value} for the question that is shown"))


def _draw_use(context: RequestContext, metric: OwnMetric | None) -> None:
    """Which views use the metric, of those that the person sees."""
    if metric is None:
        return
    with problems.report_errors("The views that use it"):
        store = context.clients.view_store
        views = store.views.of(context.project, context.slicer_name)
        names = ", ".join(view.name for view in own_metrics.users(metric, views, store.alerts.mine()))
        st.caption(plain(f"Used by these views: {names}." if names else "No view that you see uses it."))


def _save(context: RequestContext, metric: OwnMetric | None, values: tuple[str, str, str, int, bool]) -> None:
    """Store the metric; a new one is shown at once."""
    store = context.clients.view_store.metrics
    if metric is not None:
        store.change(metric.id, *values)
    else:
        new_metric = store.save(context.project, context.slicer_name, *values)
        _close()
        history.change_view(context, field=own_metrics.name(new_metric))


def _attempt(work: Callable[[], None]) -> None:
    """Do it and close the dialog; where it fails, say why and leave it as it is."""
    _, problem = problems.attempt(work)
    if problem:
        st.error(plain(problem), icon=":material/error:")
        return
    _close()
    st.rerun()
