"""Values of widgets that the desk sets: only where they differ, since they replace a choice on its way."""

from pathlib import Path

import pytest
from dealing import Visit
from opening import of_delivery, set_values

SCREENS: dict[str, dict[str, str]] = {
    "a table": {"screen": "audience", "split": "campaign_id", "compare": "previous"},
    "a pivot": {"screen": "audience", "split": "geo.country~campaign_id", "chart": "pivot"},
    "bars": {"screen": "audience", "split": "geo.country", "chart": "bars", "is.geo.country": "US"},
    "what moved": {"screen": "audience", "lower": "moved"},
    "export": {"screen": "export"},
    "slicers": {"screen": "slicers"},
    "deals": {"screen": "deals"},
    "packages": {"screen": "deals", "deals_kind": "Packages"},
    "new package": {"screen": "new_package"},
    "lists": {"screen": "lists"},
    "access": {"screen": "access"},
}


@pytest.mark.parametrize("about", SCREENS)
def test_a_run_that_changes_nothing_sets_no_value(
    home: Path, monkeypatch: pytest.MonkeyPatch, about: str
) -> None:
    """A choice that is on its way to the desk stays, whatever run is drawn meanwhile."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    desk = of_delivery(**SCREENS[about])
    assert set_values(desk)
    desk.run()
    assert not set_values(desk.run())


@pytest.mark.parametrize(
    ("key", "section"),
    [
        ("demand_deals-1", "Change"),
        ("demand_deals-1", "Delivery"),
        ("supply_deals-1", "Change"),
        ("supply_deals-1", "Add deals"),
        ("supply_deals-1", "Targeting"),
    ],
)
def test_a_drawer_that_is_drawn_again_sets_no_value(visit: Visit, key: str, section: str) -> None:
    """What is typed or chosen in a drawer stays, whatever run is drawn meanwhile."""
    desk = visit("deals", open=key)
    desk.button_group(key="drawer_shown").set_value(section).run()
    assert not set_values(desk.run())
