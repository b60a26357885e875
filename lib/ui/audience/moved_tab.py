"""The tab "What moved": the values of all key fields that explain a difference between periods, ranked."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from lib.figures import numbers, waits
from lib.figures.caches import SessionCache
from lib.figures.overview import moved
from lib.figures.query import ask, filters
from lib.figures.query.focus import Focus
from lib.reporting.moved.explain import Moved
from lib.reporting.moved.quantity import Own
from lib.reporting.query_batch import Ask
from lib.ui.audience import overview_controls
from lib.ui.kit import problems, rows_mount, session_cache, waiting
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import current_focus, export_menu, history, page_clicks
from lib.wire.text import csv_text

BLOCK, HEIGHT = "moved", 320
MOVERS_KEY, MOST = "moved_found", 4


def find_movers(focus: Focus) -> Moved:
    """The values that moved the field shown between the two periods. Raises the service's errors.

    Who comes while it is computed waits for it: a run that a newer one has overtaken asks nothing twice.
    """
    cache: SessionCache[Moved] = session_cache.of(MOVERS_KEY, partial(SessionCache, ask.SECONDS, MOST))
    key = (*focus.context.viewer, focus.query, focus.comparison, focus.field.name)
    audience: Ask = partial(focus.context.reporting.audience, slicer=focus.slicer)
    return waits.cached(cache, key, partial(moved.compute, focus, waits.track(audience)))


def movers_csv(focus: Focus, movers: Moved) -> str:
    """A row per value, with the total difference last. Numbers are not rounded."""
    contribution = "Own change" if isinstance(movers.kind, Own) else "Contribution"
    unit = numbers.title(focus.field, with_unit=True)
    parts = ("Key field", "Value", "Description", contribution, "Rate", "Mix", "Before", "Now")
    shares = ["Share of the change, %"] if moved.adds_up(movers) else []
    shares += ["Share of volume before, %", "Share of volume now, %"] if moved.has_parts(movers) else []
    days = numbers.days(*focus.comparison.before) if focus.comparison else ""
    rows: list[Sequence[object]] = [
        [f"Question: {export_menu.question_text(focus, ())}, compared with {days}"],
        [f"What moved: {' '.join(moved.sentences(focus, movers))}"],
        [f"Precision: {moved.notes(focus, movers)}"],
        [*parts[:3], *(f"{unit}: {part}" for part in parts[3:]), *shares],
    ]
    for name, mover in moved.rank(movers):
        figures = [mover.contribution, mover.rate, mover.mix, mover.before, mover.now]
        figures += [moved.share_of_change(movers, mover)] if moved.adds_up(movers) else []
        if moved.has_parts(movers):
            figures += [100 * share for share in mover.shares or (math.nan, math.nan)]
        rows.append([filters.field(name, focus.slicer), mover.code, mover.words, *export_menu.cells(figures)])
    whole = export_menu.cells([movers.difference, None, None, movers.before, movers.now])
    return csv_text([*rows, ["Total", "", "", *whole, *["100"] * len(shares)]])


@st.fragment(parallel=True)
def draw(context: PageContext) -> None:
    """Draw the tab, whose queries are many."""
    page_clicks.catch_up(context)
    if not context.slicer.data_fields:
        return
    focus = current_focus.current(context)
    with st.container(key=BLOCK, gap="xsmall"), problems.report_errors("What moved"):
        if focus.comparison is None:
            st.caption("Pick a comparison period, beside the dates.")
            return
        view = focus.comparison, focus.field.name
        with waiting.speaking("What moved", focus.query, context.slicer, view, HEIGHT):
            movers = find_movers(focus)
        has_rows = bool(moved.rank(movers))
        with st.container(horizontal=True, vertical_alignment="center", key="moved_tools"):
            st.markdown(plain(" ".join(moved.sentences(focus, movers))), width="stretch")
            if has_rows and (menu := export_menu.open_menu(BLOCK)) is not None:
                with menu:
                    # Names of filtered values may be asked for as the file is made: without the session.
                    text = partial(movers_csv, replace(focus, context=context.without_session()), movers)
                    export_menu.download(focus, BLOCK, text, "Download these rows as CSV")
                    overview_controls.draw_chart_files(focus)
                    export_menu.way_on()
        if has_rows:
            rows_mount.draw(
                page_clicks.MOVERS, [moved.table(focus, movers)], history.receipt(page_clicks.MOVERS),
                partial(page_clicks.catch_up, context),
            )  # fmt: skip
        st.caption(plain(moved.notes(focus, movers)))
