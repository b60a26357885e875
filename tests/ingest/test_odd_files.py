"""Files from the wild, each with the right reading: nothing is guessed wrongly without a word.

A file is written from a table of pandas in an odd way; what is imported must come to the sums of that table,
by day and by key field, or the import asks.
"""

import gzip
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner
from ingesting import AskingFile, OddFile, Place, check, csv, days, imported, report

from lib.cli import main
from lib.figures.numbers import Numbers
from lib.ingest.importing import readers
from lib.ingest.inference import Hints, infer
from lib.slicers.definition import TIME
from lib.slicers.definition.file import definition_yaml, parse_definition
from lib.slicers.models import DataField
from lib.slicers.warehouse import Warehouse
from lib.ui.explore.screen import about
from lib.wire.errors import ImportRefused


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files, with a warehouse."""
    return Place(tmp_path)


MONTH = report(days("2026-11-01", 28))
WEEKS = report(days("2026-08-03", 12, "W-MON"))
MONTHS = report(days("2026-01-01", 10, "MS"))
DATES = [
    *(
        OddFile(f"{name} {form.replace('/', '|')}.csv", csv(truth, form), truth)
        for name, truth in (("days", MONTH), ("weeks", WEEKS), ("months", MONTHS))
        for form in ("%y/%m/%d", "%y.%m.%d", "%y-%m-%d", "%y-%b-%d", "%y%m%d", "%y/%m/%d 00:00")
    ),
    OddFile(
        "days first.csv", csv(report(days("2026-02-01", 12)), "%d/%m/%Y"), report(days("2026-02-01", 12))
    ),
    OddFile(
        "months first.csv", csv(report(days("2026-02-01", 12)), "%m/%d/%y"), report(days("2026-02-01", 12))
    ),
    OddFile("eight digits.csv", csv(report(days("2023-11-01", 9)), "%d%m%Y"), report(days("2023-11-01", 9))),
    OddFile(
        "report_2026-11-03.csv", csv(report(days("2026-11-02", 1)), "%d/%m/%Y"), report(days("2026-11-02", 1))
    ),
    OddFile(
        "above.csv",
        "Report,,\n01 Jan 2025 - 31 Dec 2025,,\n" + csv(report(days("2025-01-01", 12, "MS")), "%m/%d/%Y"),
        report(days("2025-01-01", 12, "MS")),
    ),
    OddFile(
        "year and month.csv",
        csv(report(days("2026-10-01", 3, "MS")), "%Y%m"),
        report(days("2026-10-01", 3, "MS")),
    ),
    OddFile(
        "November alone.csv",
        csv(report(days("2026-11-01", 2, "MS")), "%Y%m"),
        report(days("2026-11-01", 2, "MS")),
    ),
    OddFile("answered.csv", csv(MONTHS, "%d/%m/%Y"), MONTHS, hints=Hints(dates="dmy")),
    OddFile(
        "without year.csv",
        csv(report(days("2026-05-01", 9)), "%d/%m"),
        report(days("2026-05-01", 9)),
        hints=Hints(year=2026),
    ),
]
COUNTS = [100.0 * n + n * n for n in range(1, 15)]
FORTNIGHT = report(days("2026-11-01", 14))
LARGE = [str(2**53 + 7 * n + 1) for n in range(12)] + [str(2**63), str(2**64)]
LINE_ITEMS = [str(4_890_113_204 + 97 * n) for n in range(14)]
SPOTS = [str(70_011 + n % 4) for n in range(14)]
FRACTIONS = [round(0.071 + 0.017 * n, 3) for n in range(14)]
RATE_NAMES = [
    "VCR",
    "Viewable %",
    "% viewable",
    "CTR (%)",
    "Fill",
    "Cost / conv.",
    "Revenue / Imp",
    "IPM",
    "ARPU",
    "ROI",
    "IVT",
    "Bounce",
    "SOV",
    "Frequency",
    "Reach",
    "Avg. CPC",
    "Ø CPC",
    "Klickrate",
    "Sichtbarkeit",
    "Kosten pro Klick",
    "Taux de clic",
    "Coût par clic",
    "Tasa de clics",
    "Tasso di conversione",
    "Taxa de cliques",
    "点击率",
    "Доля показов",
    "Aandeel",
    "Udział w wyświetleniach",
    "Conv. value / cost",
    "Spend per user",
    "Zorg",
]
IDS = [
    OddFile(f"{name}.csv", csv(truth), truth)
    for name, truth in (
        ("beyond exact floats", FORTNIGHT.assign(user_ref=LARGE)),
        ("as many as rows", FORTNIGHT.assign(Booked=LINE_ITEMS)),
        ("named like things", FORTNIGHT.assign(**{"Line item": [str(n + 7) for n in range(14)]})),
        ("large and repeating", FORTNIGHT.assign(spot_x=SPOTS)),
        ("quoted", FORTNIGHT.assign(ref=["00" + spot for spot in SPOTS])),
    )
]
RATES = [
    *(
        OddFile(
            f"rate {number}.csv",
            csv(FORTNIGHT.assign(**{name: FRACTIONS})),
            FORTNIGHT.assign(**{name: FRACTIONS}),
            frozenset([name]),
        )
        for number, name in enumerate(RATE_NAMES)
    ),
    *(
        OddFile(
            f"amount {number}.csv",
            csv(FORTNIGHT.assign(**{name: FRACTIONS})),
            FORTNIGHT.assign(**{name: FRACTIONS}),
        )
        for number, name in enumerate(
            ["Kosten", "Coût", "Gasto", "Spesa", "Custo", "Расходы", "花费", "Conv. value", "Media cost"]
        )
    ),
    OddFile(
        "percentages.csv",
        csv(FORTNIGHT.assign(Impressions=COUNTS, Zorg=[40 + 3.25 * n for n in range(14)])),
        FORTNIGHT.assign(Impressions=COUNTS, Zorg=[40 + 3.25 * n for n in range(14)]),
        frozenset(["Zorg"]),
    ),
    OddFile("counts of a rate's name.csv", csv(FORTNIGHT.assign(IVT=COUNTS)), FORTNIGHT.assign(IVT=COUNTS)),
]


def clock(seconds: float) -> str:
    """Seconds as a report writes a duration: 1:02:03."""
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"


def magnitude(number: float) -> str:
    """A number as people shorten it: 1.5K."""
    return f"{number / 1000:g}K" if number >= 1000 else f"{number:g}"


def html(truth: pd.DataFrame) -> str:
    """The table as a page of markup, with a small one before it, as ad servers send under .xls."""
    cells = [truth.columns, *truth.assign(day=truth["day"].dt.strftime("%Y-%m-%d")).to_numpy()]
    rows = "".join(f"<TR>{''.join(f'<td> {cell}<br></td>' for cell in row)}</TR>\n" for row in cells)
    title = "<table><tr><td>A &amp; B</table>"
    return f"<html><head><style>td {{}}</style></head><body>{title}<table>{rows}</table></html>"


def excel_2003(truth: pd.DataFrame) -> str:
    """The table as a workbook of Excel 2003 in XML."""
    cells = [truth.columns, *truth.assign(day=truth["day"].dt.strftime("%Y-%m-%d")).to_numpy()]
    rows = "".join(
        "<Row>" + "".join(f'<Cell><Data ss:Type="String">{cell}</Data></Cell>' for cell in row) + "</Row>"
        for row in cells
    )
    sheet = f"<Worksheet><Table>{rows}</Table></Worksheet>"
    return f'<?xml version="1.0"?><Workbook xmlns:ss="urn:x">{sheet}</Workbook>'


def workbook(truth: pd.DataFrame, epoch: str | None = None) -> bytes:
    """The table as a sheet; its days as bare numbers, since 1900 or 1904."""
    file = io.BytesIO()
    first = pd.Timestamp("1899-12-30" if epoch == "1900" else "1904-01-01")
    days = truth["day"] if epoch is None else (truth["day"] - first).dt.days
    with pd.ExcelWriter(
        file, engine="xlsxwriter", engine_kwargs={"options": {"date_1904": epoch == "1904"}}
    ) as book:
        truth.assign(day=days).to_excel(book, index=False)
    return file.getvalue()


def wrapped(truth: pd.DataFrame, indent: int | None = None) -> str:
    """The rows as JSON within objects."""
    rows = json.loads(truth.assign(day=truth["day"].dt.strftime("%Y-%m-%d")).to_json(orient="records"))
    return json.dumps({"ok": True, "report": {"sums": [{"n": 1}], "rows": rows}}, indent=indent)


TIMES = FORTNIGHT.assign(
    avg_watch=[61.0 + n for n in range(14)], total_watch=[43_200.0 + 60 * n for n in range(14)]
)
WATCHED = {name: TIMES[name].map(clock) for name in ("avg_watch", "total_watch")}
RANGES = report(days("2026-08-03", 9, "W-MON"))
WIDE = str.maketrans("0123456789.", "０１２３４５６７８９．")
SPLIT = json.loads(FORTNIGHT.assign(day=FORTNIGHT["day"].dt.strftime("%Y-%m-%d")).to_json(orient="split"))
FORMS = [
    OddFile(
        "quoted for excel.csv", csv(FORTNIGHT, site=[f'="{site}"' for site in FORTNIGHT["site"]]), FORTNIGHT
    ),
    OddFile(
        "unquoted.csv",
        "day,site,imps\n" + "".join(f'="2026-11-{n:02}",="00{n}",="{n}"\n' for n in range(1, 15)),
        FORTNIGHT.assign(site=[f"00{n}" for n in range(1, 15)]),
    ),
    OddFile(
        "clocks.csv",
        csv(FORTNIGHT.assign(start_time=WATCHED["total_watch"])),
        FORTNIGHT.assign(start_time=WATCHED["total_watch"]),
    ),
    OddFile("durations.csv", csv(TIMES, **WATCHED), TIMES, frozenset(["avg_watch"])),
    OddFile(
        "times on page.csv",
        csv(TIMES, **WATCHED).replace("avg_watch", "Avg. time on page"),
        TIMES.rename(columns={"avg_watch": "Avg. time on page"}),
        frozenset(["Avg. time on page"]),
    ),
    *(
        OddFile(
            f"weeks {number}.csv",
            csv(
                RANGES,
                lambda day, form=form, mark=mark: f"{day:{form}}{mark}{day + pd.Timedelta(days=6):{form}}",
            ),
            RANGES,
        )
        for number, (form, mark) in enumerate(
            [
                ("%b %d, %Y", " - "),
                ("%d.%m.%Y", "-"),
                ("%Y-%m-%d", "/"),
                ("%Y-%m-%d", " to "),
                ("%d %b %Y", " – "),
                ("%m/%d/%Y", " - "),
                ("%Y%m%d", "-"),
            ]
        )
    ),
    *(
        OddFile(f"{kind} {encoding}.xls", text.encode(encoding), FORTNIGHT)
        for kind, text in (
            ("tab", FORTNIGHT.to_csv(index=False, sep="\t")),
            ("comma", csv(FORTNIGHT)),
            ("html", html(FORTNIGHT)),
            ("xml", excel_2003(FORTNIGHT)),
        )
        for encoding in ("utf-8", "utf-16")
    ),
    *(OddFile(f"serial {epoch}.xlsx", workbook(FORTNIGHT, epoch), FORTNIGHT) for epoch in ("1900", "1904")),
    OddFile(
        "serial.csv", csv(FORTNIGHT, lambda day: str((day - pd.Timestamp("1899-12-30")).days)), FORTNIGHT
    ),
    OddFile("wrapped.json", wrapped(FORTNIGHT), FORTNIGHT),
    OddFile("indented.json", wrapped(FORTNIGHT, 2), FORTNIGHT),
    OddFile("beside names.json", json.dumps({"fields": SPLIT["columns"], "data": SPLIT["data"]}), FORTNIGHT),
    OddFile(
        "short.csv",
        csv(FORTNIGHT.assign(Spend=COUNTS), Spend=[magnitude(n) for n in COUNTS]),
        FORTNIGHT.assign(Spend=COUNTS),
    ),
    OddFile(
        "dollars.csv",
        csv(FORTNIGHT.assign(Spend=COUNTS), Spend=[f"${magnitude(n)}" for n in COUNTS]),
        FORTNIGHT.assign(Spend=COUNTS),
    ),
    OddFile("wide.csv", csv(FORTNIGHT, imps=[str(n).translate(WIDE) for n in FORTNIGHT["imps"]]), FORTNIGHT),
    OddFile(
        "sizes.csv",
        csv(FORTNIGHT.assign(display=["4K", "8K"] * 7)),
        FORTNIGHT.assign(display=["4K", "8K"] * 7),
    ),
    OddFile(
        "rounded ids.csv",
        csv(FORTNIGHT.assign(ad_ref=["1.23457E+12"] * 14)),
        FORTNIGHT.assign(ad_ref=["1.23457E+12"] * 14),
    ),
]
ASKING = [
    AskingFile("one.csv", "day,imps\n01/02/2026,5\n", "2 Jan 2026 or day/month/year, 1 Feb 2026.*--dates"),
    AskingFile("year.csv", "day,imps\n26/11/08,5\n", "--dates"),
    AskingFile(
        "months.csv", csv(MONTHS, "%d/%m/%Y"), "day/month/year, 1 Jan 2026 to 1 Oct 2026.*Choose one: --dates"
    ),
    AskingFile("noyear.csv", csv(MONTHS, "%d/%m"), "--dates dmy", Hints(year=2026)),
    AskingFile("wrong.csv", csv(MONTH, "%m/%d/%Y"), "can't be read as day/month/year", Hints(dates="dmy")),
]


@pytest.mark.parametrize("file", [*DATES, *IDS, *RATES, *FORMS], ids=lambda file: file.name)
def test_an_odd_file_comes_to_its_sums(place: Place, file: OddFile) -> None:
    """What is imported are the rows of the table, under fields of the right kinds."""
    check(place, file)


@pytest.mark.parametrize("file", ASKING, ids=lambda file: file.name)
def test_what_can_be_read_in_two_ways_is_asked(place: Place, file: AskingFile) -> None:
    """The import stops, and says which readings there are and how to choose."""
    with pytest.raises(ImportRefused, match=f"(?s){file.question}"):
        imported(place, file.name, file.content, file.hints)


@pytest.mark.parametrize(("factor", "digits"), [(1, 4), (100, 2), (1000, 3)])
def test_a_quotient_of_two_columns_is_a_formula_of_them(place: Place, factor: int, digits: int) -> None:
    """A rate that the file has for each row comes to that of the sums, not to the mean of the rates."""
    clicks = [float(7 + n * n) for n in range(14)]
    truth = FORTNIGHT.assign(**{"Impr.": COUNTS, "clicks": clicks})
    rates = (factor * truth["clicks"] / truth["Impr."]).round(digits)
    inference, definition, _ = imported(place, "a.csv", csv(truth, CTR=rates), Hints())
    (rate,) = (field for field in definition.data_fields if field.name == "CTR")
    assert rate.formula == f"{f'{factor} * ' if factor > 1 else ''}clicks / `Impr.`"
    (guess,) = (guess for guess in inference.columns if guess.column == "CTR")
    assert "clicks / Impr. in all rows" in guess.reason


def test_columns_that_are_no_quotients_are_none(place: Place) -> None:
    """A rate that is not what its name says in one row, or has no name and few digits, is averaged, marked;
    where name and few digits agree, it is a formula."""
    truth = FORTNIGHT.assign(Impressions=COUNTS, clicks=[float(7 + n * n) for n in range(14)])
    rates = (truth["clicks"] / truth["Impressions"]).round(4)
    rough, other = rates.round(1), rates.where(rates.index != 9, rates + 0.01)
    for name, column, aggregate, formula in (
        ("CTR", rough, "sum", "clicks / Impressions"),
        ("CTR", other, "mean", None),
        ("Zorg", rough, "mean", None),
    ):
        inference = infer(readers(place.file("a.csv", csv(truth, **{name: column})))[0])
        (field,) = (field for field in inference.definition.data_fields if field.name == name)
        assert (field.aggregate, field.formula) == (aggregate, formula)
        assert bool(field.annotation) == (formula is None)


@pytest.mark.parametrize("name", ["frequency", "QualityScore", "attention_score", "floor_price"])
def test_averages_of_rows_that_count_several_are_marked(place: Place, name: str) -> None:
    """A price or score whose rows count many impressions each is averaged as a guess."""
    scores = [1.5 + number % 7 for number in range(14)]
    for impressions, is_guess in ((COUNTS, True), ([1.0] * 14, False)):
        table = FORTNIGHT[["day"]].assign(Impressions=impressions, **{name: scores})
        definition = infer(readers(place.file("a.csv", csv(table)))[0]).definition
        (field,) = (field for field in definition.data_fields if field.name == name)
        assert (field.aggregate, "each row counting the same" in field.annotation) == ("mean", is_guess)


@pytest.mark.parametrize(
    "name", ["Avg. CPC", "Conv. value", "Cost / conv.", "Impr.", "All conv.", "v1.2", "Avg.CPC", "conv.value"]
)
def test_labels_are_whole(place: Place, name: str) -> None:
    """A full stop in a name that people wrote cuts nothing off."""
    _, definition, _ = imported(place, "a.csv", csv(FORTNIGHT.assign(**{name: FRACTIONS})), Hints())
    assert [field.description for field in definition.data_fields[2:]] == [name]


def test_a_guess_stays_with_its_field(place: Place) -> None:
    """What is a guess is said in the table of guesses, and in its annotation, which screens show."""
    inference, definition, _ = imported(
        place, "a.csv", csv(FORTNIGHT.assign(Zorg=FRACTIONS), "%y/%m/%d"), Hints()
    )
    doubts = {guess.column: guess.doubt for guess in inference.columns if guess.doubt}
    assert doubts.keys() == {"Zorg"} and "day/month/year" in inference.time.reason
    info = definition.slicer("2026-11-01", "2026-11-14")
    assert f"A guess: {doubts['Zorg']}" in about(info.data_field("Zorg"))
    assert all(
        "day/month/year" in field.annotation for field in info.key_fields if field.name.startswith("time")
    )


@pytest.fixture
def small_sample(monkeypatch: pytest.MonkeyPatch) -> int:
    """So many rows that a definition is inferred from, for files whose later rows are new to it."""
    monkeypatch.setattr("lib.ingest.inference.SAMPLE_ROWS", 100)
    monkeypatch.setattr("lib.ingest.inference.FEWEST_ROWS", 100)
    monkeypatch.setattr("lib.ingest.json_rows._BATCH_ROWS", 100)
    monkeypatch.setattr("lib.ingest.files.CHUNK", 1000)
    return 100


@pytest.mark.parametrize("later", ["0100", "+100", "100.0", "-0", "1e2"])
@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_a_late_value_that_is_written_otherwise_changes_no_other(
    place: Place, small_sample: int, form: str, later: str
) -> None:
    """A whole number that the sample would not have had is rejected with its line, not added to another's."""
    rows = [{"day": "2026-11-01", "placement": 100 + n % 7, "imps": 1} for n in range(3 * small_sample)]
    last = {"day": "2026-11-01", "placement": later, "imps": 67}
    texts = [json.dumps(row) for row in (*rows, last)]
    if form == "csv":
        texts = ["day,placement,imps", *(",".join(map(str, row.values())) for row in (*rows, last))]
    path = place.file(f"a.{form}", "\n".join(texts) + "\n")
    definition = parse_definition(definition_yaml(infer(readers(path)[0]).definition))
    stored = place.take(path, definition=definition)
    sums = stored.read(stored.files).to_pandas().groupby("placement")["imps"].sum()
    assert (
        sums.to_dict()
        == pd.DataFrame(rows).astype({"placement": str}).groupby("placement")["imps"].sum().to_dict()
    )
    ((_, row),) = pd.read_csv(place.rejects, dtype=str).iterrows()
    assert later in row["value"] and "make the field text" in row["reason"]


