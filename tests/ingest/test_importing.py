"""The import: all or nothing, what goes in, what is refused, and what a refusal says."""

import csv
import datetime as dt
import hashlib
from pathlib import Path

import pytest
from ingesting import Place, definition

from lib.slicers.definition import Definition
from lib.slicers.warehouse import Mode
from lib.wire.errors import ImportRefused, RowsOverlap

DAY = "time,site,imps\n2026-01-01 05:30,a,1\n2026-01-01 06:30,b,2\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files and a warehouse."""
    return Place(tmp_path)


def stamp(day: int, hour: int) -> dt.datetime:
    """An hour of January 2026, UTC."""
    return dt.datetime(2026, 1, day, hour, tzinfo=dt.UTC)


def test_every_kind_of_field_goes_in(place: Place) -> None:
    """Key fields, lists, whole numbers, sums, counts, distinct values and users, each as it is stored."""
    wanted = Definition.model_validate(
        {
            "time": {"column": "when", "granularity": "hour"},
            "key_fields": [
                {"name": "site_id", "column": "site", "type": "int"},
                {"name": "tags", "segmented": "|"},
                {"name": "again", "column": "site"},
            ],
            "data_fields": [
                {"name": "rows", "aggregate": "count"},
                {"name": "priced", "column": "price", "aggregate": "count"},
                {"name": "price", "aggregate": "mean"},
                {"name": "dearest", "column": "price", "aggregate": "max"},
                {"name": "pages", "column": "page", "aggregate": "distinct"},
                {"name": "double", "formula": "2 * price"},
            ],
            "audience_sources": [{"name": "users", "column": "user"}],
        }
    )
    path = place.file(
        "a.csv",
        "when,site,tags,price,page,user,unused\n2026-01-01T05:30Z,007,a|b,1.5,/x,u1,z\n2026-01-02,,,,,,\n",
    )
    assert place.rows(path, definition=wanted) == [
        {
            "time": stamp(1, 5), "site_id": "7", "tags": ["a", "b"], "again": "007",
            "priced": 1.0, "price": 1.5, "dearest": 1.5, "pages": "/x", "users": "u1",
        },
        {
            "time": stamp(2, 0), "site_id": None, "tags": None, "again": None,
            "priced": None, "price": None, "dearest": None, "pages": None, "users": None,
        },
    ]  # fmt: skip


def test_rows_that_can_t_be_read_go_to_the_rejects_file(place: Place) -> None:
    """Each with file, line, reason, value and raw text; the others go in."""
    wanted = definition(key_fields=[{"name": "site", "type": "int"}])
    bad = ["x,7,1", ",7,1", "2026-01-01,seven,1", "2026-01-01,7,1.2.3", "2026-01-01,7", '2026-01-01,7,"1']
    path = place.file("a.csv", "time,site,imps\n2026-01-01,7,1\n" + "\n".join(bad) + "\n2026-01-02,8,\n")
    assert [row["site"] for row in place.rows(path, definition=wanted)] == ["7", "8"]
    with place.rejects.open(encoding="utf-8", newline="") as file:
        rejects = {int(row["line"]): row for row in csv.DictReader(file)}
    assert [rejects[line]["text"] for line in range(3, 9)] == bad
    assert [(rejects[line]["reason"].split(" (")[0], rejects[line]["value"]) for line in range(3, 9)] == [
        ("no time that can be read in column 'time'", "x"),
        ("no time in column 'time'", ""),
        ("not a whole number in column 'site'", "seven"),
        ("not a number in column 'imps'", "1.2.3"),
        ("wrong number of columns", "2 instead of 3"),
        ("a quotation mark opens a cell and is never closed", ""),
    ]
    assert {row["file"] for row in rejects.values()} == {"a.csv"}


