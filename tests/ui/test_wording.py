"""Questions in words: what sentences of the trade mean about a slicer, and that a click asks it."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pytest
from opening import of_delivery

from lib.slicers.models import Slicer
from lib.ui.query import wording, wording_field
from lib.ui.query.wording import Match

TODAY = date(2026, 11, 26)
KEYS = {
    "deal": "Deal",
    "seat": "Seat",
    "dsp": "DSP",
    "country": "Country",
    "device_type": "Device type",
    "site_domain": "Site domain",
    "app_bundle": "App bundle",
    "browser": "Browser",
    "operating_system": "Operating system",
    "supply.publisher_id": "Publisher",
    "city": "City",
}
METRICS = {
    "imps": ("Impressions", None),
    "spend": ("Spend", None),
    "win_cpm": ("Win CPM", "1000 * spend / imps"),
    "bid_cpm": ("Bid CPM", "1000 * spend / bids"),
    "bid_requests": ("Bid requests", None),
    "bids": ("Bids", None),
    "win_rate": ("Win rate", "100 * imps / bids"),
    "ctr": ("CTR", "100 * clicks / imps"),
    "clicks": ("Clicks", None),
    "users": ("Unique users", None),
}
SLICER = Slicer.model_validate(
    {
        "first_date": "2026-09-01",
        "last_date": "2026-11-25",
        "timezone": 0,
        "key_fields": [
            *({"name": f"granularity_{grain}"} for grain in ("hour", "day", "week", "month")),
            *({"name": name, "description": title} for name, title in KEYS.items()),
        ],
        "data_fields": [
            {"name": name, "description": title, "formula": formula}
            for name, (title, formula) in METRICS.items()
        ],
    }
)
VALUES: Mapping[str, Mapping[str, str]] = {
    "country": {"US": "United States", "DE": "Germany", "FR": "France", "CA": "Canada", "GE": "Georgia"},
    "device_type": {"mobile": "", "desktop": "", "tablet": "", "tv": "Connected TV"},
    "browser": {"Safari": "", "Chrome": "", "Firefox": ""},
    "seat": {"7": "Kingfisher Reach", "8": "Copper Lane Media"},
    "operating_system": {"iOS": "", "Android": ""},
    "city": {"Georgia": "", "Paris": "", "Berlin": ""},
}


def find(texts: Sequence[str]) -> Mapping[str, Sequence[Match]]:
    """Values by code or description, whatever the case."""
    found: dict[str, list[Match]] = {}
    for text in texts:
        for name, codes in VALUES.items():
            for code, label in codes.items():
                if text.casefold() in (code.casefold(), label.casefold()):
                    found.setdefault(text, []).append((name, code, label))
    return found


SENTENCES = (
    (
        "spend by country last week vs prior, only mobile",
        ["Last week | vs the week before | Device type is mobile | Spend | by Country"],
        [],
    ),
    ("impressions", ["Impressions"], []),
    ("imps", ["Impressions"], []),
    ("imp by day", ["Impressions | per day"], []),
    ("Spend per deal yesterday", ["Yesterday | Spend | by Deal"], []),
    ("cpm by seat", ["Win CPM | by Seat", "Bid CPM | by Seat"], []),
    ("georgia spend", ["Country is Georgia | Spend", "City is Georgia | Spend"], []),
    ("top 10 countries by spend", ["Spend | by Country | top 10"], []),
    ("spned by contry", ["Spend | by Country"], []),
    ("clicks daily last 30 days", ["Last 30 days | Clicks | per day"], []),
    ("spend in germany and france by device", ["Country is Germany, France | Spend | by Device type"], []),
    ("impressions without safari", ["Browser is not Safari | Impressions"], []),
    ("imps not in germany", ["Country is not Germany | Impressions"], []),
    ("bid requests from 2026-11-01 to 2026-11-07", ["1–7 Nov 2026 | Bid requests"], []),
    ("spend on 2026-11-20", ["20 Nov 2026 | Spend"], []),
    ("win rate by dsp this month vs last year", ["This month | vs a year ago | Win rate | by DSP"], []),
    ("how much did we spend in the us last month?", ["Last month | Country is United States | Spend"], []),
    ("by country", ["by Country"], []),
    ("Kingfisher Reach spend by deal", ["Seat is Kingfisher Reach | Spend | by Deal"], []),
    (
        "unique users by browser excluding chrome and firefox",
        ["Browser is not Chrome, Firefox | Unique users | by Browser"],
        [],
    ),
    ("last 3 weeks impressions by publisher", ["Last 3 weeks | Impressions | by Publisher"], []),
    (
        "spend last week versus previous period by OS",
        ["Last week | vs the week before | Spend | by Operating system"],
        [],
    ),
    ("ctv spend", ["Device type is Connected TV | Spend"], []),
    ("ctr by country by device by browser", ["CTR | by Country | by Device type | by Browser"], []),
    ("what is the win rate on ios", ["Operating system is iOS | Win rate"], []),
    ("rate by country", ["Win rate | by Country"], []),
    ("requests by device type", ["Bid requests | by Device type"], []),
    ("users by app", ["Unique users | by App bundle"], []),
    ("impressions from mobile", ["Device type is mobile | Impressions"], []),
    ("no comparison spend", ["not compared | Spend"], []),
    ("spend by city in paris yesterday", ["Yesterday | City is Paris | Spend | by City"], []),
    ("clicks wow", ["vs the period before | Clicks"], []),
    ("spend yoy by seat", ["vs a year ago | Spend | by Seat"], []),
    ("impresions by brwser", ["Impressions | by Browser"], []),
    ("top 5 seats by spend last quarter", ["Last quarter | Spend | by Seat | top 5"], []),
    ("show me cost by exchange", ["Spend"], ["exchange"]),
    ("cost by buyer week to date", ["Week to date | Spend | by Seat"], []),
    ("mtd spend by buyers", ["Month to date | Spend | by Seat"], []),
    ("reach in the uk", ["Unique users"], ["uk"]),
    ("reach in germany", ["Country is Germany | Unique users"], []),
    ("avails by domain last 90 days", ["Last 90 days | Bid requests | by Site domain"], []),
    ("clicks and impressions by browser", ["Clicks | Impressions | by Browser"], []),
    ("spend hourly yesterday", ["Yesterday | Spend | per hour"], []),
    ("weekly spend all time", ["All data | Spend | per week"], []),
    ("spend except mobile and tablet", ["Device type is not mobile, tablet | Spend"], []),
    ("only desktop", ["Device type is desktop"], []),
    ("android", ["Operating system is Android"], []),
    ("where country is germany spend", ["Country is Germany | Spend"], []),
    ("germany", ["Country is Germany"], []),
    (
        "spend by site in canada vs previous period",
        ["vs the period before | Country is Canada | Spend | by Site domain"],
        [],
    ),
    ("bids per browser for firefox, chrome", ["Browser is Firefox, Chrome | Bids | by Browser"], []),
    ("win cpm and bid cpm by dsp", ["Win CPM | Bid CPM | by DSP"], []),
    ("spend same weekdays last week", ["Last week | vs the same weekdays | Spend"], []),
    ("clicks this week", ["This week | Clicks"], []),
    ("clicks today", ["Today so far | Clicks"], []),
    ("spend by flavour", ["Spend"], ["flavour"]),
    ("last 45 days spend by country", ["Last 45 days | Spend | by Country"], []),
    ("spend last 0 days", ["Spend"], ["last", "0", "days"]),
    ("spend by country by seat by dsp by browser", ["Spend | by Country | by Seat | by DSP"], ["browser"]),
    (
        "us and canada imps vs a year ago",
        ["vs a year ago | Country is United States, Canada | Impressions"],
        [],
    ),
    ("IMPRESSIONS BY COUNTRY, LAST WEEK!", ["Last week | Impressions | by Country"], []),
    ("spend Copper Lane Media vs. prior", ["vs the period before | Seat is Copper Lane Media | Spend"], []),
    ("spend by publishers without germany", ["Country is not Germany | Spend | by Publisher"], []),
    ("device types", ["by Device type"], []),
    ("phones spend", ["Device type is mobile | Spend"], []),
)


@pytest.mark.parametrize(("sentence", "pills", "ignored"), SENTENCES, ids=[one[0] for one in SENTENCES])
def test_a_sentence_means(sentence: str, pills: list[str], ignored: list[str]) -> None:
    """The pills of each reading, the likelier first; what is not understood is named."""
    readings = wording.read(sentence, SLICER, TODAY, find)
    assert [" | ".join(reading.pills) for reading in readings.best] == pills
    assert [word for reading in readings.best for word in reading.ignored] == ignored
    assert readings.reason == ""


@pytest.mark.parametrize("sentence", ["xyzzy plugh", "weather tomorrow in narnia", "???", "", "spend " * 41])
def test_nonsense_has_no_reading_and_a_reason(sentence: str) -> None:
    """Nothing is guessed: a sentence says why."""
    readings = wording.read(sentence, SLICER, TODAY, find)
    assert readings.best == ()
    assert readings.reason.endswith((".", "”."))


def test_a_reading_is_asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The link has what the sentence names; the filters of before stay, and undo takes all of it back."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    desk = of_delivery(**{"is.campaign_id": "1"}).run()
    desk.text_input(key=wording_field.TEXT).set_value(
        "clicks by country yesterday vs prior, only germany"
    ).run()
    assert "is.geo.country" not in desk.query_params
    desk.button(key=f"{wording_field.READING}_0").click().run()
    params = {name: "".join(desk.query_params[name]) for name in desk.query_params}
    named = {"field": "clicks", "split": "geo.country", "start": "yesterday", "is.geo.country": "DE"}
    assert named.items() <= params.items()
    assert params["is.campaign_id"] == "1"
    desk.button(key="question_undo").click().run()
    assert "is.geo.country" not in desk.query_params
    assert not desk.exception


def test_enter_asks_the_text_of_now(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The button of a reading asks what the field says when it is pressed, also if it was drawn for less."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    desk = of_delivery().run()
    desk.text_input(key=wording_field.TEXT).set_value("clicks by country").run()
    button = desk.button(key=f"{wording_field.READING}_0")
    desk.text_input(key=wording_field.TEXT).set_value("clicks by country, only germany")
    button.click().run()
    assert "".join(desk.query_params["is.geo.country"]) == "DE"


def test_several_readings_are_offered(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each as a button of its pills; nothing is asked before one is chosen."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    desk = of_delivery().run()
    before = dict(desk.query_params)
    desk.text_input(key=wording_field.TEXT).set_value("clicks by xyzzy").run()
    assert "field" not in before
    desk.text_input(key=wording_field.TEXT).set_value("flurb").run()
    assert "No field, value or period" in desk.info[0].value
