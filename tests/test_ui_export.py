"""A file before it is made, and its receipt."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import COUNTRIES, DEFINITION, LAST_DAY, PASSWORD, PEOPLE, small_rows

from lib import connect
from lib.people import People
from lib.reporting.client import Reporting
from lib.reporting.models import (
    AudienceQuery,
    DataField,
    DataFilter,
    DataMatch,
    ExportFormat,
    ExportQuery,
    Filter,
    InfoQuery,
    Slicer,
)
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.ui import data_filters, export_preview, export_tables, receipt
from lib.ui.export_preview import Ask, Preview
from lib.ui.numbers import Numbers
from lib.wire.errors import BadRequest

DESK = str(Path(__file__).parent.parent / "lib" / "desk.py")
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
    settings = Settings(home=tmp_path_factory.mktemp("many"))
    People(settings.people_file, rounds=4).add(PEOPLE[1], PASSWORD)
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


def export(**fields: object) -> ExportQuery:
    """A file of the last week."""
    return ExportQuery.model_validate({**WEEK, "export_format": "tsv2", **fields})


def in_file(reporting: Reporting, query: ExportQuery) -> list[list[str]]:
    """The rows of the file of that question, without the header, as tsv2 has them."""
    content = reporting.export(query.model_copy(update={"export_format": "tsv2"})).content.read().decode()
    return [line.split("\t") for line in content.splitlines()[1:]]


def last_week(many: pd.DataFrame) -> pd.DataFrame:
    """Its rows."""
    days = many["time"].dt.date
    return many[(days > LAST_DAY - pd.Timedelta(days=7)) & (days <= LAST_DAY)]


@pytest.mark.parametrize("mappings", [None, 0, 1])
@pytest.mark.parametrize("split", [(), (COUNTRY,), (COUNTRY, CAMPAIGN), ("granularity_day", COUNTRY)])
@pytest.mark.parametrize("total", [0, 1])
def test_preview_is_the_files_beginning(
    ask: Ask, reporting: Reporting, slicer: Slicer, split: tuple[str, ...], mappings: int | None, total: int
) -> None:
    """The preview has the first rows, the columns, the count and the total of the file."""
    query = export(split_by=split, include_mappings=mappings, include_total=total)
    file = export_preview.preview(ask, query, slicer)
    rows = in_file(reporting, query)
    shown = export_preview.frame(export_preview.first_rows(file, slicer)).to_numpy().tolist()
    assert (file.found + total, file.is_counted, file.is_exact) == (len(rows), True, True)
    expected = rows[: min(file.found, export_preview.FIRST_ROWS)] + rows[len(rows) - total :]
    assert [[_raw(cell) for cell in row] for row in shown] == [
        [_raw(cell) for cell in row] for row in expected
    ]


@pytest.mark.parametrize("match", data_filters.MATCHES)
def test_preview_knows_data_filters(ask: Ask, reporting: Reporting, slicer: Slicer, match: DataMatch) -> None:
    """Rows and count of the preview obey data filters as the file does, whatever the match."""
    split = (COUNTRY, CAMPAIGN, "granularity_day")
    some = float(in_file(reporting, export(split_by=split))[40][3])
    wanted = (DataFilter(name="imps", match=match, value=some), DataFilter(name="ctr", match="<", value=2.2))
    query = export(split_by=split, data_filters=wanted, data_fields=("clicks", "imps"))
    file = export_preview.preview(ask, query, slicer)
    rows = in_file(reporting, query)
    assert file.found == len(rows) > 0
    shown = export_preview.frame(export_preview.first_rows(file, slicer)).to_numpy().tolist()
    assert [_raw(cell) for cell in shown[0]] == [_raw(cell) for cell in rows[0]]


def test_preview_carries_filters_and_order(ask: Ask, many: pd.DataFrame, slicer: Slicer) -> None:
    """The filters and the order of the question hold for the file too."""
    where = Filter(name=COUNTRY, match="equals", value=("DE",))
    query = export(split_by=(CAMPAIGN,), filters=(where,), order_by=({"name": "clicks", "direction": "asc"},))
    file = export_preview.preview(ask, query, slicer)
    rows = last_week(many)
    clicks = rows[rows[COUNTRY] == "DE"].groupby(CAMPAIGN)["clicks"].sum()
    assert file.rows.values["clicks"].tolist() == sorted(clicks)


def test_preview_of_more_than_is_read(
    ask: Ask, slicer: Slicer, many: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are more records than an answer reads the preview says so, and counts from below."""
    monkeypatch.setattr(export_preview, "ROWS_LIMITS", (10_000, 10_000))
    query = export(split_by=(COUNTRY, CAMPAIGN, "granularity_hour"))
    file = export_preview.preview(ask, query, slicer)
    assert not file.is_exact
    assert not file.is_counted
    assert export_preview.summary(file, NUMBERS).startswith("At least ")
    assert file.found < len(last_week(many).groupby([COUNTRY, CAMPAIGN, "time"], dropna=False))


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
    file = Preview(export(export_format=export_format, include_total=total), answer, found, True, True)
    assert export_preview.sheets(file) == number
    assert ("sheets" in export_preview.summary(file, NUMBERS)) == (number is not None and number > 1)


