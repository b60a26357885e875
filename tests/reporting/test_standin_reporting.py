"""The client before a service that knows the specification and nothing more, and deviates as real ones do."""

import csv
import io
from collections.abc import Iterator

import httpx
import pandas as pd
import pytest
import yaml
from conftest import LAST_DAY, small_rows
from standin.app import Standin, served
from standin.known import wide
from standin.state import PASSWORD, TOKEN, USERNAME, State

from lib.people.tokens.client import TemporaryToken
from lib.reporting.answers import Audience
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, DataFilter, ExportQuery, InfoQuery
from lib.slicers.models import Order, Slicer
from lib.wire.call import Patience
from lib.wire.errors import AccessError, BadRequest, DeadlineExceeded, Unreadable
from lib.wire.filters import Filter

WHERE = {"project_name": "demo", "slicer_name": "delivery"}
WEEK = WHERE | {"start_date": "-7d", "end_date": "yesterday"}
COUNTRY, CAMPAIGN, CATEGORIES = "geo.country", "campaign_id", "categories"
SUMS = ["imps", "clicks", "revenue"]


@pytest.fixture
def http(standin: Standin) -> Iterator[httpx.Client]:
    """Connections to the stand-in."""
    with httpx.Client(base_url=standin.address, timeout=60) as client:
        yield client


