"""The warehouse: atomic changes, days in the slicer's own zone, one writer, no leftovers."""

import datetime as dt
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lib.slicers.definition import Definition
from lib.slicers.warehouse import Mode, StoredSlicer, Warehouse
from lib.slicers.warehouse.writer import OPEN_FILES
from lib.wire.errors import AccessError, BadRequest, ImportRefused

HOUR = 3600


def definition(zone: int = 0, granularity: str = "hour", **more: object) -> Definition:
    """A small definition, of site, tags and imps."""
    return Definition.model_validate(
        {
            "timezone": zone,
            "time": {"column": "t", "granularity": granularity},
            "key_fields": [{"name": "site"}, {"name": "tags", "segmented": True}],
            "data_fields": [{"name": "imps"}],
            **more,
        }
    )


def rows(hours: list[int], imps: float = 1.0) -> pa.Table:
    """A row at each of these hours since 1970."""
    count = len(hours)
    return pa.table(
        {
            "time": pa.array([hour * HOUR for hour in hours], pa.timestamp("s", tz="UTC")),
            "site": pa.array(["a"] * count).dictionary_encode(),
            "tags": pa.array([["x", "y"], *[None] * (count - 1)], pa.list_(pa.string())),
            "imps": pa.array([imps] * count, pa.float64()),
        }
    )


def fill(warehouse: Warehouse, table: pa.Table, mode: Mode = "create", digest: str = "d") -> StoredSlicer:
    """The slicer p/s after an import of these rows."""
    with warehouse.writer("p", "s", definition(), mode=mode) as writer:
        writer.write(table)
        writer.commit("file.csv", digest)
    return warehouse.open("p", "s")


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """An empty warehouse."""
    return Warehouse(tmp_path / "warehouse")


def day(number: int) -> dt.date:
    """A day, by days since 1970."""
    return dt.date(1970, 1, 1) + dt.timedelta(days=number)


def every_file(warehouse: Warehouse) -> set[Path]:
    """All files of rows below the root."""
    return set(warehouse.root.rglob("*.parquet"))


def test_rows_come_back_as_they_went_in(warehouse: Warehouse) -> None:
    """Rows written in any order come back by day, ascending, typed as the definition's schema."""
    stored = fill(warehouse, rows([50, 2, 25, 1]))
    assert list(stored.files) == list(stored.rows) == [day(0), day(1), day(2)]
    assert stored.rows == {day(0): 2, day(1): 1, day(2): 1}
    table = stored.read(stored.files)
    assert table.schema == definition().schema()
    assert table["time"].cast(pa.int64()).to_pylist() == [hour * HOUR for hour in (2, 1, 25, 50)]
    assert table["tags"].to_pylist() == [None, None, None, ["x", "y"]]


@pytest.mark.parametrize(("zone", "days"), [(0, [0, 1]), (2, [0, 1]), (-2, [-1, 0]), (3, [0, 1])])
def test_days_are_those_of_the_slicer_s_zone(warehouse: Warehouse, zone: int, days: list[int]) -> None:
    """The hours 1 and 25 UTC fall on the days that the slicer's clock shows."""
    with warehouse.writer("p", "s", definition(zone)) as writer:
        writer.write(rows([1, 25]))
        writer.commit("f", "d")
    assert list(warehouse.open("p", "s").files) == [day(number) for number in days]


def test_daily_rows_keep_their_day_in_any_zone(warehouse: Warehouse) -> None:
    """With granularity day, the time is the slicer's own day already."""
    with warehouse.writer("p", "s", definition(-5, "day")) as writer:
        writer.write(rows([24]))
        writer.commit("f", "d")
    assert list(warehouse.open("p", "s").files) == [day(1)]


def test_info_tells_the_dates(warehouse: Warehouse) -> None:
    """First and last date of info are the first and last day with rows."""
    info = fill(warehouse, rows([0, 100])).info()
    assert (info.first_date, info.last_date) == ("1970-01-01", "1970-01-05")


def test_without_commit_nothing_happened(warehouse: Warehouse) -> None:
    """Leaving the writer without a commit leaves the slicer, its version and its files as they were."""
    before, files = fill(warehouse, rows([1])), every_file(warehouse)
    with warehouse.writer("p", "s", definition(), mode="append") as writer:
        writer.write(rows([2]))
    with pytest.raises(RuntimeError), warehouse.writer("p", "s", definition(), mode="replace") as writer:
        writer.write(rows([2]))
        raise RuntimeError
    assert warehouse.open("p", "s") == before
    assert every_file(warehouse) == files


