"""The picker of the split: up to three key fields, in order."""

import streamlit as st

from lib.ui.kit.frame import PageContext
from lib.ui.query import filter_words, question
from lib.ui.query.link import MOST_SPLITS

SPLIT = "split_fields"


def draw(context: PageContext, label_visibility: str = "collapsed", width: int = 380) -> None:
    """Draw the picker; a choice changes the question at once."""
    query = question.current(context)
    st.session_state[SPLIT] = list(query.split_by)
    st.multiselect(
        "Split by",
        [field.name for field in context.slicer.key_fields],
        format_func=lambda name: filter_words.field(name, context.slicer),
        key=SPLIT,
        max_selections=MOST_SPLITS,
        filter_mode="contains",
        select_all=False,
        placeholder="Split by up to three key fields",
        label_visibility="visible" if label_visibility == "visible" else "collapsed",
        width=width,
        on_change=_ask,
        args=(context,),
    )


def _ask(context: PageContext) -> None:
    """Change the split, and drop orders by key fields that are no longer in it."""
    query = question.current(context)
    split = tuple(st.session_state[SPLIT])
    gone = set(query.split_by) - set(split)
    orders = tuple(order for order in query.order_by if order.name not in gone)
    question.ask(query.model_copy(update={"split_by": split, "order_by": orders}))
    st.rerun()
