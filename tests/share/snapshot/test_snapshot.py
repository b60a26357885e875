"""Snapshots: the figures in the file, what it asks of others (nothing), and hostile names in it."""

import ctypes
import datetime as dt
import hashlib
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import Mock
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from click.testing import CliRunner
from conftest import LAST_DAY, PEOPLE, rows_by_week
from pypdfium2 import PdfDocument, raw
from test_one_desk import CLI, run

from lib.cli import main
from lib.figures.numbers import Numbers, days
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.share.documents.documents import Documents
from lib.share.documents.question import number_of
from lib.share.snapshot import models, render
from lib.share.snapshot.page import html
from lib.views import BoardCell
from lib.views.board_copies import BoardCopy, BoardItem
from lib.wire.errors import AccessError, BadRequest

MANAGER = PEOPLE[1]
ABOUT = ("demo", "delivery")
HOSTILE = (
    '</script><script src="https://evil.example/x.js"></script><img src=https://evil.example/ onerror=a()>'
    '#panic() #read("/etc/passwd") *a* $b$ `c` @d \x01\x0b\ufffe'
)


class Page(HTMLParser):
    """A file as a browser reads it: its tables, its tags and what they load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self._is_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag begins."""
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self._is_cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """A tag ends."""
        self._is_cell = self._is_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        """A text."""
        if self._is_cell:
            self.rows[-1][-1] += data.strip()

    @property
    def links(self) -> list[str]:
        """What its tags name in attributes that load or lead somewhere."""
        names = ("src", "href", "action", "data", "poster", "srcset", "xlink:href", "background")
        return [value for _, attrs in self.tags for name in names if (value := attrs.get(name))]


@pytest.fixture(scope="module")
def snapshots(settings: Settings) -> Documents:
    """The snapshots of the small demo."""
    return Documents(settings)


@pytest.fixture(scope="module")
def week(snapshots: Documents) -> models.Snapshot:
    """The usual question: the last seven complete days, compared with those before."""
    return snapshots.of_question(MANAGER, ABOUT, {})


def totals(column: str) -> pd.Series:
    """The sum of a column per week of the small demo, 0 the latest."""
    return rows_by_week("geo.country").groupby("week")[column].sum()


def test_the_headline_has_the_figures_of_the_rows(week: models.Snapshot) -> None:
    """Each total is that of the rows, and its change that against the seven days before."""
    by_week, figure = totals("imps"), week.figures[0]
    assert figure.title == "Impressions"
    assert figure.text == f"{by_week[0]:,.0f}"
    change = 100 * (by_week[0] / by_week[1] - 1)
    assert figure.delta is not None
    assert figure.delta.removeprefix("≈ ") == f"{change:+.1f} %".replace("-", "\u2212")
    assert dict(week.facts)["Precision"] == "Exact"


def test_the_chart_has_the_values_of_the_days(week: models.Snapshot) -> None:
    """The lines are the sums of the rows by day: of these days, and of those compared."""
    rows = rows_by_week("geo.country")
    by_day = rows.groupby([rows["week"], pd.to_datetime(rows["time"]).dt.date])["imps"].sum()
    assert week.chart is not None
    now, before = week.chart.lines
    assert [*now.values] == pytest.approx(by_day[0].tolist(), rel=1e-5)
    assert [*before.values] == pytest.approx(by_day[1].tolist(), rel=1e-5)
    assert before.is_before and not now.is_before


def test_leaderboards_have_the_sums_of_their_values(week: models.Snapshot) -> None:
    """A row has its value's sum over the rows of the days, also as the number by which it sorts."""
    rows = rows_by_week("geo.country").query("week == 0")
    sums = rows.groupby("geo.country")["imps"].sum().sort_values(ascending=False)
    card = week.cards[0]
    cells = [row.cells[1] for row in card.rows if row.kind == "row"]
    assert [cell.text for cell in cells] == [f"{value:,.0f}" for value in sums]
    assert [cell.order for cell in cells] == sums.tolist()


def test_a_split_has_the_sums_of_its_rows(snapshots: Documents) -> None:
    """The split is there where its tab is in sight, as a table whatever its chart is."""
    params = {"split": "campaign_id", "lower": "split", "chart": "bars", "start": "-7d", "end": "yesterday"}
    split = snapshots.of_question(MANAGER, ABOUT, params).tables[0]
    sums = rows_by_week("geo.country").query("week == 0").groupby("campaign_id")["imps"].sum()
    texts = {row.cells[split.columns.index("Campaign")].text: row for row in split.rows if row.kind == "row"}
    column = next(place for place, title in enumerate(split.columns) if title.startswith("Impressions"))
    assert {name: row.cells[column].order for name, row in texts.items()} == sums.to_dict()


