"""Every file that a screen offers: pressed in a browser, opened, and compared with what the API answers."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
import xlrd
from conftest import copied
from dealing import SOLD, clients, stock
from PIL import Image
from playwright.sync_api import Page, expect
from pypdfium2 import PdfDocument
from tsv2 import read_tsv2

from browser.conftest import Serve, enter, settled
from lib.deals.models import AppList, DemandDeal, SupplyPackage
from lib.people.tokens.access import Access
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, Order, RecordsQuery
from lib.serving import connect
from lib.ui.deals.csv import csv_changes, csv_creations, csv_deals
from lib.views import BoardCell
from lib.wire import csv_text
from lib.wire.filters import Filter

COUNTRY, CAMPAIGN, DAY = "geo.country", "campaign_id", "granularity_day"
AUDIENCE = "audience?project=demo&slicer=delivery&is.geo.country=US~DE"
EXPORT = f"export?project=demo&slicer=delivery&is.geo.country=US~DE&split={COUNTRY}~{CAMPAIGN}"
DEALS = f"deals?project=demo&slicer={SOLD}"
WEEK = {"start_date": "-7d", "end_date": "yesterday"}
OFFERS = "[class*='st-key-offer_']"
PICTURES = "[class*='st-key-'][class*='_png']"
METRICS = ("imps", "clicks", "revenue", "ctr", "unique_users")
MANY = 2_001


@dataclass(frozen=True)
class Stock:
    """The desk's address, and the clients of the manager, who is signed in."""

    address: str
    api: connect.Clients
    access: Access

    def audience(self, **fields: Any) -> Any:
        """The API's exact answer about the week of the page."""
        where = (Filter(name=COUNTRY, match="equals", value=("US", "DE")),)
        query = {"project_name": "demo", "slicer_name": "delivery", "filters": where, **WEEK, **fields}
        return self.api.reporting.audience(AudienceQuery(**query))


Check = Callable[[Stock, Path], None]


@dataclass(frozen=True)
class Place:
    """Where files are offered: the screen, what is opened there, and how each file is held against the API.

    `opened` are selectors to click in turn, `files` the checks by the button's key; `pictures` are the keys
    of the buttons that save a chart.
    """

    screen: str
    opened: tuple[str, ...]
    files: dict[str, Check]
    pictures: tuple[str, ...] = ()