def test_a_late_key_is_a_field(place: Place, small_sample: int) -> None:
    """A key of JSON that the last row alone has is a key field, and its value is in."""
    rows = [{"day": "2026-11-01", "imps": n} for n in range(5 * small_sample)]
    rows.append({"day": "2026-11-01", "imps": 5, "deal": "D1"})
    _, definition, stored = imported(
        place, "a.ndjson", "".join(json.dumps(row) + "\n" for row in rows), Hints()
    )
    assert [field.name for field in definition.key_fields] == ["deal"]
    assert stored.groupby("deal", dropna=False)["imps"].sum().to_dict() == {
        "D1": 5, np.nan: sum(range(5 * small_sample)),
    }  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_column_of_one_of_several_files_is_named(place: Place, form: str) -> None:
    """Files of an import with different columns: the import stops, and says which column is missing where."""
    paths = []
    for name, table in (("jan", FORTNIGHT), ("feb", FORTNIGHT.assign(deal="D1"))):
        path = place.folder / f"{name}.{form}"
        table.to_csv(path, index=False) if form == "csv" else table.to_parquet(path)
        paths.append(path)
    files = [readers(path)[0] for path in paths]
    definition = infer(files[0], others=files[1:]).definition
    with pytest.raises(ImportRefused, match=r"jan\..*deal"):
        place.take(*paths, definition=definition)


