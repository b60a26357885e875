"""`tranche import` and `tranche slicers`, as somebody types them."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lib.cli import main
from lib.engines.resident.lanes import Form, Lane
from lib.settings import Settings
from lib.slicers.definition import Definition
from lib.slicers.definition.file import read_definition
from lib.slicers.warehouse import Warehouse
from lib.slicers.warehouse.slicer import StoredSlicer
from lib.wire.errors import ImportRefused

DAY = "time,site_id,imps,country\n2026-01-01 05:30,7,1,DE\n2026-01-01 06:30,8,2,FR\n"
NEXT = "time,site_id,imps,country\n2026-01-02 05:30,7,4,DE\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a home beside it and the files of two days in it."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(here)
    (here / "day.csv").write_text(DAY)
    (here / "next.csv").write_text(NEXT)
    return here


def run(*words: str) -> Result:
    """Run `tranche import` with these arguments, for the slicer acme/auctions."""
    target = ["--project", "acme", "--slicer", "auctions"]
    return CliRunner().invoke(main, ["import", *words, *target], prog_name="tranche")


def slicer() -> StoredSlicer:
    """The slicer acme/auctions."""
    return Warehouse(Settings.load().warehouse).open("acme", "auctions")


def imps() -> list[float]:
    """All impressions of the slicer, by day."""
    column: list[float] = slicer().read(slicer().files)["imps"].to_pylist()
    return column


def test_a_file_alone_makes_a_slicer(folder: Path) -> None:
    """The definition is guessed, told with reasons, written where it says, and imports the file."""
    answer = run("day.csv")
    assert answer.exit_code == 0, answer.output
    assert "day.csv: UTF-8, comma-separated, 4 columns" in answer.output
    assert "time (hour)" in answer.output and "whole numbers, named like a code" in answer.output
    assert f"Written to {folder / 'auctions.yaml'}" in answer.output
    assert "2 rows imported into acme/auctions; its days are 2026-01-01 to 2026-01-01" in answer.output
    assert read_definition(folder / "auctions.yaml") == slicer().definition
    assert imps() == [1, 2]


def test_columns_cost_what_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks at all columns is done as often for 200 of them as for 50."""
    calls = {"columns": 0, "forms": 0}
    source_columns, forms = Definition.source_columns, Form.of

    def columns(definition: Definition) -> list[str]:
        calls["columns"] += 1
        return source_columns(definition)

    def form(lanes: Sequence[Lane]) -> list[Form]:
        calls["forms"] += 1
        return forms(lanes)

    monkeypatch.setattr(Definition, "source_columns", columns)
    monkeypatch.setattr(Form, "of", form)
    counts = []
    for count in (50, 200):
        names = [f"m{number}" for number in range(count)]
        rows = (",".join(map(str, range(day, day + count))) for day in range(20))
        lines = [f"2026-01-{day + 1:02},{row}" for day, row in enumerate(rows)]
        (folder / "wide.csv").write_text("\n".join([",".join(["day", *names]), *lines]))
        target = ["--project", "acme", "--slicer", f"wide_{count}"]
        assert CliRunner().invoke(main, ["import", "wide.csv", *target]).exit_code == 0
        counts.append(dict(calls))
        calls |= dict.fromkeys(calls, 0)
    assert counts[0] == counts[1]


def test_the_layout_is_prepared(folder: Path) -> None:
    """After the import the first question does not wait."""
    assert run("day.csv").exit_code == 0
    assert any(slicer().layout_folder.iterdir())


def test_a_written_definition_is_never_overwritten(folder: Path) -> None:
    """A file of that name that says something else stays; the guess goes beside it."""
    (folder / "auctions.yaml").write_text("mine")
    answer = run("day.csv")
    assert "auctions-2.yaml" in answer.output and (folder / "auctions.yaml").read_text() == "mine"
    assert read_definition(folder / "auctions-2.yaml") == slicer().definition


def test_an_inferred_definition_can_be_edited(folder: Path) -> None:
    """The definition, edited, imports again with --replace, and with a mapping."""
    run("day.csv")
    text = (folder / "auctions.yaml").read_text()
    (folder / "mine.yaml").write_text(text.replace("{name: country,", "{name: country, mapping: land,"))
    (folder / "land.csv").write_text("code,name\nDE,Germany\n")
    words = ("day.csv", "--replace", "--definition", "mine.yaml")
    refused = run(*words)
    assert refused.exit_code == 1 and "give it with --mapping land=FILE.csv" in refused.output
    assert run(*words, "--mapping", "land=land.csv").exit_code == 0
    assert slicer().mapping("land") == {"DE": "Germany"}


