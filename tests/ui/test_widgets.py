"""Values of widgets that the desk sets: only where they differ, since they replace a choice on its way."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opening import of_delivery
from streamlit.testing.v1 import AppTest

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


def nodes(node: Any) -> Iterator[Any]:
    """A part of a page, and all parts of it."""
    yield node
    for child in getattr(node, "children", {}).values():
        yield from nodes(child)


def set_values(desk: AppTest) -> list[str]:
    """The keys of the widgets whose value the last run has sent to the browser, but for disabled ones."""
    protos = {getattr(node, "key", None): getattr(node, "proto", None) for node in nodes(desk._tree)}
    return [
        str(key)
        for key, proto in protos.items()
        if getattr(proto, "set_value", False) and not getattr(proto, "disabled", False)
    ]


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
