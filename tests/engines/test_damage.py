"""Damaged files: a layout is built again and never believed; rows and mappings are named, with what to do."""

import datetime as dt
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner
from conftest import COUNTRIES, DEFINITION, small_rows

from lib.cli.check import verify
from lib.engines.resident import ResidentEngine, build, checksums, prepare
from lib.engines.resident import engine as resident_engine
from lib.engines.resident.checksums import DamagedLayout, StoredFile, Sum, VerifiedArray
from lib.engines.resident.layout import CONTENTS, DIGEST, FORMAT, Layout
from lib.engines.sums import Question
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.wire.deadline import Deadline
from lib.wire.errors import Misconfigured

COUNTRY = "geo.country"
ROWS = small_rows(3)
Damage = Callable[[Path], None]


@pytest.fixture
def stored(tmp_path: Path) -> StoredSlicer:
    """A slicer of some thousand rows."""
    warehouse = Warehouse(tmp_path / "warehouse")
    with warehouse.writer("demo", "small", DEFINITION, {"country": COUNTRIES}) as writer:
        writer.write(ROWS)
        writer.commit("made for the tests", "3")
    return warehouse.open("demo", "small")


def answer(engine: ResidentEngine, stored: StoredSlicer) -> dict[str, float]:
    """Impressions by country, of all days."""
    days = list(stored.files)
    asked = Question(days[0], days[-1], 0, split_by=(COUNTRY,), atoms=frozenset({"sum:imps", "unique:users"}))
    sums = engine.audience(stored, asked, Deadline(60))
    return dict(zip(sums.groups[COUNTRY].astype(str), sums.rows.estimate["sum:imps"], strict=True))


def truth() -> dict[str, float]:
    """The same by plain pandas."""
    frame = ROWS.to_pandas()
    sums: pd.Series = frame.groupby(frame[COUNTRY].fillna(""))["imps"].sum()
    return {str(name): float(value) for name, value in sums.items()}


def only(layout: Path, pattern: str) -> Path:
    """The first file of a name like that."""
    return min(layout.glob(pattern))


