"""Our own client of the deals API: typed answers, errors of the family, services that know less than ours."""

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from deals.caller import World, unique
from lib.deals.abilities import Abilities
from lib.deals.client import Deals
from lib.deals.compat import Dialect, has_lists
from lib.deals.models import (
    CreateDemandDeals,
    DemandDeal,
    DemandDealOption,
    Dsp,
    GeoTarget,
    ListTarget,
    Package,
    Reference,
    Seat,
    SeatChoice,
    SupplyPackage,
)
from lib.wire.call import Patience
from lib.wire.errors import (
    BadRequest,
    Conflict,
    DeadlineExceeded,
    Forbidden,
    InternalError,
    InUse,
    Invalid,
    NotFound,
    StoreUnwritable,
    Throttled,
    TrancheError,
    Unauthorized,
    Unreachable,
    Unreadable,
)
from lib.wire.transport import InProcess

START = dt.datetime(2026, 3, 1, 9, tzinfo=dt.timezone(dt.timedelta(hours=1)))


def test_a_package_with_its_deals(client: Deals, there: World) -> None:
    """Models go in, models come out: decimals, times with their offset, references, an ETag."""
    option = DemandDealOption(seat=Reference(id=there.ada), price=Decimal("2.5"), deal_sync=True)
    created = CreateDemandDeals(demand_deals_options=(option,), contact_email="a@b.example")
    sent = SupplyPackage(
        name=unique("Package"),
        media_type="video",
        start_date=START,
        geo_targetings=(GeoTarget(type="country", value="US"),),
        domain_list_targetings=(ListTarget(id=there.domains, is_excluded=True),),
        create_demand_deals=created,
    )
    package = client.create(SupplyPackage, sent)
    assert (package.start_date, package.geo_targetings) == (START, sent.geo_targetings)
    assert package.start_date
    assert package.start_date.utcoffset() == dt.timedelta(hours=1)
    [deal] = [client.get(DemandDeal, deal.id) for deal in package.demand_deals]
    assert (deal.price, deal.deal_sync) == (Decimal("2.5"), True)
    assert deal.seat
    assert deal.seat.id == there.ada
    assert deal.supply_deals[0].id == package.id
    assert deal.etag
    assert package == client.get(SupplyPackage, package.id or 0)


def test_entities_by_their_path_names(client: Deals, there: World) -> None:
    """`"seats"` is `Seat`."""
    assert isinstance(client.get("seats", there.ada), Seat)
    assert client.list("seats", id=there.ada) == client.list(Seat, id=[there.ada])


def test_changes(client: Deals, there: World) -> None:
    """Fields may be values, models and times; an ETag guards them; the history tells of them."""
    package = client.create(
        SupplyPackage, SupplyPackage(name=unique("P"), media_type="audio", start_date=START)
    )
    assert package.id
    end = START + dt.timedelta(days=9)
    fields = {"end_date": end, "geo_targetings": (GeoTarget(type="zip", value="10001"),), "is_active": False}
    client.change(SupplyPackage, package.id, fields, package.etag)
    now = client.get(SupplyPackage, package.id)
    assert (now.end_date, now.is_active, now.geo_targetings[0].value) == (end, False, "10001")
    with pytest.raises(Conflict, match="end_date from null to"):
        client.change(SupplyPackage, package.id, {"end_date": None}, package.etag)
    client.remove(SupplyPackage, package.id, now.etag)
    removed, changed, created = client.history(SupplyPackage, package.id)
    assert (removed.after, created.before, changed.who) == (None, None, "manager")
    assert changed.after
    assert changed.after["is_active"] is False
    assert changed.at.tzinfo


def test_everything_page_after_page(client: Deals) -> None:
    """`everything` goes through all pages, however many there are."""
    word = unique("Page")
    for _ in range(3):
        client.create(Dsp, Dsp(name=unique(word)))
    pages = client.list(Dsp, search=word, limit=2)
    assert (pages.count, len(pages.results)) == (3, 2)
    assert len([*client.everything(Dsp, search=word, supports_deal_sync=False)]) == 3


