"""Questions in words: what sentences of the trade mean about a slicer, and that a click asks it."""

import datetime as dt
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from conftest import LAST_DAY, small_rows
from opening import of_delivery

from lib.figures.context import RequestContext
from lib.figures.query import state
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.models import Slicer
from lib.ui.query import wording, wording_field
from lib.ui.query.wording import Meaning

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
        "extensions": ["any_of"],
        "key_fields": [
            *({"name": f"granularity_{grain}"} for grain in ("hour", "day", "week", "month")),
            {"name": "granularity_weekday", "description": "Weekday"},
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


INDEX: dict[str, list[Meaning]] = {}
for _name, _codes in VALUES.items():
    for _code, _label in _codes.items():
        for _text in {wording.text_key(_code), wording.text_key(_label)} - {""}:
            INDEX.setdefault(_text, []).append((_name, _code, _label))


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
    ("ctv or us", ["Any of: Device type is Connected TV, Country is United States"], []),
    (
        "spend on ctv or in the us",
        ["Any of: Device type is Connected TV, Country is United States | Spend"],
        [],
    ),
    ("us or canada spend", ["Country is United States, Canada | Spend"], []),
    (
        "mobile or ios or germany",
        ["Any of: Device type is mobile, Operating system is iOS, Country is Germany"],
        [],
    ),
    ("germany or not ctv", ["Any of: Country is Germany, Device type is not Connected TV"], []),
    ("not ctv or mobile", ["Device type is not Connected TV, mobile"], []),
    ("mobile or desktop in france", ["Device type is mobile, desktop | Country is France"], []),
    ("at least 10000 impressions", ["Impressions ≥ 10,000"], []),
    ("more than 1,000 clicks by seat", ["Clicks > 1,000 | by Seat"], []),
    ("impressions 10k+", ["Impressions ≥ 10,000"], []),
    ("at most 1.5m bid requests", ["Bid requests ≤ 1,500,000"], []),
    ("ctr below 0.5 %", ["CTR < 0.5"], []),
    ("spend between $100 and $500", ["Spend ≥ 100 | Spend ≤ 500"], []),
    ("spend by dsp over 500", ["Spend > 500 | Spend | by DSP"], []),
    ("clicks < 100 and imps >= 5000", ["Clicks < 100 | Impressions ≥ 5,000"], []),
    ("cpm at least 3", ["Win CPM ≥ 3", "Bid CPM ≥ 3"], []),
    ("over 30 days clicks", ["Last 30 days | Clicks"], []),
    ("last full week", ["Last week"], []),
    ("spend last complete month", ["Last month | Spend"], []),
    ("last two weeks", ["Last 2 weeks"], []),
    ("compare this month with last month", ["This month | vs same part of last month"], []),
    ("spend on monday", ["Weekday is 1 Monday | Spend", "23 Nov 2026 | Spend"], []),
    ("spend on tuesdays", ["Weekday is 2 Tuesday | Spend"], []),
    ("spend not on weekends", ["Weekday is not 6 Saturday, 7 Sunday | Spend"], []),
    ("spend by weekday", ["Spend | by Weekday"], []),
    ("spend last monday", ["23 Nov 2026 | Spend"], []),
    ("spend in october by deal", ["1–31 Oct 2026 | Spend | by Deal"], []),
    ("spend 1 to 7 november", ["1–7 Nov 2026 | Spend"], []),
    ("from 3rd nov to 9 nov", ["3–9 Nov 2026"], []),
    ("nov 20th spend", ["20 Nov 2026 | Spend"], []),
    ("spend since 2026-11-20", ["20–25 Nov 2026 | Spend"], []),
    ("spend in q3", ["1 Jul – 30 Sep 2026 | Spend"], []),
    ("what moved", ["What moved"], []),
    ("why did spend drop yesterday", ["Yesterday | Spend | What moved"], []),
    ("what changed in germany last week", ["Last week | Country is Germany | What moved"], []),
    ("spend in germny by contry", ["Country is Germany | Spend | by Country"], []),
    ("chorme or safri clicks", ["Browser is Chrome, Safari | Clicks"], []),
    ("clicks in the untied states", ["Country is United States | Clicks"], []),
    ("what mooved yestrday", ["Yesterday | What moved"], []),
    ("Spend by Flavour in Narnia", ["Spend"], ["Flavour", "Narnia"]),
    ("xyzzy or us", ["Country is United States"], ["xyzzy"]),
    ("country germany", ["Country is Germany"], []),
    ("country != germany", ["Country is not Germany"], []),
    ("seat 7 spend", ["Seat is Kingfisher Reach | Spend"], []),
    ("top ten countries by spend", ["Spend | by Country | top 10"], []),
)