def test_a_slicer_that_exists_is_not_overwritten() -> None:
    """Without saying how, nothing is changed, and the ways are told."""
    run("day.csv")
    answer = run("next.csv")
    assert answer.exit_code == 1 and imps() == [1, 2]
    assert all(way in answer.output for way in ("--append", "--replace-days", "--replace"))


def test_append_replace_days_and_replace() -> None:
    """Each does what it says, with the slicer's own definition."""
    run("day.csv")
    assert "1 row imported into acme/auctions, 3 in all" in run("next.csv", "--append").output
    assert imps() == [1, 2, 4]
    refused = run("next.csv", "--append")
    assert refused.exit_code == 1 and "was imported already" in refused.output
    Path("again.csv").write_text(NEXT.replace(",4,", ",5,"))
    assert run("again.csv", "--replace-days").exit_code == 0 and imps() == [1, 2, 5]
    assert run("next.csv", "--replace").exit_code == 0 and imps() == [4]


@pytest.mark.parametrize(
    ("answer", "rows"),
    [("replace-days", [8, 9]), ("skip", [1, 2, 9]), ("add", [1, 2, 8, 9]), ("stop", [1, 2])],
)
def test_a_window_that_is_sent_again(monkeypatch: pytest.MonkeyPatch, answer: str, rows: list[float]) -> None:
    """In a script nothing is imported until an option says what to do; at a terminal the import asks."""
    window = NEXT + DAY.partition("\n")[2].partition("\n")[0].replace(",1,", ",8,") + "\n"
    Path("window.csv").write_text(window.replace(",4,", ",9,"))
    run("day.csv")
    refused = run("window.csv", "--append")
    assert (refused.exit_code, imps()) == (2, [1, 2])
    assert "keys of 1 of 2 rows are there already (1 Jan 2026)" in refused.output
    assert all(way in refused.output for way in ("--replace-days", "--overlap skip", "overlap: add"))
    assert run("window.csv", "--overlap", "add").exit_code == 2
    if answer in ("skip", "add"):
        assert run("window.csv", "--append", "--overlap", answer).exit_code == 0
        assert imps() == rows
        run("day.csv", "--replace")
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda stream: True)
    target = ["--project", "acme", "--slicer", "auctions", "--append"]
    CliRunner().invoke(main, ["import", "window.csv", *target], input=f"{answer}\n")
    assert imps() == rows


def test_two_overlapping_files_of_one_command() -> None:
    """They are refused with the ways out, of which each works; a single new file needs none."""
    Path("window.csv").write_text(DAY.replace(",1,", ",8,"))
    refused = run("day.csv", "window.csv")
    assert refused.exit_code == 2 and "are in an earlier file or sheet of this import" in refused.output
    assert run("day.csv", "window.csv", "--overlap", "skip").exit_code == 0 and sum(imps()) == 3
    assert run("day.csv", "window.csv", "--replace", "--overlap", "add").exit_code == 0
    assert run("day.csv", "--replace").exit_code == run("window.csv", "--replace-days").exit_code == 0
    assert sum(imps()) == 10


def test_at_a_terminal_days_of_files_that_repeat_each_other_are_not_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Replacing days keeps both files, so it is no answer; the later file's rows are added or left out."""
    Path("window.csv").write_text(DAY.replace(",1,", ",8,"))
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda stream: True)
    command = ["import", "day.csv", "window.csv", "--project", "acme", "--slicer", "auctions"]
    result = CliRunner().invoke(main, command, input="replace-days\nskip\n")
    assert "'replace-days' is not one of 'skip', 'add', 'stop'" in result.output
    assert result.exit_code == 0 and sum(imps()) == 3


def test_files_that_can_t_be_compared_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later file that can't be inferred alone is imported, and it is said that it is unchecked."""
    run("day.csv")

    def refuse(*arguments: object) -> None:
        raise ImportRefused("nothing tells its days")

    monkeypatch.setattr("lib.cli.import_run.infer", refuse)
    answer = run("next.csv", "--append")
    assert answer.exit_code == 0 and "inferred alone: nothing tells its days" in answer.output