def test_sheets_with_nearly_the_same_columns_are_asked_about(place: Place) -> None:
    """A month with a column more is not left out without a word, nor is a hidden sheet taken for a table."""
    path = place.folder / "a.xlsx"
    with pd.ExcelWriter(path, engine="xlsxwriter") as book:
        FORTNIGHT.to_excel(book, sheet_name="Hidden", index=False)
        FORTNIGHT.to_excel(book, sheet_name="Jan", index=False)
        FORTNIGHT.assign(deal="D1").to_excel(book, sheet_name="Feb", index=False)
        book.sheets["Jan"].activate()
        book.sheets["Hidden"].hide()
    with pytest.raises(ImportRefused, match="nearly the same columns: 'Jan', 'Feb'"):
        readers(path)
    assert "not read: 'Hidden'" in readers(path, sheets="all")[0].description
    assert [reader.file.sheet for reader in readers(path, sheets=("Hidden",))] == ["Hidden"]


HEADERS = {
    "upper filled": ",,Desktop,Desktop,Mobile,Mobile\nday,site,imps,clicks,imps,clicks\n",
    "upper merged": ",,Desktop,,Mobile,\nday,site,imps,clicks,imps,clicks\n",
    "names above": "day,site,Desktop,,Mobile,\n,,imps,clicks,imps,clicks\n",
    "names twice": "day,site,Desktop,Desktop,Mobile,Mobile\n,,imps,clicks,imps,clicks\n",
    "below a title": "Devices\n1 Nov 2026\n,,Desktop,,Mobile,\nday,site,imps,clicks,imps,clicks\n",
}