@pytest.fixture
def reporting(http: httpx.Client) -> Reporting:
    """The client, with the permanent token."""
    return Reporting(http, TOKEN)


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows that the stand-in has of the last seven days, one per element of the segmented field too."""
    rows = small_rows(0).to_pandas().fillna({COUNTRY: ""})
    rows["day"] = rows["time"].dt.date
    return rows[(rows["day"] > LAST_DAY - pd.Timedelta(days=7)) & (rows["day"] <= LAST_DAY)]


def asked(**changes: object) -> AudienceQuery:
    """A question about the last week."""
    return AudienceQuery.model_validate(WEEK | changes)


def file(**changes: object) -> ExportQuery:
    """The same as a file."""
    return ExportQuery.model_validate(WEEK | {"export_format": "csv", "split_by": (COUNTRY,)} | changes)


def by_name(audience: Audience, field: str) -> dict[object, float]:
    """One data field's values by the key fields' values."""
    names = (
        audience.names.iloc[:, 0] if len(audience.names.columns) == 1 else audience.names.agg(tuple, axis=1)
    )
    return dict(zip(names, audience.values[field], strict=True))


def test_what_a_slicer_is(reporting: Reporting) -> None:
    """Flags and numbers that come as texts, nulls, missing links and unknown fields of info are read."""
    slicer = reporting.info(InfoQuery(**WHERE))
    assert (slicer.timezone, slicer.supports_timezone, slicer.extensions) == (0, 1, ())
    assert slicer.key_field(CATEGORIES).is_segmented == 1
    assert (slicer.key_field(COUNTRY).is_segmented, slicer.key_field(COUNTRY).link) == (0, None)
    assert slicer.data_field("revenue").display_precision == 2
    assert slicer.last_date == str(LAST_DAY)


def test_unique_users_are_known(reporting: Reporting) -> None:
    """An audience source gives its data field, though info does not list it among them."""
    field = reporting.info(InfoQuery(**WHERE)).data_field("unique_users")
    assert field.description == "Unique users"


TOLD = {
    "no last day": {"last_date": None, "first_date": None},
    "a day that is none": {"last_date": "0000-00-00"},
    "a moment for a day": {"last_date": f"{LAST_DAY} 23:00:00"},
    "empty texts": {"annotation": "", "audience_sources": "", "timezone": ""},
    "null": {"annotation": None, "timezone": None, "supports_timezone": None, "key_fields": None},
    "bare numbers": {"timezone": 2, "supports_timezone": 0},
}


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_what_a_slicer_leaves_open(standin: Standin, reporting: Reporting, told: dict[str, object]) -> None:
    """A slicer is read whatever of it is null, empty or a text, and days are days or not told."""
    standin.state.told = told
    slicer = reporting.info(InfoQuery(**WHERE))
    assert slicer.last_date in (None, str(LAST_DAY))
    assert slicer.timezone == (told.get("timezone") or 0)
    assert slicer.supports_timezone == (0 if told.get("supports_timezone") == 0 else 1)


@pytest.mark.parametrize("field", ["key_fields", "data_fields"])
def test_what_is_no_slicer(standin: Standin, reporting: Reporting, field: str) -> None:
    """An info whose fields are none is unreadable, in a sentence."""
    standin.state.told = {field: [{"title": "no name"}]}
    with pytest.raises(Unreadable, match="description of the slicer"):
        reporting.info(InfoQuery(**WHERE))


def test_figures_of_a_split(reporting: Reporting, week: pd.DataFrame) -> None:
    """Names that are one text, null for a missing one, and numbers as texts: all figures are right."""
    audience = reporting.audience(asked(split_by=(COUNTRY,)))
    sums = week.groupby(COUNTRY)[SUMS].sum()
    for field in SUMS:
        assert by_name(audience, field) == pytest.approx(sums[field].to_dict())
        assert audience.total.values[field] == pytest.approx(week[field].sum())
    ratios = 100 * sums["clicks"] / sums["imps"]
    assert by_name(audience, "ctr") == pytest.approx(ratios.to_dict())
    assert by_name(audience, "unique_users") == week.groupby(COUNTRY)["users"].nunique().to_dict()
    shares = dict(zip(audience.names[COUNTRY], audience.percents["imps"], strict=True))
    assert shares == pytest.approx((100 * sums["imps"] / week["imps"].sum()).to_dict())


def test_figures_of_two_key_fields(reporting: Reporting, week: pd.DataFrame) -> None:
    """A split by two key fields, one of them with several values per record, counts each value."""
    audience = reporting.audience(asked(split_by=(CATEGORIES, COUNTRY)))
    exploded = week.explode(CATEGORIES).fillna({CATEGORIES: ""})
    assert by_name(audience, "imps") == exploded.groupby([CATEGORIES, COUNTRY])["imps"].sum().to_dict()


def test_figures_without_a_split(reporting: Reporting, week: pd.DataFrame) -> None:
    """Without a split there is one row, whatever stands as its name."""
    audience = reporting.audience(asked())
    assert audience.names.shape == (1, 0)
    assert audience.values["imps"].tolist() == [week["imps"].sum()]


def test_shares_are_missing_where_none_are_sent(standin: Standin, reporting: Reporting) -> None:
    """A data field without shares has none here, another keeps its own; a service may send none at all."""
    assert list(reporting.audience(asked(split_by=(COUNTRY,))).percents) == ["imps", "clicks"]
    standin.state.without_percent = frozenset(SUMS)
    assert list(reporting.audience(asked(split_by=(COUNTRY,))).percents) == []


def test_nothing_found(reporting: Reporting) -> None:
    """Days without data give no rows, no dates, and totals of zero."""
    audience = reporting.audience(asked(start_date="1999-01-01", end_date="1999-01-02", split_by=(COUNTRY,)))
    assert (len(audience), audience.total.records_found, audience.total.dates) == (0, 0, ())


def test_the_client_orders(reporting: Reporting, week: pd.DataFrame) -> None:
    """Rows that come in no order are ordered here, by data fields, by text and by number."""
    sums = week.groupby(CAMPAIGN)["imps"].sum()
    by_data = reporting.audience(asked(split_by=(CAMPAIGN,), order_by=(Order(name="imps"),)))
    assert by_data.names[CAMPAIGN].tolist() == sums.sort_values(ascending=False).index.tolist()
    by_key = (Order(name=CAMPAIGN, direction="asc"),)
    numbers = reporting.audience(asked(split_by=(CAMPAIGN,), order_by=by_key)).names[CAMPAIGN].tolist()
    assert numbers == sorted(sums.index, key=int)
    texts = reporting.audience(asked(split_by=(COUNTRY,), order_by=(Order(name=COUNTRY, direction="asc"),)))
    assert texts.names[COUNTRY].tolist() == ["", "DE", "FR", "JP", "US"]


def test_the_client_cuts(reporting: Reporting, week: pd.DataFrame) -> None:
    """Of all rows, which the service sends, those of the page are left; totals stay those of the whole."""
    order = (Order(name="imps"),)
    audience = reporting.audience(asked(split_by=(COUNTRY,), order_by=order, limit=2, offset=1))
    sums = week.groupby(COUNTRY)["imps"].sum().sort_values(ascending=False)
    assert by_name(audience, "imps") == sums.iloc[1:3].to_dict()
    assert audience.total.records_found == len(sums)
    assert audience.total.values["imps"] == week["imps"].sum()


def test_the_client_chooses_fields(reporting: Reporting) -> None:
    """Only the data fields asked for are left, in that order; one that the service does not send is empty."""
    audience = reporting.audience(asked(split_by=(COUNTRY,), data_fields=("ctr", "cost", "imps")))
    assert list(audience.values) == ["ctr", "cost", "imps"]
    assert list(audience.total.values) == ["ctr", "cost", "imps"]
    assert audience.values["cost"].isna().all()
    assert audience.total.values["cost"] is None


def test_no_extension_is_sent(standin: Standin, reporting: Reporting) -> None:
    """Whatever is asked, the service sees the specification's fields alone, and JSON is asked for."""
    order = (Order(name="imps"),)
    more = {"limit": 1, "offset": 1, "audience_key": "users", "include_mappings": 1, "precision": 1}
    reporting.audience(asked(split_by=(COUNTRY,), data_fields=("imps",), order_by=order, **more))
    sent = standin.state.asked[-1]
    assert set(sent.body) == {*WEEK, "token", "split_by"}
    assert sent.headers["accept"] == "application/json"


