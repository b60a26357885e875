"""The menu Download of a block: its rows as CSV, its chart as a picture, or all rows on the screen Export.

The question and its precision are in the lines above the rows. Values are raw and whole: codes beside their
descriptions, numbers with all their digits, the ends of 95 % ranges where they are estimates.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.figures import numbers
from lib.figures.overview.split_table import FileColumn
from lib.figures.query import filters, precision, values
from lib.figures.query.focus import Focus
from lib.reporting import links
from lib.reporting.answers import LEVEL, Audience
from lib.reporting.models import AudienceQuery
from lib.slicers.models import DataField, Slicer
from lib.ui.charts import theme
from lib.ui.kit import downloads, screens
from lib.wire.text import csv_text

SCALE = 2
_mount = st.components.v2.component(
    "tranche_picture",
    html='<button type="button"></button>',
    css="""
button { font-family: var(--st-font); font-size: 0.875rem; color: var(--st-text-color); background: none; }
button { border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 0.5rem); }
button { padding: 0.25rem 0.75rem; min-height: 2.5rem; cursor: pointer; }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
""",
    js="""
export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button")
  button.textContent = `Download the ${data.file ? "time chart" : "chart"} as PNG`
  button.onclick = () => {
    const overview = globalThis.trancheOverview
    if (data.file && overview?.hasPicture()) return overview.savePicture(data.file)
    if (data.file) return (button.textContent = "There is no chart to download")
    const chart = document.querySelector(`[class*="st-key-${data.chart}"] .js-plotly-plot`)
    if (!chart) return
    const { layout } = chart
    const { font } = layout
    layout.font = { ...font, family: "sans-serif" } // a picture has no fonts of the page: labels would be cut
    chart.querySelector(".modebar-btn")?.click()
    setTimeout(() => { layout.font = font }, 0)
  }
}
""",
)
MEDIA_TYPE = "text/csv"


def answer_csv_text(
    answer: Audience,
    fields: Sequence[DataField],
    slicer: Slicer,
    labels: Sequence[str],
    more: Sequence[FileColumn] = (),
) -> str:
    """The CSV text: the lines `labels`, the rows with these data fields and `more`, then their total."""
    beside = [(title, cells(column)) for title, column, _ in more]
    currencies = [
        (f"{numbers.title(field)}, currency", codes.tolist())
        for field in fields
        if (codes := answer.row_currencies(field.name)) is not None
    ]
    columns = [*_keys(answer, slicer), *currencies, *_figures(answer, fields), *beside]
    rows: list[Sequence[object]] = [*([label] for label in labels), [title for title, _ in columns]]
    rows += zip(*(column for _, column in columns), strict=True)
    whole = [answer.total.values.get(field.name) for field in fields]
    total = cells([*whole, *(value for _, _, value in more)])
    width = sum(len(_sides(answer, field.name)) + 1 for field in fields)
    if len(answer.names.columns) and width == len(fields):
        rows.append(["Total", *[""] * (len(columns) - len(total) - 1), *total])
    return csv_text(rows)


def question_text(focus: Focus, split_by: Sequence[str]) -> str:
    """The question in words: days, split and filters."""
    fields = ", ".join(filters.field(name, focus.slicer) for name in split_by)
    sentences = filters.sentences(focus.query, focus.slicer, values.of_filters(focus.context, focus.query))
    sentences += filters.figure_sentences(focus.view.data_filters, focus.slicer, focus.numbers)
    about = f"{focus.query.project_name}/{focus.query.slicer_name}, {numbers.days(*focus.period)}"
    return "; ".join([f"{about}, by {fields}" if fields else about, *sentences])


def _keys(answer: Audience, slicer: Slicer) -> Iterator[tuple[str, list[str]]]:
    for name in map(str, answer.names):
        field = slicer.key_field(name)
        title = field.description or name
        yield title, answer.names[name].astype(str).tolist()
        if field.mapping and answer.descriptions is not None:
            yield f"{title}, description", answer.descriptions[name].astype(str).tolist()


def _figures(answer: Audience, fields: Sequence[DataField]) -> Iterator[tuple[str, list[float | str]]]:
    for field in fields:
        field = numbers.in_currency(field, answer.total.currencies.get(field.name, ""))
        title = numbers.title(field, with_unit=True)
        yield title, cells(answer.values[field.name].tolist())
        for side, bounds in _sides(answer, field.name):
            yield f"{title}, {side} end ({LEVEL})", cells(bounds)


def _sides(answer: Audience, name: str) -> list[tuple[str, list[float]]]:
    """The lower and upper bounds of the ranges; empty if every range has no width."""
    if answer.low is None or answer.high is None or name not in answer.low:
        return []
    if not (answer.high[name] > answer.low[name]).any():
        return []
    return [("lower", answer.low[name].tolist()), ("upper", answer.high[name].tolist())]


def cells(figures: Sequence[float | None]) -> list[float | str]:
    """Numbers; whole ones without decimals, missing ones empty."""
    return [
        "" if figure is None or math.isnan(figure) else int(figure) if float(figure).is_integer() else figure
        for figure in figures
    ]


def config(focus: Focus, name: str) -> dict[str, Any]:
    """The Plotly config of a chart with a hidden camera; `name` (letters) becomes part of the file name."""
    return {
        **theme.CONFIG,
        "displayModeBar": "hover",
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "filename": file(focus, name), "scale": SCALE},
    }


def file(focus: Focus, name: str) -> str:
    """The name of a file of the block `name` (letters), without its ending."""
    return f"{focus.query.slicer_name}_{name}_{focus.period[0]}_{focus.period[1]}"


def button(name: str, chart: str = "", file: str = "") -> None:
    """Draw the button of the block `name`: for the chart whose key begins with `chart`, or for that of the
    overview, which is saved in a `file` of that name.
    """
    _mount(key=f"{name}_png", data={"chart": chart, "file": file})


def draw(
    focus: Focus,
    name: str,
    answer: Audience,
    fields: Sequence[DataField],
    chart: str | None = None,
    more: Callable[[], None] | None = None,
    columns: Sequence[FileColumn] = (),
) -> None:
    """Draw the menu of the block `name` (letters): its rows with these data fields, and a link to Export.

    The file says on top what was asked and how precise it is. `chart` is how the key of the block's chart
    begins, where it has one; `more` draws what else the block has. The file has these `columns` too.
    """
    if (menu := open_menu(name)) is None:
        return
    with menu:
        rows(focus, name, answer, fields, "Download these rows as CSV", columns)
        if chart is not None:
            button(name, chart)
        way_on()
        if more is not None:
            more()


def open_menu(name: str) -> DeltaGenerator | None:
    """The popover of a block if it is open; its content is built only then."""
    popover = st.popover(
        "Download", icon=":material/download:", type="tertiary", key=f"{name}_download", on_change="rerun"
    )
    return popover if popover.open else None


def way_on(label: str = "Open all rows in Export", query: AudienceQuery | None = None) -> None:
    """Draw the link to the screen Export with this question, or with another one."""
    params = None if query is None else links.to_params(query)
    st.page_link(screens.EXPORT, label=label, icon=":material/arrow_forward:", query_params=params)


def rows(
    focus: Focus,
    name: str,
    answer: Audience,
    fields: Sequence[DataField],
    label: str,
    columns: Sequence[FileColumn] = (),
) -> None:
    """Draw the download button for the rows of an answer to the question of `focus`, with more `columns`."""
    labels = [
        f"Question: {question_text(focus, [str(key) for key in answer.names])}",
        f"Precision: {precision.summary(answer, fields, focus.numbers)}",
        *(
            f"Empty where there are several currencies: {numbers.title(field)}; {reason}"
            for field in fields
            if (reason := answer.total.withheld(field.name))
        ),
    ]
    text = partial(answer_csv_text, answer, fields, focus.slicer, labels, columns)
    download(focus, name, text, label)


def download(focus: Focus, name: str, text: Callable[[], str], label: str) -> None:
    """Draw the download button for a file whose text is built on click, without the page's context."""
    downloads.offer(
        focus.context, label, lambda _: text(), f"{file(focus, name)}.csv", MEDIA_TYPE, f"{name}_csv",
        icon="table_rows",
    )  # fmt: skip
