"""Alerts on the screen: set on a saved view, marked on every screen, listed on the first one."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LAST_DAY
from keeping import Keeper, keeper
from opening import opened
from streamlit.testing.v1 import AppTest
from watched import IMPS, SLICER, YESTERDAY, imported

from lib.people import Grant
from lib.serving import connect
from lib.settings import Settings
from lib.share.alerts.watch import Watch
from lib.ui.kit.markdown import EMPTY

NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
Look = Callable[[], Any]


@pytest.fixture
def settings(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of the data directory that the desk is over; yesterday has 120 impressions in its slicer."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    imported(own_home, [120])
    return Settings(home=own_home, demo=True)


@pytest.fixture
def kept(settings: Settings) -> Keeper:
    """What the person of this name keeps."""
    return keeper(settings)


@pytest.fixture
def look(settings: Settings) -> Look:
    """Check the alerts, at NOW."""
    watch = Watch(settings)
    return lambda: watch.look(NOW)


def about_weeks(screen: str = "audience", **params: Any) -> AppTest:
    """A screen of manager's about the slicer with alerts."""
    return opened(screen, project="demo", slicer=SLICER[1], **params)


def managing(desk: AppTest, number: int) -> AppTest:
    """The next run with the popover of views open at this view's alert."""
    desk.session_state["saved_views"], desk.session_state["view_chosen"] = True, number
    desk.session_state["view_panel"] = "alert"
    desk.run()
    assert not desk.exception
    return desk


def texts(desk: AppTest) -> str:
    """All that is written in Markdown and captions."""
    return "\n".join(element.value for element in [*desk.markdown, *desk.caption])


def test_an_alert_is_set_on_a_view(kept: Keeper, look: Look) -> None:
    """Figure, rule and bound of the form are watched; the popover says how it is, and removes it."""
    view = kept("manager").views.save(*SLICER, "Yesterday", YESTERDAY)
    desk = managing(about_weeks(), view.id)
    desk.selectbox(key=f"view_alert_field_{view.id}").set_value("imps")
    desk.selectbox(key=f"view_alert_rule_{view.id}").set_value("below")
    desk.number_input(key=f"view_alert_bound_{view.id}").set_value(1500.5)
    next(button for button in desk.button if button.label == "Set alert").click().run()
    (alert,) = kept("manager").alerts.mine()
    assert (alert.field, alert.rule, alert.bound, alert.state) == ("imps", "below", 1500.5, "new")
    assert "not checked yet" in texts(managing(desk, view.id))
    look()
    shown = texts(managing(desk, view.id))
    assert "Impressions below 1,501" in shown
    assert r"now 120 · since 21 Nov 2026, 14:05 UTC" in shown.replace(EMPTY, "").replace("\\", "")
    desk.button(key="view_alert_remove").click().run()
    assert kept("manager").alerts.mine() == []


def test_the_form_shows_the_figure_and_its_days(kept: Keeper, look: Look) -> None:
    """Before an alert is set: the figure that the check will find, its days, and when it is first checked."""
    view = kept("manager").views.save(*SLICER, "US", {**YESTERDAY, "is.geo.country": "US"})
    desk = managing(about_weeks(), view.id)
    shown = texts(desk).replace("\\", "").replace("\u2060", "")
    day = LAST_DAY
    assert f"Now 60, {day.day} {day:%b %Y}: the view's complete days." in shown
    assert "Checked first within 10 seconds" in shown
    desk.selectbox(key=f"view_alert_field_{view.id}").set_value("ctr")
    shown = texts(managing(desk, view.id)).replace("\\", "").replace("\u2060", "")
    assert "Now 0.00, " in shown
    kept("manager").alerts.watch(view.id, "imps", IMPS, "above", 50.0)
    look()
    assert kept("manager").alerts.mine()[0].value == 60


def test_the_form_says_why_there_is_no_figure(kept: Keeper) -> None:
    """A view of today alone has no complete day: the form says so before anything is set."""
    view = kept("manager").views.save(*SLICER, "Today", {"start": "today", "end": "today"})
    assert "no complete day" in texts(managing(about_weeks(), view.id)).replace("\\", "")