@pytest.mark.parametrize(
    ("bad", "share", "goes_in"),
    [(1, 0.01, True), (2, 0.01, False), (2, 0.02, True), (1, 0, False), (99, 1, True)],
)
def test_too_many_rejects_refuse_the_import(place: Place, bad: int, share: float, goes_in: bool) -> None:
    """At most the share that is allowed may be unreadable, of 100 rows; else nothing is imported."""
    lines = ["2026-01-01,a,x"] * bad + ["2026-01-01,a,1"] * (100 - bad)
    path = place.file("a.csv", "time,site,imps\n" + "\n".join(lines))
    if goes_in:
        assert place.take(path, definition=definition(), max_rejects=share).row_count == 100 - bad
        return
    with pytest.raises(ImportRefused, match=f"{bad} of 100 rows .* can't be read.*nothing was imported"):
        place.take(path, definition=definition(), max_rejects=share)
    assert place.warehouse.slicers() == [] and place.rejects.exists()


def test_several_files_are_one_import(place: Place) -> None:
    """All go in at once, with the digest and rows of each; a bad one among them stops all."""
    first, two = (
        place.file("a.csv", DAY),
        place.file("b.ndjson.gz", '{"time": "2026-01-03", "site": "c", "imps": 3}\n'),
    )
    (import_,) = place.take(first, two, definition=definition()).imports
    assert [(source.name, source.rows) for source in import_.sources] == [("a.csv", 2), ("b.ndjson.gz", 1)]
    assert import_.sources[1].digest == hashlib.sha256(two.read_bytes()).hexdigest()
    with pytest.raises(ImportRefused, match=r"no column|Unknown column"):
        place.take(
            place.file("c.csv", DAY + "2026-01-04,d,4\n"),
            place.file("d.csv", "a,b\n1,2\n"),
            definition=definition(),
            mode="append",
        )
    assert place.warehouse.open("p", "s").row_count == 3


def test_a_file_that_is_in_already_can_t_be_appended(place: Place) -> None:
    """By its digest, whatever its name; once its rows were replaced, it can."""
    place.take(place.file("a.csv", DAY), definition=definition())
    with pytest.raises(ImportRefused, match=r"imported already: 2 rows imported from it, as a.csv, on 20"):
        place.take(place.file("other.csv", DAY), definition=definition(), mode="append")
    place.take(place.file("b.csv", DAY.replace(",1", ",5")), definition=definition(), mode="replace-days")
    stored = place.take(place.file("a.csv", DAY), definition=definition(overlap="add"), mode="append")
    assert stored.row_count == 4


WINDOW = (
    "time,site,tags,imps\n2026-01-01 10:00:00,a,x|y,1\n2026-01-01 10:00:00,,x,2\n2026-01-02 10:00:00,a,,3\n"
)
TAGGED = [{"name": "site"}, {"name": "tags", "segmented": "|"}]


def test_rows_whose_keys_are_there_already_are_refused(place: Place) -> None:
    """A key is the time with all key fields, empty ones too; another hour, site or list is another key."""
    place.take(place.file("a.csv", WINDOW), definition=definition(key_fields=TAGGED))
    others = WINDOW.replace(" 10:", " 11:") + "2026-01-01 10:00:00,b,x|y,1\n2026-01-01 10:00:00,a,x,1\n"
    place.take(place.file("b.csv", others), definition=definition(key_fields=TAGGED), mode="append")
    again = place.file("c.csv", WINDOW.replace(",3\n", ",4\n") + "2026-01-03 10:00:00,a,,5\n")
    with pytest.raises(RowsOverlap, match=r"keys of 3 of 4 rows are there already \(1 and 2 Jan 2026\)"):
        place.take(again, definition=definition(key_fields=TAGGED), mode="append")
    assert place.warehouse.open("p", "s").row_count == 8
    stored = place.take(again, definition=definition(key_fields=TAGGED, overlap="skip"), mode="append")
    assert (stored.row_count, stored.imports[-1].rows) == (9, 1)
    with pytest.raises(
        ImportRefused, match="3 rows left out, with keys that are there already, and there are no"
    ):
        place.take(
            place.file("d.csv", WINDOW.replace(",3\n", ",5\n")),
            definition=definition(key_fields=TAGGED, overlap="skip"),
            mode="append",
        )