def test_guesses_are_confirmed() -> None:
    """What is marked as a guess is unmarked by a command, and stays so when rows are added."""
    Path("day.csv").write_text(DAY.replace("imps", "zork"))
    Path("next.csv").write_text(NEXT.replace("imps", "zork"))
    run("day.csv")
    confirm = ["slicer", "confirm", "acme/auctions"]
    assert "Confirmed: zork." in CliRunner().invoke(main, confirm).output
    assert "Nothing of acme/auctions is marked" in CliRunner().invoke(main, confirm).output
    assert run("next.csv", "--append").exit_code == 0 and slicer().definition.guesses == []


def test_a_later_file_is_held_against_the_definition() -> None:
    """A rate that is no longer what its formula says is named, with what to write."""
    rows = [
        "day,clicks,imps,ctr",
        *(f"2026-01-0{n},{n},{100 * n + 7},{n / (100 * n + 7):.6f}" for n in range(1, 6)),
    ]
    Path("day.csv").write_text("\n".join(rows))
    Path("next.csv").write_text("day,clicks,imps,ctr\n2026-01-06,5,100,0.09\n2026-01-07,5,110,0.08\n")
    run("day.csv")
    answer = run("next.csv", "--append")
    assert answer.exit_code == 0
    assert "Check: 'ctr' is not clicks / imps in 2 of 2 rows of this file" in answer.output
    assert "write {name: ctr," in answer.output and "under data_fields in the definition" in answer.output


def test_the_time_is_named() -> None:
    """`--time` names the column; a file without a time is refused with both ways, and names no amount."""
    Path("day.csv").write_text(
        "created,revenue,delivered\n2026-01-01,1.50,2026-02-01\n2026-01-02,2.50,2026-02-03\n"
    )
    assert run("day.csv", "--time", "delivered").exit_code == 0
    assert slicer().info().first_date == "2026-02-01"
    Path("bad.csv").write_text("site,Revenue\na,1.285.50\nb,2.285.50\n")
    answer = run("bad.csv", "--replace", "--decimal", ",")
    assert "--time" in answer.output and "--definition" in answer.output and "nearest" not in answer.output
    assert "Unknown column 'site_x'" in run("bad.csv", "--replace", "--time", "site_x").output


def test_replace_keeps_a_definition_that_fits() -> None:
    """A definition that somebody mended is not guessed again, unless the file has other columns."""
    run("day.csv")
    definition = read_definition(Path("auctions.yaml")).model_copy(update={"annotation": "mine"})
    Path("mine.yaml").write_text(f"annotation: mine\n{Path('auctions.yaml').read_text()}")
    assert run("day.csv", "--replace", "--definition", "mine.yaml").exit_code == 0
    assert run("next.csv", "--replace").exit_code == 0
    assert slicer().definition == definition
    Path("other.csv").write_text("date,clicks\n2026-01-01,1\n")
    assert run("other.csv", "--replace").exit_code == 0
    assert [part.name for part in slicer().definition.data_fields] == ["records", "clicks"]


def test_another_definition_can_t_be_appended() -> None:
    """The refusal names the fields that differ."""
    run("day.csv")
    Path("mine.yaml").write_text(Path("auctions.yaml").read_text().replace("timezone: 0", "timezone: 1"))
    answer = run("next.csv", "--append", "--definition", "mine.yaml")
    assert answer.exit_code == 1 and "differs from that of acme/auctions in timezone" in answer.output