@pytest.mark.parametrize(("sentence", "pills", "ignored"), SENTENCES, ids=[row[0] for row in SENTENCES])
def test_a_sentence_means(sentence: str, pills: list[str], ignored: list[str]) -> None:
    """The pills of each reading, the likelier first; what is not understood is named."""
    readings = wording.read(sentence, SLICER, TODAY, INDEX)
    assert [" | ".join(reading.pills) for reading in readings.best] == pills
    assert [word for reading in readings.best for word in reading.ignored] == ignored
    assert readings.reason == ""


@pytest.mark.parametrize("sentence", ["xyzzy plugh", "weather tomorrow in narnia", "???", "", "spend " * 41])
def test_nonsense_has_no_reading_and_a_reason(sentence: str) -> None:
    """Nothing is guessed: a sentence says why."""
    readings = wording.read(sentence, SLICER, TODAY, INDEX)
    assert readings.best == ()
    assert readings.reason.endswith((".", "”."))


DAYS = (LAST_DAY - dt.timedelta(days=6), LAST_DAY)
MONDAY = LAST_DAY - dt.timedelta(days=LAST_DAY.weekday())
WEEK = ("-1w_first", "-1w_last"), (MONDAY - dt.timedelta(days=7), MONDAY - dt.timedelta(days=1))
WEEK = WEEK if LAST_DAY.weekday() < 6 else (WEEK[0], (MONDAY, LAST_DAY))
COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
QUESTIONS: tuple[tuple[str, dict[str, str], str, tuple[dt.date, dt.date], str], ...] = (
    ("germany or campaign 2", {f"any.is.{COUNTRY}": "DE", f"any.is.{CAMPAIGN}": "2"},
     f"`{COUNTRY}` == 'DE' or {CAMPAIGN} == '2'", DAYS, ""),
    ("us or france or not campaign 3", {f"any.is.{COUNTRY}": "US~FR", f"any.not.{CAMPAIGN}": "3"},
     f"`{COUNTRY}` in ['US', 'FR'] or {CAMPAIGN} != '3'", DAYS, ""),
    ("at least 2000 impressions", {"having": "imps~ge~2000"}, "", DAYS, "imps >= 2000"),
    ("clicks under 100 by country", {"having": "clicks~lt~100", "lower": "split"}, "", DAYS, "clicks < 100"),
    ("campains with more then 100 clicks", {"having": "clicks~gt~100", "split": CAMPAIGN, "lower": "split"},
     "", DAYS, "clicks > 100"),
    ("last full week", dict(zip(("start", "end"), WEEK[0], strict=True)), "", WEEK[1], ""),
    ("germny last complete week", {"start": WEEK[0][0], "end": WEEK[0][1], f"is.{COUNTRY}": "DE"},
     f"`{COUNTRY}` == 'DE'", WEEK[1], ""),
    ("what moved in japan", {"lower": "moved", f"is.{COUNTRY}": "JP"}, f"`{COUNTRY}` == 'JP'", DAYS, ""),
    ("why did clciks drop yestrday", {"lower": "moved", "field": "clicks", "start": "yesterday"},
     "", (LAST_DAY, LAST_DAY), ""),
    ("clicks since monday", {"start": str(MONDAY), "field": "clicks"}, "", (MONDAY, LAST_DAY), ""),
    ("clicks on mondays", {"is.granularity_weekday": "1 Monday", "field": "clicks"},
     "time.dt.day_of_week == 0", DAYS, ""),
    ("clicks on monday", {"is.granularity_weekday": "1 Monday", "field": "clicks"},
     "time.dt.day_of_week == 0", DAYS, ""),
    ("imps on weekends", {"is.granularity_weekday": "6 Saturday~7 Sunday", "field": "imps"},
     "time.dt.day_of_week >= 5", DAYS, ""),
    ("imps without us or germany", {f"not.{COUNTRY}": "US~DE", "field": "imps"},
     f"`{COUNTRY}` not in ['US', 'DE']", DAYS, ""),
    ("campaign 4 between 10 and 99 clicks", {f"is.{CAMPAIGN}": "4", "having": "clicks~ge~10~clicks~le~99"},
     f"{CAMPAIGN} == '4'", DAYS, "clicks >= 10 and clicks <= 99"),
)  # fmt: skip