FILTERS = {
    "is": (Filter(name=COUNTRY, match="equals", value=("US", "")), lambda r: r[COUNTRY].isin(["US", ""])),
    "any case": (
        Filter(name=COUNTRY, match="contains", value=("u",), case_insensitive=1),
        lambda r: r[COUNTRY] == "US",
    ),
    "description": (
        Filter(name=COUNTRY, match="begins with", value=("Germ",), search_mappings=1),
        lambda r: r[COUNTRY] == "DE",
    ),
    "not among several": (
        Filter(name=CATEGORIES, match="not equals", value=("news",)),
        lambda r: ~r[CATEGORIES].map(lambda found: "news" in found),
    ),
}


@pytest.mark.parametrize(("wanted", "keeps"), FILTERS.values(), ids=FILTERS)
def test_filters(reporting: Reporting, week: pd.DataFrame, wanted: Filter, keeps: object) -> None:
    """Filters mean here what they mean everywhere."""
    total = reporting.audience(asked(filters=(wanted,))).total.values["imps"]
    assert total == week[keeps(week)]["imps"].sum()  # type: ignore[operator]


def test_the_same_as_of_the_embedded_service(
    reporting: Reporting, embedded: httpx.Client, token: object
) -> None:
    """On the same rows the desk's own service and this one give the same figures."""
    query = asked(
        split_by=(COUNTRY, "granularity_week"),
        filters=(Filter(name=CAMPAIGN, match="not equals", value=("3",)),),
        order_by=(Order(name="revenue"), Order(name="imps", direction="asc")),
        data_fields=("revenue", "imps", "ctr", "unique_users"),
        limit=7,
    )
    own = Reporting(embedded, token("manager")).audience(query)  # type: ignore[operator]
    other = reporting.audience(query)
    pd.testing.assert_frame_equal(own.names, other.names)
    pd.testing.assert_frame_equal(own.values, other.values, check_column_type=False, rtol=1e-9)
    assert own.total.values == pytest.approx(other.total.values)
    assert own.total.dates == other.total.dates