def test_a_package_of_the_deprecated_kind(client: Deals, there: World) -> None:
    """Its seats and deals come as models too."""
    seats = (
        SeatChoice(value=True, seat=Seat(id=there.ada)),
        SeatChoice(value=False, seat=Seat(id=there.bob)),
    )
    package = client.create(Package, Package(name=unique("Old"), seats=seats))
    assert [choice.value for choice in package.seats] == [True, False]
    assert len(package.demand_deals) == 1


def test_repeating_with_a_key(client: Deals) -> None:
    """The same key and model give the same entity."""
    key, dsp = unique("key"), Dsp(name=unique("DSP"))
    assert client.create(Dsp, dsp, key).id == client.create(Dsp, dsp, key).id


def test_errors(client: Deals, http: httpx.Client, there: World) -> None:
    """Each refusal is one of the family; what is wrong comes in the fields."""
    with pytest.raises(Invalid) as wrong:
        client.create(Seat, Seat(dsp=Dsp(id=2**50)))
    assert wrong.value.fields == {
        "name": ["This field is required."],
        "dsp": {"id": [f"There is no DSP {2**50}."]},
    }
    assert "dsp.id: There is no DSP" in str(wrong.value)
    with pytest.raises(NotFound):
        client.get(Seat, 2**50)
    with pytest.raises(InUse, match="depend"):
        client.remove(Dsp, there.syncing)
    with pytest.raises(Unauthorized):
        Deals(http, "wrong").list(Seat)


def of(answer: Callable[[Request], Response], **options: Any) -> Deals:
    """A client of a service that answers everything so."""

    async def endpoint(request: Request) -> Response:
        return answer(request)

    methods = ["GET", "POST", "PUT", "DELETE"]
    app = Starlette(routes=[Route("/{path:path}", endpoint, methods=methods)])
    http = httpx.Client(transport=InProcess(app), base_url="http://elsewhere")
    return Deals(http, "secret", **{"codec": Dialect()} | options)


@pytest.mark.parametrize(
    ("code", "body", "headers", "error"),
    [
        (400, {"detail": "no"}, {}, Invalid),
        (400, {"name": ["no"]}, {}, Invalid),
        (401, {"detail": "no"}, {}, Unauthorized),
        (403, {"detail": "no"}, {}, Forbidden),
        (404, {"detail": "no"}, {}, NotFound),
        (405, {"detail": "no"}, {}, BadRequest),
        (406, {"detail": "no"}, {}, InUse),
        (409, {"detail": "no"}, {}, Conflict),
        (429, {"detail": "no"}, {"Retry-After": "7"}, Throttled),
        (500, {"detail": "no"}, {}, InternalError),
        (504, {"detail": "no"}, {}, DeadlineExceeded),
        (507, {"detail": "no"}, {}, InternalError),
        (507, {"detail": StoreUnwritable.REASON}, {}, StoreUnwritable),
        (418, {"detail": "no"}, {}, Unreadable),
        (400, ["no"], {}, Unreadable),
    ],
)
def test_codes_of_another_service(
    code: int, body: Any, headers: dict[str, str], error: type[TrancheError]
) -> None:
    """Every code of the table is its own error, with the service's words."""
    with pytest.raises(error) as raised:
        of(lambda request: JSONResponse(body, code, headers), patience=Patience(retries=0)).get(Seat, 1)
    if isinstance(body, dict):
        assert "no" in raised.value.reason
    if isinstance(raised.value, Throttled):
        assert raised.value.retry_after == 7