@pytest.fixture(scope="module")
def delivery(home: Path) -> RequestContext:
    """What a manager knows of the slicer of the small demo."""
    installation = connect.installation(Settings(home=home, demo=True))
    clients = connect.connect(installation.people.require("manager"), installation.settings)
    info = clients.reporting.info(InfoQuery(project_name="demo", slicer_name="delivery"))
    return RequestContext(installation.people.require("manager"), "demo", "delivery", info, clients)


@pytest.mark.parametrize(
    ("sentence", "params", "condition", "days", "passes"),
    QUESTIONS,
    ids=[question[0] for question in QUESTIONS],
)
def test_a_sentence_is_a_query(
    delivery: RequestContext,
    sentence: str,
    params: dict[str, str],
    condition: str,
    days: tuple[dt.date, dt.date],
    passes: str,
) -> None:
    """The link has exactly what the sentence names, and the service's figures are those of its rows."""
    before = state.from_params({}, delivery.slicer, "demo", "delivery")
    index = wording_field.value_index(delivery, before.query)
    (reading, *_) = wording.read(sentence, delivery.slicer, LAST_DAY + dt.timedelta(days=1), index).best
    assert reading.ignored == ()
    after = wording_field.under(before, reading)
    assert {name: text for name, text in after.params.items() if before.params.get(name) != text} == params
    split = after.query.split_by[0]
    query = after.query.model_copy(
        update={"data_filters": after.view.data_filters, "data_fields": ("imps", "clicks")}
    )
    answer = delivery.reporting.audience(query, delivery.slicer)
    rows = small_rows(0).to_pandas().fillna({COUNTRY: ""})
    rows = rows[rows["time"].dt.date.between(*days)]
    rows = rows.query(condition) if condition else rows
    assert answer.total.values["imps"] == rows["imps"].sum()
    groups = rows.groupby(split)[["imps", "clicks"]].sum()
    groups = groups.query(passes) if passes else groups
    assert dict(zip(answer.names[split], answer.values["clicks"], strict=True)) == groups["clicks"].to_dict()


def test_a_reading_is_asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The link has what the sentence names; the filters of before stay, and undo takes all of it back."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    desk = of_delivery(**{"is.campaign_id": "1"}).run()
    desk.text_input(key=wording_field.TEXT).set_value(
        "clicks by country yesterday EST vs prior, only germany"
    ).run()
    assert desk.caption[0].value.replace("\\", "") == "Not understood: EST"
    assert "is.geo.country" not in desk.query_params
    desk.button(key=f"{wording_field.READING}_0").click().run()
    params = {name: "".join(desk.query_params[name]) for name in desk.query_params}
    named = {"field": "clicks", "split": "geo.country", "start": "yesterday", "is.geo.country": "DE"}
    assert named.items() <= params.items()
    assert params["is.campaign_id"] == "1"
    assert desk.text_input(key=wording_field.TEXT).placeholder.endswith(" · by Country · not understood: EST")
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
