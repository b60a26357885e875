"""What the report says of a targeting, on the form and in the drawer: computed in the background."""

import datetime as dt

import pandas as pd
import pytest
from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, sold_rows
from streamlit.testing.v1 import AppTest

from lib.figures.numbers import Numbers
from lib.insight import cost
from lib.reporting.query_batch import QueryBatch
from lib.wire.errors import InternalError

BOTH = "only United States, Germany"


def come(desk: AppTest) -> AppTest:
    """The screen once everything that is computed in the background has come."""
    kept: dict[str, tuple[object, QueryBatch]] = desk.session_state["insights"]
    for _, insight in list(kept.values()):
        assert insight.wait(60)
    return clean(desk.run())


def sold(days: int = 30) -> pd.DataFrame:
    """What was delivered in the last days of the slicer's data."""
    rows = sold_rows().to_pandas()
    return rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=days)]


def table(desk: AppTest, column: str) -> pd.DataFrame:
    """The table with this column."""
    return next(element.value for element in desk.table if column in element.value)


def opened(visit: Visit, package: int = 1) -> AppTest:
    """A package's drawer at its targeting."""
    desk = visit("deals", slicer=SOLD, open=f"supply_deals-{package}")
    return come(clean(desk.button_group(key="drawer_shown").set_value("Targeting").run()))


def test_the_cost_of_each_target_in_the_drawer(visit: Visit) -> None:
    """Morning News sells US and DE but no smartphones: what each costs or brings, against the rows."""
    shown = table(opened(visit), "Without it")
    rows = sold()
    place, phone = rows["geo.country"].isin(["US", "DE"]), rows["device_type"] == "smartphone"
    bids = rows["bids"]
    there = bids[place & ~phone].sum()
    more = {"not smartphone": bids[place & phone].sum(), BOTH: bids[~place & ~phone].sum()}
    less = {
        name: bids[(rows["geo.country"] == code) & ~phone].sum()
        for name, code in (("United States", "US"), ("Germany", "DE"))
    }
    told = {name: f"−{100 * more[name] / (more[name] + there):.1f} %" for name in falling(more)}
    told |= {name: f"brings {100 * less[name] / there:.1f} %" for name in falling(less)}
    assert list(shown.index) == list(told)
    assert list(shown["Bids"]) == list(told.values())


def falling(of: dict[str, float]) -> list[str]:
    """The names, that of the largest first."""
    return sorted(of, key=lambda name: -of[name])


def test_the_days_and_the_forecast_in_the_drawer(visit: Visit) -> None:
    """The table has what the targeting had each day of thirty, and the sentence the forecast of the next
    thirty days of a running package without end, which forty days of data give no range."""
    desk = opened(visit)
    rows = sold()
    meant = rows[rows["geo.country"].isin(["US", "DE"]) & (rows["device_type"] != "smartphone")]
    bids = meant.groupby(meant["time"].dt.date)["bids"].sum()
    days = [LAST_DAY - dt.timedelta(days=n) for n in reversed(range(30))]
    shown = next(dataframe.value for dataframe in desk.dataframe if "Bids" in dataframe.value)
    assert list(shown["Bids"]) == [f"{bids.get(day, 0):,.0f}" for day in days]
    now = dt.datetime.now(dt.UTC)
    part = (now.hour + now.minute / 60) / 24
    parts = [1 - part, *[1.0] * 29, part]
    weekdays = [(now.date() + dt.timedelta(days=n)).weekday() for n in range(31)]
    same = [[bids.get(day, 0) for day in days[-7:] if day.weekday() == weekday] for weekday in weekdays]
    expected = Numbers().rough(sum(part * sum(of) for part, of in zip(parts, same, strict=True)))
    sentence = next(markdown.value for markdown in desk.markdown if "all buyers" in markdown.value).replace(
        "\\", ""
    )
    assert sentence.startswith(
        "The next 30 days (no end is booked), what all buyers together may have: "
        f"about {expected} bids (no range: too few past periods to test one, or it held in too few)"
    )


def test_a_form_that_changes_gives_up_what_it_asked(visit: Visit) -> None:
    """Each change of the targeting asks again, and what was asked before is waited for no more; an empty one
    asks nothing."""
    desk = visit("new_package", slicer=SOLD)
    desk.session_state["np_target_country_only"] = ["US"]
    clean(desk.run())
    first: QueryBatch = desk.session_state["insights"]["form"][1]
    desk.session_state["np_target_country_only"] = ["DE"]
    clean(desk.run())
    assert first.is_done
    assert desk.session_state["insights"]["form"][1] is not first
    rows = sold()
    share = 100 * rows[rows["geo.country"] != "DE"]["bids"].sum() / rows["bids"].sum()
    assert list(table(come(desk), "Without it")["Bids"]) == [f"−{share:.1f} %"]
    desk.session_state["np_target_country_only"] = []
    assert not [header for header in clean(desk.run()).header if header.value == "Cost of each target"]


def test_a_service_that_fails(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tables could not be loaded for is said, and the form stays."""

    def broken(*_: object) -> None:
        raise InternalError("broken")

    monkeypatch.setattr(cost, "costs", broken)
    desk = visit("new_package", slicer=SOLD)
    desk.session_state["np_target_country_only"] = ["US"]
    desk = come(clean(desk.run()))
    assert any("The cost of each target" in str(error.proto) for error in desk.error)
    assert desk.text_input(key="np_name").value == ""
