"""The Python client: the same answers in this process and by an address, as frames, Arrow and files."""

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from conftest import LAST_DAY, rows_by_week, small_rows
from serving import serving
from tranche import AccessError, BadRequest, Desk, Filter, TrancheError

from lib.reporting import links
from lib.serving import connect
from lib.settings import Settings
from lib.wire.errors import Misconfigured, UnknownName, Unreachable

DELIVERY, COUNTRY, DAY = "demo/delivery", "geo.country", "granularity_day"


@pytest.fixture(scope="module")
def address(installation: connect.Installation) -> Iterator[str]:
    """Where the APIs over the small demo answer."""
    with serving(installation.api) as address:
        yield address


@pytest.fixture(params=["local", "remote"])
def desk(request: pytest.FixtureRequest, settings: Settings, token: Callable[[str], str]) -> Desk:
    """The manager's desk: in this process, and by an address and a token."""
    if request.param == "local":
        return Desk.local("manager", settings=settings)
    return Desk(request.getfixturevalue("address"), token("manager"))


def test_slicers_are_those_of_the_caller(desk: Desk) -> None:
    """A caller sees the slicers that they are granted, by project and name."""
    assert desk.slicers() == ["demo/curation", DELIVERY]


def test_info_names_days_and_fields(desk: Desk) -> None:
    """Info has the slicer's last day and its fields."""
    slicer = desk.info(DELIVERY)
    assert slicer.last_date == LAST_DAY.isoformat()
    assert [field.name for field in slicer.key_fields if "granularity" not in field.name] == [
        "geo.country",
        "campaign_id",
        "categories",
    ]


def test_a_frame_has_the_figures_of_the_rows(desk: Desk) -> None:
    """A split by country, filtered and ordered, has the sums that pandas makes of the same rows."""
    answer = desk.ask(
        DELIVERY,
        start="-7d",
        end="yesterday",
        split=COUNTRY,
        fields=["imps", "clicks"],
        filters={COUNTRY: ["DE", "US", "FR"]},
        order="-imps",
        limit=2,
    )
    rows = rows_by_week(COUNTRY)
    week = rows[(rows["week"] == 0) & rows[COUNTRY].isin(["DE", "US", "FR"])]
    sums = week.groupby(COUNTRY, observed=True)[["imps", "clicks"]].sum().sort_values("imps", ascending=False)
    expected = sums.head(2).reset_index().astype({COUNTRY: "str"})
    pd.testing.assert_frame_equal(answer.frame.astype({COUNTRY: "str"}), expected, check_column_type=False)
    assert answer.total == {name: pytest.approx(week[name].sum()) for name in ("imps", "clicks")}
    assert answer.is_exact
    assert answer.ranges is None
    assert answer.days == (LAST_DAY - dt.timedelta(days=6), LAST_DAY)


@pytest.mark.parametrize(
    "any_of",
    [
        {COUNTRY: "DE", "campaign_id": ["1", "2"]},
        [{COUNTRY: "DE", "campaign_id": ["1", "2"]}],
        [[Filter(name=COUNTRY, value=("DE",), match="equals"),
          {"name": "campaign_id", "value": ["1", "2"], "match": "equals"}]],
    ],
    ids=["a mapping", "mappings", "filters"],
)  # fmt: skip
def test_groups_of_filters_are_joined_by_or(desk: Desk, any_of: Any) -> None:
    """`any_of` keeps the rows for which any filter of a group holds, and the link asks the same."""
    answer = desk.ask(DELIVERY, start="-7d", end="yesterday", fields="imps", any_of=any_of)
    rows = rows_by_week(COUNTRY)
    passes = (rows[COUNTRY] == "DE") | rows["campaign_id"].astype("str").isin(["1", "2"])
    assert answer.total["imps"] == rows[(rows["week"] == 0) & passes]["imps"].sum()
    params = {name: values[0] for name, values in parse_qs(urlsplit(answer.link).query).items()}
    assert (
        links.from_params(params, desk.info(DELIVERY), "demo", "delivery").query.any_of == answer.query.any_of
    )


