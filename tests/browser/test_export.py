"""The screen Export in a browser: each format is downloaded and read by a program that is not ours."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import httpx
import openpyxl
import pandas as pd
import pytest
import xlrd
from playwright.sync_api import Page, expect
from tsv2 import read_tsv2

from browser.conftest import Service, enter, settled
from lib.reporting.answers import Audience
from lib.reporting.client import Reporting
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, ExportFormat
from lib.wire.filters import Filter

ASKED = AudienceQuery(
    project_name="demo",
    slicer_name="delivery",
    start_date="-7d",
    end_date="yesterday",
    filters=(Filter(name="geo.country", match="equals", value=("US", "DE", "")),),
    split_by=("geo.country", "campaign_id"),
    audience_rows_limit=ROWS_LIMITS[1],
)
LINK = (
    "export?project=demo&slicer=delivery"
    "&start=-7d&end=yesterday&split=geo.country~campaign_id&is.geo.country=US~DE~"
)
PLACES = {"imps": 0, "clicks": 0, "revenue": 2, "ctr": 2, "unique_users": 0}


@pytest.fixture
def answer(embedded: httpx.Client, token: Callable[[str], str]) -> Audience:
    """What the API answers to the same question."""
    return Reporting(embedded, token("manager")).audience(ASKED)


@pytest.mark.parametrize("service", get_args(Service), indirect=True, scope="session")
def test_downloads(address: str, page: Page, tmp_path: Path, answer: Audience, service: Service) -> None:
    """A file of each format has the answer's rows, its figures, and its total at the end.

    In our own files the rows stand in the answer's order and texts have the fields' decimals; the stand-in
    has an order of its own, all digits, and no xlsx.
    """
    enter(page, f"{address}/{LINK}")
    page.get_by_text("Total row").click()
    settled(page)
    edges = (
        page.locator(".st-key-preview")
        .get_by_role("grid")
        .evaluate("""table => {
        const end = (row, at) => {
            const range = document.createRange()
            range.selectNodeContents(row.children[at].querySelector(".title, .value"))
            return Math.round(range.getBoundingClientRect().right)
        }
        const [head, row] = [table.tHead.lastChild, table.tBodies[0].rows[0]]
        return [...row.children].map((cell, at) => cell.matches(".figure") ? end(head, at) - end(row, at) : 0)
    }""")
    )
    assert set(edges) == {0}, "heads stand right above their numbers"
    if service == "standin":
        expect(page.get_by_role("radio", name="xlsx", exact=True)).to_have_count(0)
    for export_format, read in (READERS if service == "embedded" else PLAIN_READERS).items():
        table = read(downloaded(page, tmp_path, export_format))
        total, table = table.iloc[-1], in_order(table.iloc[:-1], answer, service)
        names = answer.names.astype(str)
        assert [str(cell) for cell in table.iloc[:, 0]] == names["geo.country"].tolist(), export_format
        assert [str(cell) for cell in table.iloc[:, 1]] == names["campaign_id"].tolist(), export_format
        assert total.iloc[0] == "Total"
        is_exact = service == "standin" or export_format in ("tsv2", "xls", "xlsx")
        for place, (name, decimals) in enumerate(PLACES.items(), start=2):
            whole = [*answer.values[name], answer.total.values[name]]
            expected = whole if is_exact else [round(value, decimals) for value in whole]
            figures = [float(cell) for cell in (*table.iloc[:, place], total.iloc[place])]
            assert figures == pytest.approx(expected, rel=1e-12), f"{name} in {export_format}"


def in_order(table: pd.DataFrame, answer: Audience, service: Service) -> pd.DataFrame:
    """The rows as they came, or, of a service with an order of its own, in the answer's."""
    if service == "embedded":
        return table
    places = {tuple(map(str, row[:2])): place for place, row in enumerate(table.to_numpy().tolist())}
    return table.iloc[[places[name] for name in answer.names.itertuples(index=False, name=None)]]


def downloaded(page: Page, folder: Path, export_format: ExportFormat) -> Path:
    """The file that the button gives, under the name that the browser gives it."""
    page.get_by_role("radio", name=export_format, exact=True).click()
    button = page.get_by_role("button", name=f"Download as {export_format.upper()}")
    expect(button).to_be_visible()
    settled(page)  # a file asked for while the script runs may be one of the run before, which is gone
    with page.expect_download() as download:
        button.click()
    name = download.value.suggested_filename
    assert (name.startswith("delivery_"), name.endswith(f".{export_format}")) == (True, True)
    download.value.save_as(folder / name)
    return folder / name


def test_without_a_mouse(address: str, page: Page) -> None:
    """The file is made from the keyboard alone."""
    enter(page, f"{address}/{LINK}")
    button = page.get_by_role("button", name="Download as CSV")
    settled(page)
    page.get_by_role("combobox", name="Split by").focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    expect(button).to_be_focused()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".csv")


def _delimited(separator: str) -> Callable[[Path], pd.DataFrame]:
    return lambda file: pd.read_csv(file, sep=separator, dtype=str, keep_default_na=False)


def _tsv2(file: Path) -> pd.DataFrame:
    header, *rows = read_tsv2(file.read_bytes())
    return pd.DataFrame(rows, columns=header)


def _xls(file: Path) -> pd.DataFrame:
    sheet = xlrd.open_workbook(str(file)).sheet_by_index(0)
    rows = [[_whole(cell) for cell in sheet.row_values(row)] for row in range(sheet.nrows)]
    return pd.DataFrame(rows[1:], columns=rows[0])


def _xlsx(file: Path) -> pd.DataFrame:
    rows = list(openpyxl.load_workbook(file).worksheets[0].iter_rows(values_only=True))
    return pd.DataFrame(rows[1:], columns=rows[0], dtype=object).fillna("")


def _whole(cell: object) -> object:
    """xlrd gives every number as a float."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


READERS: dict[ExportFormat, Callable[[Path], pd.DataFrame]] = {
    "csv": _delimited(","),
    "tsv": _delimited("\t"),
    "tsv2": _tsv2,
    "xls": _xls,
    "xlsx": _xlsx,
}
PLAIN_READERS = {name: read for name, read in READERS.items() if name != "xlsx"}
