"""Streamlit's module of charts waits for an idle moment, in the installed version."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import streamlit
from starlette.staticfiles import StaticFiles

from lib.front import ChartLater
from lib.wire.transport import InProcess

MODULES = Path(streamlit.__file__).parent / "static/static/js"
CHART = next(MODULES.glob("PlotlyChart.*.js"))


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    """A client of Streamlit's modules behind the middleware."""
    modules = InProcess(ChartLater(StaticFiles(directory=MODULES)))
    with httpx.Client(transport=modules, base_url="http://desk") as client:
        yield client


def test_the_module_waits_and_loads_the_whole(http: httpx.Client) -> None:
    """At its own address stands a short module that waits; the address that this one loads has the whole."""
    waiting = http.get(f"/{CHART.name}")
    assert waiting.headers["content-type"].startswith("text/javascript")
    assert "requestIdleCallback" in waiting.text
    (whole,) = re.findall(r'import\("\./([^"]+)"\)', waiting.text)
    assert http.get(f"/{whole}").content == CHART.read_bytes()


def test_the_client_asks_for_nothing_else_of_it() -> None:
    """Only the default export of the module is used, by one dynamic import: no module imports from it."""
    texts = [path.read_text("utf-8") for path in MODULES.glob("*.js")]
    assert not [text for text in texts if re.search(rf'from"\./{re.escape(CHART.name)}"', text)]
    loaded = [
        after for text in texts for after in re.findall(rf"import\(`\./{re.escape(CHART.name)}`\)(.)", text)
    ]
    assert loaded == [","]


def test_other_modules_pass(http: httpx.Client) -> None:
    """Any other file is answered as it is."""
    other = next(MODULES.glob("Metric.*.js"))
    assert http.get(f"/{other.name}").content == other.read_bytes()