def test_rejects_are_counted_shown_and_kept(tmp_path: Path) -> None:
    """Grouped by reason with examples; all of them in a file beside the data; too many refuse the import."""
    Path("bad.csv").write_text(DAY + "2026-01-01 07:30,9,many,DE\n" + NEXT.split("\n")[1] + ",5\n")
    assert run("day.csv").exit_code == 0
    answer = run("bad.csv", "--replace")
    assert answer.exit_code == 1 and imps() == [1, 2]
    assert "2 of 4 rows (50.00%) can't be read, more than the 1.00% allowed" in answer.output
    assert "not a number in column 'imps'" in answer.output and "bad.csv, line 4: 'many'" in answer.output
    assert "bad.csv, line 5: '5 instead of 4'" in answer.output
    (kept,) = (tmp_path / "home" / "rejects").iterdir()
    assert kept.name.startswith("auctions-") and str(kept) in answer.output
    Path("below.csv").write_text(DAY + "Report of the day,agency\n")
    assert "below.csv, line 4: 'Report of the day,agency'" in run("below.csv", "--replace").output
    assert run("day.csv", "--replace").exit_code == 0
    allowed = run("bad.csv", "--replace", "--max-rejects", "50%", "--rejects", "mine.csv")
    assert allowed.exit_code == 0 and "2 rows can't be read" in allowed.output
    assert len(Path("mine.csv").read_text().splitlines()) == 3 and imps() == [1, 2]


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no /dev/full, a disk that is always full"
)
def test_a_full_disk_is_reported_and_changes_nothing() -> None:
    """What the disk refuses is a sentence, not a traceback, and the slicer is as it was."""
    run("day.csv")
    Path("bad.csv").write_text(NEXT + "2026-01-02 07:30,9,many,DE\n")
    answer = run("bad.csv", "--append", "--max-rejects", "100%", "--rejects", "/dev/full")
    assert answer.exit_code == 1 and "No space left on device" in answer.output
    assert imps() == [1, 2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Missing argument 'FILES...'"),
        (["none.csv"], "'none.csv' does not exist"),
        (["day.csv", "--append", "--replace"], "--append and --replace can't be used together"),
        (["day.csv", "--max-rejects", "5"], "'5' is not a share from 0 to 100%; write 2% or 0.02"),
        (["day.csv", "--max-rejects", "few"], "not a share"),
        (["day.csv", "--mapping", "country"], "'country' is not NAME=FILE.csv"),
        (["day.csv", "--mapping", "country=none.csv"], "there is no file 'none.csv'"),
        (["day.csv", "--mapping", "c=day.csv", "--mapping", "c=day.csv"], "'c' is given twice"),
        (["day.csv", "--delimiter", "ab"], "a delimiter is one character"),
        (["day.csv", "--format", "xml"], "'xml' is not one of"),
    ],
)
def test_what_is_not_understood_is_a_usage_error(words: list[str], sentence: str) -> None:
    """Exit code 2, a sentence, and nothing imported."""
    answer = run(*words)
    assert answer.exit_code == 2 and sentence in " ".join(answer.output.split())
    assert not Warehouse(Settings.load().warehouse).slicers()


def test_errors_of_a_definition_name_line_and_field() -> None:
    """A wrong definition is refused with where it is wrong."""
    Path("mine.yaml").write_text("time: {column: time}\ntimezone: 99\n")
    answer = run("day.csv", "--definition", "mine.yaml")
    assert (
        answer.exit_code == 1 and "mine.yaml, line 2, timezone: should be at most 12, not 99" in answer.output
    )


@pytest.mark.parametrize("name", ["a/b", "*", " a", ""])
def test_names_that_no_slicer_can_have_are_refused(name: str) -> None:
    """The refusal says what a name may be."""
    answer = CliRunner().invoke(main, ["import", "day.csv", "--project", "acme", "--slicer", name])
    assert answer.exit_code == 1 and "A slicer's name " in answer.output


def test_encoding_and_delimiter_can_be_named() -> None:
    """The given encoding and delimiter are used and shown."""
    Path("a.txt").write_bytes("time^city\n2026-01-01^Çankırı\n".encode("cp1254"))
    answer = run("a.txt", "--encoding", "cp1254", "--delimiter", "^", "--format", "csv")
    assert "a.txt: Windows-1254, separated by '^', 2 columns" in answer.output
    assert slicer().read(slicer().files)["city"].to_pylist() == ["Çankırı"]


def test_several_files_are_one_import() -> None:
    """All files of a call stand in one import."""
    assert "3 rows imported" in run("day.csv", "next.csv").output
    assert len(slicer().imports) == 1


def test_slicers_are_listed() -> None:
    """Project, slicer, rows, dates, fields, size and last import; a hint where there are none."""
    assert "no slicers yet" in CliRunner().invoke(main, ["slicers"]).output
    run("day.csv")
    header, line = CliRunner().invoke(main, ["slicers"]).output.splitlines()
    assert header.split("  ")[0] == "PROJECT"
    cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
    assert cells[:5] == ["acme", "auctions", "2", "2026-01-01", "2026-01-01"]
    assert cells[5:7] == ["10", "2"] and cells[7].endswith("kB")


