"""Parses successful responses of a deals service: entities, pages, and results of changes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import httpx
from pydantic import ValidationError

from lib.deals.codec import Codec, Model
from lib.deals.models import DemandDeal, EntityChange, Resource, WireModel
from lib.deals.sync.models import BuyerSeat
from lib.wire import exact
from lib.wire.errors import Invalid, MalformedResponse, Unreadable

Answer = TypeVar("Answer", bound=WireModel)
ID_IN_ADDRESS = re.compile(r"/(\d{1,16})/?$")
MAY_BE_THERE = "it may have been created: check before you retry"
MAY_BE_SAVED = "it may have been saved: check before you retry"


@dataclass(frozen=True)
class Page(Generic[Answer]):
    """A page of a list: the total count, the requested entities, and counts by filter and value."""

    count: int
    results: tuple[Answer, ...]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def resource(codec: Codec, model: type[Model], response: httpx.Response) -> Model:
    """The entity, with its ETag and the JSON that it came as."""
    return _entity(codec, model, json(codec, response), response)


def read_created(codec: Codec, model: type[Model], response: httpx.Response) -> Model:
    """The created entity, or at least its id, from the Location header if not from the body."""
    address = ID_IN_ADDRESS.search(response.headers.get("location", ""))
    try:
        body = json(codec, response) if response.content.strip() or not address else {"id": int(address[1])}
        return _entity(codec, model, body, response)
    except Unreadable as error:
        raise Unreadable(f"{error.reason}; {MAY_BE_THERE}") from error


def created(codec: Codec, response: httpx.Response) -> list[DemandDeal]:
    """Several deals that were created: their ids, names and deal ids."""
    body = json(codec, response)
    try:
        names = {"id", "name", "deal_id"}
        return [DemandDeal.model_construct(names, **one) for one in body["results"]]
    except (KeyError, TypeError) as error:
        raise Unreadable(f"The service's answer does not follow the API; {MAY_BE_THERE}") from error


def check(codec: Codec, response: httpx.Response) -> None:
    """Return if the request succeeded; raise the error if the body hides one, or is an HTML page."""
    if response.content.lstrip()[:1] == b"<":
        raise Unreadable(f"The service returned a web page; {MAY_BE_SAVED}")
    try:
        body = exact.loads(response.content)
    except ValueError:
        return
    if failure := codec.failure(body):
        raise failure


def refusals(codec: Codec, response: httpx.Response) -> dict[int, str]:
    """The reasons of refused changes among several, by id."""
    body = json(codec, response)
    try:
        return {int(one["id"]): refusal_of(one) for one in body["results"] if int(one["status"]) >= 400}
    except (KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"The service's answer does not follow the API; {MAY_BE_SAVED}") from error


def refusal_of(one: Mapping[str, Any]) -> str:
    """`{"error": {"detail": "…"}}`, or the fields with what is wrong, as a sentence."""
    error = one["error"]
    return str(error["detail"]) if "detail" in error else Invalid(error).reason


def page(codec: Codec, model: type[Model], response: httpx.Response) -> Page[Model]:
    """A page of entities."""
    return _page(codec, response, lambda one: codec.read(model, one))


def changes(codec: Codec, response: httpx.Response) -> Page[EntityChange]:
    """A page of an entity's history."""
    return _page(codec, response, EntityChange.model_validate)


def buyer_seat(codec: Codec, response: httpx.Response) -> BuyerSeat:
    """What a DSP reported."""
    body = json(codec, response)
    try:
        return BuyerSeat.model_validate(body)
    except ValidationError as error:
        raise Unreadable("The service's status of a deal does not follow the API") from error


def json(codec: Codec, response: httpx.Response) -> Any:
    """The JSON body. Unreadable if it is not JSON; raises an error hidden in a success."""
    try:
        body = exact.loads(response.content)
    except ValueError as error:
        raise MalformedResponse(
            "The service answered with something that this API does not define"
        ) from error
    if failure := codec.failure(body):
        raise failure
    return body


def _entity(codec: Codec, model: type[Model], body: Any, response: httpx.Response) -> Model:
    found = codec.read(model, body)
    if found.id is None:
        raise Unreadable(f"The service's {model.__name__} has no id")
    return found.known_as(etag=_strong(response.headers.get("etag")), raw=body)


def _with_etag(answer: Answer, etags: Mapping[str, str]) -> Answer:
    """The entity with its ETag, where the list has it."""
    tag = etags.get(str(getattr(answer, "id", None)))
    return answer if tag is None or not isinstance(answer, Resource) else answer.known_as(etag=tag)


def _strong(etag: str | None) -> str | None:
    """The ETag, if If-Match may hold it (RFC 9110, 13.1.1)."""
    return None if etag is None or etag.startswith("W/") else etag


def _page(codec: Codec, response: httpx.Response, read: Callable[[Any], Answer]) -> Page[Answer]:
    body = json(codec, response)
    try:
        counts = {name: dict(found) for name, found in (body.get("counts") or {}).items()}
        tags = body.get("etags") or {}
        results = (_with_etag(read(one), tags) for one in body["results"])
        return Page(int(body["count"]), tuple(results), counts)
    except (AttributeError, KeyError, TypeError, ValueError, ValidationError) as error:
        raise Unreadable("The service's list does not follow the API") from error