@pytest.mark.parametrize(
    ("rule", "bound", "sentence"),
    [
        (
            "above",
            1_100.0,
            r"Would have fired on 1 of 89 earlier days since 28 Aug 2026, last on 17 Sep 2026\.",
        ),
        (
            "below",
            600.0,
            r"Would have fired on 2 of 89 earlier days since 28 Aug 2026, last on 16 Nov 2026\.",
        ),
        ("above", 2_000.0, r"Would not have fired on any of 89 earlier days since 28 Aug 2026\."),
        ("above", None, r"With a threshold this says on which earlier days the alert would have fired\."),
        ("changed", None, r"Would have fired on 2 of \d+ earlier days since .*, last on 16 Nov 2026\."),
    ],
)
def test_the_form_says_when_it_would_have_fired(
    settings: Settings, kept: Keeper, rule: str, bound: float | None, sentence: str
) -> None:
    """90 days of 950 to 1,050, with 2,000 on the 21st, and half on the 61st and the 81st. Five weeks of days
    are needed before one can be out of its noise."""
    daily = 1_000 * (1 + 0.05 * np.cos(2.4 * np.arange(90)))
    daily[20], daily[60], daily[80] = 2_000, 500, 500
    imported(settings.home, daily.tolist(), date(2026, 11, 25))
    view = kept("manager").views.save(*SLICER, "A day", {"start": "2026-11-25", "end": "2026-11-25"})
    desk = managing(about_weeks(), view.id)
    desk.selectbox(key=f"view_alert_field_{view.id}").set_value("imps")
    desk.selectbox(key=f"view_alert_rule_{view.id}").set_value(rule)
    desk = managing(desk, view.id)
    if bound is not None:
        desk.number_input(key=f"view_alert_bound_{view.id}").set_value(bound)
    shown = texts(managing(desk, view.id)).replace("\\", "").replace(EMPTY, "")
    assert re.search(sentence, shown), shown


def test_the_form_counts_earlier_weeks(settings: Settings, kept: Keeper) -> None:
    """Ten weeks of 7 days at 100, the third of them at 50: a view of a week has nine earlier ones, one of
    which is below 500."""
    daily = [50.0 if 14 <= day < 21 else 100.0 for day in range(70)]
    imported(settings.home, daily, date(2026, 11, 25))
    view = kept("manager").views.save(*SLICER, "Week", {"start": "2026-11-19", "end": "2026-11-25"})
    kept("manager").alerts.watch(view.id, "imps", IMPS, "below", 500.0)
    shown = texts(managing(about_weeks(), view.id)).replace("\\", "").replace(EMPTY, "")
    sentence = "Would have fired in 1 of 9 earlier periods of 7 days since 17 Sep 2026, last in 1"
    assert sentence in shown, shown


def test_a_missing_bound_is_said(kept: Keeper) -> None:
    """Without a bound nothing is set, and the form says why."""
    view = kept("manager").views.save(*SLICER, "Yesterday", YESTERDAY)
    desk = managing(about_weeks(), view.id)
    next(button for button in desk.button if button.label == "Set alert").click().run()
    assert "The bound is missing." in str([error.value for error in managing(desk, view.id).error])
    assert kept("manager").alerts.mine() == []


def test_what_fires_is_on_the_first_screen_and_marked_on_others(kept: Keeper, look: Look) -> None:
    """View, figure, bound, and since when; the name as its characters; others see nothing of it."""
    view = kept("manager").views.save(*SLICER, "*Bad* <b>day</b>", YESTERDAY)
    kept("manager").alerts.watch(view.id, "imps", IMPS, "above", 100.0)
    assert "alert" not in texts(opened("slicers")).lower()
    look()
    shown = texts(opened("slicers"))
    assert "**1 alert**" in shown
    assert r"**\*Bad\* \<b\>day\</b\>**: Impressions above 100" in shown
    assert "since 21 Nov 2026" in shown
    desk = opened("deals")
    desk.session_state["alerts_mark"] = True
    assert "Impressions above 100" in texts(desk.run())
    assert "Impressions above" not in texts(opened("slicers", "admin"))


def test_the_way_to_the_view(kept: Keeper, look: Look) -> None:
    """From another slicer and screen a click asks the view's question on Audience."""
    view = kept("manager").views.save(*SLICER, "US", {**YESTERDAY, "is.geo.country": "US"})
    kept("manager").alerts.watch(view.id, "imps", IMPS, "above", 10.0)
    look()
    desk = opened("slicers", project="demo", slicer="delivery")
    (alert,) = kept("manager").alerts.mine()
    desk.button(key=f"alert_block_{alert.id}").click().run()
    assert not desk.exception
    asked = {name: "".join(values) for name, values in desk.query_params.items()}
    assert asked["slicer"] == "weeks"
    assert (asked["is.geo.country"], asked["start"], asked["end"]) == ("US", "yesterday", "yesterday")
    assert "split" not in asked, "a view without a split stays so"


def test_one_whose_view_is_lost_says_so(kept: Keeper, look: Look, settings: Settings) -> None:
    """It names neither view nor figure, and can be removed."""
    view = kept("manager").views.save(*SLICER, "Plans", YESTERDAY)
    kept("manager").alerts.watch(view.id, "imps", IMPS, "above", 100.0)
    connect.installation(settings).people.change("manager", grants=(Grant("demo", "delivery"),))
    look()
    desk = opened("slicers")
    shown = texts(desk)
    assert "you can't see this view any more" in shown
    assert "Plans" not in shown
    assert "120" not in shown.partition("can't see")[0]
    (alert,) = kept("manager").alerts.mine()
    desk.button(key=f"alert_block_{alert.id}").click().run()
    assert kept("manager").alerts.mine() == []
