"""A layout to which days were added is, byte for byte, the one that is made of all rows at once."""

import datetime as dt
import logging
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import COUNTRIES, DEFINITION, ROOT, small_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from needs import draws
from random_slicers import RandomSlicer, slicers

from lib.engines.resident import ResidentEngine, checksums, column_writer, prepare, sampling
from lib.engines.resident.build import put_aside
from lib.engines.resident.earlier import Earlier
from lib.engines.resident.layout import Layout
from lib.engines.sums import Question, Sums
from lib.slicers.measures import measures, pairs
from lib.slicers.warehouse import Mode, StoredSlicer, Warehouse, writer
from lib.wire.deadline import Deadline

ROWS = small_rows(5)
DAYS = sorted({moment.date() for moment in ROWS["time"].to_pylist()})
Step = tuple[Mode, pa.Table]


def of_days(first: int, end: int) -> pa.Table:
    """The rows of some days."""
    wanted = set(DAYS[first:end])
    return ROWS.filter(pa.array([moment.date() in wanted for moment in ROWS["time"].to_pylist()]))


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """An empty one."""
    return Warehouse(tmp_path / "warehouse")


def bring(warehouse: Warehouse, mode: Mode, rows: pa.Table, name: str = "s") -> StoredSlicer:
    """The slicer after one more import of rows of the small demo."""
    with warehouse.writer("p", name, DEFINITION, {"country": COUNTRIES}, mode) as writer:
        writer.write(rows)
        writer.commit("made", str(len(writer.imports)))
    return warehouse.open("p", name)


def content(layout: Path) -> dict[str, bytes]:
    """The bytes of each file."""
    return {path.name: path.read_bytes() for path in sorted(layout.iterdir())}


def made_anew(stored: StoredSlicer) -> dict[str, bytes]:
    """The bytes of the layout that is made of all rows."""
    put_aside(stored.layout_folder)
    prepare(stored)
    return content(stored.layout_folder)


def same_as_anew(stored: StoredSlicer) -> None:
    """Fail unless the layout that is there is the one that is made of all rows."""
    files = content(stored.layout_folder)
    expected = made_anew(stored)
    assert list(files) == list(expected)
    assert [name for name in files if files[name] != expected[name]] == []


@pytest.mark.parametrize("buffer_bytes", [1, writer.BUFFER_BYTES])
def test_rows_in_memory_make_the_layout_of_their_files(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, buffer_bytes: int
) -> None:
    """A layout of rows written a moment ago is, byte for byte, that of their files; none is read again."""
    monkeypatch.setattr(writer, "BUFFER_BYTES", buffer_bytes)
    prepare(bring(warehouse, "create", of_days(0, 3)))
    with warehouse.writer("p", "s", DEFINITION, {}, "append") as transaction:
        for part in of_days(2, 6).to_batches(max_chunksize=100):
            transaction.write(pa.Table.from_batches([part]))
        transaction.commit("later", "later")
    stored = replace(warehouse.open("p", "s"), recent_rows=transaction.recent_rows)
    assert {path.parent.name for path in stored.recent_rows} == {f"day={day}" for day in DAYS[2:6]}
    for path in stored.recent_rows:
        path.rename(path.with_suffix(".aside"))
    prepare(stored)
    for path in stored.recent_rows:
        path.with_suffix(".aside").rename(path)
    same_as_anew(warehouse.open("p", "s"))