def test_too_many_columns(ask: Ask, slicer: Slicer) -> None:
    """Columns that no sheet holds are named before the click, with what would be right."""
    file = export_preview.preview(ask, export(export_format="xls"), slicer)
    assert export_preview.hindrance(file, 256) is None
    assert export_preview.hindrance(file, 257) == (
        "A sheet of xls holds 256 columns and this file has 257: choose fewer data fields, or csv."
    )


def test_refused_question(ask: Ask, slicer: Slicer) -> None:
    """What the service refuses, the preview refuses with the service's words."""
    with pytest.raises(BadRequest, match=r"geo\.contry.*did you mean 'geo\.country'"):
        export_preview.preview(ask, export(split_by=("geo.contry",)), slicer)


def test_receipt(ask: Ask, reporting: Reporting, slicer: Slicer, many: pd.DataFrame) -> None:
    """The receipt has the screen's sampled totals with their ranges, and the exact ones of all rows."""
    where = Filter(name=COUNTRY, match="equals", value=("US", "FR"))
    question = AudienceQuery(**WEEK, filters=(where,), split_by=(CAMPAIGN,), audience_rows_limit=10_000)
    question = question.model_copy(update={"start_date": "-21d"})
    file = export_preview.preview(
        ask, export(start_date="-21d", filters=(where,), split_by=(CAMPAIGN,)), slicer
    )
    found = receipt.receipt(ask, reporting, question, file, slicer)
    rows = many[many[COUNTRY].isin(["US", "FR"])]
    lines = {line.field.name: line for line in found.lines}
    for name in ("imps", "clicks", "revenue"):
        assert lines[name].exact == pytest.approx(rows[name].sum())
        assert lines[name].is_estimate
        assert lines[name].shown != lines[name].exact
        assert lines[name].low < lines[name].exact < lines[name].high
    assert lines["ctr"].exact == pytest.approx(100 * rows["clicks"].sum() / rows["imps"].sum())
    assert lines["unique_users"].exact == rows["users"].nunique()


def test_receipt_without_a_sample(ask: Ask, reporting: Reporting, slicer: Slicer) -> None:
    """Where the screen reads every record the receipt has no difference, and says so."""
    day = {"start_date": "yesterday"}
    file = export_preview.preview(ask, export(**day), slicer)
    found = receipt.receipt(ask, reporting, AudienceQuery(**{**WEEK, **day}), file, slicer)
    assert [line.difference for line in found.lines] == [0] * len(slicer.data_fields)
    assert "are exact here" in export_tables.receipt_sentence(found, NUMBERS)


def test_receipt_of_more_than_is_read(
    ask: Ask, reporting: Reporting, slicer: Slicer, many: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no answer reads every record the exact totals are those of a file."""
    monkeypatch.setattr(export_preview, "ROWS_LIMITS", (10_000, 10_000))
    where = Filter(name=COUNTRY, match="not equals", value=("US",))
    fields = {"start_date": "-21d", "filters": (where,)}
    file = export_preview.preview(ask, export(**fields), slicer)
    question = AudienceQuery.model_validate({**WEEK, **fields, "audience_rows_limit": 10_000})
    found = receipt.receipt(ask, reporting, question, file, slicer)
    rows = many[many[COUNTRY] != "US"]
    assert not file.is_exact
    exact = {line.field.name: line.exact for line in found.lines}
    assert exact["imps"] == rows["imps"].sum()
    assert exact["ctr"] == pytest.approx(100 * rows["clicks"].sum() / rows["imps"].sum(), rel=1e-12)


def test_receipt_as_a_table(ask: Ask) -> None:
    """Figures are at the field's precision, a missing one is a dash, and a difference is file less screen."""
    field = DataField(name="cost", description="Cost", display_precision=2, display_pattern="$#")
    lines = (
        receipt.Line(field, shown=1000.0, low=990.0, high=1020.0, exact=1010.5),
        receipt.Line(field, shown=None, low=None, high=None, exact=None),
        receipt.Line(field, shown=2.0, low=2.0, high=2.0, exact=2.0),
    )
    table = export_tables.receipt_table(receipt.Receipt(lines, ask(AudienceQuery(**WEEK))), NUMBERS)
    assert table.to_numpy().tolist() == [
        ["Cost, $", "1,000.00", "2.0 %", "1,010.50", "10.50", "+1.0 %"],
        ["Cost, $", "–", "exact", "–", "–", "–"],
        ["Cost, $", "2.00", "exact", "2.00", "0.00", "0"],
    ]


def _raw(cell: object) -> object:
    """A cell as both have it: a number, or a text that may be missing."""
    if isinstance(cell, str):
        text = "" if cell == "(not set)" else cell
        try:
            return round(float(text), 9) if text else None
        except ValueError:
            return text
    if isinstance(cell, float) and np.isnan(cell):
        return None
    return round(float(str(cell)), 9)