@pytest.mark.parametrize("form", HEADERS)
def test_two_header_lines_are_joined(place: Place, form: str) -> None:
    """Each name of the lower line has that of its group above; it is said, and later files are read alike."""
    figures = {
        "Desktop imps": COUNTS,
        "Desktop clicks": [1.0] * 14,
        "Mobile imps": COUNTS[::-1],
        "Mobile clicks": [2.0] * 14,
    }
    truth = FORTNIGHT[["day", "site"]].assign(**figures)
    file = OddFile("a.csv", HEADERS[form] + truth.to_csv(index=False, header=False), truth)
    inference = check(place, file)
    (again,) = readers(place.folder / "a.csv", definition=inference.definition)
    assert "two header lines joined, as in 'Desktop imps'" in again.description
    assert set(again.columns or ()) == set(truth)


TOTAL_LINES = [
    ("wider header", "day,site,imps,Totals", ",,105,Grand total"),
    ("wider line", "day,site,imps", ",,105,Grand total"),
    ("same width", "day,site,imps", ",Total,105"),
    ("first cell", "day,site,imps", "Gesamt,,105"),
    ("several figures", "day,site,imps", "Total,,105,105"),
]


@pytest.mark.parametrize(("name", "header", "total"), TOTAL_LINES, ids=lambda text: text)
def test_a_line_of_totals_above_the_rows_costs_no_header(
    place: Place, name: str, header: str, total: str
) -> None:
    """The header stays, and the line of totals is left out and said."""
    rows = FORTNIGHT.to_csv(index=False, header=False)
    check(place, OddFile("a.csv", f"# Report\n# 1 Nov 2026\n\n{header}\n{total}\n{rows}", FORTNIGHT))
    assert pd.read_csv(place.rejects)["reason"].tolist() == ["a total of other rows"]


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y", "%d %b %Y", "%Y%m%d"])
def test_days_across_the_columns_are_unpivoted(place: Place, form: str) -> None:
    """Without --unpivot the refusal offers it; with it each day and value is a row, of later files too."""
    dates = pd.Series(pd.date_range("2026-11-10", periods=9))
    wide = pd.DataFrame({"site": ["a", "b", "c"]})
    for number, date in enumerate(dates):
        wide[date.strftime(form)] = [5.0 + number, 7.0, None if number % 2 else 1.0]
    path = place.file("a.csv", wide.assign(Total=0).to_csv(index=False))
    with pytest.raises(ImportRefused, match="--unpivot makes a row of each"):
        infer(readers(path)[0])
    definition = parse_definition(definition_yaml(infer(readers(path, unpivot=True)[0]).definition))
    stored = place.take(path, definition=definition, max_rejects=0)
    rows = stored.read(stored.files).to_pandas()
    expected = wide.melt("site", var_name="time", value_name="value").dropna()
    expected["time"] = pd.to_datetime(expected["time"], format=form).dt.tz_localize("UTC")
    keys = ["time", "site"]
    pd.testing.assert_frame_equal(
        rows[[*keys, "value"]].sort_values(keys, ignore_index=True),
        expected[[*keys, "value"]].sort_values(keys, ignore_index=True),
        check_dtype=False,
    )


