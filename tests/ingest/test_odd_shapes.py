"""Files of odd shapes: dates of other languages, weeks, several dates, separators, documents, workbooks.

See test_odd_files.py; what can't be read is refused by its name, and what is doubtful is said.
"""

import io
import json
import sqlite3
import tarfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from ingesting import OddFile, Place, check, csv, days, imported, report

from lib.ingest.importing import readers
from lib.ingest.inference import Hints, infer
from lib.wire.errors import ImportRefused


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files, with a warehouse."""
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", "<table><tr><th></th><th></th></tr>" + "<tr><td></td><td></td></tr>" * 2 + "</table>"),
        ("a.html", "<table><tr><td>\u00a0</td><td></td></tr><tr><td></td><td></td></tr></table>"),
        ("a.csv", ",\n,\n,\n"),
        ("a.tsv", "\t\t\n\t\t\n"),
        ("a.csv", '"",""\n"",""\n'),
    ],
)
def test_a_table_of_empty_cells(place: Place, name: str, content: str) -> None:
    """A table without a single name or value is refused in a sentence, in markup and in text."""
    with pytest.raises(ImportRefused, match=r"begins with empty cells alone|There are no rows|is empty"):
        infer(readers(place.file(name, content))[0])


@pytest.mark.parametrize(("stamp", "kept"), [("10:00:00", "hour"), ("00:00:00", "day"), ("10:17:05", "day")])
def test_a_single_hour_under_datetime_is_kept(place: Place, stamp: str, kept: str) -> None:
    """A file of one full hour is an hourly one, as a guess that says so; midnight and minutes are days."""
    rows = "".join(f"2026-11-02 {stamp},s{n},{n}\n" for n in range(5))
    inference, definition, stored = imported(place, "a.csv", f"datetime,site,imps\n{rows}", Hints())
    assert (definition.time.granularity, inference.time.is_sure) == (kept, kept == "day")
    assert set(stored["time"].dt.hour) == ({10} if kept == "hour" else {0})
    assert not definition.time.annotation or "a single hour" in definition.time.annotation


MONTH = report(days("2026-11-01", 28))
FORTNIGHT = report(days("2026-11-01", 14))
YEAR = report(days("2025-12-20", 340, "3D")[:112])
WEEKS = report(days("2025-12-01", 12, "W-MON"))
TIMES = FORTNIGHT["day"].dt.strftime("%Y-%m-%d")
MONTHS = {
    "German": "Jan. Feb. März April Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
    "French": "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "Spanish": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "Portuguese": "jan fev mar abr mai jun jul ago set out nov dez",
    "Italian": "gen feb mar apr mag giu lug ago set ott nov dic",
    "Dutch": "januari februari maart april mei juni juli augustus september oktober november december",
    "Polish": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada "
    "grudnia",
    "Turkish": "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
}


def last_day(day: pd.Timestamp) -> pd.Timestamp:
    """The last day of a week."""
    return day + pd.Timedelta(days=6)


def short_range(day: pd.Timestamp) -> str:
    """A week as Google Ads writes it: `Nov 2 – 8, 2026`, `Dec 29, 2025 – Jan 4, 2026`."""
    last = last_day(day)
    if day.year != last.year:
        return f"{day:%b} {day.day}, {day.year} – {last:%b} {last.day}, {last.year}"
    return f"{day:%b} {day.day} – {'' if day.month == last.month else f'{last:%b} '}{last.day}, {last.year}"


def german_range(day: pd.Timestamp) -> str:
    """`2.–8.11.2026`, `29.12.–4.1.2026` is of the year before."""
    last = last_day(day)
    return (
        f"{day.day}.{'' if day.month == last.month else f'{day.month}.'}–{last.day}.{last.month}.{last.year}"
    )


GERMAN_DAYS = ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"]
RANGES = {
    "short": short_range,
    "German": german_range,
    "days and months": lambda day: f"{day:%d.%m.} - {last_day(day):%d.%m.%Y}",
    "slashes": lambda day: f"{day:%m/%d} - {last_day(day):%m/%d/%Y}",
    "whole": lambda day: f"{day:%d/%m/%Y} – {last_day(day):%d/%m/%Y}",
    "whole with names": lambda day: f"{day:%d %b %Y} bis {last_day(day):%d %b %Y}",
}
DATES = [
    *(
        OddFile(
            f"{language}.csv",
            csv(YEAR, lambda day, names=names: f"{day.day}. {names.split()[day.month - 1]} {day.year}"),
            YEAR,
        )
        for language, names in MONTHS.items()
    ),
    OddFile(
        "de.csv",
        csv(YEAR, lambda day: f"{day.day} de {MONTHS['Spanish'].split()[day.month - 1]} de {day.year}"),
        YEAR,
    ),
    OddFile(
        "ordinal.csv",
        csv(MONTH, lambda day: f"{day:%b} {day.day}{'th' if day.day > 3 else 'st'}, {day.year}"),
        MONTH,
    ),
    OddFile("weekday.csv", csv(MONTH, "%a %d %b %Y"), MONTH),
    OddFile("weekday and digits.csv", csv(MONTH, "%A, %d/%m/%Y"), MONTH),
    OddFile(
        "German weekday.csv", csv(MONTH, lambda day: f"{GERMAN_DAYS[day.weekday()]}, {day:%d.%m.%Y}"), MONTH
    ),
    OddFile("ctime.csv", csv(MONTH, "%a %b %d 00:00:00 %Y"), MONTH),
    OddFile("Korean.csv", csv(MONTH, "%Y년 %m월 %d일"), MONTH),
    OddFile("dots.csv", csv(MONTH, lambda day: f"{day.year}. {day.month}. {day.day}."), MONTH),
    *(
        OddFile(f"{form.replace('/', '|')}.csv", csv(WEEKS, form), WEEKS)
        for form in ("KW%V %G", "%G KW %V", "W%V %G")
    ),
    *(
        OddFile(f"under week {form.replace('/', '|')}.csv", csv(WEEKS, form).replace("day,", "week,"), WEEKS)
        for form in ("%G-%V", "%G/%V", "%G%V", "%V/%G")
    ),
    *(OddFile(f"range {name}.csv", csv(WEEKS, form), WEEKS) for name, form in RANGES.items()),
    OddFile(
        "in parts.csv",
        WEEKS.assign(Year=WEEKS["day"].dt.isocalendar().year, Week=WEEKS["day"].dt.isocalendar().week)
        .drop(columns="day")
        .to_csv(index=False),
        WEEKS,
    ),
    OddFile(
        "month in parts.csv",
        "Year,Month,site,imps\n2025,December,a,1\n2026,January,b,2\n2026,February,c,4\n",
        pd.DataFrame({"day": days("2025-12-01", 3, "MS"), "site": ["a", "b", "c"], "imps": [1.0, 2.0, 4.0]}),
    ),
    *(
        OddFile(
            f"beside {name}.csv",
            csv(MONTH.assign(**{name: dates}))
            if is_last
            else csv(MONTH.assign(**{name: dates})[[name, "day", "site", "imps"]]),
            MONTH.assign(**{name: dates}),
        )
        for is_last in (True, False)
        for name, dates in (
            ("Start Date", ["2026-10-01"] * 28),
            ("flight_end", ["2026-12-31"] * 28),
            ("date created", [f"2026-09-{n + 1:02}" for n in range(28)]),
        )
    ),
]


def workbook(*rows: list[object], merged: str = "", corner: tuple[int, int] = (1, 1)) -> bytes:
    """A workbook with these rows from a corner, and cells that are merged."""
    book, file = openpyxl.Workbook(), io.BytesIO()
    for number, row in enumerate(rows):
        for position, value in enumerate(row):
            book.active.cell(corner[0] + number, corner[1] + position, value)
    for span in merged.split():
        book.active.merge_cells(span)
    book.save(file)
    return file.getvalue()


BY_SITE = FORTNIGHT.sort_values(["site", "day"], ignore_index=True)
QUOTED = FORTNIGHT.assign(site=[f'a "{site}" b\\c' for site in FORTNIGHT["site"]])
BIG = [str(2**70 + n) for n in range(14)]
ROWS = json.loads(FORTNIGHT.assign(day=TIMES).to_json(orient="records"))
SITES = [
    {"site": site, "stats": [{"day": row["day"], "imps": row["imps"]} for row in ROWS if row["site"] == site]}
    for site in sorted({row["site"] for row in ROWS})
]
DAY_TEXTS = FORTNIGHT.assign(day=TIMES)
ESCAPED = QUOTED.assign(day=TIMES).to_csv(index=False, quoting=1, doublequote=False, escapechar="\\")
COLUMNS = {name: dict(enumerate(DAY_TEXTS[name])) for name in DAY_TEXTS}
LATE_LETTER = pd.concat([YEAR, report(days("2026-11-28", 1)).assign(site="Köln", imps=5.0)])
GROUPS = [
    [None if number else site, day, imps]
    for site, group in BY_SITE.groupby("site")
    for number, (day, _, imps) in enumerate(group.itertuples(index=False))
]
SPANS = [f"A{2 + group.index[0]}:A{2 + group.index[-1]}" for _, group in BY_SITE.groupby("site")]
SHAPES = [
    OddFile("tilde.txt", DAY_TEXTS.to_csv(index=False, sep="~"), FORTNIGHT),
    OddFile("caret.txt", DAY_TEXTS.to_csv(index=False, sep="^"), FORTNIGHT),
    OddFile("control.txt", DAY_TEXTS.to_csv(index=False, sep="\x01"), FORTNIGHT),
    OddFile("empty last.csv", csv(FORTNIGHT).replace("\n", ",\n"), FORTNIGHT),
    OddFile("empty first.csv", "".join(f",{line}\n" for line in csv(FORTNIGHT).splitlines()), FORTNIGHT),
    OddFile("empty between.csv", csv(FORTNIGHT).replace(",", ",,"), FORTNIGHT),
    OddFile("index.csv", DAY_TEXTS.to_csv(), FORTNIGHT),
    OddFile("from one.csv", DAY_TEXTS.rename(lambda row: row + 1).to_csv(index_label="#"), FORTNIGHT),
    OddFile("drawn.csv", csv(FORTNIGHT, sep="|").replace("\n", "\n----|----|----\n", 1), FORTNIGHT),
    OddFile("escaped.csv", ESCAPED, QUOTED),
    OddFile("a letter.csv", (csv(YEAR) + "2026-11-28,Köln,5\n").encode("cp1252"), LATE_LETTER),
    OddFile("index.json", json.dumps(dict(enumerate(ROWS))), FORTNIGHT),
    OddFile("columns.json", json.dumps(COLUMNS), FORTNIGHT),
    OddFile("lists.json", json.dumps({name: list(DAY_TEXTS[name]) for name in DAY_TEXTS}), FORTNIGHT),
    OddFile("names.json", json.dumps([list(DAY_TEXTS), *DAY_TEXTS.to_numpy().tolist()]), FORTNIGHT),
    OddFile("grouped.json", json.dumps({"sites": SITES}), FORTNIGHT),
    OddFile(
        "beyond 64 bits.ndjson",
        "".join(json.dumps(row | {"ref": int(ref)}) + "\n" for row, ref in zip(ROWS, BIG, strict=True)),
        FORTNIGHT.assign(ref=BIG),
    ),
    OddFile(
        "in a corner.xlsx",
        workbook(["Report"], list(DAY_TEXTS), *DAY_TEXTS.to_numpy().tolist(), corner=(5, 3)),
        FORTNIGHT,
    ),
    OddFile("merged.xlsx", workbook(["site", "day", "imps"], *GROUPS, merged=" ".join(SPANS)), BY_SITE),
]


@pytest.mark.parametrize("file", [*DATES, *SHAPES], ids=lambda file: file.name)
def test_a_file_of_an_odd_shape_comes_to_its_sums(place: Place, file: OddFile) -> None:
    """What is imported are the rows of the table, under fields of the right kinds."""
    check(place, file)


def test_amounts_in_texts_are_not_repeated_for_each_of_a_list(place: Place) -> None:
    """Meta writes counts as texts beside a list of actions: each row counts once, and the list is marked."""
    actions = [{"action_type": kind, "value": "3"} for kind in ("link_click", "purchase")]
    rows = [row | {"imps": str(row["imps"]), "actions": actions} for row in ROWS]
    _, definition, stored = imported(place, "insights.json", json.dumps({"data": rows}), Hints())
    assert stored["imps"].tolist() == FORTNIGHT["imps"].tolist()
    key = next(field for field in definition.key_fields if field.name == "actions")
    assert "each value is an object" in key.annotation


def test_a_column_of_time_cells_is_the_hour_of_its_row(place: Place) -> None:
    """Dates and times of day in two columns of a workbook are hours."""
    rows = [
        [day.to_pydatetime(), (day + pd.Timedelta(hours=n)).time(), n]
        for n, day in enumerate(FORTNIGHT["day"])
    ]
    rows += [[day, (pd.Timestamp(day) + pd.Timedelta(hours=20)).time(), 1] for day, _, _ in rows]
    _, definition, stored = imported(place, "a.xlsx", workbook(["day", "hour", "imps"], *rows), Hints())
    expected = sorted(pd.Timestamp.combine(day.date(), hour).tz_localize("UTC") for day, hour, _ in rows)
    assert definition.time.granularity == "hour" and sorted(stored["time"]) == expected


ROLLUP = csv(pd.concat([MONTH, MONTH.assign(site=None)]))
ALL_SITES = csv(pd.concat([MONTH, MONTH.assign(site="All sites")]))
SECOND_TABLE = "\nday,visits,exits\n2026-11-01,5,6\n"
REFUSED = [
    ("two.csv", csv(FORTNIGHT) + SECOND_TABLE, "begins in line 17, where 'visits'"),
    ("rollup.csv", ROLLUP, "In 28 rows column 'site' has no value"),
    ("all.csv", ALL_SITES, "In 28 rows column 'site' has 'All sites'"),
    ("month.csv", "site,2026-01,2026-02,2026-03\na,1,2,3\nb,4,5,6\n", "--unpivot makes a row of each"),
    ("named.csv", "site,Jan 2026,Feb 2026\na,1,2\nb,4,5\n", "--unpivot makes a row of each"),
    ("gaps.csv", "day,n\n" + "2026-11-01,1\n,2\n,3\n" * 9, "'day', but it is empty in 67% of the rows"),
    ("a.csv", b"BZh91AY&SY", "is a bzip2 file; unpack it"),
    ("a.csv", b"%PDF-1.7\n", "is a PDF document"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "reason"), REFUSED)
def test_what_would_be_read_wrongly_is_refused(
    place: Place, name: str, content: str | bytes, reason: str
) -> None:
    """A second table, subtotals without a word for them, time across the columns, foreign formats."""
    with pytest.raises(ImportRefused, match=reason):
        imported(place, name, content, Hints())


def test_databases_and_archives_are_named(place: Place) -> None:
    """A SQLite database and a tar archive under the name of a CSV file are what they are."""
    database = place.folder / "a.csv"
    with sqlite3.connect(database) as connection:
        connection.execute("create table t (a)")
    with tarfile.open(place.folder / "b.csv", "w") as archive:
        archive.add(place.file("c.csv", csv(MONTH)), "c.csv")
    for name, kind in (("a.csv", "an SQLite database"), ("b.csv", "a tar archive")):
        with pytest.raises(ImportRefused, match=kind):
            readers(place.folder / name)


DOUBTS = [
    ("CPC", ["Infinity", *range(13)], "'Infinity' is no number"),
    ("people", ["<10", *range(20, 33)], "'<10' is no number"),
    ("Search impr. share", ["< 10%", *(f"{n}.5%" for n in range(13))], "'< 10%' is no number"),
    ("spend", [f"{n}.50 CR" for n in range(14)], "'0.50 CR' is no number"),
    ("metric", ["imps", "spend"] * 7, r"different metrics \(imps, spend\) are added up"),
    ("metric_name", ["imps", "spend"] * 7, r"different metrics \(imps, spend\) are added up"),
    ("Measure Names", ["imps", "spend"] * 7, r"different metrics \(imps, spend\) are added up"),
    ("variable", ["imps", "spend"] * 7, r"different metrics \(imps, spend\) are added up"),
    ("spend", ["€1.50", "$2.50"] * 7, "a currency in a column of its own"),
    ("value", [3.25 + n for n in range(14)], "although its name says nothing"),
    ("group", ["a", *[None] * 6, "b", *[None] * 6], "each stands for the rows below it"),
]


@pytest.mark.parametrize(("name", "values", "sentence"), DOUBTS)
def test_a_doubtful_column_says_why(place: Place, name: str, values: list[object], sentence: str) -> None:
    """A column says why it may be another: text because of some values, several metrics, or a bare value."""
    inference = infer(readers(place.file("a.csv", csv(FORTNIGHT.assign(**{name: values}))))[0])
    (doubt,) = (guess.doubt for guess in inference.columns if guess.column == name)
    assert pd.Series([doubt]).str.contains(sentence).all()


def test_columns_of_plain_texts_have_no_doubt(place: Place) -> None:
    """Names, sizes, addresses and ids are texts, and there is nothing to say about them."""
    texts = {
        "size": ["300x250", "728x90"] * 7,
        "ip": [f"10.0.0.{n}" for n in range(14)],
        "ref": [f"0{n:03}" for n in range(14)],
        "promo": [None, "A", *[None] * 12],
        "sku": ["1E5", "100000", *["2E5"] * 12],
    }
    inference = infer(readers(place.file("a.csv", csv(FORTNIGHT.assign(**texts))))[0])
    assert not [guess.doubt for guess in inference.columns if guess.column in texts and guess.doubt]
    assert {guess.kind for guess in inference.columns if guess.column in texts} == {"key field (text)"}