def test_records_are_rows_of_the_file(desk: Desk) -> None:
    """Records are the rows behind a figure, the largest first; a person's own formula shows its parts."""
    week = {"start": "-7d", "end": "yesterday", "filters": {COUNTRY: "DE"}}
    records = desk.records(DELIVERY, columns=[COUNTRY, "imps"], order="-imps", limit=10, **week)
    rows = rows_by_week(COUNTRY)
    rows = rows[(rows["week"] == 0) & (rows[COUNTRY] == "DE")]
    assert records.records_found == len(rows)
    assert records.frame["imps"].tolist() == rows["imps"].nlargest(10).tolist()
    assert records.frame["imps"].sum() <= desk.ask(DELIVERY, fields="imps", **week).total["imps"]
    assert {*records.frame[COUNTRY]} == {"DE"}
    described = desk.records(DELIVERY, columns=COUNTRY, descriptions=True, limit=1, **week).frame
    assert described.iloc[0].tolist() == ["DE", "Germany"]
    with pytest.raises(BadRequest, match="imps"):
        desk.records(DELIVERY, columns=["impz"])


def test_arrow_has_the_frame(desk: Desk) -> None:
    """The Arrow table has the columns and values of the frame."""
    answer = desk.ask(DELIVERY, split=DAY, fields="imps")
    assert answer.arrow.column_names == [DAY, "imps"]
    assert answer.arrow["imps"].to_pylist() == answer.frame["imps"].tolist()


def test_dates_may_be_dates_or_relative(desk: Desk) -> None:
    """Dates of Python and relative dates of the API ask the same."""
    week = desk.ask(DELIVERY, start="-7d", end="yesterday", fields="imps")
    same = desk.ask(DELIVERY, start=LAST_DAY - dt.timedelta(days=6), end=LAST_DAY, fields="imps")
    assert week.total == same.total == desk.ask(DELIVERY, fields="imps").total


def test_filters_may_be_those_of_the_api(desk: Desk) -> None:
    """A Filter, or its fields as a dictionary, takes every match of the API; figures filter rows too."""
    without = Filter(name=COUNTRY, match="not equals", value=("US",))
    first = desk.ask(DELIVERY, split=COUNTRY, fields="imps", filters=[without], having=[("imps", ">", 1000)])
    second = desk.ask(DELIVERY, split=COUNTRY, fields="imps", filters=[without.model_dump()])
    assert "US" not in set(first.frame[COUNTRY])
    kept = second.frame[second.frame["imps"] > 1000]
    assert sorted(first.frame[COUNTRY]) == sorted(kept[COUNTRY])


def test_a_link_asks_the_same(desk: Desk) -> None:
    """The link of an answer has its days, split, filters and order."""
    link = urlsplit(desk.ask(DELIVERY, start="-7d", end="yesterday", split=COUNTRY, order="-imps").link)
    asked = {name: values[0] for name, values in parse_qs(link.query).items()}
    assert f"{link.scheme}://{link.netloc}" == desk.address
    assert link.path == "/audience"
    assert asked == {
        "project": "demo", "slicer": "delivery", "start": "-7d", "end": "yesterday",
        "split": COUNTRY, "order": "-imps",
    }  # fmt: skip


def test_what_moved_has_the_change_of_the_total(desk: Desk) -> None:
    """The figures before and now are those of the two weeks, and the frame has a row per mover."""
    explanation = desk.what_moved(DELIVERY, "imps", start="-7d", end="yesterday")
    rows = small_rows(seed=0).to_pandas()
    ages = (pd.Timestamp(LAST_DAY) - pd.to_datetime(rows["time"].dt.date)).dt.days
    assert explanation.moved.now == pytest.approx(rows["imps"][ages < 7].sum())
    assert explanation.moved.before == pytest.approx(rows["imps"][(ages >= 7) & (ages < 14)].sum())
    assert len(explanation.frame) == sum(len(moves.movers) for moves in explanation.moved.top)
    assert "lower=moved" in explanation.link


def test_a_file_is_whole(desk: Desk, tmp_path: Path) -> None:
    """An export writes the file, with the sums of the rows, and leaves no other."""
    path = desk.export(DELIVERY, tmp_path / "week.csv", split=COUNTRY, fields="imps", total=True)
    table = pd.read_csv(path)
    assert [path.name for path in tmp_path.iterdir()] == ["week.csv"]
    assert table["Impressions"].iloc[-1] == pytest.approx(table["Impressions"].iloc[:-1].sum())


