"""Saved views with their figures on Slicers, and what fires on a person's start page."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import LAST_DAY, PEOPLE, rows_by_week
from opening import DESK, of_delivery, opened
from streamlit.testing.v1 import AppTest
from watched import IMPS, SLICER, YESTERDAY, imported

from lib.figures.numbers import Numbers
from lib.serving import connect
from lib.settings import Settings
from lib.share.alerts.watch import Watch
from lib.ui.explore import view_figures
from lib.ui.kit.markdown import EMPTY
from lib.views import SavedView, ViewStore

NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
LAST_WEEK = {"start": (LAST_DAY - timedelta(days=6)).isoformat(), "end": LAST_DAY.isoformat()}
Keeper = Callable[[str], ViewStore]


@pytest.fixture
def settings(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of the data directory that the desk is over."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    return Settings(home=own_home, demo=True)


@pytest.fixture
def kept(settings: Settings) -> Keeper:
    """What the person of this name keeps."""
    people = {person.username: person for person in PEOPLE}
    return lambda name: connect.connect(people[name], settings).view_store


def texts(desk: AppTest) -> str:
    """All that is written in Markdown and captions, as a reader sees it."""
    written = "\n".join(element.value for element in [*desk.markdown, *desk.caption])
    return written.replace(EMPTY, "").replace("\\", "")


def card(desk: AppTest, view: SavedView) -> dict[str, tuple[str, str]]:
    """A card's figures and changes by the names of their fields."""
    metric = desk.get_by_key(f"view_figures_{view.id}").metric
    return {metric_card.label: (metric_card.value, metric_card.delta) for metric_card in metric}


def test_a_view_shows_its_figures(kept: Keeper) -> None:
    """The field in front and the next two, under the view's filters, beside those of the days before."""
    params = {**LAST_WEEK, "is.geo.country": "US", "field": "ctr", "split": "campaign_id", "rows": "10000"}
    view = kept("manager").views.save("demo", "delivery", "US *rates*", params)
    desk = of_delivery("slicers")
    assert not desk.exception
    rows: pd.DataFrame = rows_by_week("geo.country")
    weeks = rows[rows["geo.country"] == "US"].groupby("week")[["imps", "clicks"]].sum()
    rates = 100 * weeks["clicks"] / weeks["imps"]
    metrics = card(desk, view)
    assert list(metrics) == ["CTR", "Impressions", "Clicks"]
    for title, value in (("CTR", rates), ("Impressions", weeks["imps"]), ("Clicks", weeks["clicks"])):
        shown, change = metrics[title]
        assert float(shown.rstrip(" %").replace(",", "")) == pytest.approx(
            value[0], abs=0.51 if value[0] > 9 else 0.0051
        )
        assert change.removeprefix("≈ ").lstrip("\\") == Numbers().change(value[0] / value[1] - 1)
    desk.button(key=f"view_figures_open_{view.id}").click().run()
    assert not desk.exception
    assert "".join(desk.query_params["is.geo.country"]) == "US"
    assert "".join(desk.query_params["split"]) == "campaign_id"


def test_four_views_come_first(kept: Keeper) -> None:
    """Where an alert fires, the start page, the own ones and the latest; the rest are counted."""
    views = kept("manager").views
    others = kept("admin").views
    names = ["Old", "Start", "Fires", "New", "Newest"]
    by_name = {name: views.save("demo", "delivery", name, LAST_WEEK) for name in names}
    by_name["Theirs"] = others.save("demo", "delivery", "Theirs", LAST_WEEK, is_shared=True)
    kept("manager").alerts.watch(by_name["Fires"].id, "imps", IMPS, "above", 1.0)
    (alert,) = kept("manager").alerts.mine()
    firing = {alert.view_id: replace(alert, state="firing")}
    shown = view_figures.first(views.of("demo", "delivery"), by_name["Start"].id, firing)
    assert [view.name for view in shown] == ["Fires", "Start", "Newest", "New"]
    assert "4 of 6 views" in texts(of_delivery("slicers"))
    viewers = of_delivery("slicers", person="viewer")
    assert [button.label for button in viewers.button if "view_figures" in (button.key or "")] == ["Theirs"]


def test_what_fires_stands_on_the_views_card(settings: Settings, kept: Keeper) -> None:
    """The card of a view whose alert fires says figure, bound and since when."""
    imported(settings.home, [120])
    view = kept("manager").views.save(*SLICER, "Yesterday", YESTERDAY)
    kept("manager").alerts.watch(view.id, "imps", IMPS, "above", 100.0)
    Watch(settings).look(NOW)
    desk = opened("slicers", project="demo", slicer=SLICER[1])
    (said,) = [
        markdown.value
        for markdown in desk.get_by_key(f"view_figures_{view.id}").markdown
        if "above" in markdown.value
    ]
    plain = said.replace(EMPTY, "").replace("\\", "")
    assert "Impressions above 100 · now 120 · since 21 Nov 2026, 14:05 UTC" in plain


def test_what_fires_is_on_the_start_page(settings: Settings, kept: Keeper) -> None:
    """A view as start page has the list above it until it is hidden; a link's page hasn't."""
    imported(settings.home, [120])
    view = kept("manager").views.save(*SLICER, "Yesterday", YESTERDAY)
    kept("manager").alerts.watch(view.id, "imps", IMPS, "above", 100.0)
    Watch(settings).look(NOW)
    kept("manager").start.set(view.id)
    desk = entered()
    assert "".join(desk.query_params["start"]) == "yesterday"
    assert "Impressions above 100\nnow 120 · since 21 Nov 2026" in "\n".join(block(desk))
    desk.button(key="alerts_hide").click().run()
    assert not block(desk)
    again = entered()
    again.switch_page("../pages/slicers.py").run()
    again.switch_page("../pages/audience.py").run()
    assert not block(again)
    assert not block(opened("audience", project="demo", slicer=SLICER[1]))


def entered() -> AppTest:
    """The desk after the sign-in of somebody who came without a link."""
    desk = AppTest.from_file(DESK, default_timeout=60).run()
    desk.button(key="demo_manager").click().run()
    assert not desk.exception
    return desk


def block(desk: AppTest) -> list[str]:
    """What the list of alerts above a screen says."""
    try:
        block: Any = desk.get_by_key("alerts_firing")
    except KeyError:
        return []
    lines = [element.value for element in [*block.markdown, *block.caption]]
    return [line.replace(EMPTY, "").replace("\\", "").replace("*", "") for line in lines]


def test_a_view_that_no_longer_fits(kept: Keeper) -> None:
    """Where a filter or field of a view is gone, its card names it, and shows no figures without it."""
    for name, params in (("filter", {"is.os": "ios"}), ("field", {"field": "spend"})):
        kept("manager").views.save("demo", "delivery", name, {**LAST_WEEK, **params}, is_shared=False)
    fits = kept("manager").views.save("demo", "delivery", "fits", {**LAST_WEEK}, is_shared=False)
    desk = of_delivery("slicers")
    views = kept("manager").views.of("demo", "delivery")
    assert [view.name for view in views if card(desk, view)] == [fits.name]
    assert "Left out the filter on Os: delivery has no such key field." in texts(desk)
    assert "Left out the data field Spend: delivery has none of that name." in texts(desk)
