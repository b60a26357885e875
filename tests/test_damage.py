"""Damaged files: a layout is built again and never believed; rows and mappings are named, with what to do."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from conftest import COUNTRIES, DEFINITION, small_rows

from lib.cli.verify import verify
from lib.reporting.engines.resident import ResidentEngine, checksums, drafts, prepare
from lib.reporting.engines.resident.checksums import Damaged, Sum
from lib.reporting.engines.sums import Question
from lib.reporting.warehouse import StoredSlicer, Warehouse
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
    found: pd.Series = frame.groupby(frame[COUNTRY].fillna(""))["imps"].sum()
    return {str(name): float(value) for name, value in found.items()}


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
    mapped = kind not in ("flipped contents", "cut off contents", "no contents", "no digest", "garbage")
    gone = kind == "nothing" and not is_running
    assert ("demo/small is damaged" in caplog.text) == ((mapped or not is_running) and not gone)
    assert answer(ResidentEngine(), stored) == truth()
    assert [path.name for path in stored.layout_folder.parent.iterdir()] == [stored.version]


def test_what_is_mapped_is_not_written_to(stored: StoredSlicer) -> None:
    """A layout that is built in the place of another leaves the maps of the other as they were."""
    engine = ResidentEngine()
    answer(engine, stored)
    layout = engine._layouts.layout(stored, Deadline())
    before = layout.block(0).copy()
    flip("key_0.codes")(stored.layout_folder)
    assert answer(ResidentEngine(), stored) == truth()
    assert np.array_equal(layout.block(0), before)


def test_large_files_are_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large file some blocks are checked at opening, all of them when the whole is."""
    monkeypatch.setattr(checksums, "BLOCK", 64)
    path, read = tmp_path / "large", []
    path.write_bytes(np.random.default_rng(1).bytes(64 * 1000))
    written = Sum.of(path)
    monkeypatch.setattr(
        checksums.zlib, "crc32", lambda block, crc32=checksums.zlib.crc32: read.append(1) or crc32(block)
    )
    written.check(path)
    assert len(read) == checksums.SAMPLED
    written.check(path, whole=True)
    assert len(read) == checksums.SAMPLED + 1000
    flip("large", 1)(tmp_path)
    with pytest.raises(Damaged, match="large is changed within"):
        written.check(path, whole=True)


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
    with drafts.begun(stored.layout_folder) as held:
        (held / "rows").write_bytes(b"half")
        prepare(stored)
        assert stored.layout_folder.is_dir()
        assert held.is_dir()
        assert not left.exists()
    assert not held.exists()


def drafts_of(stored: StoredSlicer, name: str) -> Path:
    """A draft that nobody holds, with a file in it."""
    folder = stored.layout_folder.with_name(f"{stored.layout_folder.name}.{name}{drafts.ENDING}")
    folder.mkdir(parents=True)
    (folder / "rows").write_bytes(b"half")
    return folder
