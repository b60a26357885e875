"""The client against a service that knows the specification and nothing more."""

import json
from collections.abc import Iterator

import pandas as pd
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conformance.conftest import Reach
from conformance.reporting.caller import PERIOD
from conformance.reporting.conftest import Token
from lib.reporting.answers import Audience
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, DataFilter, ExportQuery, InfoQuery, RecordsQuery
from lib.serving import connect
from lib.slicers.models import EXTENSIONS, Order, OwnField
from lib.wire.errors import BadRequest
from lib.wire.filters import Filter

pytestmark = pytest.mark.service

WHERE = {"slicer_name": "hourly", "project_name": "shop"}
SPECIFIED = {
    "slicer_name", "project_name", "token", "audience_rows_limit", "filters", "split_by", "start_date",
    "end_date", "timezone",
}  # fmt: skip
QUESTIONS = {
    "nothing more": {},
    "fields": {"data_fields": ("ctr", "imps"), "order_by": (Order(name="revenue"),)},
    "order by data": {"order_by": (Order(name="clicks"), Order(name="imps", direction="asc"))},
    "order by text": {"order_by": (Order(name="domain", direction="asc"),)},
    "order by number": {"split_by": ("site_id",), "order_by": (Order(name="site_id", direction="asc"),)},
    "order with ties": {"split_by": ("site_id", "segments"), "order_by": (Order(name="site_id"),)},
    "page": {"limit": 3, "offset": 2},
    "page of an order": {"order_by": (Order(name="ctr"),), "limit": 4, "offset": 1, "data_fields": ("imps",)},
    "rows by their figures": {
        "data_filters": (DataFilter(name="clicks", match=">=", value=50),),
        "data_fields": ("imps",),
        "limit": 3,
    },
    "own fields": {
        "data_fields": ("per click", "imps"),
        "own_fields": (OwnField(name="per click", formula="revenue / clicks"),),
        "order_by": (Order(name="per click"),),
        "data_filters": (DataFilter(name="per click", match=">", value=0.5),),
        "limit": 3,
    },
    "no split": {"split_by": (), "data_fields": ("records",)},
    "no rows": {"start_date": "1999-01-01", "end_date": "1999-01-02", "data_fields": ("imps", "ctr")},
    "one source": {"audience_key": "devices"},
}  # fmt: skip


class Plain:
    """ASGI middleware: info lists no extensions, an audience that asks for one fails, an answer is JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        message = await receive()
        if scope["path"].endswith("/audience"):
            assert set(json.loads(message["body"])) <= SPECIFIED
            assert (b"accept", b"application/json") in [
                (name.lower(), value) for name, value in scope["headers"]
            ]

        arrived = [message]

        async def body() -> Message:
            return arrived.pop() if arrived else await receive()

        async def without_extensions(answer: Message) -> None:
            if scope["path"].endswith("/info") and answer["type"] == "http.response.body":
                described = json.loads(answer["body"])
                del described["extensions"]
                answer["body"] = json.dumps(described).encode()
            if answer["type"] == "http.response.start":
                answer["headers"] = [pair for pair in answer["headers"] if pair[0] != b"content-length"]
            await send(answer)

        return await self._app(scope, body, without_extensions)


@pytest.fixture(scope="module")
def both(reach: Reach, installation: connect.Installation, issued: Token) -> Iterator[list[Reporting]]:
    """Clients of the whole service, and of a plain one over the same rows."""
    with reach(installation.api) as whole, reach(Plain(installation.api)) as plain:
        yield [Reporting(http, issued()) for http in (whole, plain)]


def same(first: pd.DataFrame | None, other: pd.DataFrame | None) -> None:
    """Fail unless both are the same frame."""
    assert (first is None) == (other is None)
    if first is not None and other is not None:
        pd.testing.assert_frame_equal(first, other, rtol=1e-12, check_column_type=False)


def test_what_it_lists(both: list[Reporting]) -> None:
    """A service that lists no extensions has none."""
    slicers = [reporting.info(InfoQuery(**WHERE)) for reporting in both]
    assert [set(slicer.extensions) for slicer in slicers] == [set(EXTENSIONS), set()]


@pytest.mark.parametrize("changes", QUESTIONS.values(), ids=QUESTIONS)
def test_the_client_does_the_work_itself(both: list[Reporting], changes: dict[str, object]) -> None:
    """Fields, order, page and source are the same as of a service that does them; none of it is sent."""
    query = AudienceQuery(**(WHERE | PERIOD | {"split_by": ("domain",)} | changes))
    whole, plain = (reporting.audience(query) for reporting in both)
    same(whole.names, plain.names)
    same(whole.values, plain.values)
    if len(whole):
        same(whole.percents, plain.percents)
    assert whole.total == plain.total


def test_filters_joined_by_or_are_refused(both: list[Reporting]) -> None:
    """What a service can't join by OR is refused with a sentence: without it the figures would be others."""
    group = (Filter(name="domain", match="equals", value=("a",)),)
    asked = {**WHERE, **PERIOD, "any_of": (group,)}
    for ask in (
        lambda: both[1].audience(AudienceQuery(**asked)),
        lambda: both[1].export(ExportQuery(**asked, export_format="csv")),
    ):
        with pytest.raises(BadRequest, match="OR"):
            ask()


def test_records_are_refused(both: list[Reporting]) -> None:
    """Of a service that shows no records they are refused with a sentence."""
    whole, plain = (reporting.info(InfoQuery(**WHERE)) for reporting in both)
    query = RecordsQuery(**WHERE, **PERIOD, columns=("domain",))
    assert both[0].records(query, whole).records_found > 0
    for ask in (both[1].records, both[1].records_file):
        with pytest.raises(BadRequest, match="no records"):
            ask(query, plain)


def test_what_can_not_be_made_up(both: list[Reporting]) -> None:
    """Descriptions and precision are left out where the service gives none."""
    query = AudienceQuery(**WHERE, **PERIOD, split_by=("geo.country",), include_mappings=1, precision=1)
    plain: Audience = both[1].audience(query)
    assert (plain.descriptions, plain.precision, plain.low) == (None, None, None)