def test_many_rows_are_not_kept_in_memory(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond KEPT_BYTES no rows are kept once they are written."""
    monkeypatch.setattr(writer, "KEPT_BYTES", 1)
    with warehouse.writer("p", "s", DEFINITION, {"country": COUNTRIES}) as transaction:
        transaction.write(ROWS)
        transaction.commit("made", "made")
    assert transaction.recent_rows == {}


def test_a_day_of_many_rows_is_laid_out_like_any(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read column by column, and written in blocks, so that memory is bounded, the same bytes come out."""
    stored = bring(warehouse, "create", ROWS)
    expected = made_anew(stored)
    monkeypatch.setattr(column_writer, "MOST_CELLS", 0)
    monkeypatch.setattr(column_writer, "_BLOCK_ROWS", 7)
    monkeypatch.setattr(column_writer, "CHUNK", 3)
    assert made_anew(stored) == expected


def answer(stored: StoredSlicer, limit: int | None = None, engine: ResidentEngine | None = None) -> Sums:
    """All data fields by country, of all days."""
    known, days = list(measures(stored.definition).values()), list(stored.rows)
    atoms = frozenset().union(*(measure.atoms for measure in known))
    asked = Question(
        days[0], days[-1], 0, ("geo.country",), atoms=atoms, pairs=pairs(known), rows_limit=limit
    )
    return (engine or ResidentEngine()).audience(stored, asked, Deadline(60))


def same(first: Sums, other: Sums) -> None:
    """Fail unless two answers are equal to the last bit: groups, sums, and what intervals are made of."""
    assert first.groups.astype(str).equals(other.groups.astype(str))
    assert (first.records_read, first.sample, first.missing) == (
        other.records_read,
        other.sample,
        other.missing,
    )
    for mine, theirs in ((first.rows, other.rows), (first.total, other.total)):
        for part in ("estimate", "certain", "moments"):
            our_arrays, expected = getattr(mine, part) or {}, getattr(theirs, part) or {}
            assert our_arrays.keys() == expected.keys()
            assert all(
                np.array_equal(our_arrays[name], expected[name], equal_nan=True) for name in our_arrays
            )


@pytest.mark.parametrize("limit", [None, 1_500], ids=["exact", "sampled"])
def test_a_slicer_appended_day_by_day_answers_as_one_imported_at_once(
    warehouse: Warehouse, limit: int | None
) -> None:
    """Groups, sums, samples and what intervals need are equal to the last bit; exact sums are pandas'."""
    appended = bring(warehouse, "create", of_days(0, 17))
    for day in range(17, len(DAYS)):
        prepare(appended)
        appended = bring(warehouse, "append", of_days(day, day + 1))
    at_once = bring(warehouse, "create", ROWS, "at once")
    found = answer(appended, limit)
    same(found, answer(at_once, limit))
    assert found.rows.exact == (limit is None)
    frame = ROWS.to_pandas()
    assert found.total.estimate["sum:imps"][0] == frame["imps"].sum()
    if limit is None:
        by_country = frame.groupby(frame["geo.country"].fillna(""))["imps"].sum()
        sums = zip(found.groups["geo.country"].astype(str), found.rows.estimate["sum:imps"], strict=True)
        assert dict(sums) == by_country.to_dict()


CHANGES: dict[str, Sequence[tuple[Mode, int, int]]] = {
    "a day at the end": [("append", 18, 19)],
    "three days at the end": [("append", 18, 19), ("append", 19, 20), ("append", 20, 21)],
    "late rows of the last day": [("append", 17, 18)],
    "the last days again": [("replace-days", 16, 19)],
    "a day in the middle again": [("replace-days", 5, 6)],
    "days in the middle and at the end": [("replace-days", 5, 6), ("append", 18, 19)],
    "everything": [("replace", 3, 9)],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_layout_is_the_one_that_is_made_anew(warehouse: Warehouse, name: str) -> None:
    """Whatever days are added or replaced, no file differs in a byte."""
    stored = bring(warehouse, "create", of_days(0, 18))
    for mode, first, end in CHANGES[name]:
        prepare(stored)
        stored = bring(warehouse, mode, of_days(first, end))
    prepare(stored)
    same_as_anew(stored)


def test_days_before_the_first_are_put_before_it(warehouse: Warehouse) -> None:
    """An import of older days moves the others, and changes nothing else."""
    stored = bring(warehouse, "create", of_days(9, 18))
    prepare(stored)
    stored = bring(warehouse, "append", of_days(2, 9))
    prepare(stored)
    same_as_anew(stored)


@pytest.fixture
def small_pieces() -> Iterator[None]:
    """Blocks, chunks and samples so small that the smallest slicer has several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checksums, "BLOCK", 64)
        patch.setattr(column_writer, "CHUNK", 3)
        patch.setattr(sampling, "SMALLEST_SAMPLE", 2)
        yield


@st.composite
def steps(draw: st.DrawFn, slicer: RandomSlicer) -> list[Step]:
    """The rows of a slicer in several imports, some of which replace days."""
    cuts = sorted(draw(st.lists(st.integers(1, len(slicer.rows)), max_size=4, unique=True)))
    rows = sorted(slicer.rows, key=lambda row: row["time"]) if draw(st.booleans()) else slicer.rows
    modes = st.sampled_from(["append", "append", "replace-days"])
    parts = [part for part in np.split(np.arange(len(rows)), cuts) if len(part)]
    tables = [replace(slicer, rows=[rows[place] for place in part]).table for part in parts]
    return [("create" if not number else draw(modes), table) for number, table in enumerate(tables)]


@pytest.mark.usefixtures("small_pieces")
@settings(
    max_examples=draws(8),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_random_imports(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Of random slicers, and imports of any of their days, too."""
    slicer = data.draw(slicers(), "slicer")
    warehouse = Warehouse(tmp_path_factory.mktemp("random"))
    for number, (mode, table) in enumerate(data.draw(steps(slicer), "steps")):
        with warehouse.writer("p", "s", slicer.definition, slicer.mappings, mode) as writer:
            writer.write(table)
            writer.commit("random", str(number))
        prepare(warehouse.open("p", "s"))
    same_as_anew(warehouse.open("p", "s"))


def amounts(table: pa.Table, factor: float, shift: float = 0.0) -> pa.Table:
    """The same rows with other impressions."""
    place = table.schema.get_field_index("imps")
    imps = np.nan_to_num(table["imps"].to_numpy()) * factor - shift
    return table.set_column(place, "imps", pa.array(imps, pa.float64()))


PARTS = {
    "measured": (amounts(of_days(9, 18), 1 / 7), amounts(of_days(18, 20), 1 / 7)),
    "measured, then whole": (amounts(of_days(9, 18), 1 / 7), of_days(18, 20)),
    "whole, then measured": (of_days(9, 18), amounts(of_days(18, 20), 1 / 7)),
    "measured, then refunds": (amounts(of_days(9, 18), 1 / 7), amounts(of_days(18, 20), 1 / 7, 1.0)),
    "measured, then zeros below zero": (amounts(of_days(9, 18), 1 / 7), amounts(of_days(18, 20), -0.0)),
    "small, then large": (amounts(of_days(9, 18), 1 / 7), amounts(of_days(18, 20), 1e9 / 7)),
    "whole, then beyond 2¹⁵": (of_days(9, 18), amounts(of_days(18, 20), 2.0**15)),
    "whole, then beyond 2⁵³": (of_days(9, 18), amounts(of_days(18, 20), 1e15)),
}


@pytest.mark.parametrize("kind", PARTS)
def test_numbers_of_any_kind_are_stored_as_at_once(warehouse: Warehouse, kind: str) -> None:
    """Numbers in two parts, with sizes or without, split by a unit that later days change or not; a day that
    changes no unit is added to the file of the earlier ones."""
    first, second = PARTS[kind]
    stored = bring(warehouse, "create", first)
    prepare(stored)
    inode = (stored.layout_folder / "block_0.lanes").stat().st_ino
    stored = bring(warehouse, "append", second)
    prepare(stored)
    if kind in ("measured", "measured, then zeros below zero"):
        assert (stored.layout_folder / "block_0.lanes").stat().st_ino == inode
    same_as_anew(stored)
    stored = bring(warehouse, "replace-days", of_days(18, 20))
    prepare(stored)
    same_as_anew(stored)


def test_small_numbers_take_four_bytes(warehouse: Warehouse) -> None:
    """A block takes four bytes for each number while all are whole and small, and eight otherwise."""
    imps = tuple(field for field in DEFINITION.data_fields if field.name == "imps")
    definition = DEFINITION.model_copy(update={"data_fields": imps})

    def number_bytes(mode: Mode, rows: pa.Table) -> float:
        with warehouse.writer("p", "s", definition, {"country": COUNTRIES}, mode) as writer:
            writer.write(rows)
            writer.commit("made", str(len(writer.imports)))
        stored = warehouse.open("p", "s")
        prepare(stored)
        same_as_anew(stored)
        layout = Layout(stored.layout_folder)
        size = (stored.layout_folder / "block_0.lanes").stat().st_size
        return size / layout.contents.records / layout.forms[0].width

    assert number_bytes("create", of_days(9, 18)) == 4
    assert number_bytes("append", of_days(18, 19)) == 4
    assert number_bytes("append", amounts(of_days(19, 20), 2.0**15)) == 8
    assert number_bytes("replace-days", of_days(19, 20)) == 4
    assert number_bytes("replace-days", amounts(of_days(19, 20), 1 / 7)) == 8


def test_only_new_days_are_read_and_written(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of old days aren't opened, and their measures are in the earlier file, by a further name."""
    stored = bring(warehouse, "create", of_days(0, 18))
    prepare(stored)
    inode = (stored.layout_folder / "block_0.lanes").stat().st_ino
    stored = bring(warehouse, "append", of_days(18, 19))
    opened: list[str] = []
    check, table = StoredSlicer.check, StoredSlicer.table

    def noted(self: StoredSlicer, path: Path) -> None:
        opened.append(path.parent.name)
        check(self, path)

    def read(self: StoredSlicer, path: Path, *columns: Any, **options: Any) -> pa.Table:
        opened.append(path.parent.name)
        return table(self, path, *columns, **options)

    monkeypatch.setattr(StoredSlicer, "check", noted)
    monkeypatch.setattr(StoredSlicer, "table", read)
    prepare(stored)
    assert set(opened) == {f"day={DAYS[18]}"}
    monkeypatch.undo()
    assert (stored.layout_folder / "block_0.lanes").stat().st_ino == inode
    same_as_anew(stored)


def test_whoever_has_the_earlier_layout_open_sees_no_change(warehouse: Warehouse) -> None:
    """A question on the earlier version answers as before while days are added, and afterwards."""
    before = bring(warehouse, "create", of_days(0, 18))
    engine = ResidentEngine()
    expected = answer(before, engine=engine)
    layout = engine._layouts.layout(before, Deadline())
    kept = Layout(before.layout_folder)
    after = bring(warehouse, "append", of_days(18, 21))
    prepare(after)
    assert not before.layout_folder.exists()
    same(answer_of(layout, before), expected)
    assert answer(after).records_read == ROWS.num_rows
    assert kept.contents == layout.contents


def answer_of(layout: Layout, stored: StoredSlicer) -> Sums:
    """The same question on a layout that is open."""
    engine = ResidentEngine()
    engine._layouts.layout = lambda slicer, deadline: layout  # type: ignore[method-assign]
    return answer(stored, engine=engine)


def test_two_who_build_on_one_layout_do_not_meet(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one appends to a file, another copies it; both layouts are right."""
    stored = bring(warehouse, "create", of_days(0, 18))
    prepare(stored)
    first = bring(warehouse, "append", of_days(18, 19))
    begin, others = Earlier.begin, list[tuple[StoredSlicer, dict[str, bytes]]]()

    def meanwhile(self: Earlier, path: Path, size: int) -> None:
        begin(self, path, size)
        if path.name == "block_0.lanes" and path.stat().st_nlink > 1:
            other = bring(warehouse, "append", of_days(19, 21))
            prepare(other)
            others.append((other, content(other.layout_folder)))

    monkeypatch.setattr(Earlier, "begin", meanwhile)
    prepare(first)
    monkeypatch.undo()
    same_as_anew(first)
    [(other, other_folder)] = others
    assert other_folder == made_anew(other)


@pytest.mark.parametrize("file", ["block_0.lanes", "key_0.codes", "key_2.indptr", "distinct_0.codes"])
def test_a_damaged_earlier_layout_is_never_believed(
    warehouse: Warehouse, file: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What is damaged isn't taken over: it is named, and all is made from rows."""
    stored = bring(warehouse, "create", of_days(0, 18))
    prepare(stored)
    with (stored.layout_folder / file).open("r+b") as damaged:
        damaged.seek(-40, 2)
        damaged.write(b"\x5a" * 40)
    stored = bring(warehouse, "append", of_days(18, 19))
    with caplog.at_level(logging.WARNING):
        prepare(stored)
    assert f"p/s is damaged ({file} is changed" in caplog.text
    same_as_anew(stored)


def test_damage_far_from_the_end_is_found_as_before(warehouse: Warehouse) -> None:
    """Of a file that is taken over as it is, every block keeps the checksum that it was written with."""
    many = pa.concat_tables([of_days(0, 18)] * 3)
    stored = bring(warehouse, "create", many)
    prepare(stored)
    with (stored.layout_folder / "block_0.lanes").open("r+b") as damaged:
        damaged.seek(1000)
        damaged.write(b"\x5a" * 40)
    stored = bring(warehouse, "append", of_days(18, 19))
    prepare(stored)
    damage = Layout(stored.layout_folder).damage()
    assert damage is not None and damage.startswith("block_0.lanes is changed")
    answer(stored)
    assert Layout(stored.layout_folder).damage() is None


def test_a_layout_of_an_older_format_is_left_aside(warehouse: Warehouse) -> None:
    """It is not built on, and goes."""
    stored = bring(warehouse, "create", of_days(0, 18))
    prepare(stored)
    contents = Layout(stored.layout_folder).contents
    replace(contents, format=4).save(stored.layout_folder)
    after = bring(warehouse, "append", of_days(18, 19))
    prepare(after)
    assert [path.name for path in after.layout_folder.parent.iterdir()] == [after.version]
    same_as_anew(after)


def test_a_layout_that_is_finished_late_leaves_the_newer_one(warehouse: Warehouse) -> None:
    """A question on an earlier version may need its layout again; that of now stays, and is built on next."""
    before = bring(warehouse, "create", of_days(0, 18))
    after = bring(warehouse, "append", of_days(18, 19))
    prepare(after)
    prepare(before)
    assert after.layout_folder.is_dir()
    last = bring(warehouse, "append", of_days(19, 20))
    prepare(last)
    assert [path.name for path in last.layout_folder.parent.iterdir()] == [last.version]
    same_as_anew(last)


KILLED = """
import sys
from pathlib import Path
from lib.engines.resident import prepare, column_writer
from lib.slicers.warehouse import Warehouse
add = column_writer.LaneWriter.add
def half(self, lane):
    add(self, lane[: len(lane) // 2])
    if self.path.name == "block_0.lanes":
        print("here", flush=True)
        sys.stdin.read()
column_writer.LaneWriter.add = half
prepare(Warehouse(Path(sys.argv[1])).open("p", "s"))
"""


def test_killed_while_days_are_added(warehouse: Warehouse) -> None:
    """Killed with half a day in the files, it leaves the earlier layout whole, to be built on again."""
    before = bring(warehouse, "create", of_days(0, 18))
    expected, sums = answer(before), Layout(before.layout_folder).contents.sums
    after = bring(warehouse, "append", of_days(18, 19))
    command = [sys.executable, "-c", KILLED, str(warehouse.root)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        process.kill()
        assert process.wait() == -signal.SIGKILL
    grown = before.layout_folder / "block_0.lanes"
    assert grown.stat().st_size > sums[grown.name].size
    assert Layout(before.layout_folder).damage() is None
    same(answer(before), expected)
    prepare(after)
    assert [path.name for path in after.layout_folder.parent.iterdir()] == [after.version]
    assert dt.date.fromisoformat(answer(after).dates[-1].isoformat()) == DAYS[18]
    same_as_anew(after)
