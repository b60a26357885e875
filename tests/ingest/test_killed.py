"""A killed import leaves the slicer as it was, and the next one cleans up after it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ingesting import Place, definition

from lib.wire.errors import ImportRefused

BEFORE = "time,site,imps\n2026-01-01,a,1\n2026-01-02,a,2\n"
AFTER = "time,site,imps\n2026-01-02,b,7\n2026-01-03,b,8\n"
WAIT = "print('here', flush=True); sys.stdin.read()"
IMPORT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from ingesting import Place, definition
from lib.slicers.warehouse import writer
{hook}
Place(Path({folder!r})).take(Path({folder!r}) / "b.csv", definition=definition(), mode={mode!r})
"""
HOOKS = {
    "while rows are written": f"""
writer.BUFFER_BYTES = 1
original = writer.RowFiles.finish
def finish(self):
    self._wait()
    {WAIT}
    original(self)
writer.RowFiles.finish = finish
""",
    "just before the change counts": f"""
original = writer.replace_manifest
def replace(*change):
    {WAIT}
    original(*change)
writer.replace_manifest = replace
""",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with a slicer of two rows, and a file to import."""
    place = Place(tmp_path)
    place.take(place.file("a.csv", BEFORE), definition=definition())
    place.file("b.csv", AFTER)
    return place


@pytest.mark.parametrize("moment", HOOKS)
@pytest.mark.parametrize("mode", ["append", "replace-days", "replace"])
def test_a_killed_import_leaves_the_slicer_as_it_was(place: Place, moment: str, mode: str) -> None:
    """Killed with files of rows on disk already, it has changed nothing; the lock is free, the files go."""
    before = place.warehouse.open("p", "s")
    code = IMPORT.format(
        tests=str(Path(__file__).parents[1]), hook=HOOKS[moment], folder=str(place.folder), mode=mode
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        with pytest.raises(ImportRefused, match="Another import into p/s is running"):
            place.take(place.folder / "b.csv", definition=definition(), mode="append")
        process.kill()
        assert process.wait() == -signal.SIGKILL
    left = set(before.folder.rglob("*.parquet"))
    known = {path for paths in before.files.values() for path in paths}
    assert left > known
    assert place.warehouse.open("p", "s") == before
    assert before.read(before.files)["imps"].to_pylist() == [1, 2]
    stored = place.take(place.folder / "b.csv", definition=definition(), mode="append")
    assert stored.read(stored.files)["imps"].to_pylist() == [1, 2, 7, 8]
    assert set(before.folder.rglob("*.parquet")) == {
        path for paths in stored.files.values() for path in paths
    }
