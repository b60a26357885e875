"""The form of one filter on a key field, of any match: its values are chosen or typed."""

from collections.abc import Callable, Iterable

import streamlit as st

from lib.reporting.models import AudienceQuery, Filter
from lib.ui.kit.frame import PageContext
from lib.ui.query import filters, values
from lib.wire.errors import TrancheError
from lib.wire.filters import MATCHES, RULES

FIELD, MATCH, VALUES, ANY_CASE, DESCRIPTIONS = "field", "match", "values", "any_case", "descriptions"


def draw_filter_form(
    context: PageContext,
    prefix: str,
    names: Iterable[str],
    query: AudienceQuery | None,
    add: Callable[[Filter], None],
    label: str = "Add filter",
) -> None:
    """Draw the form for a filter on one of these key fields; `add` is called with it by the button `label`.

    Offered are the most frequent values on the days of `query`; without one there are none, and where the
    service fails: they can be typed. `prefix` makes the keys of the widgets unique.
    """
    with st.container(horizontal=True):
        name = st.selectbox(
            "Key field", list(names), format_func=lambda name: filters.field(name, context.slicer),
            key=f"{prefix}_{FIELD}", width=200, filter_mode="contains",
        )  # fmt: skip
        st.selectbox(
            "Match", MATCHES, format_func=lambda match: RULES[match].words, key=f"{prefix}_{MATCH}", width=160
        )
    labels = _frequent_values(context, name, query)
    st.multiselect(
        "Values", list(labels), format_func=lambda code: filters.both(code, labels.get(code)),
        key=f"{prefix}_{VALUES}", accept_new_options=True, placeholder="Choose or type values",
    )  # fmt: skip
    with st.container(horizontal=True):
        st.checkbox("In any case", key=f"{prefix}_{ANY_CASE}")
        st.checkbox("Search descriptions too", key=f"{prefix}_{DESCRIPTIONS}")
    st.button(label, icon=":material/add:", key=f"{prefix}_add", on_click=_add, args=(prefix, add))


def _frequent_values(context: PageContext, name: str, query: AudienceQuery | None) -> dict[str, str]:
    if query is None:
        return {}
    try:
        return values.value_options(context, query, name).descriptions
    except TrancheError:
        return {}


def _add(prefix: str, add: Callable[[Filter], None]) -> None:
    """Hand over the filter of the form, and clear its values; without values it stays. A callback."""
    form = {name: st.session_state[f"{prefix}_{name}"] for name in (FIELD, MATCH, VALUES)}
    flags = [int(st.session_state[f"{prefix}_{name}"]) for name in (ANY_CASE, DESCRIPTIONS)]
    if form[VALUES]:
        st.session_state[f"{prefix}_{VALUES}"] = []
        add(
            Filter(
                name=form[FIELD],
                match=form[MATCH],
                value=tuple(form[VALUES]),
                case_insensitive=flags[0],
                search_mappings=flags[1],
            )
        )
