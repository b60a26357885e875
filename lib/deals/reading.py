"""How a deals service writes: entities, pages and results of changes as models, refusals as our errors.

`Codec` is our own service's way, compat.Dialect that of others.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Generic, TypeVar

import httpx
from pydantic import ValidationError

from lib.deals.models import BuyerSeat, DemandDeal, EntityChange, Resource, WireModel
from lib.wire import exact
from lib.wire.breaker import DEAD, retry_after
from lib.wire.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    InternalError,
    InUse,
    Invalid,
    MalformedResponse,
    NotFound,
    ResponseTimeout,
    StoreUnwritable,
    Throttled,
    TrancheError,
    Unauthorized,
    Unreachable,
    Unreadable,
    Unsupported,
)

Model = TypeVar("Model", bound=Resource)
Fields = dict[str, Any]
Answer = TypeVar("Answer", bound=WireModel)
ID_IN_ADDRESS = re.compile(r"/(\d{1,16})/?$")
MAY_BE_THERE = "it may have been created: check before you retry"
MAY_BE_SAVED = "it may have been saved: check before you retry"
UNKNOWN_WAIT_SECONDS = 60
WHOLE = "non_field_errors"
TEXTS = ("detail", "message", "error", "error_description", "reason", "description")
WRAPPERS = ("errors", "detail", "error")
ENVELOPE = frozenset({*TEXTS, *WRAPPERS, "status", "code", "status_code", "success"})


@dataclass(frozen=True)
class Page(Generic[Answer]):
    """A page of a list: the total count, the requested entities, counts by filter and value, and what deals
    delivered by id."""

    count: int
    results: tuple[Answer, ...]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    delivery: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


class Codec:
    """The format of our own service's resources, which is that of the models. Those of others are subclasses.

    Reads what a service answers: Unreadable where that is not of this API.
    """

    def read(self, model: type[Model], raw: Any) -> Model:
        """The resource that the JSON stands for."""
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            raise Unreadable(f"The service's {model.__name__} is not one that the API knows") from error

    def write(self, fields: Mapping[str, Any], base: Resource | None = None) -> Fields:
        """The request of these fields, which change `base` where that is given."""
        return dict(fields)

    def failure(self, body: Any) -> TrancheError | None:
        """The error that the body of a success stands for; None: our own service says it by the code."""
        return None

    def resource(self, model: type[Model], response: httpx.Response) -> Model:
        """The entity, with its ETag and the JSON that it came as."""
        return self._resource(model, self.json(response), response)

    def new_resource(self, model: type[Model], response: httpx.Response) -> Model:
        """The created entity, or at least its id, from the Location header if not from the body."""
        address = ID_IN_ADDRESS.search(response.headers.get("location", ""))
        try:
            has_body = bool(response.content.strip())
            body = {"id": int(address[1])} if address and not has_body else self.json(response)
            return self._resource(model, body, response)
        except Unreadable as error:
            raise Unreadable(f"{error.reason}; {MAY_BE_THERE}") from error

    def created_deals(self, response: httpx.Response) -> list[DemandDeal]:
        """Several deals that were created: their ids, names and deal ids."""
        body = self.json(response)
        try:
            names = {"id", "name", "deal_id"}
            return [DemandDeal.model_construct(names, **deal) for deal in body["results"]]
        except (KeyError, TypeError) as error:
            raise Unreadable(f"The service's answer does not follow the API; {MAY_BE_THERE}") from error

    def check(self, response: httpx.Response) -> None:
        """Return if the request succeeded; raise the error if the body hides one, or is an HTML page."""
        if response.content.lstrip()[:1] == b"<":
            raise Unreadable(f"The service returned a web page; {MAY_BE_SAVED}")
        with suppress(MalformedResponse):
            self.json(response)

    def refusals(self, response: httpx.Response) -> dict[int, str]:
        """The reasons of refused changes among several, by id."""
        body = self.json(response)
        try:
            refusals = [result for result in body["results"] if int(result["status"]) >= 400]
            # `{"detail": "…"}`, or the fields with what is wrong.
            errors = {int(result["id"]): result["error"] for result in refusals}
            return {
                number: str(error["detail"]) if "detail" in error else Invalid(error).reason
                for number, error in errors.items()
            }
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"The service's answer does not follow the API; {MAY_BE_SAVED}") from error

    def page(self, model: type[Model], response: httpx.Response) -> Page[Model]:
        """A page of entities."""
        return self._page(response, lambda entity: self.read(model, entity))

    def changes(self, response: httpx.Response) -> Page[EntityChange]:
        """A page of an entity's history."""
        return self._page(response, EntityChange.model_validate)

    def buyer_seat(self, response: httpx.Response) -> BuyerSeat:
        """What a DSP reported."""
        body = self.json(response)
        try:
            return BuyerSeat.model_validate(body)
        except ValidationError as error:
            raise Unreadable("The service's status of a deal does not follow the API") from error

    def json(self, response: httpx.Response) -> Any:
        """The JSON body. MalformedResponse if it is not JSON; raises an error hidden in a success."""
        try:
            body = exact.loads(response.content)
        except ValueError as error:
            raise MalformedResponse(
                "The service answered with something that this API does not define"
            ) from error
        if failure := self.failure(body):
            raise failure
        return body

    def _resource(self, model: type[Model], body: Any, response: httpx.Response) -> Model:
        entity = self.read(model, body)
        if entity.id is None:
            raise Unreadable(f"The service's {model.__name__} has no id")
        etag = response.headers.get("etag", "")
        # If-Match takes no weak one (RFC 9110, 13.1.1).
        return entity.known_as(etag=None if not etag or etag.startswith("W/") else etag, raw=body)

    def _page(self, response: httpx.Response, read: Callable[[Any], Answer]) -> Page[Answer]:
        body = self.json(response)
        try:
            counts = {name: dict(numbers) for name, numbers in (body.get("counts") or {}).items()}
            tags = body.get("etags") or {}
            results = [read(entity) for entity in body["results"]]
            for index, entity in enumerate(results):
                tag = tags.get(str(getattr(entity, "id", None)))
                if isinstance(entity, Resource) and tag is not None:
                    results[index] = entity.known_as(etag=tag)
            delivery = {int(deal): figures for deal, figures in (body.get("delivery") or {}).items()}
            return Page(int(body["count"]), tuple(results), counts, delivery)
        except (AttributeError, KeyError, TypeError, ValueError, ValidationError) as error:
            raise Unreadable("The service's list does not follow the API") from error