def test_an_aborted_first_import_makes_no_slicer(warehouse: Warehouse) -> None:
    """A slicer exists from its first commit, not before."""
    with warehouse.writer("p", "s", definition()) as writer:
        writer.write(rows([2]))
    assert warehouse.slicers() == [] and not every_file(warehouse)
    with pytest.raises(AccessError):
        warehouse.open("p", "s")


def test_append_adds(warehouse: Warehouse) -> None:
    """Appended rows stand beside the earlier ones, as a new version."""
    first = fill(warehouse, rows([1]))
    second = fill(warehouse, rows([2, 30]), "append", "e")
    assert second.rows == {day(0): 2, day(1): 1}
    assert second.version != first.version
    assert [source.digest for made in second.imports for source in made.sources] == ["d", "e"]


def test_replace_days_replaces_the_days_of_the_file(warehouse: Warehouse) -> None:
    """The days of the new rows are replaced whole, others stay; an import without rows is forgotten."""
    fill(warehouse, rows([1, 2, 30]))
    stored = fill(warehouse, rows([3], imps=5), "replace-days", "e")
    assert stored.rows == {day(0): 1, day(1): 1}
    assert stored.read([day(0)])["imps"].to_pylist() == [5]
    assert len(stored.imports) == 2
    assert len(fill(warehouse, rows([31]), "replace-days", "f").imports) == 2


def test_replace_replaces_everything(warehouse: Warehouse) -> None:
    """After a replacement only the new rows and the new definition are there."""
    fill(warehouse, rows([1, 2, 30]))
    with warehouse.writer("p", "s", definition(annotation="new"), mode="replace") as writer:
        writer.write(rows([100]))
        writer.commit("g", "g")
    stored = warehouse.open("p", "s")
    assert (stored.rows, len(stored.imports)) == ({day(4): 1}, 1)
    assert stored.definition.annotation == "new"


def test_what_was_replaced_goes_with_the_next_import(warehouse: Warehouse) -> None:
    """Files that no manifest names stay readable for who has them open, until the next import."""
    old = fill(warehouse, rows([1]))
    fill(warehouse, rows([2]), "replace")
    assert old.read([day(0)]).num_rows == 1
    fill(warehouse, rows([3]), "replace")
    assert not old.files[day(0)][0].exists()
    assert len(every_file(warehouse)) == 2


@pytest.mark.parametrize("mode", ["append", "replace-days"])
def test_another_definition_is_refused(warehouse: Warehouse, mode: Mode) -> None:
    """Rows of another definition can't join; the refusal names the fields that differ."""
    fill(warehouse, rows([1]))
    other = definition(zone=1, data_fields=[{"name": "imps", "aggregate": "max"}])
    with (
        pytest.raises(ImportRefused, match=r"timezone, data field 'imps'"),
        warehouse.writer("p", "s", other, mode=mode),
    ):
        pass


def test_an_existing_slicer_is_not_overwritten(warehouse: Warehouse) -> None:
    """Creating a slicer that exists is refused, with the ways there are."""
    fill(warehouse, rows([1]))
    with pytest.raises(ImportRefused, match=r"--append .* --replace-days .* --replace"):
        fill(warehouse, rows([2]))


def test_append_needs_a_slicer(warehouse: Warehouse) -> None:
    """A misspelled slicer is not made by --append."""
    with pytest.raises(ImportRefused, match="no slicer p/s"):
        fill(warehouse, rows([2]), "append")


def test_one_import_at_a_time(warehouse: Warehouse) -> None:
    """A second writer is told that the first one is there; another slicer is free."""
    with warehouse.writer("p", "s", definition()) as writer:
        with pytest.raises(ImportRefused, match="Another import into p/s is running"):
            fill(warehouse, rows([1]))
        with warehouse.writer("p", "t", definition()) as other:
            other.commit("f", "d")
        writer.write(rows([1]))
        writer.commit("f", "d")
    assert warehouse.open("p", "s").row_count == 1


def test_mappings_are_kept_and_counted_in_the_version(warehouse: Warehouse) -> None:
    """A mapping comes back as given; another mapping is another version; it stays when not given again."""
    mapped = definition(
        key_fields=[{"name": "site", "mapping": "sites"}, {"name": "tags", "segmented": True}]
    )
    versions = []
    for mode, mappings in (
        ("create", {"sites": {"a": "Ä"}}),
        ("append", {"sites": {"a": "B"}}),
        ("append", {}),
    ):
        with warehouse.writer("p", "s", mapped, mappings, mode) as writer:  # type: ignore[arg-type]
            writer.commit("f", "d")
        stored = warehouse.open("p", "s")
        versions.append((stored.mapping("sites"), stored.version))
    assert [mapping for mapping, _ in versions] == [{"a": "Ä"}, {"a": "B"}, {"a": "B"}]
    assert len({version for _, version in versions}) == 2


