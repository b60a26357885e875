"""`tranche backup` while a desk runs, and `tranche restore` after its folder was destroyed."""

import datetime as dt
import shutil
import sqlite3
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from conftest import COUNTRIES, DEFINITION, desk_over, small_rows, started
from deals.caller import Caller, deals, option, package, world
from peopled import people_in

from lib.cli import main
from lib.people import Grant
from lib.people.sessions import Sessions
from lib.serving import connect
from lib.serving.backup import back_up, make
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.slicers.warehouse import writer as row_writer
from lib.wire.errors import BadRequest, Misconfigured

SERVE = [sys.executable, "-c", "from lib.cli import main; main()", "serve", "--port", "0"]
QUESTION = {"project_name": "demo", "slicer_name": "delivery", "start_date": "-20d", "end_date": "yesterday"}
SPLIT = {"split_by": ["geo.country", "campaign_id"], "limit": -1}
BEFORE, MOST = 5, 40
SOME_ROWS = Grant.parse('demo/delivery/[{"name": "geo.country", "value": ["DE"], "match": "equals"}]')


def tranche(home: Path, *words: str) -> Result:
    """What a command over this home does."""
    return CliRunner().invoke(main, list(words), env={"TRANCHE_HOME": str(home)})


def done(result: Result) -> str:
    """What a command said that went well."""
    assert result.exit_code == 0, result.output
    return result.output


def everything(caller: Caller, entity: str) -> list[dict[str, Any]]:
    """All entities, in the order in which they were made."""
    return list(caller.get(f"{entity}/", ordering="id", limit=500)["results"])


@contextmanager
def writing_deals(caller: Caller, seats: tuple[int, int]) -> Iterator[None]:
    """Somebody who creates packages of two deals: five before the block, more in it, one after it."""
    over, numbers = threading.Event(), SimpleQueue[int]()

    def create_one() -> int:
        body = package(create_demand_deals=deals(*(option(seat, 2.5) for seat in seats)))
        return caller.make("supply_deals", body)["id"]

    def create() -> None:
        for _ in range(MOST):
            if not over.is_set():
                numbers.put(create_one())

    thread = threading.Thread(target=create)
    thread.start()
    try:
        for _ in range(BEFORE):
            numbers.get(timeout=60)
        yield
    finally:
        over.set()
        thread.join()
    create_one()