@pytest.fixture(scope="module")
def stocked(home: Path, tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[Stock]:
    """A desk with deals, more of them than a list has at once, and a board."""
    folder: Path = copied(home, tmp_path_factory.mktemp("downloads") / "home")
    settings = stock(folder)
    manager = clients(settings)
    view = manager.view_store.views.save("demo", "delivery", "Week", {"start": "-7d", "end": "yesterday"})
    manager.view_store.boards.save("Monday", False, [BoardCell(view.id, "headline", 2)], {})
    with serve(folder) as address:
        yield Stock(address, manager, connect.installation(settings).access)


def table(file: Path, skip: int = 2) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a CSV below its lines on what was asked."""
    lines = list(csv.reader(io.StringIO(file.read_text("utf-8-sig"), newline="")))
    return lines[skip], lines[skip + 1 :]


def rows_agree(stock: Stock, file: Path, metrics: Sequence[str], is_whole: bool = True) -> None:
    """A CSV has the API's rows for the key fields of its header, in any order, and their total.

    Without `is_whole` it has some of them. Rows of `(all)` values are subtotals of a pivot.
    """
    header, rows = table(file)
    keys = {name: header.index(TITLES[name]) for name in (DAY, COUNTRY, CAMPAIGN) if TITLES[name] in header}
    figures = {metric: position(header, metric) for metric in metrics}
    answer = stock.audience(split_by=tuple(keys))
    index = {tuple(map(str, key)): at for at, key in enumerate(answer.names.itertuples(index=False))}
    leaves = [row for row in rows if row[0] != "Total" and "(all)" not in row]
    assert leaves
    for row in leaves:
        at = index.pop(tuple(row[key] for key in keys.values()))
        for metric, column in figures.items():
            assert float(row[column]) == pytest.approx(answer.values[metric].iloc[at], rel=1e-12)
    if is_whole:
        assert not index
        for metric, column in figures.items():
            assert float(rows[-1][column]) == pytest.approx(answer.total.values[metric], rel=1e-12)


TITLES = {
    COUNTRY: "Country", CAMPAIGN: "Campaign", DAY: "Day", "imps": "Impressions", "clicks": "Clicks",
    "revenue": "Revenue", "ctr": "CTR", "unique_users": "Unique users",
}  # fmt: skip


def position(header: list[str], metric: str) -> int:
    """Where the figures of a metric are; its title may have a unit."""
    return next(at for at, title in enumerate(header) if title.split(",")[0] == TITLES[metric])


def leaderboard(stock: Stock, file: Path) -> None:
    """All values of the first card, without the filters on its own values, by the field shown."""
    answer = stock.audience(split_by=(COUNTRY,), filters=())
    header, rows = table(file)
    at, figure = header.index("Country"), position(header, "imps")
    figures = {row[at]: float(row[figure]) for row in rows[:-1]}
    expected = dict(zip(answer.names[COUNTRY].astype(str), answer.values["imps"], strict=True))
    assert figures == pytest.approx(expected)


def chart(stock: Stock, file: Path) -> None:
    """The days of the time chart."""
    rows_agree(stock, file, METRICS)


def split(stock: Stock, file: Path) -> None:
    """The rows of the split, with all metrics."""
    rows_agree(stock, file, METRICS)


def front(stock: Stock, file: Path) -> None:
    """The rows of the split, by the field shown alone."""
    rows_agree(stock, file, ("imps",))


def over_time(stock: Stock, file: Path) -> None:
    """The days of each line, by the field shown alone."""
    assert TITLES[DAY] in table(file)[0]
    rows_agree(stock, file, ("imps",), is_whole=False)


def pivot(stock: Stock, file: Path) -> None:
    """The workbook of the pivot: each country's figure, and the whole."""
    sheet = openpyxl.load_workbook(file).worksheets[0]
    by_name = {str(row[0]): row[1] for row in sheet.iter_rows(values_only=True) if row[0]}
    answer = stock.audience(split_by=(COUNTRY,))
    named = {"US": "United States", "DE": "Germany"}
    for code, value in zip(answer.names[COUNTRY].astype(str), answer.values["imps"], strict=True):
        assert by_name[named[code]] == pytest.approx(value)
    assert by_name["Total"] == pytest.approx(answer.total.values["imps"])


def records(read: Callable[[Path], pd.DataFrame]) -> Check:
    """The records that the tab shows, in the API's order."""

    def check(stock: Stock, file: Path) -> None:
        query = RecordsQuery(
            project_name="demo", slicer_name="delivery", **WEEK, include_mappings=1,
            filters=(Filter(name=COUNTRY, match="equals", value=("US", "DE")),),
            order_by=(Order(name="granularity_hour", direction="desc"),),
        )  # fmt: skip
        slicer = stock.api.reporting.info(InfoQuery(project_name="demo", slicer_name="delivery"))
        frame, answer = read(file), stock.api.reporting.records(query, slicer)
        assert frame["Impressions"].astype(float).tolist() == answer.frame["imps"].tolist()
        assert frame["Country"].tolist() == answer.frame[COUNTRY].tolist()

    return check


def total_text(stock: Stock) -> str:
    """The impressions of the week as a snapshot writes them."""
    return f"{stock.audience().total.values['imps']:,.0f}"


def snapshot_html(stock: Stock, file: Path) -> None:
    """The page has the headline's figure."""
    assert total_text(stock) in file.read_text()


def pdf_text(file: Path) -> str:
    """The text of all pages."""
    with closing(PdfDocument(file)) as document:
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def snapshot_pdf(stock: Stock, file: Path) -> None:
    """The pages have the headline's figure."""
    assert total_text(stock) in pdf_text(file)


def board_pdf(stock: Stock, file: Path) -> None:
    """The board's pages have the figure of its cell."""
    assert f"{stock.audience(filters=()).total.values['imps']:,.0f}" in pdf_text(file)


def picture(stock: Stock, file: Path) -> None:
    """A picture of some size that is not of one color."""
    with Image.open(file) as image:
        assert image.format == "PNG"
        assert min(image.size) > 100
        assert len(image.convert("RGB").resize((64, 64)).getcolors(4096) or ()) > 1


def board_html(stock: Stock, file: Path) -> None:
    """The board's page has the figure of its cell."""
    total = stock.audience(filters=()).total.values["imps"]
    assert f"{total:,.0f}" in file.read_text()


def exported(read: Callable[[Path], list[list[str]]]) -> Check:
    """The rows of the file that the API makes of the same question, cell by cell."""

    def check(stock: Stock, file: Path) -> None:
        query = ExportQuery(
            project_name="demo", slicer_name="delivery", **WEEK, split_by=(COUNTRY, CAMPAIGN),
            filters=(Filter(name=COUNTRY, match="equals", value=("US", "DE")),),
            export_format=file.suffix[1:],
        )  # fmt: skip
        expected = file.with_name(f"expected{file.suffix}")
        with stock.api.reporting.export(query).content as content:
            expected.write_bytes(content.read())
        cells = read(file)
        assert len(cells) > 10
        assert sorted(map(str, cells)) == sorted(map(str, read(expected)))

    return check


def text_cells(separator: str) -> Callable[[Path], list[list[str]]]:
    """Reads a file of that separator."""
    return lambda file: list(csv.reader(io.StringIO(file.read_text(), newline=""), delimiter=separator))


def xls_cells(file: Path) -> list[list[Any]]:
    """Reads an XLS workbook."""
    sheet = xlrd.open_workbook(str(file)).sheet_by_index(0)
    return [sheet.row_values(row) for row in range(sheet.nrows)]


def xlsx_cells(file: Path) -> list[list[Any]]:
    """Reads an XLSX workbook."""
    return [list(row) for row in openpyxl.load_workbook(file).worksheets[0].iter_rows(values_only=True)]


def list_of(entity: type[DemandDeal] | type[SupplyPackage], price: str) -> Check:
    """The list has the API's names, ids and prices."""

    def check(stock: Stock, file: Path) -> None:
        frame = pd.read_csv(file)
        entities = list(stock.api.deals.everything(entity, ordering="id"))
        assert sorted(frame["Id"]) == [entity.id for entity in entities]
        names = dict(zip(frame["Id"], frame["Name"], strict=True))
        assert names == {entity.id: entity.name for entity in entities}
        if entity is DemandDeal:
            prices = dict(zip(frame["Id"], frame[price], strict=True))
            assert prices == {entity.id: float(entity.price) for entity in entities}

    return check


def for_buyer(stock: Stock, file: Path) -> None:
    """One seat's deal of the package, and nothing of another seat."""
    frame = pd.read_csv(file)
    [deal_id] = frame["Deal id"]
    deals = {deal.deal_id: deal for deal in stock.api.deals.everything(DemandDeal, ordering="id")}
    assert frame["Price, USD CPM"].tolist() == [float(deals[deal_id].price)]
    own = deals[deal_id].seat.name
    assert own in file.read_text()
    others = {deal.seat.name for deal in deals.values()} - {own}
    assert not [name for name in others if name in file.read_text()]


def for_the_house(stock: Stock, file: Path) -> None:
    """All deals of the package, with their prices."""
    frame = pd.read_csv(file)
    deals = [deal for deal in stock.api.deals.everything(DemandDeal, ordering="id") if deal.id in (1, 2, 3)]
    assert dict(zip(frame["Deal id"], frame["Price, USD CPM"], strict=True)) == {
        deal.deal_id: float(deal.price) for deal in deals
    }


def template(shape: Any) -> Check:
    """The template has a column for each of the file's, and reads without a fault."""

    def check(stock: Stock, file: Path) -> None:
        assert next(csv.reader([file.read_text("utf-8-sig")])) == list(shape.titles)
        assert not csv_text.read(file.read_text("utf-8-sig"), shape).rows

    return check


def entries(stock: Stock, file: Path) -> None:
    """The list's entries, one a line."""
    assert file.read_text().split() == list(stock.api.deals.get(AppList, 1).apps)


SNAPSHOTS: dict[str, Check] = {
    "snapshot_html": snapshot_html, "snapshot_pdf": snapshot_pdf, "snapshot_png": picture,
}  # fmt: skip
TABS = {"leaderboard_csv": leaderboard, "chart_csv": chart}
LISTS = {"deals_csv": list_of(DemandDeal, "Lowest price, USD CPM")}
PLACES = {
    "leaderboards": Place(AUDIENCE, (".st-key-leaderboards_download button",), TABS, ("chart_png",)),
    **{
        f"split, {kind}": Place(
            f"{AUDIENCE}&lower=split&split={COUNTRY}~{CAMPAIGN}&chart={kind}",
            (".st-key-split_download button",),
            {"split_csv": check, **more, "chart_csv": chart},
            (*pictures, "chart_png"),
        )
        for kind, check, more, pictures in (
            ("table", split, {}, ()),
            ("pivot", split, {"split_xlsx": pivot}, ()),
            ("bars", front, {}, ("split_png",)),
            ("lines", over_time, {}, ("split_png",)),
            ("heatmap", front, {}, ("split_png",)),
        )
    },
    "rows": Place(
        f"{AUDIENCE}&lower=records", (".st-key-records_download button",),
        {
            "records_download_csv": records(lambda file: pd.read_csv(file, dtype=str)),
            "records_download_xlsx": records(lambda file: pd.read_excel(file, engine="openpyxl")),
            "chart_csv": chart,
        },
        ("chart_png",),
    ),
    "a question": Place(AUDIENCE, (".st-key-share button",), SNAPSHOTS),
    "a board": Place(
        "boards?project=demo&slicer=delivery", (".st-key-board_link button",),
        {"snapshot_html_board": board_html, "snapshot_pdf_board": board_pdf, "snapshot_png_board": picture},
    ),
    **{
        f"export, {name}": Place(
            EXPORT, (f'role=radio[name="{name}"]',),
            {"export_download": exported(read)},
        )
        for name, read in (
            ("csv", text_cells(",")), ("tsv", text_cells("\t")),
            ("tsv2", lambda file: read_tsv2(file.read_bytes())),
            ("xls", xls_cells), ("xlsx", xlsx_cells),
        )
    },
    "deals": Place(DEALS, (".st-key-deals_csv_menu button",), LISTS),
    "packages": Place(
        f"{DEALS}&deals_kind=Packages", (".st-key-deals_csv_menu button",),
        {"deals_csv": list_of(SupplyPackage, "")},
    ),
    "packages from a CSV": Place(
        f"{DEALS}&deals_kind=Packages",
        (".st-key-deals_csv_menu button", ".st-key-packages_from_csv_open button"),
        {"packages_from_csv_template": template(csv_creations.SHAPE)},
    ),
    "deals from a CSV": Place(
        DEALS, (".st-key-deals_csv_menu button", ".st-key-deals_from_csv_open button"),
        {"deals_from_csv_template": template(csv_deals.SHAPE)},
    ),
    "changes by CSV": Place(
        DEALS, (".st-key-deals_csv_menu button", f".st-key-{csv_changes.OPEN}_open button"),
        {f"{csv_changes.OPEN}_template": template(csv_changes.CHANGES)},
    ),
    "a package": Place(
        f"{DEALS}&open=supply_deals-1", ("[role=dialog] summary:has-text('For the buyers')",),
        {"hand_over_csv": for_buyer, "hand_over_internal": for_the_house},
    ),
    "a deal": Place(f"{DEALS}&open=demand_deals-2", (), {"hand_over_csv": for_buyer}),
    "a list": Place("lists?project=demo&slicer=delivery&list=app_lists-1", (), {"list_download": entries}),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_each_file_is_what_the_api_has(name: str, stocked: Stock, page: Page, tmp_path: Path) -> None:
    """A place offers these files and no others; each is saved by a click, and has the API's content."""
    place = PLACES[name]
    enter(page, f"{stocked.address}/{place.screen}")
    for selector in place.opened:
        page.locator(selector).first.click()
        settled(page)
    for key in (*place.files, *place.pictures):
        expect(page.locator(f".st-key-{key}").first).to_be_visible()
    assert keys(page, OFFERS, r"st-key-offer_(\w+)") == {*place.files}
    assert keys(page, PICTURES, r"st-key-((?:chart|split)_png)\b") == {*place.pictures}
    if name.startswith("export, "):  # the button of the run before has a file of another format
        expect(page.get_by_role("button", name=f"Download as {name[8:].upper()}", exact=True)).to_be_visible()
        settled(page)
    checks = {**place.files, **dict.fromkeys(place.pictures, picture)}
    for key, check in checks.items():
        if not page.locator(f".st-key-{key}").first.is_visible():  # the menu closes after a picture
            page.locator(place.opened[-1]).first.click()
            settled(page)
        with page.expect_download() as download:
            page.locator(f".st-key-{key} button").first.click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        check(stocked, file)


def keys(page: Page, selector: str, pattern: str) -> set[str]:
    """The keys of the elements in sight, as Streamlit has them in their classes."""
    classes = page.locator(selector).evaluate_all("all => all.map(one => one.className)")
    return {key for text in classes for key in re.findall(pattern, text)}


def test_a_file_that_could_not_be_made_says_so(stocked: Stock, page: Page) -> None:
    """Who has other rights than when the button was drawn gets no file, and reads why."""
    place = PLACES["rows"]
    enter(page, f"{stocked.address}/{place.screen}")
    page.locator(place.opened[0]).first.click()
    settled(page)
    stocked.access.change("manager", "test", shares=True)
    page.locator(".st-key-records_download_csv button").first.click()
    expect(page.get_by_text(re.compile(r"_rows_.*\.csv could not be made"))).to_be_visible()
    expect(page.get_by_text("Your permissions changed while this page was open.")).to_be_visible()