OWN = Codec()


def _internal(reason: str) -> InternalError:
    """A failure of the service; of one like ours, also that it can't write."""
    return StoreUnwritable() if reason == StoreUnwritable.REASON else InternalError(reason)


KINDS: dict[int, Callable[[str], TrancheError]] = {
    Unauthorized.http: Unauthorized,
    Forbidden.http: Forbidden,
    NotFound.http: NotFound,
    Unsupported.http: BadRequest,
    InUse.http: InUse,
    Conflict.http: Conflict,
    500: InternalError,
    503: InternalError,
    504: ResponseTimeout,
    StoreUnwritable.http: _internal,
}


def refusal(response: httpx.Response) -> TrancheError:
    """The error for the response; Unreadable if the response is not of this API."""
    code, body = response.status_code, None
    with suppress(ValueError):
        body = exact.loads(response.content)
    if code == Invalid.http and isinstance(body, dict) and body:
        return Invalid(fields_of(body))
    detail = text_of(body) if isinstance(body, dict) else ""
    if code == Throttled.http:
        return Throttled(ceil(retry_after(response)) or UNKNOWN_WAIT_SECONDS, detail or None)
    if code in DEAD and not detail:
        return Unreachable(f"A gateway answered {code} instead of the service")
    if code in KINDS:
        return KINDS[code](detail or f"The service answered {code}")
    return Unreadable(detail or f"The service answered {code}, which this API does not define")


def fields_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The messages per field in the body; others under the name for the whole request."""
    for name in WRAPPERS:
        value = body.get(name)
        if isinstance(value, Mapping) and value:
            return dict(value)
        if isinstance(value, list) and value and body.keys() <= ENVELOPE:
            return {WHOLE: [str(message) for message in value]}
    if not body.keys() <= ENVELOPE or any(isinstance(part, list) for part in body.values()):
        return dict(body)
    return {WHOLE: [text_of(body) or "The service reported a failure without a reason"]}


def text_of(body: Mapping[str, Any]) -> str:
    """The message of an error response; empty without one."""
    return next((body[name] for name in TEXTS if isinstance(body.get(name), str) and body[name]), "")