def test_a_service_that_knows_the_specification_alone() -> None:
    """Fields may be missing or more; times may be written otherwise; there is no ETag."""
    answer = {
        "id": 3, "name": "Theirs", "demand_deals": [{"id": 4, "name": "x", "more": 1}], "bidfloor": 1.10,
        "start_date": "2026-03-01T09:00:00Z", "media_type": "rich media",
    }  # fmt: skip
    package = of(lambda request: JSONResponse(answer)).get(SupplyPackage, 3)
    assert (package.name, package.is_active, package.etag) == ("Theirs", None, None)
    assert package.model_extra == {"bidfloor": Decimal("1.1")}
    assert package.start_date == dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "answer", [HTMLResponse("<h1>Welcome</h1>"), JSONResponse([1]), JSONResponse({"id": "x"}), Response(b"")]
)
def test_what_is_no_answer_of_this_api(answer: Response) -> None:
    """A proxy's page, or something else under this address, is its own kind of problem."""
    with pytest.raises(Unreadable):
        of(lambda request: answer).get(SupplyPackage, 3)
    with pytest.raises(Unreadable):
        of(lambda request: answer).list(SupplyPackage)


@pytest.mark.parametrize("code", [200, 201])
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"status": "error", "detail": "no"}, Invalid({"non_field_errors": ["no"]})),
        ({"error": "no"}, Invalid({"non_field_errors": ["no"]})),
        ({"errors": {"name": ["no"]}, "detail": "see errors"}, Invalid({"name": ["no"]})),
        ({"success": False, "message": "no"}, Invalid({"non_field_errors": ["no"]})),
        ({"errors": ["no", "never"]}, Invalid({"non_field_errors": ["no", "never"]})),
        ({"status": "error", "code": 404, "message": "no"}, NotFound("no")),
        ({"status_code": "409", "error": "no"}, Conflict("no")),
    ],
)
def test_an_error_inside_of_a_success(code: int, body: Any, error: TrancheError) -> None:
    """A service that answers 200 with an error in it has refused, whatever was asked."""
    deals = of(lambda request: JSONResponse(body, code))
    seat = Seat(name="x")
    works = (
        lambda: deals.get(Seat, 1),
        lambda: deals.list(Seat),
        lambda: deals.create(Seat, seat),
        lambda: deals.change(Seat, 1, {"name": "y"}),
        lambda: deals.remove(Seat, 1),
    )
    for work in works:
        with pytest.raises(type(error)) as raised:
            work()
        assert getattr(raised.value, "fields", None) == getattr(error, "fields", None)
        assert raised.value.reason == error.reason


@pytest.mark.parametrize(
    ("answer", "made"),
    [
        (JSONResponse({"id": "7", "name": "x"}, 200), Seat(id=7, name="x")),
        (Response(status_code=201, headers={"Location": "https://elsewhere/api/seats/7/"}), Seat(id=7)),
        (JSONResponse({"id": 7, "status": "error"}, 201), Seat(id=7, status="error")),
    ],
)
def test_a_creation_that_is_answered_otherwise(answer: Response, made: Seat) -> None:
    """Any success with an id is a creation, also one that has it in the address alone."""
    seat = of(lambda request: answer).create(Seat, Seat(name="x"))
    assert (seat.id, seat.name, seat.model_extra) == (made.id, made.name, made.model_extra)


@pytest.mark.parametrize("answer", [HTMLResponse("<h1>Done</h1>"), JSONResponse([7]), JSONResponse({"a": 1})])
def test_a_creation_of_which_nothing_is_known(answer: Response) -> None:
    """A success that can't be read leaves it open, and says so."""
    with pytest.raises(Unreadable, match="may have been created"):
        of(lambda request: answer).create(Seat, Seat(name="x"))


@pytest.mark.parametrize(
    "answer",
    [Response(status_code=204), Response(b"OK"), JSONResponse({"id": 1, "name": "y"}), Response(b"")],
)
def test_a_change_that_is_answered_otherwise(answer: Response) -> None:
    """Any success is one, with or without a body; a page for people is none."""
    of(lambda request: answer).change(Seat, 1, {"name": "y"})
    with pytest.raises(Unreadable, match="may have been saved"):
        of(lambda request: HTMLResponse("<h1>Done</h1>")).change(Seat, 1, {"name": "y"})