def flip(pattern: str, size: int = 800) -> Damage:
    """Other bytes in the middle of a file."""

    def damage(layout: Path) -> None:
        content = bytearray(only(layout, pattern).read_bytes())
        start = max(0, len(content) // 2 - size)
        content[start : start + size] = bytes(byte ^ 0x7F for byte in content[start : start + size])
        with only(layout, pattern).open("r+b") as file:
            file.write(content)

    return damage


def truncate(pattern: str) -> Damage:
    """A file that is cut off."""

    def damage(layout: Path) -> None:
        with only(layout, pattern).open("r+b") as file:
            file.truncate(100)

    return damage


def swap(layout: Path) -> None:
    """Two files of the same size in each other's place."""
    first, second = layout / "key_0.codes", layout / "key_1.codes"
    assert first.stat().st_size == second.stat().st_size
    first.rename(layout / "aside")
    second.rename(first)
    (layout / "aside").rename(second)


def garbage(layout: Path) -> None:
    """A table of contents that is none."""
    (layout / "layout.json").write_text('{"format": 2}')


DAMAGES: dict[str, Damage] = {
    "flipped block": flip("block_0.lanes"),
    "flipped codes": flip("key_0.codes"),
    "flipped dictionary": flip("key_0.arrow", 8),
    "flipped contents": flip("layout.json", 3),
    "cut off block": truncate("block_0.lanes"),
    "cut off codes": truncate("key_0.codes"),
    "cut off contents": truncate("layout.json"),
    "no codes": lambda layout: only(layout, "key_0.codes").unlink(),
    "no contents": lambda layout: (layout / "layout.json").unlink(),
    "no digest": lambda layout: (layout / "layout.json.sha256").unlink(),
    "nothing": shutil.rmtree,
    "an empty folder": lambda layout: [path.unlink() for path in layout.iterdir()] and None,
    "swapped": swap,
    "garbage": garbage,
}


@pytest.mark.parametrize("is_running", [False, True], ids=["closed", "running"])
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_layout_is_built_again(
    stored: StoredSlicer, kind: str, is_running: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever happened to it, closed or while it is open, the figures are right, and a message says so."""
    engine = ResidentEngine()
    assert answer(engine, stored) == truth()
    DAMAGES[kind](stored.layout_folder)
    with caplog.at_level(logging.WARNING):
        again = engine if is_running else ResidentEngine()
        assert answer(again, stored) == truth()
    is_removed, is_in_memory = kind == "nothing", kind == "no digest" and is_running
    assert ("demo/small is damaged" in caplog.text) == (not is_removed and not is_in_memory)
    assert answer(ResidentEngine(), stored) == truth()
    assert [path.name for path in stored.layout_folder.parent.iterdir()] == [stored.version]


def test_another_versions_layout_is_built_again(
    stored: StoredSlicer, caplog: pytest.LogCaptureFixture
) -> None:
    """After an upgrade a layout of another format is rebuilt, and nothing is called damaged."""
    prepare(stored)
    text = (stored.layout_folder / CONTENTS).read_text()
    earlier = text.replace(f'"format": {FORMAT}', f'"format": {FORMAT - 1}').encode()
    assert earlier.decode() != text
    (stored.layout_folder / CONTENTS).write_bytes(earlier)
    (stored.layout_folder / DIGEST).write_text(f"{sha256(earlier).hexdigest()}  {CONTENTS}\n")
    with caplog.at_level(logging.INFO):
        assert answer(ResidentEngine(), stored) == truth()
    assert "another version's" in caplog.text
    assert "damaged" not in caplog.text


def test_what_is_mapped_is_not_written_to(stored: StoredSlicer) -> None:
    """A layout that is built in the place of another leaves the maps of the other as they were."""
    engine = ResidentEngine()
    answer(engine, stored)
    layout = engine._layouts.layout(stored, Deadline())
    before = layout.block(0)[:].copy()
    flip("key_0.codes")(stored.layout_folder)
    assert answer(ResidentEngine(), stored) == truth()
    assert np.array_equal(layout.block(0)[:], before)


def test_blocks_are_verified_before_their_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block is verified once, when the first of its bytes is read; a place may lie in two of them."""
    monkeypatch.setattr(checksums, "BLOCK", 64)
    numbers = np.random.default_rng(1).random((2000, 3))
    numbers.tofile(tmp_path / "lanes")
    verified = list[int]()
    verify = StoredFile._verify
    monkeypatch.setattr(
        StoredFile,
        "_verify",
        lambda self, handle, block: verified.append(block) or verify(self, handle, block),
    )
    file = StoredFile(tmp_path / "lanes", Sum.of(tmp_path / "lanes"))
    array = VerifiedArray(file, "float64", numbers.shape)
    assert np.array_equal(array[10:13], numbers[10:13])
    assert verified == [3, 4]
    assert np.array_equal(array[np.array([12, 400, 5])], numbers[[12, 400, 5]])
    assert sorted(verified) == [1, 2, 3, 4, 150]
    assert array[1999].tolist() == numbers[1999].tolist()
    file.verify()
    assert (file.is_verified, sorted(verified)) == (True, list(range(750)))
    array[:]
    assert len(verified) == 750
    file.verify(again=True)
    assert len(verified) == 1500


@pytest.mark.parametrize("place", [0, 5000, 47_999])
def test_a_damaged_block_is_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """One flipped byte is found wherever it is, and nothing of its block is returned."""
    monkeypatch.setattr(checksums, "BLOCK", 64)
    numbers = np.random.default_rng(1).random((2000, 3))
    numbers.tofile(tmp_path / "lanes")
    written = Sum.of(tmp_path / "lanes")
    overwrite(tmp_path / "lanes", place)
    array = VerifiedArray(StoredFile(tmp_path / "lanes", written), "float64", numbers.shape)
    with pytest.raises(DamagedLayout, match=f"lanes is changed within 64 bytes of {place // 64 * 64:,}"):
        array[place // 24 : place // 24 + 1]


def overwrite(path: Path, place: int) -> None:
    """Another byte at this place, and the file's times as they were."""
    state = path.stat()
    with path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_times_that_are_put_back_hide_nothing(stored: StoredSlicer) -> None:
    """A running engine finds a byte that was changed, also where the file's times are as before."""
    engine = ResidentEngine()
    assert answer(engine, stored) == truth()
    layout = engine._layouts.layout(stored, Deadline())
    layout.verify()
    overwrite(stored.layout_folder / "block_0.lanes", 8 * 6 * 100 + 14)
    assert answer(engine, stored) == truth()
    assert engine._layouts.layout(stored, Deadline()) is not layout


def test_a_layout_may_go_while_it_is_opened(stored: StoredSlicer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another process puts a layout aside before it is opened, the question has it built again."""
    folders = list[Path]()

    def build_and_lose(stored: StoredSlicer) -> Path:
        folders.append(build.build(stored))
        if len(folders) == 1:
            build.put_aside(folders[0])
        return folders[-1]

    monkeypatch.setattr(resident_engine, "build", build_and_lose)
    assert answer(ResidentEngine(), stored) == truth()
    assert len(folders) == 2


def test_everything_is_verified_in_the_background(
    stored: StoredSlicer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """After a start every file is verified, also those that no question reads; and again after a time."""
    prepare(stored)
    passes = list[threading.Thread]()
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        if thread.name == "checksums of small":
            passes.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    engine = ResidentEngine()
    layout = engine._layouts.layout(stored, Deadline(60))
    passes[0].join()
    assert all(file.is_verified for file in layout._files.values())
    answer(engine, stored)
    assert len(passes) == 1
    overwrite(stored.layout_folder / "draw.lane", 1000)
    assert layout.verify_after > time.monotonic() + 3500
    layout.verify_after = 0.0
    with caplog.at_level(logging.WARNING):
        answer(engine, stored)
        passes[1].join()
    assert "demo/small is damaged (draw.lane is changed" in caplog.text
    assert answer(engine, stored) == truth()
    assert Layout(stored.layout_folder).damage() is None


@pytest.mark.parametrize(
    "damage", [flip("*.parquet", 5), truncate("*.parquet"), lambda day: only(day, "*").unlink()]
)
def test_damaged_rows_are_named(stored: StoredSlicer, damage: Damage) -> None:
    """Rows can't be made again: the error names the file and says what to do; nothing is computed from it."""
    day, files = next(iter(stored.files.items()))
    damage(files[0].parent)
    with pytest.raises(Misconfigured) as refused:
        answer(ResidentEngine(), stored)
    assert str(files[0]) in refused.value.reason
    assert f"import {day} again with --replace-days" in refused.value.reason


def test_swapped_rows_are_named(stored: StoredSlicer) -> None:
    """Two files of rows in each other's place are not taken for each other."""
    first, second = (files[0] for files in list(stored.files.values())[:2])
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    with pytest.raises(Misconfigured, match="not those that were written"):
        answer(ResidentEngine(), stored)


def test_a_damaged_mapping_is_named(stored: StoredSlicer) -> None:
    """So is a mapping."""
    flip("*.json", 2)(stored.mapping_files["country"].parent)
    with pytest.raises(Misconfigured, match="import with --mapping again"):
        stored.mapping("country")


def verified(stored: StoredSlicer, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Exit code and output of `tranche verify`."""
    monkeypatch.setenv("TRANCHE_HOME", str(stored.folder.parents[2]))
    result = CliRunner().invoke(verify)
    return result.exit_code, result.output


def test_verify(stored: StoredSlicer, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tranche verify` says what is intact, builds a damaged layout again, and fails for damaged rows."""
    assert verified(stored, monkeypatch) == (0, "demo/small: 4,200 rows, intact; no layout yet\n")
    assert answer(ResidentEngine(), stored) == truth()
    assert verified(stored, monkeypatch) == (0, "demo/small: 4,200 rows, intact, with its layout\n")
    flip("block_0.lanes")(stored.layout_folder)
    code, output = verified(stored, monkeypatch)
    assert (code, "its layout was damaged (block_0.lanes" in output) == (0, True)
    assert verified(stored, monkeypatch) == (0, "demo/small: 4,200 rows, intact, with its layout\n")
    day, files = next(iter(stored.files.items()))
    truncate("*.parquet")(files[0].parent)
    code, output = verified(stored, monkeypatch)
    assert (code, str(files[0]) in output, f"import {day} again" in output) == (1, True, True)


def test_a_draft_that_was_left_is_removed(stored: StoredSlicer) -> None:
    """What a killed process left of a layout goes when the next one is made; what somebody works on stays."""
    left = drafts_of(stored, "left")
    with build.draft_folder(stored.layout_folder) as held:
        (held / "rows").write_bytes(b"half")
        prepare(stored)
        assert stored.layout_folder.is_dir()
        assert held.is_dir()
        assert not left.exists()
    assert not held.exists()


def drafts_of(stored: StoredSlicer, name: str) -> Path:
    """A draft that nobody holds, with a file in it."""
    folder = stored.layout_folder.with_name(f"{stored.layout_folder.name}.{name}{build.ENDING}")
    folder.mkdir(parents=True)
    (folder / "rows").write_bytes(b"half")
    return folder


def wait_for_checks() -> None:
    """Return once no thread verifies a layout, so that none finds the next damage first."""
    for thread in threading.enumerate():
        if thread.name.startswith("checksums of"):
            thread.join(60)


def test_verify_repairs_what_others_have_open(stored: StoredSlicer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has a layout open that `tranche verify` replaced answers from the new one at the next question."""
    engines = [ResidentEngine(), ResidentEngine()]
    for engine in engines:
        answer(engine, stored)
    layouts = [engine._layouts.layout(stored, Deadline()) for engine in engines]
    wait_for_checks()
    flip("block_0.lanes")(stored.layout_folder)
    assert "has been rebuilt" in verified(stored, monkeypatch)[1]
    for engine, layout in zip(engines, layouts, strict=True):
        assert answer(engine, stored) == truth()
        now = engine._layouts.layout(stored, Deadline())
        assert now is not layout and now.damage() is None
        assert not np.array_equal(layout.block(0)._array, now.block(0)[:])


@pytest.mark.parametrize(
    ("written", "changed"),
    [(b"100 * clicks", b"900 * clicks"), (b'"timezone": 0', b'"timezone": 9'), (b'"sum"', b'"max"')],
)
def test_a_changed_manifest_is_a_fault(stored: StoredSlicer, written: bytes, changed: bytes) -> None:
    """A formula, time zone or aggregate that was not imported is not computed with: the file is named."""
    path = stored.folder / "manifest.json"
    content = path.read_bytes()
    assert written in content
    path.write_bytes(content.replace(written, changed, 1))
    warehouse = Warehouse(stored.folder.parents[1])
    with pytest.raises(Misconfigured, match=r"manifest\.json is damaged: restore it from a backup"):
        warehouse.open("demo", "small")
    path.write_bytes(content)
    assert warehouse.open("demo", "small").version == stored.version


@pytest.mark.parametrize("file", ["draw.lane", "share.lane", "distinct_0.codes"])
def test_nothing_is_made_from_damaged_files(
    stored: StoredSlicer, file: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Where an append keeps a file as it is, what follows from it is not made before it was verified."""
    prepare(stored)
    overwrite(stored.layout_folder / file, 9)
    warehouse = Warehouse(stored.folder.parents[1])
    later = ROWS.set_column(0, "time", pc.add(ROWS["time"], pa.scalar(dt.timedelta(days=30))))
    with warehouse.writer("demo", "small", DEFINITION, mode="append") as writer:
        writer.write(later)
        writer.commit("a month later", "4")
    with caplog.at_level(logging.WARNING):
        prepare(warehouse.open("demo", "small"))
    assert f"demo/small is damaged ({file} is changed" in caplog.text
    assert Layout(warehouse.open("demo", "small").layout_folder).damage() is None
