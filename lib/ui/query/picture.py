"""Charts as PNG, made in the browser: a button clicks the hidden camera of the Plotly chart."""

from typing import Any

import streamlit as st

from lib.ui.charts import theme
from lib.ui.query.focus import Focus

SCALE = 2

_mount = st.components.v2.component(
    "tranche_picture",
    html='<button type="button">Download the chart as PNG</button>',
    css="""
button { font-family: var(--st-font); font-size: 0.875rem; color: var(--st-text-color); background: none; }
button { border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 0.5rem); }
button { padding: 0.25rem 0.75rem; min-height: 2.5rem; cursor: pointer; }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
""",
    js="""
export default function ({ parentElement, data }) {
  parentElement.querySelector("button").onclick = () => {
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


def config(focus: Focus, name: str) -> dict[str, Any]:
    """The Plotly config of a chart with a hidden camera; `name` (letters) becomes part of the file name."""
    start, end = focus.period
    file = f"{focus.query.slicer_name}_{name}_{start}_{end}"
    return {
        **theme.CONFIG,
        "displayModeBar": "hover",
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "filename": file, "scale": SCALE},
    }


def button(name: str, chart: str) -> None:
    """Draw the button of the block `name` for the chart whose key begins with `chart`."""
    _mount(key=f"{name}_png", data={"chart": chart})