def test_what_could_not_be_read_goes_back_with_its_list() -> None:
    """A list that is edited: kept elements with all their fields, those of another shape as they came."""
    kept, odd = {"value": "Safari", "is_excluded": False, "weight": 2}, {"operator": "IN", "terms": ["x"]}
    seen: list[Any] = []

    def answer(request: Request) -> Response:
        seen.append((request.method, request.url.path))
        return JSONResponse({"id": 1, "name": "x", "browser_targetings": [odd, kept], "floor": 2})

    bodies: list[Any] = []
    deals = recorded(answer, bodies)
    deals.change(SupplyPackage, 1, {"name": "y"})
    deals.change(
        SupplyPackage,
        1,
        {"browser_targetings": [{"value": "Safari", "is_excluded": False}, {"value": "Opera"}]},
    )
    assert bodies == [{"name": "y"}, {"browser_targetings": [kept, {"value": "Opera"}, odd]}]
    assert [method for method, _ in seen] == ["PUT", "GET", "PUT"]


def recorded(answer: Callable[[Request], Response], bodies: list[Any]) -> Deals:
    """A client of a service that answers everything so, and writes down what it is sent."""

    async def endpoint(request: Request) -> Response:
        if text := await request.body():
            bodies.append(json.loads(text))
        return answer(request)

    app = Starlette(routes=[Route("/{path:path}", endpoint, methods=["GET", "PUT", "POST"])])
    http = httpx.Client(transport=InProcess(app), base_url="http://elsewhere")
    return Deals(http, "secret", codec=Dialect())


def test_who_may_change_nothing_sends_nothing() -> None:
    """With a reason to refuse, nothing that writes is sent; reading goes on."""
    seen: list[str] = []

    def answer(request: Request) -> Response:
        seen.append(request.method)
        return JSONResponse({"id": 1, "name": "x"})

    deals = of(answer, abilities=Abilities(refuses="Only looking"))
    assert deals.get(Seat, 1).name == "x"
    works: tuple[Callable[[], object], ...] = (
        lambda: deals.create(Seat, Seat(name="x")),
        lambda: deals.change(Seat, 1, {"name": "y"}),
        lambda: deals.remove(Seat, 1),
    )
    for work in works:
        with pytest.raises(Forbidden, match="Only looking"):
            work()
    assert seen == ["GET"]


def test_whether_there_are_lists(client: Deals, http: httpx.Client) -> None:
    """Our own service has them; one that answers a list in another shape has none; a wrong token is said."""
    assert has_lists(client)
    assert not has_lists(of(lambda request: JSONResponse([{"id": 1}])))
    assert not has_lists(of(lambda request: JSONResponse({"detail": "What is limit?"}, 400)))
    assert not has_lists(of(lambda request: HTMLResponse("<h1>No</h1>", 405)))
    with pytest.raises(Unauthorized):
        has_lists(Deals(http, "wrong"))
    with pytest.raises(InternalError):
        has_lists(of(lambda request: JSONResponse({"detail": "no"}, 500)))


def test_the_tokens_header_is_a_setting() -> None:
    """Another service may want the token under another name, and without a scheme."""
    seen: list[Any] = []

    def answer(request: Request) -> Response:
        seen.append((request.headers.get("authorization"), request.headers.get("x-token")))
        return JSONResponse({"id": 1, "name": "x"})

    of(answer).get(Seat, 1)
    of(answer, header="X-Token", scheme="").get(Seat, 1)
    assert seen == [("Bearer secret", None), (None, "secret")]


def test_only_reading_is_repeated() -> None:
    """A GET that meets a 503 is asked again; nothing that writes is."""
    seen: list[str] = []

    def answer(request: Request) -> Response:
        seen.append(request.method)
        return JSONResponse({"id": 1, "name": "x"}, 503 if seen.count(request.method) < 2 else 200)

    assert of(answer).get(Seat, 1).id == 1
    with pytest.raises(Unreachable):
        of(answer).create(Seat, Seat(name="x"))
    assert seen == ["GET", "GET", "POST"]