def test_formulas_without_values_are_no_empty_column(place: Place) -> None:
    """A sheet that was saved by a program that computes nothing is refused, with the column and its rows."""
    book = openpyxl.Workbook()
    book.active.append(["day", "site", "imps"])
    for number in range(2, 16):
        book.active.append([f"2026-11-{number:02}", "s", f"=10*{number}"])
    book.save(place.folder / "a.xlsx")
    with pytest.raises(
        ImportRefused, match="imps holds formulas without stored values in 14 rows: open and save"
    ):
        readers(place.folder / "a.xlsx")


def test_rounded_ids_are_said(place: Place) -> None:
    """Ids that a spreadsheet rounded stay as they are, and it is said that digits are lost."""
    inference = infer(readers(place.file("a.csv", csv(FORTNIGHT.assign(ad_ref=["1.23457E+12"] * 14))))[0])
    assert "rounded by a spreadsheet and are lost: export it as text" in inference.columns[-1].doubt


def test_durations_are_shown_as_such() -> None:
    """Seconds of a duration appear as hours, minutes and seconds, in full and short."""
    field = DataField(name="watch", display_pattern="h:mm:ss")
    values = (43_260.0, 61.4, -5.0, float("nan"))
    texts = ["12:01:00", "0:01:01", "\u22120:00:05", "–"]
    assert [Numbers().full(value, field) for value in values] == texts
    assert [Numbers().short(value, field) for value in values] == texts