def test_a_backup_of_a_running_desk_restores_it(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken while deals are created and an import goes on; after the home was destroyed all is as it was.

    Answers are equal, people and tokens open what they opened, packages have all of their deals, and of the
    import nothing is there.
    """
    monkeypatch.setattr(row_writer, "BUFFER_BYTES", 1)
    archive, warehouse = tmp_path / "backup.tar", Warehouse(own_home / "warehouse")
    version = warehouse.open("demo", "delivery").version
    reporting, dealing = signed_in(own_home)
    ask = QUESTION | SPLIT | {"token": reporting}
    with (
        desk_over(own_home, TRANCHE_THROTTLE_WRITES="1000000") as (address, _),
        httpx.Client(base_url=address, timeout=60) as http,
    ):
        caller = Caller(http, dealing)
        seats = world(caller)
        answer = http.post("/API/v2/audience", json=ask).json()
        assert answer["status"] == "success" and len(answer["rows"]) > 30
        with writing_deals(caller, (seats.ada, seats.bob)):
            back_up_in_an_import(own_home, warehouse, archive)
        assert http.post("/API/v2/audience", json=ask).json() != answer
        packages, demand = everything(caller, "supply_deals"), everything(caller, "demand_deals")
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    shutil.rmtree(own_home)
    done(tranche(own_home, "restore", str(archive)))
    assert warehouse.open("demo", "delivery").version == version
    assert Sessions(people_in(own_home)).person("admin", 4_000_000_000.0)
    assert people_in(own_home).require("manager").grants == (SOME_ROWS,)
    assert "intact" in done(tranche(own_home, "verify"))
    with started(SERVE, own_home) as address, httpx.Client(base_url=address, timeout=60) as http:
        assert http.post("/API/v2/audience", json=ask).json() == answer
        as_before(Caller(http, dealing), packages, demand)
        form = {"grant_type": "password", "username": "admin", "password": "demo"}
        form |= {"scope": "service_id=deals"}
        assert http.post("/oauth2/token/", data=form).status_code == 200
    assert modes(own_home) == ({0o700}, {0o600})


def signed_in(home: Path) -> tuple[str, str]:
    """A token of the reporting and one of the deals API for the administrator, who has a session, too."""
    installation = connect.installation(Settings(home=home, demo=True, throttle_writes=10**6))
    installation.sessions.begin("admin", 4_000_000_000.0)
    hour = dt.timedelta(hours=1)
    access = installation.access
    access.change("manager", "test", grants=[SOME_ROWS])
    return access.issue("admin", "reporting", "test", hour), access.issue("admin", "deals", "test", hour)


def back_up_in_an_import(home: Path, warehouse: Warehouse, archive: Path) -> None:
    """Back up while the rows of an import lie on the disk, not committed before the backup is done."""
    with warehouse.writer("demo", "delivery", DEFINITION, mode="append") as writer:
        writer.write(small_rows(seed=3))
        writer._files._wait()  # until its rows are on the disk
        assert len(list(home.glob("warehouse/demo/delivery/rows/*/*"))) > 21
        assert "2 slicers" in done(tranche(home, "backup", str(archive)))
        writer.commit("under way", "x")


def as_before(caller: Caller, packages: list[Any], demand: list[Any]) -> None:
    """Fail unless the first packages are there, as they were, and exactly their deals."""
    in_backup = everything(caller, "supply_deals")
    assert BEFORE <= len(in_backup) < len(packages)
    assert in_backup == packages[: len(in_backup)]
    assert everything(caller, "demand_deals") == demand[: 2 * len(in_backup)]


def modes(home: Path) -> tuple[set[int], set[int]]:
    """The modes of the folders and of the files below a home."""
    mode_of = {path: stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*")}
    return (
        {mode for path, mode in mode_of.items() if path.is_dir()},
        {mode for path, mode in mode_of.items() if path.is_file()},
    )


def imported(warehouse: Warehouse, seed: int) -> None:
    """An import that replaces all rows of delivery; it removes what the one before it replaced."""
    with warehouse.writer("demo", "delivery", DEFINITION, {"country": COUNTRIES}, "replace") as writer:
        writer.write(small_rows(seed))
        writer.commit("again", f"seed {seed}")


def test_imports_that_end_during_a_backup_change_nothing_in_it(own_home: Path) -> None:
    """What is held stays readable while two imports replace and remove it."""
    warehouse = Warehouse(own_home / "warehouse")
    with make.hold(warehouse.root) as held:
        slicer = next(held_version for held_version in held if held_version.folder.name == "delivery")
        before = {name: path.read_bytes() for name, path in slicer.files.items()}
        assert len(before) == 22
        imported(warehouse, 3)
        imported(warehouse, 4)
        assert not [name for name in before if "rows" in name and (slicer.folder / name).exists()]
        assert {name: path.read_bytes() for name, path in slicer.files.items()} == before
    assert not list((own_home / "warehouse").glob(".*"))


def test_a_version_that_vanishes_is_followed_by_the_next(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Imports that remove a version's files while they are being held: the next version is backed up."""
    warehouse, original, left = Warehouse(own_home / "warehouse"), Path.hardlink_to, [3, 4]

    def link(name: Path, path: Path) -> None:
        while left and make.LINKS in name.parts and "delivery" in path.parts:
            imported(warehouse, left.pop(0))
        original(name, path)

    monkeypatch.setattr(Path, "hardlink_to", link)
    with make.hold(warehouse.root) as held:
        slicer = next(held_version for held_version in held if held_version.folder.name == "delivery")
        assert slicer.manifest.version == warehouse.open("demo", "delivery").version
        assert slicer.files.keys() == slicer.manifest.files()


def test_damaged_rows_are_not_backed_up(own_home: Path, tmp_path: Path) -> None:
    """A file that is not as it was imported is named, and no backup is written."""
    path = next(own_home.glob("warehouse/demo/delivery/rows/*/*"))
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    result = tranche(own_home, "backup", str(tmp_path / "backup.tar"))
    assert (result.exit_code, "is damaged" in result.output, path.name in result.output) == (1, True, True)
    path.unlink()
    with pytest.raises(Misconfigured, match=f"{path.name} is missing"):
        back_up(Settings(home=own_home), tmp_path / "backup.tar")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_backup_replaces_no_file(own_home: Path, tmp_path: Path) -> None:
    """A file that is there stays as it is, and a backup isn't written into the home that it is of."""
    (tmp_path / "kept").write_text("mine")
    result = tranche(own_home, "backup", str(tmp_path / "kept"))
    assert (result.exit_code, "exists already" in result.output) == (1, True)
    assert (tmp_path / "kept").read_text() == "mine"
    with pytest.raises(BadRequest, match="outside of it"):
        back_up(Settings(home=own_home), own_home / "warehouse" / "backup.tar")
    with pytest.raises(BadRequest, match="no folder"):
        back_up(Settings(home=own_home), tmp_path / "none" / "backup.tar")


def test_what_is_left_out_is_said(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of others in the home and settings of the environment are named, values are not."""
    (own_home / "notes.txt").write_text("mine")
    (own_home / "tranche.db.lock").touch()
    monkeypatch.setenv("TRANCHE_ALERTS_SECRET", "not to be printed")
    said = done(tranche(own_home, "backup", str(tmp_path / "backup.tar")))
    assert "did not write it: notes.txt\n" in said
    assert "TRANCHE_ALERTS_SECRET" in said and "not to be printed" not in said


def test_a_database_elsewhere_is_not_forgotten(own_home: Path, tmp_path: Path) -> None:
    """A SQLite file outside of the home is no part of it: the backup is refused, and says what to do."""
    settings = Settings(home=own_home, database_url=f"sqlite:///{tmp_path}/other.db")
    with pytest.raises(Misconfigured, match=r"other\.db, outside of the data directory"):
        back_up(settings, tmp_path / "backup.tar")


def test_the_database_is_copied_with_its_log(own_home: Path, tmp_path: Path) -> None:
    """Rows that SQLite has only in its write-ahead log yet are in the backup, as one file."""
    settings = Settings(home=own_home, demo=True)
    connect.installation(settings).access.issue("viewer", "reporting", "the last one", None)
    assert (own_home / "tranche.db-wal").stat().st_size > 0
    back_up(settings, tmp_path / "backup.tar")
    restored = tmp_path / "restored"
    done(tranche(restored, "restore", str(tmp_path / "backup.tar")))
    assert {path.name for path in restored.glob("tranche.db*")} == {"tranche.db"}
    with closing(sqlite3.connect(restored / "tranche.db")) as opened:
        assert opened.execute("select name from tokens").fetchall() == [("the last one",)]