def test_ranges_of_a_compressed_answer(standin: Standin, reporting: Reporting) -> None:
    """A confidence range, though a bare number, is that of each figure; without a sample there is none."""
    query = asked(split_by=(COUNTRY,), start_date="-21d", audience_rows_limit=10_000, precision=1)
    exact = reporting.audience(query)
    assert (exact.low, exact.confidence_range, exact.total.low) == (None, None, {})
    standin.state.weight = 5
    rough = reporting.audience(query)
    off = pd.to_numeric(rough.confidence_range) / 100
    assert (off > 0).all()
    assert rough.low is not None and rough.high is not None
    assert rough.low["imps"].tolist() == pytest.approx((rough.values["imps"] * (1 - off)).tolist())
    assert rough.high["imps"].tolist() == pytest.approx((rough.values["imps"] * (1 + off)).tolist())
    whole, share = rough.total.values["imps"], float(rough.total.confidence_range or 0) / 100
    assert rough.total.high["imps"] == pytest.approx(whole * (1 + share))
    assert rough.total.low["imps"] < (exact.total.values["imps"] or 0) < rough.total.high["imps"]


def test_yaml_is_read(standin: Standin, reporting: Reporting, week: pd.DataFrame) -> None:
    """An answer in YAML, whatever was accepted, is read: its figures, its refusals, those of a file too."""
    standin.state.is_always_yaml = True
    audience = reporting.audience(asked(split_by=(COUNTRY,)))
    assert by_name(audience, "imps") == week.groupby(COUNTRY)["imps"].sum().to_dict()
    assert audience.total.dates == tuple(sorted({str(day) for day in week["day"]}))
    with pytest.raises(BadRequest, match="nothing"):
        reporting.export(file(split_by=("nothing",)))


PLAIN_YAML = """
status: success
total: {data: [{name: imps, value: 3}], records_found: 2, dates: [2026-11-20]}
rows:
- {name: NO, data: [{name: imps, value: 1}]}
- {name: 0123, data: [{name: imps, value: ~}]}
"""


def test_yaml_without_quotes() -> None:
    """Norway stays NO, a leading zero stays, and a date is the text that it was."""
    answer = httpx.Response(200, text=PLAIN_YAML, headers={"content-type": "text/yaml"})
    with httpx.Client(transport=httpx.MockTransport(lambda _: answer), base_url="http://x") as http:
        audience = Reporting(http, TOKEN).audience(asked(split_by=(COUNTRY,)), Slicer())
    assert yaml.safe_load(PLAIN_YAML)["rows"][0]["name"] is False
    assert audience.names[COUNTRY].tolist() == ["NO", "0123"]
    assert audience.values["imps"].fillna(-1).tolist() == [1, -1]
    assert audience.total.dates == ("2026-11-20",)


@pytest.mark.parametrize("code", [200, 400, 403])
@pytest.mark.parametrize("verb", ["info", "audience", "export"])
def test_refusals(standin: Standin, http: httpx.Client, verb: str, code: int) -> None:
    """A refusal is the service's own, whatever the HTTP code, of every verb."""
    standin.state.error_code = code
    asks = {
        "info": lambda client: client.info(InfoQuery(**WHERE)),
        "audience": lambda client: client.audience(asked(split_by=("nothing",)), Slicer()),
        "export": lambda client: client.export(file(split_by=("nothing",))),
    }
    with pytest.raises(AccessError, match="Access denied"):
        asks[verb](Reporting(http, "a wrong token"))
    if verb != "info":
        with pytest.raises(BadRequest, match="'nothing' not found"):
            asks[verb](Reporting(http, TOKEN))


def test_a_file(reporting: Reporting, week: pd.DataFrame) -> None:
    """A file comes as the service made it, whatever it calls it; without a name it gets one."""
    download = reporting.export(file(include_total=1, include_mappings=0))
    lines = list(csv.reader(io.StringIO(download.content.read().decode())))
    assert download.filename == "delivery.csv"
    assert {line[0]: float(line[1]) for line in lines[1:-1]} == week.groupby(COUNTRY)["imps"].sum().to_dict()
    assert lines[-1][:2] == ["Total", str(int(week["imps"].sum()))]