def test_an_import_survives_a_power_failure(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file that the manifest names is synced, and so is every folder that has a name on the way there.

    A file that is synced has no name yet after a power failure, unless its folder is synced too (fsync(2)).
    """
    fsync, synced = os.fsync, list[Path]()

    def note(handle: int) -> None:
        synced.append(Path(f"/proc/self/fd/{handle}").readlink())
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    mapped = definition(
        key_fields=[{"name": "site", "mapping": "sites"}, {"name": "tags", "segmented": True}]
    )
    with warehouse.writer("p", "s", mapped, {"sites": {"a": "A"}}) as writer:
        writer.write(rows([1, 25]))
        writer.commit("f", "d")
    folder, new = warehouse.root / "p" / "s", "manifest.json.new"
    names = {path for path in folder.rglob("*") if path.suffix in (".parquet", ".json")}
    folders = {parent for name in names for parent in name.parents if parent.is_relative_to(warehouse.root)}
    assert folders <= {*synced}
    assert {name.with_suffix("") for name in names - {folder / "manifest.json"}} <= {
        path.with_suffix("") for path in synced[: synced.index(folder / new)]
    }


def test_a_missing_or_unknown_mapping_is_refused(warehouse: Warehouse) -> None:
    """Each mapping that the definition names must be there, and only those."""
    mapped = definition(key_fields=[{"name": "site", "mapping": "sites"}])
    with pytest.raises(ImportRefused, match="--mapping sites=FILE"), warehouse.writer("p", "s", mapped):
        pass
    with pytest.raises(ImportRefused, match="'sties'"), warehouse.writer("p", "s", mapped, {"sties": {}}):
        pass


@pytest.mark.parametrize("name", ["München Süd", "...", ".hidden", "a%2Fb", "a:b?", "CON"])
def test_any_name_is_a_safe_folder(warehouse: Warehouse, name: str) -> None:
    """Names come back as given and never leave the root."""
    with warehouse.writer(name, name, definition()) as writer:
        writer.write(rows([1]))
        writer.commit("f", "d")
    assert warehouse.slicers() == [(name, name)]
    assert warehouse.open(name, name).folder.resolve().is_relative_to(warehouse.root.resolve())


@pytest.mark.parametrize("name", ["", " a", "a/b", "*", "a\nb", "x" * 81, "a\\b", ".", ".."])
def test_other_names_are_refused(warehouse: Warehouse, name: str) -> None:
    """A name that can't be a folder or a grant is refused for writing, and unknown for reading."""
    for place in (("p", name), (name, "s")):
        with pytest.raises(BadRequest), warehouse.writer(*place, definition()):
            pass
        with pytest.raises(AccessError):
            warehouse.open(*place)


def test_many_days_need_few_open_files(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """More days than files may be open, in small pieces: nothing is lost, a day may have several files."""
    monkeypatch.setattr("lib.slicers.warehouse.writer.BUFFER_BYTES", 1)
    days = OPEN_FILES + 20
    with warehouse.writer("p", "s", definition()) as writer:
        for _ in range(2):
            writer.write(rows([24 * number for number in range(days)]))
        writer.commit("f", "d")
    stored = warehouse.open("p", "s")
    assert set(stored.rows.values()) == {2} and len(stored.rows) == days
    assert stored.read(stored.files).num_rows == 2 * days


def test_rows_are_plain_parquet(warehouse: Warehouse) -> None:
    """Any Parquet tool reads the rows folder as one data set, with the day as its partition."""
    stored = fill(warehouse, rows([1, 30]))
    table = pq.read_table(stored.folder / "rows")
    assert sorted(str(value) for value in table["day"].to_pylist()) == ["1970-01-01", "1970-01-02"]


def test_texts_may_come_encoded_and_not(warehouse: Warehouse) -> None:
    """Batches with a dictionary each, and batches of plain texts between them, are stored as their texts."""
    sites = [["b", "a", None], ["c", "b", "a"], [None, "a", "d"], ["a", "d", "b"]]
    with warehouse.writer("p", "s", definition()) as writer:
        for number, texts in enumerate(sites):
            column = pa.array(texts, pa.string())
            coded = column if number == 1 else column.dictionary_encode()
            table = rows([number + 24 * place for place in range(3)])
            writer.write(table.set_column(1, "site", coded))
        writer.commit("file.csv", "d")
    stored = warehouse.open("p", "s")
    by_day = [text for texts in zip(*sites, strict=True) for text in texts]
    assert stored.read(stored.files).column("site").to_pylist() == by_day