GERMAN = (
    "Bericht\nDatum;Seite;Imps;Kosten\n01.01.2026;a;1.285;12,50 €\n02.01.2026;N/A;45;-\n"
    "Gesamt;;1.330;12,50 €\n"
)


def test_try_shows_what_would_be_read_and_writes_nothing(folder: Path, tmp_path: Path) -> None:
    """Definition, first rows and what is left out are shown, without a project; nothing is made on disk."""
    (folder / "g.csv").write_text(GERMAN)
    before = sorted(tmp_path.rglob("*"))
    answer = CliRunner().invoke(main, ["import", "--try", "g.csv"], prog_name="tranche")
    assert answer.exit_code == 0, answer.output
    assert sorted(tmp_path.rglob("*")) == before
    lines = [" ".join(line.split()) for line in answer.output.splitlines()]
    assert "Imps 1285 45" in lines and "Kosten 12.5 –" in lines and "Seite a –" in lines
    assert "decimal: ','" in lines and "thousands: ." in lines
    assert "1 line above the table left out, such as 'Bericht'" in lines[0]
    assert "1 a total of other rows" in lines and "g.csv, line 5: 'Gesamt'" in lines


def test_try_follows_a_definition(folder: Path) -> None:
    """With a definition the rows are shown as that would read them; rows that it can't read are named."""
    (folder / "mine.yaml").write_text("time: {column: time}\ndata_fields: [{name: imps, column: country}]\n")
    answer = CliRunner().invoke(main, ["import", "--try", "day.csv", "--definition", "mine.yaml"])
    assert answer.exit_code == 0 and "2  not a number in column 'country'" in answer.output
    assert not (folder.parent / "home").exists()


def test_a_german_report_imports_without_options(folder: Path) -> None:
    """Exit 0, the right sums, marks and total said; the ambiguous one is refused with the option to give."""
    (folder / "g.csv").write_text(GERMAN)
    answer = run("g.csv")
    assert answer.exit_code == 0, answer.output
    assert imps_of("Imps") == [1285, 45] and imps_of("Kosten") == [12.5, None]
    assert "decimal mark ','" in answer.output and "1 row left out" in answer.output
    (folder / "a.csv").write_text("Datum;Imps\n01.01.2026;1.285\n")
    refused = run("a.csv", "--replace")
    assert refused.exit_code == 1 and "can be 1285 or 1.285" in refused.output
    assert run("a.csv", "--replace", "--decimal", ",").exit_code == 0 and imps_of("Imps") == [1285]
    assert run("a.csv", "--replace", "--thousands", ",").exit_code == 0 and imps_of("Imps") == [1.285]


def imps_of(name: str) -> list[float]:
    """A column of the slicer, by day."""
    column: list[float] = slicer().read(slicer().files)[name].to_pylist()
    return column


def test_options_of_a_guess_need_a_guess() -> None:
    """With a definition, or the slicer's own, the options are a usage error that says where to write it."""
    run("day.csv")
    for words in (["next.csv", "--append"], ["day.csv", "--replace", "--definition", "auctions.yaml"]):
        answer = run(*words, "--decimal", ",")
        assert answer.exit_code == 2 and "--decimal is for inferring" in answer.output
    answer = run("day.csv", "--replace", "--decimal", ",", "--thousands", ",")
    assert answer.exit_code == 2 and "can't both be" in answer.output


@pytest.mark.parametrize(("option", "missing"), [("--project", "--slicer"), ("--slicer", "--project")])
def test_an_import_needs_project_and_slicer(option: str, missing: str) -> None:
    """Only --try goes without them."""
    answer = CliRunner().invoke(main, ["import", "day.csv", option, "x"])
    assert answer.exit_code == 2 and f"Missing option '{missing}'" in answer.output