def test_data_filters_of_a_file(reporting: Reporting, week: pd.DataFrame) -> None:
    """Data filters and the rest of what the specification has for files are sent, and the service does it."""
    least = week.groupby(COUNTRY)["imps"].sum().median()
    wanted = (DataFilter(name="imps", match=">", value=least),)
    content = reporting.export(file(data_filters=wanted, export_format="tsv2")).content.read()
    assert len(content.splitlines()) == 1 + (week.groupby(COUNTRY)["imps"].sum() > least).sum()


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"export_format": "xlsx"}, "can't write xlsx; it can write csv, tsv, tsv2 and xls"),
        ({"data_fields": ("imps",)}, "choose a file's data fields"),
        ({"order_by": (Order(name="imps"),)}, "order a file's rows"),
        ({"limit": 3}, "part of a file's rows"),
        ({"offset": 3}, "part of a file's rows"),
        ({"audience_key": "users"}, "file's audience source"),
    ],
)
def test_what_no_file_can_have(
    standin: Standin, reporting: Reporting, wish: dict[str, object], said: str
) -> None:
    """What such a service can't do for a file is refused by name before it is asked, never left out."""
    with pytest.raises(BadRequest, match=said):
        reporting.export(file(**wish))
    assert [request.path for request in standin.state.asked] == ["/API/v2/info"]


def test_an_error_in_the_place_of_a_file() -> None:
    """An error under a file's type is told from a file, also from one that begins as an error might."""
    answers = {
        "error": b' {"status": "timeout", "reason": "Too slow"}',
        "file": b'{"status": "timeout"},1\n',
        "other": b'{"status": "sold"}',
    }
    headers = {"content-type": "application/octet-stream"}
    for name, content in answers.items():
        answer = httpx.Response(200, content=content, headers=headers)
        with httpx.Client(
            transport=httpx.MockTransport(lambda _, response=answer: response), base_url="http://x"
        ) as http:
            if name == "error":
                with pytest.raises(DeadlineExceeded, match="Too slow"):
                    Reporting(http, TOKEN).export(file())
            else:
                assert Reporting(http, TOKEN).export(file()).content.read() == content


def test_temporary_tokens(standin: Standin, http: httpx.Client) -> None:
    """A token for name and password works, though its life is told as a text."""
    granted = TemporaryToken(http, USERNAME, PASSWORD, "reporting", Patience(retries=0))
    for _ in range(2):
        Reporting(http, granted).info(InfoQuery(**WHERE))
    assert standin.state.grants == 1


def test_a_token_for_another_service(standin: Standin, http: httpx.Client) -> None:
    """A token of another service opens nothing here, and a wrong password gives none."""
    for service, password in (("deals", PASSWORD), ("reporting", "wrong")):
        with pytest.raises(AccessError):
            Reporting(http, TemporaryToken(http, USERNAME, password, service, Patience(retries=0))).info(
                InfoQuery(**WHERE)
            )


def test_nothing_of_this_api(standin: Standin) -> None:
    """A page for people in the place of an answer is told from one, of every verb."""
    with httpx.Client(base_url=f"{standin.address}/elsewhere") as http:
        for ask in (
            lambda client: client.info(InfoQuery(**WHERE)),
            lambda client: client.audience(asked(), Slicer()),
            lambda client: client.export(file()),
        ):
            with pytest.raises(Unreadable):
                ask(Reporting(http, TOKEN))


def test_a_split_without_end() -> None:
    """Of fifty thousand values that come unordered, the top ones are found and the rest let go of."""
    known = wide(50_000)
    with (
        served(State({("demo", "delivery"): known})) as service,
        httpx.Client(base_url=service.address) as http,
    ):
        question = asked(split_by=("id",), order_by=(Order(name="imps"),), limit=20, start_date="-2d")
        audience = Reporting(http, TOKEN).audience(question)
    top = known.rows.sort_values(["imps", "id"], ascending=[False, True]).head(20)
    assert audience.total.records_found == 50_000
    assert audience.names["id"].tolist() == top["id"].tolist()