@pytest.mark.parametrize(
    ("name", "format", "beginning"),
    [
        ("a.xlsx", None, b"PK"), ("a.tsv", None, b"Country\t"), ("a.csv", None, b'"Country",'),
        ("a.txt", None, b'"Country",'), ("a.txt", "xlsx", b"PK"), ("a.tsv", "tsv2", b""),
    ],
)  # fmt: skip
def test_the_ending_of_a_file_decides_its_format(
    desk: Desk, tmp_path: Path, name: str, format: str | None, beginning: bytes
) -> None:
    """A name that ends in .xlsx holds a workbook; a format is needed only where the name says nothing."""
    path = desk.export(DELIVERY, tmp_path / name, format, split=COUNTRY, fields="imps")
    assert path.read_bytes().lstrip(b"\xef\xbb\xbf").startswith(beginning)


def test_an_ending_that_contradicts_the_format_is_refused(desk: Desk, tmp_path: Path) -> None:
    """CSV is not written into out.xlsx, and no file is left."""
    with pytest.raises(BadRequest, match=r"out.xlsx ends in .xlsx, but its format would be csv"):
        desk.export(DELIVERY, tmp_path / "out.xlsx", "csv", split=COUNTRY, fields="imps")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("parts", "near"),
    [
        ({"split": "geo.contry"}, "did you mean 'geo.country'"),
        ({"fields": "imp"}, "did you mean 'imps'"),
        ({"filters": {"campain_id": "1"}}, "did you mean 'campaign_id'"),
        ({"start": "last week"}, "Can't read the date"),
        ({"limit": "many"}, "limit must be"),
    ],
)
def test_a_wrong_question_says_what_would_be_right(desk: Desk, parts: dict[str, object], near: str) -> None:
    """A misspelled name, and what can't be read, is refused with what would be right."""
    with pytest.raises(BadRequest, match=near):
        desk.ask(DELIVERY, **parts)


def test_an_unknown_slicer_has_a_near_name(desk: Desk) -> None:
    """A slicer that is not there, or not granted, is refused with the nearest that is."""
    with pytest.raises(UnknownName, match="did you mean 'demo/delivery'"):
        desk.info("demo/delivry")
    with pytest.raises(BadRequest, match="project/slicer"):
        desk.info("delivery")


def test_what_is_not_granted_is_not_there(
    settings: Settings, address: str, token: Callable[[str], str]
) -> None:
    """A viewer of one slicer finds no other, in this process or by an address."""
    for desk in (Desk.local("viewer", settings=settings), Desk(address, token("viewer"))):
        assert desk.slicers() == [DELIVERY]
        with pytest.raises(UnknownName):
            desk.ask("demo/curation")


def test_failures_are_of_one_family(address: str) -> None:
    """A wrong token, an address where nobody answers and one without TLS are TrancheErrors of their kinds."""
    with pytest.raises(AccessError):
        Desk(address, "no token").slicers()
    with pytest.raises(Unreachable):
        Desk("http://127.0.0.1:1", "x").slicers()
    with pytest.raises(Misconfigured, match="https"):
        Desk("http://desk.example", "x")
    assert issubclass(Misconfigured, TrancheError)


def test_only_people_of_the_desk_have_one_in_this_process(settings: Settings) -> None:
    """A name that no person has is refused."""
    with pytest.raises(UnknownName):
        Desk.local("nobody", settings=settings)


def test_packages_and_deals_are_frames(deals_home: Path) -> None:
    """Packages and deals are frames with a row for each, and filters of the API apply."""
    desk = Desk.local("manager", settings=Settings(home=deals_home, demo=True))
    packages, deals = desk.packages(), desk.deals()
    assert set(packages["id"]) == {package.id for package in desk.deals_api.everything("supply_deals")}
    assert {"deal_id", "seat.name", "price"} <= set(deals.columns)
    first = packages["name"].iloc[0]
    assert first in set(desk.packages(search=first, limit=5)["name"])
