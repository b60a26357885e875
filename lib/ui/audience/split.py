"""The tab Split: its controls, its kind of chart, and the pivot as a workbook."""

from dataclasses import replace
from functools import partial

import streamlit as st

from lib.figures.overview import headline, split_pivot, split_table
from lib.figures.overview.split_pivot import Pivot
from lib.figures.query import filters, precision, values
from lib.figures.query.focus import Focus
from lib.figures.query.state import CHARTS
from lib.figures.query.view_parts import Expansion
from lib.reporting.files import pivot_sheet
from lib.reporting.files.pivot_sheet import PivotColumn, PivotRow, PivotSheet
from lib.ui.audience import chart_kinds, overview_controls
from lib.ui.audience.chart_kinds import KINDS, ChartData
from lib.ui.kit import downloads, problems, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.waiting import speaking
from lib.ui.query import current_focus, export_menu, history, page_clicks, split_picker

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CHANGE_FORMAT = "+0.0;-0.0;0.0"
CHART, CROSS, HEIGHT = "split_chart", "split_cross", 380


def draw_pivot_file(focus: Focus, pivot: Pivot) -> None:
    """Draw the download button; the file is made on click."""
    downloads.offer(
        focus.context, "Download the pivot as XLSX",
        lambda context: content(replace(focus, context=context), pivot),
        f"{export_menu.file(focus, 'pivot')}.xlsx", MEDIA_TYPE, "split_xlsx", icon="account_tree",
    )  # fmt: skip


def content(focus: Focus, pivot: Pivot) -> bytes:
    """The file's bytes."""
    corner = split_pivot.STEP.join(filters.field(name, focus.slicer) for name in pivot.query.split_by)
    rows = [
        PivotRow(line.label, [line.figures.get(name) for name in pivot.heads], line.level, not line.path)
        for line in split_pivot.lines(pivot)
    ]
    fields = {name: field for field in pivot.more for name in pivot.with_comparison(field.name)}
    styles = {split_table.SHARE: "0.0", split_table.RANGE: "0.0", split_table.CHANGE: CHANGE_FORMAT}
    columns = []
    for name, column in pivot.heads.items():
        places = fields.get(name, pivot.front).display_precision
        style = styles.get(name) or ("#,##0." + "0" * places if places else "#,##0")
        columns.append(PivotColumn(column.title, style, pivot.groups.get(name, "")))
    answer, data_fields = pivot.levels[0].split.answer, [pivot.front, *pivot.more]
    about = (
        f"Question: {export_menu.question_text(focus, focus.query.split_by)}",
        f"Precision: {precision.summary(answer, data_fields, focus.numbers)}",
    )
    return pivot_sheet.write(PivotSheet(corner, columns, rows, about))


@st.fragment(parallel=True)
def draw(context: PageContext) -> None:
    """The tab: the controls at once, then the answer in the shape that is chosen."""
    page_clicks.catch_up(context)
    if not context.slicer.data_fields:
        return
    split_focus = current_focus.current(context)
    with st.container(horizontal=True, vertical_alignment="center", key="split"):
        split_picker.draw(context)
        if split_focus.query.split_by:
            widgets.set_value(CHART, split_focus.view.chart)
            st.segmented_control(
                "Show as", CHARTS,
                format_func=lambda chart: f"{KINDS[chart].icon} {plain(chart.capitalize())}", key=CHART,
                required=True, label_visibility="collapsed", on_change=history.change_by,
                args=(context, "chart", CHART),
            )  # fmt: skip
            if chart_kinds.kind(split_focus).has_all_fields and split_focus.comparison is not None:
                with st.popover("Columns", icon=":material/view_column:", type="tertiary"):
                    overview_controls.draw_compared_columns(split_focus)
            if chart_kinds.kind(split_focus).drills:
                page_clicks.draw_mode()
            if split_focus.view.chart == "pivot" and len(split_focus.query.split_by) > 1:
                _cross_picker(split_focus)
                _fold_buttons(split_focus)
            st.space("stretch")
            precision_slot = st.container(width="content")
            export_slot = st.container(width="content")
    if split_focus.query.split_by:
        kind = chart_kinds.kind(split_focus)
        with problems.report_errors("The split"):
            view = split_focus.view
            with speaking("The split", split_focus.query, context.slicer, view, HEIGHT, page_clicks.CARDS):
                data = kind.ask(split_focus)
            parts = data.pivot.levels if data.pivot is not None else [data]
            for part in parts:
                values.remember(context, part.split.answer)
            if headline.is_there(data.answer):
                fields = chart_kinds.fields(split_focus)
                precision_slot.caption(plain(_precision(split_focus, data)))
                with export_slot:
                    more = partial(_draw_more_files, split_focus, data)
                    columns = chart_kinds.file_columns(split_focus, data)
                    export_menu.draw(split_focus, "split", data.answer, fields, kind.picture, more, columns)
                kind.draw(split_focus, data)
                if notes := chart_kinds.notes(split_focus, data):
                    st.caption(" ".join(notes))
            elif split_focus.view.data_filters:
                st.info("No row passes the metric filters.")
            current_focus.refine("split")


def _draw_more_files(focus: Focus, data: ChartData) -> None:
    if data.pivot is not None:
        draw_pivot_file(focus, data.pivot)
    overview_controls.draw_chart_files(focus)


def _precision(focus: Focus, data: ChartData) -> str:
    """The precision of the figures; for lines, that of the values' figures and of their courses."""
    fields = chart_kinds.fields(focus)
    sentences = [
        precision.summary(answer, fields, focus.numbers) for answer in (data.split.answer, data.answer)
    ]
    return next((sentence for sentence in sentences if sentence != precision.EXACT), precision.EXACT)


def _cross_picker(focus: Focus) -> None:
    """Draw the choice of what the pivot's columns are: metrics, or the values of one of its key fields."""
    keys = focus.query.split_by
    widgets.set_value(CROSS, focus.view.cross if focus.view.cross in keys else "")
    st.selectbox(
        "Across", ["", *keys],
        format_func=lambda key: f"Across: {filters.field(key, focus.slicer) if key else 'metrics'}",
        key=CROSS, label_visibility="collapsed", width=200, on_change=history.change_by,
        args=(focus.context, "cross", CROSS),
    )  # fmt: skip


def _fold_buttons(focus: Focus) -> None:
    """Open or close all rows of the pivot; each is disabled where there is nothing for it to do."""
    keys = focus.view.pivot_keys(focus.query.split_by)
    for label, icon, opens in (("Expand all", "unfold_more", True), ("Collapse all", "unfold_less", False)):
        expansion = Expansion.whole(keys, opens)
        expand = partial(history.change_view, focus.context, expansion=expansion)
        is_so = focus.view.expansion == expansion
        widgets.icon_button(label, icon, f"split_{icon}", expand, help=label, disabled=is_so)