@pytest.mark.parametrize("mode", ["create", "append", "replace-days", "replace"])
def test_files_of_one_import_are_compared_with_each_other(place: Place, mode: Mode) -> None:
    """A window in two files is refused, whatever the mode; within a file keys repeat."""
    if mode != "create":
        place.take(place.file("a.csv", "time,site,imps\n2025-12-01,a,9\n"), definition=definition())
    twice = place.file("b.csv", DAY + DAY.partition("\n")[2])
    window = place.file("c.csv", DAY.replace(",1", ",5") + "2026-01-04,a,4\n")
    with pytest.raises(RowsOverlap, match=r"2 of 7 rows .* in an earlier file.*one after another"):
        place.take(twice, window, definition=definition(), mode=mode)
    before = 0 if mode == "create" else 1
    assert not before or place.warehouse.open("p", "s").row_count == before
    stored = place.take(twice, window, definition=definition(overlap="skip"), mode=mode)
    assert stored.imports[-1].rows == 5
    stored = place.take(twice, window, definition=definition(overlap="add"), mode="replace")
    assert stored.imports[-1].rows == 7


def test_the_same_file_twice_in_one_call_is_refused(place: Place) -> None:
    """A file that was named twice would count twice."""
    with pytest.raises(ImportRefused, match=r"b.csv and a.csv are the same file"):
        place.take(place.file("a.csv", DAY), place.file("b.csv", DAY), definition=definition())


def test_replace_days_leaves_the_other_days(place: Place) -> None:
    """The days of the file are replaced, and only they."""
    place.take(place.file("a.csv", DAY + "2026-01-02,a,3\n2026-01-03,a,4\n"), definition=definition())
    stored = place.take(
        place.file("b.csv", "time,site,imps\n2026-01-02,z,9\n"), definition=definition(), mode="replace-days"
    )
    table = stored.read(stored.files)
    assert table["imps"].to_pylist() == [1, 2, 9, 4] and table["site"].to_pylist() == ["a", "b", "z", "a"]


def test_a_missing_column_is_reported_before_anything_is_read(place: Place) -> None:
    """The refusal names the file, the column, the nearest one, and those that there are."""
    path = place.file("a.csv", "time,sites,imps\n2026-01-01,a,1\n")
    with pytest.raises(
        ImportRefused,
        match=r"a.csv: Unknown column 'site'; did you mean 'sites'\?. It has: time, sites, imps",
    ):
        place.take(path, definition=definition())


@pytest.mark.parametrize("text", ["time,site,imps\n", "time,site,imps\n\n\n"])
def test_a_file_without_rows_is_refused(place: Place, text: str) -> None:
    """A header alone is most likely a mistake."""
    with pytest.raises(ImportRefused, match=r"no rows in a.csv"):
        place.take(place.file("a.csv", text), definition=definition())


def test_mappings_come_with_the_import(place: Place) -> None:
    """A mapping that the definition names is kept with the slicer; without it the import is refused."""
    wanted = definition(key_fields=[{"name": "site", "mapping": "sites"}])
    path = place.file("a.csv", DAY)
    with pytest.raises(ImportRefused, match=r"--mapping sites=FILE.csv"):
        place.take(path, definition=wanted)
    assert place.take(path, definition=wanted, mappings={"sites": {"a": "A"}}).mapping("sites") == {"a": "A"}


def test_a_text_column_is_no_list_column(place: Place) -> None:
    """A definition that awaits a list and gets text is refused, with what would be right."""
    wanted = definition(key_fields=[{"name": "site", "segmented": True}])
    with pytest.raises(ImportRefused, match=r"Field 'site'.*separator, as in segmented"):
        place.take(place.file("a.csv", DAY), definition=wanted)
