"""A question and its link are the same thing."""

from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.figures.query import state
from lib.figures.query.state import View
from lib.figures.query.view_parts import Expansion, ZoomOrigin
from lib.reporting import links
from lib.reporting.models import AudienceQuery
from lib.slicers.models import AudienceSource, DataField, KeyField, Order, Slicer
from lib.wire.filters import MATCHES, Filter

KEYS = ("geo.country", "site", "a,b~c", "granularity_day", "granularity_hour")
DATA = ("imps", "ctr")
SLICER = Slicer(
    extensions=("time_zones",),
    first_date="2026-01-01",
    last_date="2026-11-20",
    key_fields=tuple(KeyField(name=name) for name in KEYS),
    data_fields=tuple(DataField(name=name) for name in DATA),
    audience_sources=(AudienceSource(name="users"),),
)
TODAY = date(2026, 11, 21)
FILTERS = st.builds(
    Filter,
    name=st.sampled_from(KEYS),
    value=st.lists(st.text(max_size=8), min_size=1, max_size=3).map(tuple),
    match=st.sampled_from(MATCHES),
    case_insensitive=st.sampled_from([0, 1]),
    search_mappings=st.sampled_from([0, 1]),
)
SPLITS = st.lists(st.sampled_from(KEYS), unique=True, max_size=3).map(tuple)


@st.composite
def questions(draw: st.DrawFn) -> AudienceQuery:
    """Any question that the desk can ask of SLICER."""
    start, end = draw(
        st.sampled_from([("-7d", "yesterday"), ("2026-01-31", "today"), ("-1m_first", "-1m_last")])
    )
    split = draw(SPLITS)
    orders = st.builds(
        Order, name=st.sampled_from([*split, *DATA]), direction=st.sampled_from(["asc", "desc"])
    )
    return AudienceQuery(
        project_name="demo",
        slicer_name="delivery",
        start_date=start,
        end_date=end,
        split_by=split,
        filters=tuple(draw(st.lists(FILTERS, max_size=4))),
        any_of=tuple(draw(st.lists(st.lists(FILTERS, min_size=1, max_size=3).map(tuple), max_size=2))),
        timezone=draw(st.none() | st.integers(-12, 12) | st.just("America/New_York")),
        data_fields=draw(st.none() | st.permutations(DATA).map(tuple)),
        order_by=tuple(draw(st.lists(orders, max_size=2, unique_by=lambda order: order.name))),
        limit=draw(st.none() | st.integers(0, 1000)),
        offset=draw(st.integers(0, 1000)),
        audience_key=draw(st.sampled_from([None, "users"])),
        audience_rows_limit=draw(st.sampled_from([10_000, 1_000_000])),
    )


@given(questions())
def test_a_question_survives_its_link(query: AudienceQuery) -> None:
    """Whatever the values hold, the link of a question asks the same question."""
    address = urlsplit(links.href("audience", links.to_params(query)))
    params = {name: values[-1] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
    assert address.path == "audience"
    assert links.from_params(params, SLICER, "demo", "delivery", TODAY) == (query, [])


def test_a_link_is_readable() -> None:
    """The usual link has one short parameter per part of the question, with relative dates as they are."""
    query = AudienceQuery(
        project_name="demo",
        slicer_name="delivery",
        start_date="-7d",
        end_date="yesterday",
        split_by=("geo.country", "site"),
        filters=(Filter(name="geo.country", value=("US", "CA"), match="equals"),),
    )
    assert links.href("audience", links.to_params(query)) == (
        "audience?project=demo&slicer=delivery&start=-7d&end=yesterday&split=geo.country~site"
        "&is.geo.country=US~CA"
    )


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"start": "soon"}, "Left out the dates: can't read the date 'soon'"),
        ({"start": "2026-11-20", "end": "2026-11-01"}, "Left out the dates: start_date '2026-11-20'"),
        ({"split": "site~zone"}, "Left out the split by Zone: delivery has none of that name."),
        ({"split": "~".join(KEYS[:2] + KEYS[3:])}, "Left out the split by granularity_hour: three"),
        ({"is.zone": "1"}, "Left out the filter on Zone: delivery has no such key field."),
        ({"fields": "cost"}, "Left out the data field Cost: delivery has none of that name."),
        ({"order": "-cost"}, "Left out the order by Cost: delivery has none of that name."),
        ({"source": "homes"}, "Left out the source Homes: delivery has none of that name."),
        ({"tz": "Mars/Olympus"}, "Left out tz in the link: 'Mars/Olympus' is not a valid number."),
        ({"tz": "14"}, "Left out tz in the link: '14' is not a valid number."),
        ({"rows": "5"}, "Left out rows in the link: '5' is not a valid number."),
        ({"limit": "many"}, "Left out limit in the link: 'many' is not a valid number."),
    ],
)
def test_a_damaged_link_opens_without_the_damage(params: dict[str, str], sentence: str) -> None:
    """What can't be read is named, and the rest of the link is asked."""
    read = links.from_params({"not.site": "12", **params}, SLICER, "demo", "delivery", TODAY)
    assert len(read.left_out) == 1
    assert read.left_out[0].startswith(sentence)
    assert read.query.filters == (Filter(name="site", value=("12",), match="not equals"),)
    assert read.query.start_date == "-7d"


def test_a_zone_is_left_out_where_days_are_fixed() -> None:
    """A slicer with daily data is asked in its own zone, and the link's zone is named as left out."""
    daily = SLICER.model_copy(update={"supports_timezone": 0})
    read = links.from_params({"tz": "3"}, daily, "demo", "delivery", TODAY)
    assert read.query.timezone is None
    assert read.left_out == ["Left out the time zone: this slicer has daily data in a zone of its own."]


def test_parameters_of_others_are_not_ours() -> None:
    """Only the question's own parameters are taken for parts of it."""
    assert links.is_query_param("has2-id.geo.country")
    assert not any(links.is_query_param(name) for name in ("project", "utm_source", "is", "is.", "ist.site"))


@pytest.mark.parametrize(
    "looked",
    [
        View(),
        View(compare=("previous",), field="ctr", grain="hour", chart="heatmap"),
        View(compare=("2026-10-01", "-1m_last"), chart="bars"),
        View(compare=("year",), also=("previous",)),
        View(also=("2026-10-01", "2026-10-07")),
        View(zoom=ZoomOrigin("-30d", "yesterday", period=(date(2026, 10, 1), date(2026, 10, 30))), rows=100),
        View(zoom=ZoomOrigin("-30d", "yesterday", "day")),
        View(zoom=ZoomOrigin("2026-10-01", "2026-10-07")),
        View(chart="pivot", expansion=Expansion(("site", "a,b~c"), (("",), ("x~%",))), cross="site"),
    ],
)
def test_a_view_survives_its_link(looked: View) -> None:
    """What is compared and shown is in the link too."""
    assert state.read(looked.params, SLICER, "demo", "s")[0].view == looked


@pytest.mark.parametrize("params", [{"also": "previous"}, {"also": "x"}, {"compare": "none", "also": "year"}])
def test_a_second_comparison_is_another_one(params: dict[str, str]) -> None:
    """Days are not compared twice, and a second comparison needs a first."""
    assert state.read(params, SLICER, "demo", "s")[0].view.also == ()


def test_a_view_that_can_not_be_shown_is_the_usual_one() -> None:
    """A view parameter that the slicer has nothing for is at its default."""
    params = {
        "compare": "once",
        "field": "cost",
        "grain": "week",
        "chart": "pie",
        "folds": "cost~x",
        "cross": "cost",
    }
    assert state.read(params, SLICER, "demo", "s")[0].view == View()
