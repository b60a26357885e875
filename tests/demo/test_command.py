"""`tranche demo`: makes the demo once, and never over what is somebody's own."""

import datetime as dt
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from peopled import people_in

from lib.cli import main
from lib.demo.stage import build
from lib.people import Person
from lib.settings import Settings
from lib.slicers.definition import DataFieldDefinition, Definition, TimeColumn
from lib.slicers.warehouse import Warehouse

FEW = ("--rows", "10000")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory of its own, not there yet."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A data directory in which the command made the demo, and what it said; nothing changes there."""
    home = tmp_path_factory.mktemp("made") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANCHE_HOME", str(home))
        return home, run(*FEW)


@pytest.fixture
def demo(home: Path, first_run: tuple[Path, Result]) -> Path:
    """A data directory of its own with the demo."""
    return Path(shutil.copytree(first_run[0], home))


def run(*words: str) -> Result:
    """Run `tranche demo` with these arguments."""
    return CliRunner().invoke(main, ["demo", *words])


def import_own(home: Path, slicer: str) -> None:
    """Rows of somebody's own in the project demo."""
    definition = Definition(time=TimeColumn(column="t"), data_fields=(DataFieldDefinition(name="imps"),))
    rows = {"time": [dt.datetime(2026, 1, 1, tzinfo=dt.UTC)], "imps": [1.0]}
    with Warehouse(home / "warehouse").writer("demo", slicer, definition) as writer:
        writer.write(pa.table(rows, definition.schema()))
        writer.commit("own.csv", "digest")


def versions(home: Path) -> list[str]:
    """What changes with every change of a slicer."""
    warehouse = Warehouse(home / "warehouse")
    return [warehouse.open(*name).version for name in warehouse.slicers()]


def test_makes_the_demo_in_an_empty_place(demo: Path, first_run: tuple[Path, Result]) -> None:
    """Both slicers and the three people are there, demo mode is on, and the answer says how to sign in."""
    answer = first_run[1]
    assert answer.exit_code == 0
    assert Warehouse(demo / "warehouse").slicers() == [("demo", "curation"), ("demo", "delivery")]
    people = people_in(Settings.load().home).everyone()
    assert [person.username for person in people] == ["admin", "manager", "viewer"]
    assert Settings.load().demo
    for words in ("demo/delivery", "demo/curation", "viewer, manager or admin", "password demo", "make run"):
        assert words in answer.stdout


def test_is_quick_when_it_is_there(demo: Path, first_run: tuple[Path, Result]) -> None:
    """A second time nothing is made, and the answer is the same."""
    first_versions = versions(demo)
    again = run(*FEW)
    assert again.exit_code == 0
    assert versions(demo) == first_versions
    assert again.stdout == first_run[1].stdout
    assert "Making" not in again.stderr


def test_shows_its_progress(first_run: tuple[Path, Result]) -> None:
    """Where no bar can be drawn, each step is a line with the share done, from the first one on."""
    steps = re.findall(r"^ *(\d+)%  (.+)$", first_run[1].stderr, re.M)
    assert steps[0][0] == "0"
    shares = [int(share) for share, _ in steps]
    assert shares == sorted(shares)
    assert {doing.partition(":")[0] for _, doing in steps} >= {"demo/delivery", "demo/curation"}


def test_is_brief_before_the_desk_starts(demo: Path, first_run: tuple[Path, Result]) -> None:
    """--brief leaves the start of the desk and the sign-in to the desk, which starts next."""
    brief = run("--brief")
    assert brief.exit_code == 0
    assert "make run" not in brief.stdout
    assert first_run[1].stdout.startswith(brief.stdout)


def test_force_rebuilds_it(demo: Path) -> None:
    """--force makes the slicers again, up to today, and keeps what was imported into the demo later."""
    import_own(demo, "auctions")
    before = versions(demo)
    assert run("--force", *FEW).exit_code == 0
    (own,) = set(versions(demo)) & set(before)
    assert Warehouse(demo / "warehouse").open("demo", "auctions").version == own


def test_says_when_it_is_out_of_date(home: Path) -> None:
    """A demo that ends before yesterday is left as it is, with a word on how to refresh it."""
    home.mkdir()
    (home / "tranche.toml").write_text("demo = true\n")
    days_ago = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=3)
    build(Warehouse(home / "warehouse"), people_in(home), days_ago, rows=10_000)
    answer = run(*FEW)
    assert f"The rows end on {days_ago}; tranche demo --force" in answer.stdout
    assert "The rows end" not in run("--force", *FEW).stdout


def test_finishes_a_demo_that_was_broken_off(demo: Path) -> None:
    """With one slicer missing, both are made."""
    (demo / "warehouse" / "demo" / "curation" / "manifest.json").unlink()
    assert run(*FEW).exit_code == 0
    assert len(Warehouse(demo / "warehouse").slicers()) == 2


def test_refuses_with_other_people(home: Path) -> None:
    """Where somebody else signs in, nobody with a known password is added."""
    ada = Person("ada", "Ada Example", None, "viewer")
    people_in(home).add(ada, "a secret of hers")
    answer = run(*FEW)
    assert answer.exit_code == 1
    assert "the person 'ada'" in answer.stderr
    assert "TRANCHE_HOME" in answer.stderr
    assert not (home / "tranche.toml").exists()
    assert [person.username for person in people_in(home).everyone()] == ["ada"]


def test_refuses_with_other_slicers(home: Path) -> None:
    """Where there are rows of somebody's own, the known password would open them."""
    import_own(home, "auctions")
    answer = run(*FEW)
    assert answer.exit_code == 1
    assert "the slicer demo/auctions" in answer.stderr
    assert not (home / "tranche.toml").exists()


def test_never_replaces_other_rows(home: Path) -> None:
    """A slicer of the demo's name that holds other rows is left alone, with --force too."""
    home.mkdir()
    (home / "tranche.toml").write_text("demo = true\n")
    import_own(home, "delivery")
    before = versions(home)
    answer = run("--force", *FEW)
    assert answer.exit_code == 1
    assert "demo/delivery holds rows of your own" in answer.stderr
    assert versions(home) == before


def test_refuses_where_settings_are_not_for_a_demo(home: Path) -> None:
    """A TOML file without demo mode is left alone; the answer says what to write into it."""
    home.mkdir()
    (home / "tranche.toml").write_text("port = 9000\n")
    answer = run(*FEW)
    assert answer.exit_code == 1
    assert "demo = true" in answer.stderr
    assert (home / "tranche.toml").read_text() == "port = 9000\n"


def test_refuses_to_be_open_to_the_network(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """People with a known password and an address that others can reach don't go together."""
    monkeypatch.setenv("TRANCHE_HOST", "0.0.0.0")  # noqa: S104
    answer = run(*FEW)
    assert answer.exit_code == 1
    assert "loopback" in answer.stderr
    assert not home.exists()


@pytest.mark.parametrize("rows", ["9999", "3000001", "many"])
def test_rows_have_limits(home: Path, rows: str) -> None:
    """A number of rows that makes no demo, or fills the memory, is not understood."""
    assert run("--rows", rows).exit_code == 2
    assert not home.exists()
