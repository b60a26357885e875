"""A slicer that is gone or not visible: it is named, and no other slicer's figures are shown in its place."""

import shutil
from pathlib import Path

import boards
import pytest
from opening import of_delivery, opened
from streamlit.testing.v1 import AppTest

from lib.ui.kit.slicer_info import first_of, missing_sentence

SLICERS = (("demo", "curation"), ("demo", "delivery"), ("sales", "orders"))
SCREENS = ("audience", "export", "slicers")


@pytest.fixture
def desk_home(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory of the test's own, from which slicers can be removed."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    return own_home


def checked(desk: AppTest) -> AppTest:
    """A run without an exception."""
    assert not desk.exception, desk.exception
    return desk


def remove(home: Path, slicer: str) -> None:
    """Remove a slicer of the project demo, as `tranche remove` does."""
    shutil.rmtree(home / "warehouse" / "demo" / slicer)


def warnings(desk: AppTest) -> list[str]:
    """The warnings as they read."""
    return [warning.value.replace("\\", "") for warning in desk.warning]


def assert_no_figures(desk: AppTest, project: str, slicer: str) -> None:
    """The page names the missing slicer alone: no metric, no table, no chart, no date of another's data."""
    assert warnings(checked(desk)) == [missing_sentence(project, slicer)]
    assert boards.asked(desk) is None
    assert not desk.dataframe
    assert not desk.get("plotly_chart")
    assert not boards.drawn(desk)
    assert not any("Data to" in caption.value for caption in desk.caption)


@pytest.mark.parametrize("screen", SCREENS)
def test_a_slicer_that_nobody_has(desk_home: Path, screen: str) -> None:
    """A link to a slicer that does not exist shows no figures on any screen, and keeps its question."""
    desk = opened(screen, project="demo", slicer="gone", **{"is.geo.country": "US"})
    assert_no_figures(desk, "demo", "gone")
    assert desk.query_params["slicer"] in ("gone", ["gone"])
    assert desk.query_params["is.geo.country"] in ("US", ["US"])


def test_a_warehouse_that_vanished_is_no_empty_desk(desk_home: Path) -> None:
    """Once slicers were known, a missing folder is an error on Audience, and Deals work without it."""
    assert boards.drawn(checked(opened("audience")))
    shutil.rmtree(desk_home / "warehouse")
    [error] = checked(opened("audience")).error
    assert error.value.replace("\\", "").startswith("The folder that had 2 slicers is missing or empty")
    assert not checked(opened("deals")).error


def test_a_slicer_of_others_reads_the_same(desk_home: Path) -> None:
    """A slicer that exists but is not granted, one that does not, and a foreign project: the same words."""
    for project, slicer in (("demo", "curation"), ("demo", "gone"), ("other", "delivery")):
        assert_no_figures(opened("audience", "viewer", project=project, slicer=slicer), project, slicer)


def test_choosing_goes_on(desk_home: Path) -> None:
    """Once another slicer is chosen, its figures are shown, and the warning does not come back."""
    desk = opened("audience", project="demo", slicer="gone")
    desk.selectbox(key="slicer").set_value("delivery")
    assert boards.headline(checked(desk.run()))
    assert warnings(desk) == []
    assert desk.selectbox(key="slicer").options == ["curation", "delivery"]
    desk.query_params["slicer"] = "delivery"  # as a browser's address is by now
    desk.switch_page("../pages/export.py")
    assert warnings(checked(desk.run())) == []
    assert desk.selectbox(key="slicer").value == "delivery"


def test_an_old_address_after_the_choice(desk_home: Path) -> None:
    """A browser that still sends the address of before does not undo the choice."""
    desk = opened("audience", project="demo", slicer="gone")
    desk.selectbox(key="slicer").set_value("delivery").run()
    desk.query_params["slicer"] = "gone"
    assert checked(desk.run()).selectbox(key="slicer").value == "delivery"
    assert boards.headline(desk)


@pytest.mark.parametrize("screen", SCREENS)
def test_removed_while_it_is_open(desk_home: Path, screen: str) -> None:
    """A slicer removed while a person looks at it is named, on this screen and on the next one."""
    desk = of_delivery(screen)
    remove(desk_home, "delivery")
    assert_no_figures(desk.run(), "demo", "delivery")
    for other in SCREENS:
        desk.switch_page(f"../pages/{other}.py")
        assert_no_figures(desk.run(), "demo", "delivery")


def test_another_project_is_a_choice(desk_home: Path) -> None:
    """Another project in the picker shows its first slicer: a person chose it, nothing is missing."""
    shutil.copytree(
        desk_home / "warehouse" / "demo" / "curation", desk_home / "warehouse" / "sales" / "orders"
    )
    desk = opened("audience", "admin", project="demo", slicer="delivery")
    desk.selectbox(key="project").set_value("sales")
    assert checked(desk.run()).selectbox(key="slicer").value == "orders"
    assert warnings(desk) == []


def test_a_view_names_what_is_gone(desk_home: Path) -> None:
    """A data field, leaderboard or line of a link that the slicer lacks is named, not silently replaced."""
    desk = of_delivery(field="spend", cards="geo.country~zone!-change!x", lines="os~ios")
    assert sorted(warnings(desk)) == [
        "Left out the data field Spend: delivery has none of that name.",
        "Left out the leaderboard of Zone: delivery has none of that name.",
        "Left out the lines of Os: delivery has none of that name.",
    ]


def test_a_request_without_names() -> None:
    """What a request does not name is the first; what it names in vain is nothing."""
    assert first_of(SLICERS, None, None) == ("demo", "curation")
    assert first_of(SLICERS, "sales", None) == ("sales", "orders")
    assert first_of(SLICERS, None, "delivery") == ("demo", "delivery")
    assert first_of(SLICERS, "demo", "orders") is None
    assert first_of(SLICERS, "other", None) is None
