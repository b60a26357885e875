"""What a deals service's successes say: an entity, a page, the news that something was made or changed."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx
from pydantic import ValidationError

from lib.deals.dialect import Dialect, Model
from lib.deals.hidden import hidden
from lib.deals.models import Change, Part
from lib.wire import exact
from lib.wire.errors import Garbled, Unreadable

Answer = TypeVar("Answer", bound=Part)
ID_IN_ADDRESS = re.compile(r"/(\d{1,16})/?$")
MAY_BE_THERE = "it may have been created all the same: look before you ask again"
MAY_BE_SAVED = "it may have been saved all the same: look before you ask again"


@dataclass(frozen=True)
class Page(Generic[Answer]):
    """Some of a list: how many there are altogether, and those asked for."""

    count: int
    results: tuple[Answer, ...]


def resource(dialect: Dialect, model: type[Model], response: httpx.Response) -> Model:
    """The entity, with its ETag and the JSON that it came as."""
    return _entity(dialect, model, json(response), response)


def made(dialect: Dialect, model: type[Model], response: httpx.Response) -> Model:
    """The entity that was created; at the least its id, from the address if not from the body."""
    address = ID_IN_ADDRESS.search(response.headers.get("location", ""))
    try:
        body = json(response) if response.content.strip() or not address else {"id": int(address[1])}
        return _entity(dialect, model, body, response)
    except Unreadable as error:
        raise Unreadable(f"{error.reason}; {MAY_BE_THERE}") from error


def done(response: httpx.Response) -> None:
    """Nothing, if what was asked for was done: an error may hide in the body, or be a page for people."""
    if response.content.lstrip()[:1] == b"<":
        raise Unreadable(f"The service answered with a page for people; {MAY_BE_SAVED}")
    try:
        body = exact.loads(response.content)
    except ValueError:
        return
    if failure := hidden(body):
        raise failure


def page(dialect: Dialect, model: type[Model], response: httpx.Response) -> Page[Model]:
    """A page of entities."""
    return _page(response, lambda one: dialect.read(model, one))


def changes(response: httpx.Response) -> Page[Change]:
    """A page of an entity's history."""
    return _page(response, Change.model_validate)


def json(response: httpx.Response) -> Any:
    """The body. Unreadable for what is no JSON; the error that a success may hide."""
    try:
        body = exact.loads(response.content)
    except ValueError as error:
        raise Garbled("The service answered with something that is not of this API") from error
    if failure := hidden(body):
        raise failure
    return body


def _entity(dialect: Dialect, model: type[Model], body: Any, response: httpx.Response) -> Model:
    found = dialect.read(model, body)
    if found.id is None:
        raise Unreadable(f"The service's {model.__name__} has no id")
    found._etag, found._raw = response.headers.get("etag"), body
    return found


def _page(response: httpx.Response, read: Callable[[Any], Answer]) -> Page[Answer]:
    body = json(response)
    try:
        return Page(int(body["count"]), tuple(read(one) for one in body["results"]))
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise Unreadable("The service's list is not one that the API knows") from error