def test_what_moved_is_there_where_its_tab_is(snapshots: Documents) -> None:
    """The tab in sight decides: what moved, with the sentence on the total."""
    table = snapshots.of_question(MANAGER, ABOUT, {"lower": "moved"}).tables[-1]
    assert table.title == "What moved"
    assert table.message.startswith("Impressions ")


def test_a_filter_narrows_all_figures_and_is_named(snapshots: Documents) -> None:
    """The filters of the link hold, and the facts on top name them."""
    filtered = snapshots.of_question(MANAGER, ABOUT, {"is.geo.country": "DE"})
    rows = rows_by_week("geo.country").query("week == 0 and `geo.country` == 'DE'")
    assert filtered.figures[0].text == f"{rows['imps'].sum():,.0f}"
    assert dict(filtered.facts)["Filters"].startswith("Country is ")


def test_a_named_zone_holds_in_all_figures(snapshots: Documents) -> None:
    """Days of a link in a named zone are those of its clocks, in all figures, and it is said."""
    first, last = LAST_DAY - dt.timedelta(days=7), LAST_DAY - dt.timedelta(days=1)
    params = {"start": str(first), "end": str(last), "tz": "America/New_York"}
    there = snapshots.of_question(MANAGER, ABOUT, params)
    rows = rows_by_week("geo.country")
    days = pd.to_datetime(rows["time"], utc=True).dt.tz_convert("America/New_York").dt.date
    sums = rows[days.between(first, last)].groupby(days)["imps"].sum()
    assert there.figures[0].text == f"{sums.sum():,.0f}"
    assert there.chart is not None
    assert [*there.chart.lines[0].values] == pytest.approx(sums.tolist(), rel=1e-5)
    cells = [row.cells[1].order for row in there.cards[0].rows if row.kind == "row"]
    assert sum(cells) == sums.sum()
    assert dict(there.facts)["Time zone"] == "America/New_York"


def test_days_of_23_and_25_hours_are_marked(snapshots: Documents) -> None:
    """The chart of a file marks them, on paper too, and its table says it."""
    days = [LAST_DAY - dt.timedelta(days=number) for number in range(230, -1, -1)]
    midnights = [dt.datetime.combine(day, dt.time(), ZoneInfo("Europe/Berlin")).timestamp() for day in days]
    lengths = zip(days, midnights, midnights[1:], strict=False)
    odd = [day for day, begin, end in lengths if end - begin != 86_400]
    params = {"start": str(days[0]), "end": str(LAST_DAY), "tz": "Europe/Berlin", "grain": "day"}
    there = snapshots.of_question(MANAGER, ABOUT, params)
    assert there.chart is not None
    assert [there.chart.starts[place][:10] for place in there.chart.marks] == [str(day) for day in odd]
    names = [row[0] for row in Page(html(there)).rows if "clocks of Europe/Berlin change" in row[0]]
    assert [name.startswith(f"{day:%a %-d %b %Y}") for name, day in zip(names, odd, strict=True)] == [
        True
    ] * len(odd)
    plain = replace(there, chart=replace(there.chart, marks={}))
    assert there.chart is not None
    assert plain.chart is not None
    assert render.picture(there.chart) != render.picture(plain.chart)


def test_notes_of_colleagues_stay_at_home(own_home: Path) -> None:
    """A note on a day is for the people of the desk: no file has it."""
    settings = Settings(home=own_home, demo=True)
    notes = connect.connect(MANAGER, settings).view_store.notes
    notes.add(*ABOUT, LAST_DAY - dt.timedelta(days=1), "The exchange was down")
    taken = Documents(settings).of_question(MANAGER, ABOUT, {})
    assert taken.chart is not None
    assert not taken.chart.marks
    assert "exchange was down" not in html(taken)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"tz": "America/New_York"}, "America/New_York"),
        ({"is.geo.country": "DE"}, "Country is Germany"),
        (
            {"any.is.geo.country": "DE", "any.is.campaign_id": "1"},
            "Any of: Country is Germany, Campaign is 1",
        ),
        ({"compare": "previous"}, days(LAST_DAY - dt.timedelta(13), LAST_DAY - dt.timedelta(7))),
    ],
    ids=["zone", "filter", "any of", "comparison"],
)
def test_what_a_figure_is_about_is_said_everywhere(
    snapshots: Documents, own_home: Path, params: dict[str, str], sentence: str
) -> None:
    """A snapshot and a cell of a board say the clock, the days compared with and all filters."""
    item = BoardItem("headline", 4, project=ABOUT[0], slicer=ABOUT[1], name="A view", params=params)
    cell = Documents(Settings(home=own_home, demo=True)).block(MANAGER, item, BoardCopy([item], {}))
    assert sentence in cell.about
    facts = snapshots.of_question(MANAGER, ABOUT, params).facts
    assert any(sentence in text for _, text in facts)


