"""The picker of the key fields of a split."""

import streamlit as st

from lib.figures.query import filters
from lib.reporting.links import MOST_SPLITS
from lib.ui.kit import widgets
from lib.ui.kit.frame import PageContext
from lib.ui.query import history

SPLIT = "split_fields"


def draw(context: PageContext, label_visibility: str = "collapsed", width: int = 380) -> None:
    """Draw the picker; a choice changes the question at once."""
    query = history.current(context).query
    widgets.set_value(SPLIT, list(query.split_by))
    st.multiselect(
        "Split by", context.slicer.key_names,
        format_func=lambda name: filters.field(name, context.slicer), key=SPLIT, max_selections=MOST_SPLITS,
        filter_mode="contains", select_all=False, placeholder="Split by up to three key fields",
        label_visibility="visible" if label_visibility == "visible" else "collapsed", width=width,
        on_change=_ask, args=(context,),
    )  # fmt: skip


def _ask(context: PageContext) -> None:
    """Change the split, and drop orders by key fields that are no longer in it."""
    page_state = history.current(context)
    query = page_state.query
    split = tuple(st.session_state[SPLIT])
    old_names = set(query.split_by) - set(split)
    orders = tuple(order for order in query.order_by if order.name not in old_names)
    history.change(page_state.with_query(split_by=split, order_by=orders))
