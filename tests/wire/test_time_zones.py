"""Clocks of this year, whatever copy of the data a machine has first in its path."""

import copy
import datetime as dt
import pickle
import re
import shutil
import zoneinfo
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import ROOT
from ingesting import Place, definition

from lib.cli import main
from lib.serving.check import time_zone_data
from lib.slicers import zones
from lib.slicers.definition.reading import time_zone
from lib.wire import time_zones

CACHES = (time_zones.data, time_zones.names, time_zones.zone, zones.names, zones.changes_of_year)
NOON = "time,site,imps\n2026-12-01 12:00,a,1\n"
VANCOUVER, AUTUMN = "America/Vancouver", dt.date(2026, 11, 1)

TIME = {"column": "time", "granularity": "hour", "timezone": VANCOUVER}


def system_copy(folder: Path, version: str) -> None:
    """A copy of a system of that version, whose Vancouver still has the clocks of Los Angeles."""
    shutil.copytree(str(resources.files("tzdata") / "zoneinfo"), folder)
    shutil.copy(folder / "America" / "Los_Angeles", folder / "America" / "Vancouver")
    data = (folder / "tzdata.zi").read_text()
    (folder / "tzdata.zi").write_text(data.replace(data.splitlines()[0], f"# version {version}", 1))


@pytest.fixture(params=["2025b", ""], ids=["2025", "no version"])
def old_system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A system whose copy, first in the path of zoneinfo, is of 2025, or does not say of when."""
    folder = tmp_path / "zoneinfo"
    system_copy(folder, "2025b")
    if not request.param:
        (folder / "tzdata.zi").unlink()
    yield from first_in_the_path(folder)


@pytest.fixture
def new_system(tmp_path: Path) -> Iterator[Path]:
    """A system whose copy is of next year."""
    folder = tmp_path / "zoneinfo"
    system_copy(folder, "2027a")
    yield from first_in_the_path(folder)


def first_in_the_path(folder: Path) -> Iterator[Path]:
    """The folder, while zoneinfo looks there first."""
    usual = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([str(folder), *usual])
    zoneinfo.ZoneInfo.clear_cache()
    for cache in CACHES:
        cache.cache_clear()
    try:
        winter = dt.datetime(2026, 12, 1, tzinfo=zoneinfo.ZoneInfo(VANCOUVER))
        assert winter.utcoffset() == dt.timedelta(hours=-8)
        yield folder
    finally:
        zoneinfo.reset_tzpath(usual)
        zoneinfo.ZoneInfo.clear_cache()
        for cache in CACHES:
            cache.cache_clear()


def test_clocks_are_those_of_the_package(old_system: Path) -> None:
    """Vancouver keeps summer time since 2026 (tzdata 2026a, NEWS): a day of 24 hours, seven behind UTC."""
    assert time_zones.data() == time_zones.package()
    assert zones.odd_days(VANCOUVER, (AUTUMN, AUTUMN)) == {}
    for zone in (time_zone(VANCOUVER), zones.tzinfo(VANCOUVER)):
        assert dt.datetime(2026, 12, 1, tzinfo=zone).utcoffset() == dt.timedelta(hours=-7)
    assert zones.by_city()[VANCOUVER].endswith("UTC-7")


def test_an_import_stores_the_hours_of_the_package(old_system: Path, tmp_path: Path) -> None:
    """A row of noon in Vancouver in December 2026 is stored at 19:00 UTC."""
    place = Place(tmp_path)
    [row] = place.rows(place.file("a.csv", NOON), definition=definition(time=TIME))
    assert row["time"] == dt.datetime(2026, 12, 1, 19, tzinfo=dt.UTC)


@pytest.mark.parametrize("name", [VANCOUVER, "America/Edmonton", "Africa/Casablanca", "Europe/Berlin"])
def test_an_import_stores_the_hours_of_the_data_in_use(tmp_path: Path, name: str) -> None:
    """Whatever copy this machine has, a row of noon is stored at the hour at which Python has it."""
    place = Place(tmp_path)
    [row] = place.rows(place.file("a.csv", NOON), definition=definition(time=TIME | {"timezone": name}))
    clock = dt.datetime(2026, 12, 1, 12, tzinfo=time_zones.zone(name))
    assert row["time"] == clock.astimezone(dt.UTC)


def test_verify_names_what_was_imported_with_other_data(
    new_system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Imports of a named zone that another version of the data read are named, once the data are others."""
    place = Place(tmp_path)
    place.take(place.file("a.csv", NOON), definition=definition(time=TIME))
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path))
    assert "read with" not in CliRunner().invoke(main, ["verify"]).output
    shutil.rmtree(new_system)
    time_zones.data.cache_clear()
    result = CliRunner().invoke(main, ["verify"])
    version = time_zones.package().version
    assert f"{VANCOUVER}: read with data of time zones 2027a, not {version}: a.csv" in result.output
    assert result.exit_code == 0


def test_a_system_copy_that_is_newer_is_taken(new_system: Path) -> None:
    """A machine that is updated more often than Tranche has the newer clocks."""
    assert time_zones.data().version == "2027a"
    assert zones.odd_days(VANCOUVER, (AUTUMN, AUTUMN)) == {AUTUMN: 25}


def test_a_zone_is_one_object_that_can_be_copied() -> None:
    """Zones are compared by identity, and go through pickles and copies as those of zoneinfo do."""
    zone = time_zones.zone("Europe/Berlin")
    assert zone.key == str(zone) == "Europe/Berlin"
    assert copy.deepcopy(zone) is pickle.loads(pickle.dumps(zone)) is time_zones.zone("Europe/Berlin")  # noqa: S301


@pytest.mark.parametrize("name", ["Europe/Berlln", "../../etc/passwd", "/etc/localtime", "", "Europe"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    """No name opens another file, or a folder."""
    with pytest.raises(zoneinfo.ZoneInfoNotFoundError):
        time_zones.zone(name)


def test_check_says_which_data_there_is(old_system: Path) -> None:
    """`tranche check` names the version in use and those at hand, and notes data of more than four months."""
    data = time_zones.data()
    year = int(data.version[:4])
    fresh = time_zone_data(data, dt.date(year + 1, 4, 30))
    assert fresh.state == "ok"
    assert f"Version {data.version} is used: the package tzdata has {data.version}" in fresh.result
    old = time_zone_data(data, dt.date(year + 1, 5, 1))
    assert (old.state, "four months" in old.remedy) == ("note", True)


def test_versions_are_ordered_as_they_appear() -> None:
    """After 2026z comes 2026za, and then 2027a."""
    versions = ["2027a", "2026za", "2026f", "2026z", "2025b", "2026a"]
    copies = [time_zones.ZoneData(version, resources.files("tzdata")) for version in versions]
    copies.sort(key=lambda copy: copy.order)
    assert [copy.version for copy in copies] == ["2025b", "2026a", "2026f", "2026z", "2026za", "2027a"]


def test_nothing_asks_zoneinfo_for_a_zone() -> None:
    """One function gives zones: no other file of lib makes one, or lists their names."""
    makers = re.compile(r"\bZoneInfo\(|available_timezones|from_file\(")
    files = [path for path in (ROOT / "lib").rglob("*.py") if makers.search(path.read_text())]
    assert files == [ROOT / "lib" / "wire" / "time_zones.py"]