def hours(zone: str, first: str, count: int) -> str:
    """A file of so many hours, as the clocks of a zone show them."""
    moments = pd.date_range(first, periods=count, freq="h", tz="UTC").tz_convert(zone)
    return "time,site,imps\n" + "".join(f"{moment:%Y-%m-%d %H:%M},a,1\n" for moment in moments)


CLOCK_CHANGES = [
    ("Europe/Berlin", "2026-10-22", "25 Oct 2026 02:00 occurs twice: .*--time-zone Europe/Berlin"),
    ("Europe/Berlin", "2026-03-26", "29 Mar 2026 02:00 is missing: .*--time-zone Europe/Berlin"),
    ("America/New_York", "2026-10-29", "1 Nov 2026 01:00 occurs twice: .*--time-zone America/New_York"),
    ("America/Denver", "2026-03-05", "8 Mar 2026 02:00 is missing: .*--time-zone"),
    ("UTC", "2026-10-22", ""),
    ("Asia/Tokyo", "2026-03-26", ""),
]


@pytest.mark.parametrize(("zone", "first", "note"), CLOCK_CHANGES)
@pytest.mark.parametrize("early", [0, 14])
@pytest.mark.parametrize("command", ["import", "try"])
def test_hours_of_a_clock_change_are_said(
    place: Place, small_sample: int, zone: str, first: str, note: str, early: int, command: str
) -> None:
    """A doubled or missing hour anywhere in a file tells local times: it is said, until the zone is named."""
    start = (pd.Timestamp(first) - pd.Timedelta(days=early)).strftime("%Y-%m-%d")
    path = place.file("a.csv", hours(zone, start, 24 * (6 + early)))
    arguments = ["import", str(path), "--project", "p", "--slicer", "s"]
    arguments += ["--try"] if command == "try" else []
    environment = {"TRANCHE_HOME": str(place.folder / "home")}
    with CliRunner().isolated_filesystem(place.folder):
        plain = CliRunner().invoke(main, arguments, env=environment)
        named = CliRunner().invoke(main, [*arguments, "--replace", "--time-zone", zone], env=environment)
    assert (plain.exit_code, named.exit_code) == (0, 0), plain.output + named.output
    assert re.search(note, plain.output) if note else "local times" not in plain.output
    assert "local times" not in named.output