def test_an_error_in_a_cell_is_plain_text(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that fails says why in the error's own characters: a file is no Markdown."""
    reason = "No field 'won_*'; did you mean 'won_[1]'?"
    monkeypatch.setattr(OverviewAnswers, "finish", Mock(side_effect=BadRequest(reason)))
    item = BoardItem("headline", 4, project=ABOUT[0], slicer=ABOUT[1], name="A view", params={})
    copy = BoardCopy((item,), {})
    board = Documents(Settings(home=own_home, demo=True)).of_board(MANAGER, copy, "A board")
    assert reason in unescape(html(board))


def test_the_file_has_the_figures(week: models.Snapshot) -> None:
    """Every figure, cell and value of the chart is in the HTML, readable without its script."""
    page = Page(html(week))
    assert week.chart is not None
    cells = {cell for row in page.rows for cell in row}
    assert {cell.text for card in week.cards for row in card.rows for cell in row.cells} <= cells
    assert {*week.chart.lines[0].texts, *week.chart.lines[1].texts} <= cells
    for figure in week.figures:
        assert figure.text in html(week)


def test_the_file_asks_nothing_of_anywhere(week: models.Snapshot) -> None:
    """Its one link leads to the live question; its policy forbids what is not in the file itself."""
    page = Page(html(week))
    outside = [link for link in page.links if not link.startswith("#")]
    assert outside == [week.address]
    policies = [attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv")]
    assert len(policies) == 1
    assert "default-src 'none'" in str(policies[0])
    assert "unsafe-inline" not in re.search(r"script-src[^;]*", str(policies[0]))[0]  # type: ignore[index]
    assert not re.search(r"url\((?!#)|@import", html(week))


@pytest.mark.filterwarnings("ignore:Glyph")
def test_hostile_texts_are_texts(week: models.Snapshot) -> None:
    """A name that looks like HTML makes no tag, wherever it is."""
    cell = models.Cell(HOSTILE, help=HOSTILE)
    table = models.Table(HOSTILE, HOSTILE, [HOSTILE, "Value"], 1, [models.Row([cell, cell])], HOSTILE)
    assert week.chart is not None
    line = vars(week.chart.lines[0]) | {"label": HOSTILE, "texts": [HOSTILE] * 7}
    chart = vars(week.chart) | {"title": HOSTILE, "alt": HOSTILE, "names": [HOSTILE] * 7}
    hostile = models.Snapshot(
        HOSTILE,
        [(HOSTILE, HOSTILE)],
        "",
        chart=type(week.chart)(
            **chart | {"lines": [type(week.chart.lines[0])(**line)], "ticks": [HOSTILE] * 7}
        ),
        notes=[HOSTILE],
        cards=[table],
        tables=[table],
        nothing=HOSTILE,
    )
    page = Page(html(hostile))
    assert not [link for link in page.links if "evil" in link]
    assert {tag for tag, _ in page.tags}.isdisjoint({"img", "iframe", "object"})
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert [HOSTILE, HOSTILE] in page.rows
    for kind in ("pdf", "png"):
        assert render.file(hostile, kind)


@pytest.mark.parametrize(
    ("kind", "start"), [("html", b"<!doctype html>"), ("pdf", b"%PDF-"), ("png", b"\x89PNG")]
)
def test_kinds_of_files(week: models.Snapshot, kind: str, start: bytes) -> None:
    """Each kind of file is what it says."""
    assert render.file(week, kind).lstrip().startswith(start)


@pytest.mark.parametrize(("paper", "size"), [("a4", (595, 842)), ("letter", (612, 792))])
def test_paper(week: models.Snapshot, paper: str, size: tuple[int, int]) -> None:
    """A PDF's pages have the size of the paper, and all figures are text on them, the chart's axis too."""
    sheets = PdfDocument(render.file(week, "pdf", paper))
    assert tuple(round(side) for side in sheets.get_page_size(0)) == size
    text = "".join(sheet.get_textpage().get_text_range() for sheet in sheets)
    cells = [cell.text for card in week.cards for row in card.rows for cell in row.cells]
    assert week.chart is not None
    for part in (week.title, *cells, *[figure.text for figure in week.figures], week.chart.lines[0].label):
        assert part in text, part
    assert "Page 1 of 1" in text


def test_a_sheet_reads_its_chart_aloud(week: models.Snapshot) -> None:
    """The PDF is tagged, and its chart has the text alternative that the page's has."""
    assert week.chart is not None
    sheet = PdfDocument(render.file(week, "pdf"))[0]
    tree = raw.FPDF_StructTree_GetForPage(sheet.raw)
    parts = [
        raw.FPDF_StructTree_GetChildAtIndex(tree, n) for n in range(raw.FPDF_StructTree_CountChildren(tree))
    ]
    texts = set()
    while parts:
        part = parts.pop()
        buffer = ctypes.create_string_buffer(4096)
        size = raw.FPDF_StructElement_GetAltText(part, buffer, len(buffer))
        texts.add(buffer.raw[: max(size - 2, 0)].decode("utf-16-le"))
        count = raw.FPDF_StructElement_CountChildren(part)
        parts += filter(None, (raw.FPDF_StructElement_GetChildAtIndex(part, n) for n in range(count)))
    assert week.chart.alt in texts


def test_a_long_table_names_its_columns_on_each_sheet(week: models.Snapshot) -> None:
    """A table that is longer than a sheet goes on below its header; no row is cut or left out."""
    rows = [models.Row([models.Cell(f"Row {place}."), models.Cell("1,234")]) for place in range(150)]
    table = models.Table("Rows", "", ["Key", "Number of something"], 1, rows)
    sheets = PdfDocument(render.file(models.Snapshot("Long", (), "", tables=[table]), "pdf"))
    texts = [sheet.get_textpage().get_text_range() for sheet in sheets]
    assert len(texts) > 2
    assert all("Number of something" in text for text in texts)
    assert [name for text in texts for name in re.findall(r"Row \d+\.", text)] == [
        row.cells[0].text for row in rows
    ]


def test_equal_snapshots_are_equal_files(week: models.Snapshot) -> None:
    """A file says nothing of when it was made or in which process: equal snapshots are equal in each kind."""
    script = (
        "import hashlib, pickle, sys\n"
        "from lib.share.snapshot import render\n"
        "taken = pickle.loads(sys.stdin.buffer.read())\n"
        "for kind in render.KINDS: print(hashlib.sha256(render.file(taken, kind)).hexdigest())\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(week), capture_output=True)
    digests = [hashlib.sha256(render.file(week, kind)).hexdigest() for kind in render.KINDS]
    assert ran.stdout.decode().split() == digests
    about = PdfDocument(render.file(week, "pdf")).get_metadata_dict(skip_empty=True)
    assert about.keys() == {"Title", "Creator"}


def test_ids_of_charts_are_unique_in_a_board(week: models.Snapshot) -> None:
    """Each id of a page with several charts is there once, and what refers to one refers to one that is."""
    block = models.Block("A chart", "", 2, chart=week.chart)
    page = Page(html(models.Board("Board", (), "", [block, block])))
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len({*ids}) == len(ids) > 0
    references = {link[1:] for link in page.links if link.startswith("#")}
    references |= {
        name
        for _, attrs in page.tags
        for value in attrs.values()
        for name in re.findall(r"url\(#([^)]+)", value or "")
    }
    assert references
    assert references <= {*ids}


def test_the_chart_alone_is_a_picture(week: models.Snapshot) -> None:
    """For mail there is the chart as PNG; none without a chart."""
    assert week.chart is not None
    assert str(render.picture(week.chart))[2:9] == "\\x89PNG"


def test_a_question_without_records_says_why(snapshots: Documents) -> None:
    """Days without data give a sentence in place of the figures, in each kind of file."""
    empty = snapshots.of_question(MANAGER, ABOUT, {"start": "2020-01-01", "end": "2020-01-02"})
    assert empty.nothing in html(empty).replace("&#39;", "'")
    assert not empty.figures
    assert render.file(empty, "pdf").startswith(b"%PDF")


def test_nobody_takes_what_they_may_not_see(snapshots: Documents) -> None:
    """A person without a grant gets nothing, by the same error as for a slicer that is not there."""
    stranger = Person("stranger", "Sam", None, "viewer")
    for about in (ABOUT, ("demo", "nothing")):
        with pytest.raises(AccessError):
            snapshots.of_question(stranger, about, {})


@pytest.mark.parametrize(
    ("text", "about", "number"),
    [
        ("1,234", "", 1234),
        ("\u22123.5", "", -3.5),
        ("1.20M", "$1,203,456.00", 1203456),
        ("–", "", None),
        ("83.4k", "", 83400),
    ],
)
def test_cells_sort_by_their_numbers(text: str, about: str, number: float | None) -> None:
    """A cell's number is that of its text, or the whole one where that is cut to three figures."""
    assert number_of({"text": text, "about": about}, Numbers()) == number


def test_the_command_line_writes_a_view(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tranche snapshot VIEW -o file` writes a saved view by its name; a name that is none is refused."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    views = connect.connect(MANAGER, Settings.load()).view_store.views
    view = views.save("demo", "delivery", "Snapshot of Germany", {"is.geo.country": "DE"})
    for target in ("week.html", "week.pdf", "week.png"):
        ran = CliRunner().invoke(main, ["snapshot", view.name, "-o", str(tmp_path / target)])
        assert ran.exit_code == 0, ran.output
    assert "<h1>Snapshot of Germany</h1>" in (tmp_path / "week.html").read_text()
    link = "http://desk.example/audience?project=demo&slicer=delivery&is.geo.country=DE"
    linked = ["snapshot", link, "-o", str(tmp_path / "link.html")]
    assert CliRunner().invoke(main, linked).exit_code == 2
    assert CliRunner().invoke(main, [*linked, "--person", "viewer"]).exit_code == 0
    figures = [Page((tmp_path / name).read_text()).rows for name in ("week.html", "link.html")]
    assert figures[0] == figures[1]
    refused = CliRunner().invoke(main, ["snapshot", "No such view", "-o", str(tmp_path / "x.html")])
    assert refused.exit_code == 1
    assert refused.output == "Error: There is no saved view or board 'No such view'\n"
    assert CliRunner().invoke(main, ["snapshot", str(view.id), "-o", "x.docx"]).exit_code == 2


def test_the_command_line_says_one_line(own_home: Path, tmp_path: Path) -> None:
    """Nothing of Streamlit, whose caches it uses without a page."""
    target, link = tmp_path / "link.html", "audience?project=demo&slicer=delivery"
    ran = run([*CLI, "snapshot", link, "--person", "viewer", "-o", str(target)], own_home)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert re.fullmatch(f"Wrote {target}: [^\n]*\n", ran.stderr)


def test_the_command_line_writes_a_board(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board is written by its name or its link, under its own days or the link's, with all of its cells."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    store = connect.connect(MANAGER, Settings.load()).view_store
    view = store.views.save("demo", "delivery", "Germany", {"is.geo.country": "DE"}, is_shared=True)
    board = store.boards.save("Monday", True, [BoardCell(view.id), BoardCell(view.id, "chart")])

    def page(*arguments: str) -> str:
        target = tmp_path / "board.html"
        ran = CliRunner().invoke(main, ["snapshot", *arguments, "-o", str(target)])
        assert ran.exit_code == 0, ran.output
        return target.read_text()

    by_name, link = page("Monday"), f"http://desk.example/boards?board={board.id}"
    assert "<h1>Monday</h1>" in by_name
    assert "<svg" in by_name
    assert Page(page(link, "--person", "viewer")).rows == Page(by_name).rows
    assert Page(page(f"{link}&start=-1d&end=yesterday", "--person", "manager")).rows != Page(by_name).rows
    for kind in ("pdf", "png"):
        ran = CliRunner().invoke(main, ["snapshot", "Monday", "-o", str(tmp_path / f"board.{kind}")])
        assert ran.exit_code == 0, ran.output
    store.views.save("demo", "delivery", "Monday", {})
    refused = CliRunner().invoke(main, ["snapshot", "Monday", "-o", str(tmp_path / "x.html")])
    assert refused.exit_code == 1
    assert f"boards?board={board.id}" in refused.output
    hidden = store.boards.save("Mine", False, [BoardCell(view.id)])
    for number in (hidden.id, 10**30, "\N{ARABIC-INDIC DIGIT ONE}"):
        other = ["snapshot", f"boards?board={number}", "--person", "viewer", "-o", str(tmp_path / "x.html")]
        assert CliRunner().invoke(main, other).exit_code == 1
    assert not (tmp_path / "x.html").exists()
