"""A full disk, damaged files and bad settings: one sentence that says what happened, and no traceback.

The disk is full in earnest: no file of the process may grow beyond a limit that the system sets (setrlimit).
"""

import io
import multiprocessing
import os
import resource
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from unittest import mock

import pytest
from conftest import ROOT, copied

from lib.cli import main
from lib.people.tokens.access import Access
from lib.settings import Settings
from lib.wire import private
from lib.wire.errors import StoreUnavailable

DESK: tuple[str, ...] = ()
TOKEN = ("token", "create", "--person", "viewer", "--service", "reporting", "--name", "x")
USER = ("user", "add", "eve", "--role", "viewer", "--password-stdin")
IMPORT = ("import", "rows.csv", "--project", "acme", "--slicer", "rows")


@pytest.fixture
def prepared(home: Path, tmp_path: Path) -> Path:
    """A data directory with its database, and a file to import beside it."""
    copy = copied(home, tmp_path / "home")
    Access.of(Settings(home=copy)).store.engine.dispose()
    days = (f"2026-11-{1 + number % 20:02},C{number % 50},{number}" for number in range(20_000))
    (tmp_path / "rows.csv").write_text("\n".join(["day,country,imps", *days]) + "\n")
    return copy


@cache
def processes() -> BaseContext:
    """Starts processes as copies of one that has imported lib and app.py, which takes seconds.

    How much of the code they run is not measured: on a full disk the measuring could not write its file.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["app", "lib.cli", __name__])
    passed_on = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    python_path = os.pathsep.join([str(ROOT), *sys.path])
    with mock.patch.dict(os.environ, {**passed_on, "PYTHONPATH": python_path}, clear=True):
        forkserver.ensure_running()
    return context


def said(words: tuple[str, ...], home: Path, limit: int | None = None) -> tuple[int | None, str]:
    """Exit code and output of `tranche` with these words, of the desk without any.

    Each file of its process may have `limit` bytes.
    """
    folder = home.parent if home.parent.is_dir() else ROOT
    output, far_end = processes().Pipe(duplex=False)
    process = processes().Process(target=run, args=(words, home, folder, limit, far_end))
    process.start()
    far_end.close()
    text = b"".join(iter(partial(os.read, output.fileno(), 65_536), b"")).decode()
    process.join()
    assert "Traceback" not in text, text
    return process.exitcode, text


def run(words: tuple[str, ...], home: Path, folder: Path, limit: int | None, output: Connection) -> None:
    """What that process does; it writes to a pipe, which the limit does not hold for."""
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    sys.stdin, sys.argv = io.StringIO("correct horse\n"), ["tranche", *words]
    os.environ["TRANCHE_HOME"] = str(home)
    os.chdir(folder)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if words:
        main()
    else:
        runpy.run_path(str(ROOT / "app.py"), run_name="__main__")


@pytest.mark.parametrize("words", [TOKEN, USER], ids=["token create", "user add"])
def test_a_full_disk_is_a_sentence(prepared: Path, words: tuple[str, ...]) -> None:
    """`token create` and `user add` on a full disk end with one sentence that names the file."""
    code, output = said(words, prepared, limit=1)
    assert code == 1
    assert output.startswith("Error: ") and str(prepared) in output
    assert len(output.strip().splitlines()) == 1


def test_a_disk_that_is_full_when_a_file_is_replaced(prepared: Path) -> None:
    """A file that can't be written says so, and is as it was."""
    path = prepared / "tranche.toml"
    before = path.read_bytes()
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, usual[1]))
    try:
        with pytest.raises(StoreUnavailable, match=r"tranche\.toml can't be written: File too large"):
            private.write(path, "demo = false\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert path.read_bytes() == before
    assert {path.name for path in prepared.glob(".tranche*")} == set()


def test_a_disk_that_is_full_while_preparing(prepared: Path) -> None:
    """Rows that were imported stay imported where the disk is full while they are prepared."""
    code, output = said(IMPORT, prepared, limit=60_000)
    assert (code, "20,000 rows imported" in output) == (0, True)
    assert "Not prepared: " in output and "The rows are imported" in output
    code, output = said(("slicers",), prepared)
    assert (code, "20,000" in output) == (0, True)


def test_a_disk_that_is_full_while_rows_are_imported(prepared: Path) -> None:
    """A failed import leaves no slicer, and no inferred definition, which could be cut off."""
    before = {path for path in prepared.parent.rglob("*") if path.suffix != ".lock"}
    for limit in (1, 300, 4_000):
        code, output = said(IMPORT, prepared, limit=limit)
        assert code == 1, output
        assert "nothing was changed" in output
        assert {path for path in prepared.parent.rglob("*") if path.suffix != ".lock"} == before, limit


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder on a mount that is read-only, for root too; skips the test where nothing may be mounted."""
    if os.geteuid() != 0 or not _mount("--bind", str(folder), str(folder)):
        pytest.skip("Only who may mount can make a folder read-only for root")
    try:
        assert _mount("-o", "remount,ro,bind", str(folder))
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", ["warehouse", ""], ids=["slicers", "all"])
def test_a_disk_that_becomes_read_only(prepared: Path, name: str) -> None:
    """An import is refused in a sentence and leaves nothing; once the disk can be written, it goes in."""
    folder = prepared / name
    code, _ = said(("slicers",), prepared)
    with read_only(folder):
        before = sorted(folder.rglob("*"))
        code, output = said(IMPORT, prepared)
        assert (code, "ead-only" in output) == (1, True), output
        assert sorted(folder.rglob("*")) == before
        code, output = said(USER, prepared)
        assert (code, "Error: " in output) == ((1, True) if not name else (0, False)), output
    code, output = said(IMPORT, prepared)
    assert (code, "20,000 rows imported" in output) == (0, True)


def test_a_disk_that_is_full_from_the_first(tmp_path: Path) -> None:
    """Making the demo on a full disk ends with one sentence, too."""
    code, output = said(("demo",), tmp_path / "new", limit=1)
    assert code == 1
    assert output.startswith("Error: ") and str(tmp_path / "new") in output


@pytest.mark.parametrize("damage", [b"not a database " * 2000, b"", None], ids=["other", "empty", "cut off"])
def test_a_damaged_database(prepared: Path, damage: bytes | None) -> None:
    """A damaged database is named in a sentence, by the command line and at the start of the desk."""
    path = prepared / "tranche.db"
    whole = path.read_bytes()
    for beside in prepared.glob("tranche.db-*"):
        beside.unlink()
    path.write_bytes(whole[:5000] if damage is None else damage)
    code, output = said(("token", "list"), prepared)
    assert code == 1
    assert output.startswith("Error: ") and str(path) in output
    code, output = said(DESK, prepared)
    assert code == 1
    assert str(path) in output


EMPTY = {"tranche.db": [("user", "list"), ("check",)], "tranche.toml": [("check",), ("demo",)]}


@pytest.mark.parametrize("name", EMPTY)
def test_a_file_that_was_there_and_is_empty(prepared: Path, name: str) -> None:
    """An empty file is no database without people, and no settings that are all at their defaults."""
    for beside in prepared.glob(f"{name}-*"):
        beside.unlink()
    (prepared / name).write_bytes(b"")
    for words in EMPTY[name]:
        code, output = said(words, prepared)
        assert (code, "Error: " in output) == (1, True), output
        assert f"{prepared / name} is empty" in output
        assert "restore it from a backup" in output.lower()
    code, output = said(DESK, prepared)
    assert (code, f"{prepared / name} is empty" in output) == (1, True)
    assert (prepared / name).read_bytes() == b""


def test_a_database_that_could_not_be_made(tmp_path: Path) -> None:
    """A disk that is full when the database is made leaves no empty one: with room a new home starts."""
    new = tmp_path / "new"
    assert said(("user", "list"), new, limit=1)[0] == 1
    assert not (new / "tranche.db").exists()
    assert said(("user", "list"), new)[0] == 0


@pytest.mark.parametrize("text", ["{", "", "[]", '{"version": "x"}', "\0"])
def test_a_damaged_manifest(prepared: Path, text: str) -> None:
    """A damaged manifest is named in a sentence that says what to do."""
    path = prepared / "warehouse" / "demo" / "delivery" / "manifest.json"
    path.write_text(text)
    code, output = said(("slicers",), prepared)
    assert code == 1
    assert f"{path} is damaged: restore it from a backup" in output


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("port = ", "can't be read as TOML"),
        ("prot = 1", "did you mean 'port'"),
        ("port = 'x'", "Setting port"),
        ("demo = true\nhost = '0.0.0.0'", "demo mode"),
    ],
)
def test_bad_settings_at_the_start_of_the_desk(tmp_path: Path, text: str, named: str) -> None:
    """The desk does not start on bad settings, and says in a line which, and what would be right."""
    (tmp_path / "tranche.toml").write_text(text)
    code, output = said(DESK, tmp_path)
    assert code == 1
    assert named in output


def test_a_home_that_is_no_folder(tmp_path: Path) -> None:
    """A data directory below a file is told by its name."""
    (tmp_path / "file").write_text("")
    code, output = said(DESK, tmp_path / "file" / "home")
    assert code == 1
    assert str(tmp_path / "file") in output


def test_after_a_full_disk_all_is_as_before(prepared: Path) -> None:
    """What failed on a full disk left nothing behind: with room again the same command succeeds."""
    assert said(USER, prepared, limit=1)[0] == 1
    code, output = said(USER, prepared)
    assert (code, "Added eve" in output) == (0, True)
