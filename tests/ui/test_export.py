"""A file before it is made, and its receipt."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import xlrd
from conftest import COUNTRIES, DEFINITION, LAST_DAY, PASSWORD, PEOPLE, small_rows
from peopled import people_in
from tsv2 import read_tsv2

from lib.figures.numbers import Numbers
from lib.reporting import files
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, DataFilter, DataMatch, ExportFormat, ExportQuery, InfoQuery
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.models import DataField, Slicer
from lib.slicers.warehouse import Warehouse
from lib.ui.export import preview, receipt, tables
from lib.ui.export.preview import Ask, Export, Preview
from lib.ui.export.receipt import Receipt
from lib.ui.query.data_filter_form import MATCHES
from lib.wire.errors import BadRequest
from lib.wire.filters import Filter

DESK = str(Path(__file__).parents[2] / "lib" / "desk.py")
SLICER = InfoQuery(project_name="demo", slicer_name="delivery")
WEEK = {**SLICER.model_dump(), "start_date": "-7d", "end_date": "yesterday"}
COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
NUMBERS = Numbers()
SEEDS = range(10)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """More rows than the desk's limit, so that the Audience screen reads a sample of them."""
    return pa.concat_tables([small_rows(100 + seed) for seed in SEEDS]).to_pandas()


@pytest.fixture(scope="module")
def reporting(many: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reporting]:
    """A client of the slicer with those rows."""
    settings = Settings(home=tmp_path_factory.mktemp("many"), demo=True)
    people_in(settings.home).add(PEOPLE[1], PASSWORD)
    with Warehouse(settings.warehouse).writer(
        "demo", "delivery", DEFINITION, {"country": COUNTRIES}
    ) as writer:
        writer.write(pa.Table.from_pandas(many, schema=DEFINITION.schema(), preserve_index=False))
        writer.commit("made for the tests", "many")
    yield connect.connect(PEOPLE[1], settings).reporting


@pytest.fixture(scope="module")
def slicer(reporting: Reporting) -> Slicer:
    """What that slicer is."""
    return reporting.info(SLICER)


@pytest.fixture(scope="module")
def ask(reporting: Reporting, slicer: Slicer) -> Ask:
    """Ask for figures."""
    return lambda query: reporting.audience(query, slicer)


@pytest.fixture(scope="module")
def make(reporting: Reporting, slicer: Slicer) -> Export:
    """Make a file."""
    return lambda query: reporting.export(query, slicer).content


def export(**fields: object) -> ExportQuery:
    """A file of the last week."""
    return ExportQuery.model_validate({**WEEK, "export_format": "tsv2", **fields})


def in_file(reporting: Reporting, query: ExportQuery) -> list[list[str]]:
    """The rows of the file of that question, without the header, as tsv2 has them."""
    content = reporting.export(query.model_copy(update={"export_format": "tsv2"})).content.read()
    return [[cell or "" for cell in line] for line in read_tsv2(content)[1:]]


def last_week(many: pd.DataFrame) -> pd.DataFrame:
    """Its rows."""
    days = many["time"].dt.date
    return many[(days > LAST_DAY - pd.Timedelta(days=7)) & (days <= LAST_DAY)]


def cells(content: bytes, export_format: ExportFormat) -> list[list[str]]:
    """The lines of a file without its header, as its cells read."""
    if export_format == "tsv2":
        return [[cell or "" for cell in line] for line in read_tsv2(content)[1:]]
    separator = "," if export_format == "csv" else "\t"
    return list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator))[1:]


def previewed(file: Preview, slicer: Slicer) -> list[list[str]]:
    """The lines of the preview."""
    shown = files.preview_cells(preview.first_rows(file, slicer), file.query.export_format)
    return shown.to_numpy().tolist()


@pytest.mark.parametrize("mappings", [None, 0, 1])
@pytest.mark.parametrize("split", [(), (COUNTRY,), (COUNTRY, CAMPAIGN), ("granularity_day", COUNTRY)])
@pytest.mark.parametrize("total", [0, 1])
@pytest.mark.parametrize("export_format", ["csv", "tsv", "tsv2"])
def test_preview_is_the_files_beginning(
    ask: Ask, make: Export, slicer: Slicer, split: tuple[str, ...], mappings: int | None, total: int,
    export_format: ExportFormat,
) -> None:  # fmt: skip
    """The preview's cells are those of the file, digit by digit: first rows and total, in any text format."""
    query = export(
        split_by=split, include_mappings=mappings, include_total=total, export_format=export_format
    )
    file = preview.preview(ask, make, query, slicer)
    lines = cells(make(query).read(), export_format)
    ends = total if split else 0
    assert (file.row_count + ends, file.is_counted, file.is_exact) == (len(lines), True, True)
    first = lines[: min(file.row_count, preview.FIRST_ROWS)]
    assert previewed(file, slicer) == first + lines[len(lines) - ends :]