def test_a_day_alone_tells_its_doubled_hour(place: Place) -> None:
    """A file of one day is compared with the hours beside the doubled one."""
    path = place.file("a.csv", hours("Europe/Berlin", "2026-10-24 22:00", 25))
    done = CliRunner().invoke(main, ["import", "--try", str(path)])
    assert "25 Oct 2026 02:00 occurs twice" in done.output


ORDERS_OF_ROWS = {
    "by time": lambda rows: rows,
    "newest first": lambda rows: rows[::-1],
    "by site": lambda rows: rows.sort_values("site", kind="stable"),
    "several rows an hour": lambda rows: rows.loc[rows.index.repeat(3)],
}


@pytest.mark.parametrize("order", ORDERS_OF_ROWS)
@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M:%S"])
def test_a_doubled_hour_is_read_by_the_order_of_rows(place: Place, order: str, form: str) -> None:
    """With the zone named each row is in the right one of two equal hours; how many are in which is said."""
    moments = pd.Series(pd.date_range("2026-10-20", periods=24 * 10, freq="h", tz="UTC"))
    rows = pd.concat([pd.DataFrame({"moment": moments, "site": site}) for site in ("a", "b")])
    rows = ORDERS_OF_ROWS[order](rows.sort_values(["moment", "site"], ignore_index=True))
    local = rows["moment"].dt.tz_convert("Europe/Berlin").dt.strftime(form)
    path = place.file(
        "a.csv", pd.DataFrame({"time": local, "site": rows["site"], "imps": 1}).to_csv(index=False)
    )
    arguments = ["import", str(path), "--project", "p", "--slicer", "s", "--time-zone", "Europe/Berlin"]
    environment = {"TRANCHE_HOME": str(place.folder / "home")}
    with CliRunner().isolated_filesystem(place.folder):
        done = CliRunner().invoke(main, arguments, env=environment)
    stored = Warehouse(place.folder / "home" / "warehouse").open("p", "s")
    times = stored.read(stored.files).to_pandas().groupby("time")["imps"].sum()
    assert times.to_dict() == rows.groupby("moment").size().astype(float).to_dict()
    count = len(rows) // len(moments)
    assert (
        f"25 Oct 2026 02:00 occurs twice in Europe/Berlin: by their order in the file, {count}" in done.output
    )


