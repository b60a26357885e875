"""The audience question: filters and split, as headline, time chart, leaderboards and split."""

import streamlit as st

from lib.ui.admin import firing
from lib.ui.audience import moved_tab, overview, overview_controls, own_metrics, records_tab, sharing, split
from lib.ui.deals.insight import recorded_changes
from lib.ui.deals.new_package import from_audience
from lib.ui.kit import frame
from lib.ui.query import bar, history, page_clicks

context = frame.with_slicer(frame.signed_in())
page_clicks.catch_up(context)
tab = history.current(context).view.tab
firing.at_start(context.clients)
with context.row:
    bar.draw(
        context,
        actions=(from_audience.draw_link, own_metrics.draw_dialog),
        more=overview_controls.menu_parts(context),
        beside_filters=from_audience.draw_package,
        send=sharing.draw,
    )
with st.container(key=overview.container_key(context)):
    if tab == "cards":  # the other tabs have a menu Download of their own
        overview_controls.draw(context)
    overview.draw(context)
# Only the tab in sight: each part that is drawn by itself costs every click, even one that draws nothing.
with st.container(key="lower"):
    if tab == "split":
        with st.container(key="split_tab"):
            split.draw(context)
    if tab == "moved":
        moved_tab.draw(context)
        recorded_changes.draw(context)
    if tab == "records":
        records_tab.draw(context)