@pytest.mark.parametrize("export_format", ["xls", "xlsx"])
def test_preview_of_a_workbook(ask: Ask, make: Export, slicer: Slicer, export_format: ExportFormat) -> None:
    """The preview of a workbook has its texts, and its numbers rounded as a cell of it shows them."""
    query = export(split_by=(COUNTRY,), export_format=export_format, include_total=1)
    file = preview.preview(ask, make, query, slicer)
    content = make(query).read()
    if export_format == "xls":
        rows = [
            sheet.row_values(at)
            for sheet in [xlrd.open_workbook(file_contents=content)[0]]
            for at in range(1, 7)
        ]
    else:
        sheet = openpyxl.load_workbook(io.BytesIO(content)).worksheets[0]
        rows = [list(row) for row in sheet.iter_rows(min_row=2, max_row=7, values_only=True)]
    places = [field.display_precision for field in slicer.data_fields]
    expected = [
        [
            *(text or "" for text in row[:2]),
            *(f"{number:.{at}f}" for number, at in zip(row[2:], places, strict=True)),
        ]
        for row in rows
    ]
    assert previewed(file, slicer) == expected


@pytest.mark.parametrize("match", MATCHES)
@pytest.mark.parametrize("total", [0, 1])
def test_preview_knows_data_filters(
    ask: Ask, make: Export, reporting: Reporting, slicer: Slicer, match: DataMatch, total: int
) -> None:
    """Rows, count and total of the preview obey data filters as the file does, whatever the match."""
    split = (COUNTRY, CAMPAIGN, "granularity_day")
    some = float(in_file(reporting, export(split_by=split))[40][3])
    wanted = (DataFilter(name="imps", match=match, value=some), DataFilter(name="ctr", match="<", value=2.2))
    fields = {"split_by": split, "data_filters": wanted, "include_total": total}
    query = export(**fields, data_fields=("clicks", "unique_users", "revenue"), export_format="csv")
    file = preview.preview(ask, make, query, slicer)
    lines = cells(make(query).read(), "csv")
    assert file.row_count + total == len(lines) > total
    shown = previewed(file, slicer)
    assert shown == lines[: min(file.row_count, preview.FIRST_ROWS)] + lines[len(lines) - total :]
    assert (shown[-1][0] == "Total of these rows") == bool(total)


def test_preview_carries_filters_and_order(
    ask: Ask, make: Export, many: pd.DataFrame, slicer: Slicer
) -> None:
    """The filters and the order of the question hold for the file too."""
    where = Filter(name=COUNTRY, match="equals", value=("DE",))
    query = export(split_by=(CAMPAIGN,), filters=(where,), order_by=({"name": "clicks", "direction": "asc"},))
    file = preview.preview(ask, make, query, slicer)
    rows = last_week(many)
    clicks = rows[rows[COUNTRY] == "DE"].groupby(CAMPAIGN)["clicks"].sum()
    assert file.rows.values["clicks"].tolist() == sorted(clicks)