def test_a_file_without_a_header_is_imported_and_said(folder: Path) -> None:
    """The columns get names in the definition, which can be changed; appending goes on without a header."""
    (folder / "plain.csv").write_text(DAY.split("\n", 1)[1])
    answer = run("plain.csv")
    assert answer.exit_code == 0 and "no header row" in answer.output
    text = Path("auctions.yaml").read_text()
    assert "header: false" in text and "names: [column_1, column_2, column_3, column_4]" in text
    Path("mine.yaml").write_text(text.replace("column_3", "imps"))
    assert run("plain.csv", "--replace", "--definition", "mine.yaml").exit_code == 0 and imps() == [1, 2]
    (folder / "more.csv").write_text(NEXT.split("\n", 1)[1])
    assert run("more.csv", "--append").exit_code == 0 and imps() == [1, 2, 4]


# Whatever started the tests in the background may ignore signals, which a process inherits.
COMMAND = """
import os, signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
from lib.cli import main
{moment}
main()
"""
WRITING = """
from lib.slicers.warehouse.writer import Writer
write = Writer.write
def write_and_stop(self, table):
    write(self, table)
    self._files.finish()
    os.kill(os.getpid(), signal.{signal})
Writer.write = write_and_stop
"""
PREPARING = """
from lib.engines.resident import build
def stop(self, progress):
    os.kill(os.getpid(), signal.{signal})
build.Builder.build = stop
"""


def stopped(moment: str, stop: signal.Signals, *words: str) -> subprocess.CompletedProcess[str]:
    """An import into acme/auctions in a process of its own, which gets the signal at this moment."""
    code = COMMAND.format(moment=moment.format(signal=stop.name))
    command = [sys.executable, "-c", code, "import", *words, "--project", "acme", "--slicer", "auctions"]
    return subprocess.run(command, capture_output=True, text=True)


def files_of(home: Path) -> set[str]:
    """All files of slicers and of rejected rows, apart from locks and layouts."""
    paths = [path for path in home.rglob("*") if path.is_file() and "layout" not in path.parts]
    return {path.relative_to(home).as_posix() for path in paths if path.name != "lock"}


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda stop: stop.name)
def test_a_stopped_import_says_so_and_leaves_no_files(folder: Path, stop: signal.Signals) -> None:
    """Into a new slicer it leaves none; into an old one it leaves that as it was, without the new files."""
    home = Path(os.environ["TRANCHE_HOME"])
    bad = f"{DAY}x,9,1,DE\n"
    (folder / "bad.csv").write_text(bad)
    ended = stopped(WRITING, stop, "bad.csv", "--max-rejects", "50%")
    assert ended.returncode == 128 + stop
    assert (
        f"Stopped by {stop.name}: nothing was imported, and there is no slicer acme/auctions" in ended.stderr
    )
    assert "Traceback" not in ended.stderr and "rejects" not in ended.stdout
    assert files_of(home) == set()
    run("day.csv")
    before, rows = files_of(home), imps()
    ended = stopped(WRITING, stop, "next.csv", "--append")
    assert ended.returncode == 128 + stop
    assert "nothing was imported, and acme/auctions is as it was before" in ended.stderr
    assert (files_of(home), imps()) == (before, rows)


def test_an_import_that_is_stopped_while_it_prepares_says_that_the_rows_are_in() -> None:
    """The rows count already: whoever repeats the command would be refused."""
    ended = stopped(PREPARING, signal.SIGTERM, "day.csv")
    assert ended.returncode == 128 + signal.SIGTERM
    assert "Stopped by SIGTERM: all rows are imported into acme/auctions" in ended.stderr
    assert imps() == [1, 2]


def test_a_second_import_of_a_slicer_is_refused_before_any_work() -> None:
    """While one import runs, another into the same slicer reads no file and infers nothing."""
    with Warehouse(Settings.load().warehouse).lock("acme", "auctions"):
        # in a process of its own: this thread may take its lock again
        code = "from lib.cli import import_run, main\nimport_run.recognize = None\nmain()"
        command = [
            sys.executable,
            "-c",
            code,
            "import",
            "day.csv",
            "--project",
            "acme",
            "--slicer",
            "auctions",
        ]
        ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "Another import into acme/auctions is running; wait until it is done" in ended.stderr
    assert ended.stdout == "" and not Path("auctions.yaml").exists()


def test_a_refused_import_leaves_no_folder() -> None:
    """A file that can't be imported makes no slicer, and no folder for one."""
    Path("empty.csv").write_text("time,imps\n")
    assert run("empty.csv").exit_code == 1
    warehouse = Settings.load().warehouse
    assert not warehouse.exists() or not any(warehouse.iterdir())