@pytest.mark.parametrize(("zone", "days_zone"), [("Europe/Berlin", 1), ("America/New_York", -5), ("UTC", 0)])
def test_a_named_zone_sets_the_slicer_s_days(place: Place, zone: str, days_zone: int) -> None:
    """With --time-zone each hour is the zone's, in summer and winter; days are of its standard time."""
    path = place.file("a.csv", hours(zone, "2026-10-01", 24 * 40))
    command = ["import", str(path), "--project", "p", "--slicer", "s", "--time-zone", zone]
    environment = {"TRANCHE_HOME": str(place.folder / "home")}
    with CliRunner().isolated_filesystem(place.folder):
        done = CliRunner().invoke(main, command, env=environment)
        again = CliRunner().invoke(main, [*command[:-1], "Asia/Kolkata"], env=environment)
    assert done.exit_code == 0, done.output
    assert again.exit_code == 2 and "whole hours" in again.output
    stored = Warehouse(place.folder / "home" / "warehouse").open("p", "s")
    assert (stored.definition.timezone, stored.definition.time.timezone) == (days_zone, zone)
    times = stored.read(stored.files).to_pandas()[TIME].sort_values(ignore_index=True)
    expected = pd.Series(pd.date_range("2026-10-01", periods=24 * 40, freq="h", tz="UTC"))
    pd.testing.assert_series_equal(times, expected, check_names=False, check_dtype=False)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "packed.csv.gz",
            gzip.compress(gzip.compress(csv(FORTNIGHT).encode())),
            "packed twice, gzip in gzip; unpack it once",
        ),
        ("near.csv", "Date,n\nQ1 of 2026,1\n", "nearest is 'Date', but 'Q1 of 2026' is in no known format"),
        ("empty.csv", "n,Date\n1,\n2,\n", "nearest is 'Date', but it has no values"),
    ],
)
def test_refusals_name_what_is_wrong(place: Place, name: str, content: str | bytes, sentence: str) -> None:
    """What can't be read is named, with its reason."""
    with pytest.raises(ImportRefused, match=sentence):
        infer(readers(place.file(name, content))[0])


def test_infinite_numbers_of_parquet_make_no_text(place: Place) -> None:
    """A column of floats with an infinite one is a data field; only its row can't be read."""
    spend = [1.5 * n for n in range(13)] + [math.inf]
    path = place.folder / "a.parquet"
    FORTNIGHT.assign(spend=spend).to_parquet(path)
    definition = infer(readers(path)[0]).definition
    stored = place.take(path, definition=definition, max_rejects=0.5)
    assert stored.read(stored.files).to_pandas()["spend"].sum() == sum(spend[:-1])
    assert "inf" in place.rejects.read_text()


def test_a_column_in_another_encoding_is_said(place: Place) -> None:
    """A column that was encoded twice is text, with what it seems to be."""
    cities = ["Ã…hus BrÃ¶d", "MÃ¼nchen"] * 7
    inference = infer(readers(place.file("a.csv", csv(FORTNIGHT.assign(city=cities))))[0])
    (city,) = (guess for guess in inference.columns if guess.column == "city")
    assert "'Ã…hus BrÃ¶d' seems to be 'Åhus Bröd'" in city.doubt