def test_preview_of_more_than_is_read(
    ask: Ask, make: Export, slicer: Slicer, many: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are more records than an answer reads the preview says so, and counts from below."""
    monkeypatch.setattr(preview, "ROWS_LIMITS", (10_000, 10_000))
    query = export(split_by=(COUNTRY, CAMPAIGN, "granularity_hour"))
    file = preview.preview(ask, make, query, slicer)
    assert not file.is_exact
    assert not file.is_counted
    assert preview.summary(file, NUMBERS).startswith("At least ")
    assert file.row_count < len(last_week(many).groupby([COUNTRY, CAMPAIGN, "time"], dropna=False))


@pytest.mark.parametrize(
    ("export_format", "found", "total", "number"),
    [
        ("xls", 0, 0, 1), ("xls", 65_535, 0, 1), ("xls", 65_535, 1, 2), ("xls", 200_000, 0, 4),
        ("xlsx", 1_048_575, 0, 1), ("xlsx", 1_048_575, 1, 2), ("csv", 2_000_000, 1, None),
    ],
)  # fmt: skip
def test_sheets(
    ask: Ask, slicer: Slicer, export_format: ExportFormat, found: int, total: int, number: int
) -> None:
    """The preview says on how many sheets the rows go, and why there are several."""
    answer = ask(AudienceQuery(**WEEK))
    file = Preview(
        export(export_format=export_format, include_total=total, split_by=(COUNTRY,)),
        answer,
        found,
        True,
        True,
    )
    assert preview.sheets(file) == number
    assert ("sheets" in preview.summary(file, NUMBERS)) == (number is not None and number > 1)


def test_too_many_columns(ask: Ask, make: Export, slicer: Slicer) -> None:
    """Columns that no sheet holds are named before the click, with what would be right."""
    file = preview.preview(ask, make, export(export_format="xls"), slicer)
    assert preview.hindrance(file, 256) is None
    assert preview.hindrance(file, 257) == (
        "A sheet of xls holds 256 columns and this file has 257: choose fewer data fields, or csv."
    )


def test_refused_question(ask: Ask, make: Export, slicer: Slicer) -> None:
    """What the service refuses, the preview refuses with the service's words."""
    with pytest.raises(BadRequest, match=r"geo\.contry.*did you mean 'geo\.country'"):
        preview.preview(ask, make, export(split_by=("geo.contry",)), slicer)


def screen_question(**fields: object) -> AudienceQuery:
    """What the split on the Audience screen asks, from a sample."""
    shown = {"split_by": (COUNTRY, CAMPAIGN), "limit": 6, "data_fields": ("revenue", "ctr", "unique_users")}
    plain = {"audience_rows_limit": 10_000, "precision": 1, "include_mappings": 1, "start_date": "-21d"}
    return AudienceQuery.model_validate(WEEK | plain | shown | fields)


def by_hand(rows: pd.DataFrame) -> dict[str, float]:
    """The data fields over these rows."""
    ctr = 100 * rows["clicks"].sum() / rows["imps"].sum()
    return {"revenue": rows["revenue"].sum(), "ctr": ctr, "unique_users": rows["users"].nunique()}


def by_row(many: pd.DataFrame) -> dict[str, dict[str, float]]:
    """The data fields of each row of the split, and of all together, by what the screen calls it."""
    named = many.assign(**{COUNTRY: many[COUNTRY].map(COUNTRIES).fillna("(not set)")})
    rows = {
        f"{country} · {campaign}": by_hand(part)
        for (country, campaign), part in named.groupby([COUNTRY, CAMPAIGN])
    }
    return rows | {"Total": by_hand(many)}


@pytest.fixture
def small_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer reads more than 10,000 records."""
    monkeypatch.setattr(preview, "ROWS_LIMITS", (10_000, 10_000))
    monkeypatch.setattr(receipt, "ROWS_LIMITS", (10_000, 10_000))


def receipt_of(ask: Ask, make: Export, slicer: Slicer, question: AudienceQuery, **more: object) -> Receipt:
    """The receipt of the file of that question."""
    same = {name: getattr(question, name) for name in ("start_date", "split_by", "filters")}
    file = preview.preview(ask, make, export(**same, **more), slicer)
    return receipt.receipt(ask, make, question, file, slicer)


@pytest.mark.parametrize("reads", ["answers", "files"])
def test_receipt_compares_the_rows_shown(
    ask: Ask, make: Export, slicer: Slicer, many: pd.DataFrame, reads: str, request: pytest.FixtureRequest
) -> None:
    """The receipt has the rows of the screen and the totals beside the exact ones, and the differences."""
    if reads == "files":
        request.getfixturevalue("small_answers")
    question = screen_question()
    comparison, exact, screen = receipt_of(ask, make, slicer, question), by_row(many), ask(question)
    assert comparison.rows == 6
    assert len({line.row for line in comparison.lines}) == 7
    for line in comparison.lines:
        right = exact[line.row][line.field.name]
        assert line.exact == pytest.approx(right, rel=1e-12)
        assert line.difference == pytest.approx(right - (line.screen or 0), rel=1e-6, abs=1e-8)
    shown = [line.screen for line in comparison.lines if line.field.name == "revenue" and line.row != "Total"]
    assert shown == screen.values["revenue"].tolist()
    worst = comparison.differing[0]
    assert abs(worst.relative) == max(abs(line.relative) for line in comparison.lines) > 0.01
    assert worst.is_estimate


def test_receipt_says_where_it_differs_most(ask: Ask, make: Export, slicer: Slicer) -> None:
    """It says how many figures differ, and names the worst with both, as an estimate where it is one."""
    comparison = receipt_of(ask, make, slicer, screen_question())
    count, most = tables.receipt_sentences(comparison, NUMBERS)
    worst = comparison.differing[0]
    assert count == (
        f"6 rows on the Audience screen and their totals: {len(comparison.differing)} of 21 figures differ "
        "from those of the file."
    )
    assert NUMBERS.plain(worst.screen, worst.field) in most
    assert NUMBERS.plain(worst.exact, worst.field) in most
    assert NUMBERS.change(worst.relative) in most
    assert "(an estimate, ± " in most


def test_receipt_without_a_sample(ask: Ask, make: Export, slicer: Slicer) -> None:
    """Where the screen reads every record the receipt has no difference, and says so."""
    comparison = receipt_of(ask, make, slicer, screen_question(start_date="yesterday"))
    assert {line.difference for line in comparison.lines} == {0}
    assert [*tables.receipt_sentences(comparison, NUMBERS)] == [
        "6 rows on the Audience screen and their totals: all 21 figures are those of the file."
    ]


def test_receipt_of_other_fields(ask: Ask, make: Export, slicer: Slicer) -> None:
    """A file with none of the data fields on the screen has nothing to compare, and the receipt says so."""
    comparison = receipt_of(ask, make, slicer, screen_question(), data_fields=("imps",))
    assert [*tables.receipt_sentences(comparison, NUMBERS)] == [
        "The file has none of the data fields that the Audience screen shows."
    ]


def test_receipt_without_a_split(ask: Ask, make: Export, slicer: Slicer, many: pd.DataFrame) -> None:
    """Without a split the totals are compared."""
    comparison = receipt_of(ask, make, slicer, screen_question(split_by=()))
    assert {line.field.name: line.exact for line in comparison.lines} == pytest.approx(
        by_hand(many), rel=1e-12
    )
    assert comparison.rows == 0


def test_receipt_of_a_segmented_split(ask: Ask, make: Export, slicer: Slicer, many: pd.DataFrame) -> None:
    """Rows that share records are compared with all that its owner can see."""
    comparison = receipt_of(ask, make, slicer, screen_question(split_by=("categories",), limit=2))
    for line in (line for line in comparison.lines if line.row != "Total"):
        rows = many[
            many["categories"].map(
                lambda values, row=line.row: (row in values) or (row == "(not set)" and not len(values))
            )
        ]
        assert line.exact == pytest.approx(by_hand(rows)[line.field.name], rel=1e-12)


def test_receipt_with_data_filters(ask: Ask, make: Export, slicer: Slicer) -> None:
    """A row of the screen that the file's data filters leave out is named as left out, not as different."""
    question = screen_question(start_date="yesterday")
    middle = sorted(ask(question).values["revenue"])[3]
    wanted = (DataFilter(name="revenue", match=">=", value=middle),)
    comparison = receipt_of(ask, make, slicer, question, data_filters=wanted)
    left_out = {line.row for line in comparison.lines if line.is_left_out}
    assert left_out == {
        line.row for line in comparison.lines if line.field.name == "revenue" and line.screen < middle
    }
    assert len(left_out) == 3
    assert comparison.differing == []
    assert "The data filters leave 3 of the rows out of the file." in tables.receipt_sentences(
        comparison, NUMBERS
    )


def test_receipt_as_a_table() -> None:
    """What differs comes first; figures are at the field's precision, a difference is file less screen."""
    field = DataField(name="cost", description="Cost", display_precision=2, display_pattern="$#")
    lines = (
        receipt.ReceiptLine("Total", field, screen=2.0, low=2.0, high=2.0, exact=2.0),
        receipt.ReceiptLine("a", field, screen=None, low=None, high=None, exact=None),
        receipt.ReceiptLine("b", field, screen=1000.0, low=990.0, high=1020.0, exact=1010.5),
        receipt.ReceiptLine("c", field, screen=1.0, low=None, high=None, exact=1.5, is_left_out=True),
        receipt.ReceiptLine("d", field, screen=1.0, low=None, high=None, exact=1.0, is_sampled=True),
    )
    table = tables.receipt_table(receipt.Receipt(lines, 3), NUMBERS)
    assert table.to_numpy().tolist() == [
        ["b", "Cost, $", "1,000.00", "± 2.0 %", "1,010.50", "10.50", "+1.0 %"],
        ["Total", "Cost, $", "2.00", "exact", "2.00", "0.00", "0"],
        ["a", "Cost, $", "–", "exact", "–", "–", "–"],
        ["c", "Cost, $", "1.00", "exact", "left out", "–", "–"],
        ["d", "Cost, $", "1.00", "too few records for an interval", "1.00", "0.00", "0"],
    ]
