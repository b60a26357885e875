"""The deals API over HTTP: `/api/<entity>/`, `/api/<entity>/<id>/` and its history, for every entity.

The handlers are the same for every entity; `_entity_routes` documents them for each.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, WithJsonSchema
from starlette.convertors import StringConvertor, register_url_convertor

from lib.deals import batches, fields, openapi
from lib.deals.endpoints import (
    Body,
    IfNoneMatch,
    PathId,
    ReadCall,
    WriteCall,
    conditional_response,
    content_tag,
    json_response,
    list_page,
    read_id,
)
from lib.deals.models import EntityChange
from lib.deals.openapi import CONTENT_TAG, PAGE_PARAMETERS, UNCHANGED, errors, page_of, parameter, success
from lib.deals.openapi import DRY_RUN_PARAMETER as DRY_RUN
from lib.deals.proposals import routes as proposals
from lib.deals.requests import DemandDealRequest
from lib.deals.store import listing
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.filters import FILTERS
from lib.deals.store.work import LONGEST, EntityKey
from lib.deals.sync import routes as sync
from lib.deals.warnings import HEADER
from lib.wire import exact
from lib.wire.errors import Conflict, InUse, NotFound, TrancheError
from lib.wire.problems import problem
from lib.wire.schemas import FLAG, TEXT, Schema, a_list, body

LEGACY = "packages"
NOTES = {
    "create_supply_deals": "With create_demand_deals its demand deals are created too, all or nothing; with "
    "demand_deals existing ones are linked; not both.",
    "change_supply_deals": "demand_deals is the whole list of linked deals; create_demand_deals adds new "
    "ones, all or nothing (to a package that exists, an extension).",
    "change_demand_deals": "supply_deals is the whole list of linked packages.",
    "create_packages": "One demand deal is created for each seat whose `value` is true. Create supply "
    "packages with create_demand_deals instead.",
    "change_packages": "A newly selected seat gets a demand deal; one that has a deal can't be deselected.",
}
ABOUT_WARNINGS = "What is valid and probably a slip: a JSON list of sentences, in ASCII. An extension."
ATOMIC = "All are refused if one is: the others then have the status 424."
TAG: Schema = {"description": "The state that If-Match names", "schema": TEXT}
CREATED_HEADERS: Schema = {
    "ETag": TAG,
    "Location": {"description": "Where it is", "schema": TEXT},
    "Idempotency-Replayed": {"description": "`true` on the first answer, repeated", "schema": TEXT},
}
CREATED_MANY = page_of(openapi.CREATED_DEAL, BaseModel)
CHANGED_HEADERS: Schema = {"ETag": TAG, HEADER: {"description": ABOUT_WARNINGS, "schema": TEXT}}
KEY_TEXT = TEXT | {"minLength": 1, "pattern": "^[!-~]+$"}


@cache
def routes(*, with_packages: bool) -> APIRouter:
    """The routes, answered by the DealsApi that is `deals` in the application's state.

    With those of the deprecated packages, or without.
    """
    whole = APIRouter(prefix="/api", tags=["deals"])
    for entity in ENTITY_STORES:
        if with_packages or entity != LEGACY:
            whole.include_router(_entity_routes(entity))
    whole.include_router(sync.router)
    whole.include_router(proposals.router)
    return whole


async def _entity(request: Request) -> str:
    """The kind of entity that was asked about: the first part of the path below /api/."""
    return request.url.path.split("/")[2]


Entity = Annotated[str, Depends(_entity)]


async def _key(entity: Entity, id_text: PathId) -> EntityKey:
    return entity, read_id(id_text, ENTITY_STORES[entity].noun)


Key = Annotated[EntityKey, Depends(_key)]
IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="A request with the same key and body takes effect once."),
    WithJsonSchema(KEY_TEXT | {"maxLength": LONGEST}),
]
IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", description="The ETag that was read: 409 if there was a change since."),
    WithJsonSchema(KEY_TEXT),
]


async def list_entities(
    request: Request, entity: Entity, call: ReadCall, if_none_match: IfNoneMatch = None
) -> Response:
    """A page of them. With `search` and `ordering`, and a filter for each plain field."""
    page = await call.read(lambda: call.api.deals.list(entity, call.request()))
    return conditional_response(if_none_match, list_page(request, page))


async def create(entity: Entity, call: WriteCall, body: Body, key: IdempotencyKey = None) -> Response:
    """The answer is the whole entity, as a GET shows it."""
    request = call.write_request(body, idempotency_key=key)
    response = await call.write(lambda: call.api.deals.create(entity, request))
    if request.is_dry_run:
        return json_response(response.body)
    entity_body = {name: value for name, value in response.body.items() if name != "warnings"}
    headers = {
        "ETag": content_tag(exact.dumps(entity_body), response.etag),
        "Location": f"/api/{entity}/{response.body['id']}/",
        **({"Idempotency-Replayed": "true"} if response.is_replay else {}),
    }
    return json_response(response.body, 201, headers)


async def create_many(call: WriteCall, body: Body, key: IdempotencyKey = None) -> Response:
    """A list of them: all are created, or none. An extension."""
    request = call.write_request(body, idempotency_key=key)
    response = await call.write(lambda: call.api.deals.create_many(request))
    return json_response(response.body, 200 if request.is_dry_run else 201)


async def change_many(entity: Entity, call: WriteCall, body: Body) -> Response:
    """A list of changes, each with its id: one that is refused leaves the others changed. An extension."""
    request = call.write_request(body)
    response = await call.write(lambda: call.api.deals.change_many(entity, request))
    return json_response(response.body)


async def get(call: ReadCall, key: Key, if_none_match: IfNoneMatch = None) -> Response:
    """With its ETag, of which If-Match compares the version, and If-None-Match the content too."""
    response = await call.read(lambda: call.api.deals.get(key, call.request()))
    return conditional_response(if_none_match, response.body, response.etag)


async def change(
    call: WriteCall, body: Body, key: Key, idempotency_key: IdempotencyKey = None, if_match: IfMatch = None
) -> Response:
    """Only the fields in the body; the others stay."""
    request = call.write_request(body, if_match, idempotency_key)
    response = await call.write(lambda: call.api.deals.change(key, request))
    if request.is_dry_run:
        return json_response(response.body)
    warnings = response.body.get("warnings")
    header = {HEADER: json.dumps(warnings)} if warnings else {}
    return Response(status_code=204, headers={"ETag": response.etag} | header)


async def remove(call: WriteCall, key: Key, if_match: IfMatch = None) -> Response:
    """Refused with 406 while something depends on it."""
    request = call.write_request(if_match=if_match)
    response = await call.write(lambda: call.api.deals.remove(key, request))
    return json_response(response.body) if request.is_dry_run else Response(status_code=204)


async def history(request: Request, call: ReadCall, key: Key) -> Response:
    """Latest first; it stays when the entity is removed. An extension."""
    page = await call.read(lambda: call.api.deals.history(key, call.request()))
    return json_response(list_page(request, page))


class _Id(StringConvertor):
    """The id in a path. Not `batch`: a GET of it would be answered as one of an entity, and not by 405."""

    regex = "(?!batch/)[^/]+"


register_url_convertor("entity", _Id())


class _DeprecatedRoute(APIRoute):
    """Says in a header of each answer, of refusals too, that it is deprecated."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler = super().get_route_handler()

        async def respond(request: Request) -> Response:
            try:
                response = await handler(request)
            except TrancheError as error:
                # Answered here: the application's handler of errors does not know of which route one is.
                response = problem(request.url.path, error)
            response.headers["Deprecation"] = "true"
            return response

        return respond


def _entity_routes(entity: str) -> APIRouter:
    is_legacy = entity == LEGACY
    router = APIRouter(
        prefix=f"/{entity}",
        deprecated=is_legacy or None,
        route_class=_DeprecatedRoute if is_legacy else APIRoute,
        generate_unique_id_function=lambda route: f"{route.name}_{entity}",
    )
    _add_collection(router, entity)
    _add_entity(router, entity)
    return router


BATCH = Field(min_length=1, max_length=batches.MOST)


def _add_collection(router: APIRouter, entity: str) -> None:
    """The routes of all entities of a kind: listing them, and creating and changing one or several."""
    store, answer, examples = ENTITY_STORES[entity], openapi.ANSWERS[entity], openapi.CREATE[entity]
    noun, change_in_list = store.noun, openapi.change_of(store.request, in_list=True)
    or_dry_run = openapi.dry_run(answer) | errors(Conflict)
    router.get(
        "/",
        name="list",
        summary=f"{noun[0].upper()}{noun[1:]}s",
        responses=success(200, "A page", page_of(answer), CONTENT_TAG) | UNCHANGED | errors(),
        openapi_extra={"parameters": _list_parameters(entity)},
    )(list_entities)
    router.post(
        "/",
        summary=f"Create a {noun}",
        description=NOTES.get(f"create_{entity}", ""),
        status_code=201,
        responses=success(201, f"The {noun}, created", answer, CREATED_HEADERS) | or_dry_run,
        openapi_extra={"parameters": [DRY_RUN]} | body(store.request, examples),
    )(create)
    changes = {
        name: (summary, [{"id": 1, **value}]) for name, (summary, value) in openapi.CHANGES[entity].items()
    }
    router.put(
        "/",
        summary=f"Change fields of several {noun}s",
        responses=success(200, "The result of each, in the order of the list", openapi.changed_many(answer))
        | errors(Conflict),
        openapi_extra={"parameters": [parameter("atomic", FLAG | {"description": ATOMIC}), DRY_RUN]}
        | body(
            Annotated[list[change_in_list], BATCH, Field(json_schema_extra={"uniqueItems": True})],  # type: ignore[valid-type]
            changes,
        ),
    )(change_many)
    if entity == fields.DEALS:
        router.post(
            "/batch/",
            summary="Create several demand deals",
            status_code=201,
            responses=success(201, "Each, in the order of the list", CREATED_MANY) | or_dry_run,
            openapi_extra={"parameters": [DRY_RUN]}
            | body(
                Annotated[list[DemandDealRequest], BATCH],  # type: ignore[valid-type]
                {name: (summary, [body]) for name, (summary, body) in examples.items()},
            ),
        )(create_many)


def _add_entity(router: APIRouter, entity: str) -> None:
    """The routes of an entity of a kind, and of its history."""
    store, answer = ENTITY_STORES[entity], openapi.ANSWERS[entity]
    noun, path = store.noun, "/{id:entity}/"
    or_dry_run = openapi.dry_run(answer) | errors(Conflict, NotFound, InUse, noun=noun)
    router.get(
        path,
        summary=f"A {noun}",
        responses=success(200, f"The {noun}", answer, CONTENT_TAG) | UNCHANGED | errors(NotFound, noun=noun),
    )(get)
    router.put(
        path,
        summary=f"Change fields of a {noun}",
        description=NOTES.get(f"change_{entity}", ""),
        status_code=204,
        responses=success(204, "It is changed", headers=CHANGED_HEADERS) | or_dry_run,
        openapi_extra={"parameters": [DRY_RUN]}
        | body(openapi.change_of(store.request), openapi.CHANGES[entity]),
    )(change)
    router.delete(
        path,
        summary=f"Delete a {noun}",
        status_code=204,
        responses=success(204, "It is deleted") | or_dry_run,
        openapi_extra={"parameters": [DRY_RUN]},
    )(remove)
    router.get(
        f"{path}history/",
        summary=f"What happened to a {noun}",
        responses=success(200, "A page", page_of(EntityChange)) | errors(NotFound, noun=noun),
        openapi_extra={"parameters": PAGE_PARAMETERS},
    )(history)


ORDERS = "Another entity goes by its name, a supply package's price is the lowest of its deals."
SEARCH_OF_OTHERS = (
    "Entities with each of these words at the beginning of a word of their name or code, whatever its case, "
    "or as their id; what is in quotes is one phrase"
)
SEARCH = (
    "Entities with each of these words, whatever its case, at the beginning of a word: of their name, codes, "
    "contact or targeting, of those of the packages or deals that they are linked with, of their seats and "
    "DSPs, or as their id; four characters or more anywhere in a deal id. What is in quotes is one phrase. "
    "An extension."
)
MEANING = (
    "A value of targeting that a word of the search stands for too, as word:kind:value: with "
    "`search=france&meaning=france:country:FR`, what is targeted at FR is found as well. An extension."
)
COUNTS = (
    "Adds `counts`: how many entities have each value of these filters, whatever those filters are set to "
    "themselves; comma-separated. An extension. One or more of"
)
REPORT = (
    "The slicer, as project/slicer, that `health` and what deals delivered are computed from: without it, "
    "health is by what deals say themselves. An extension."
)
ETAGS = "Adds `etags`: the ETag of each entity of the page, by id. An extension."
DELIVERY = "Adds `delivery`: what each deal of the page delivered by `report`, by id. An extension."


def _list_parameters(entity: str) -> list[Schema]:
    offer = listing.offer(entity)
    how = f"Comma-separated, a minus before a name reverses it: {', '.join(offer.orderings)}. {ORDERS}"
    ordering = TEXT | {"pattern": _names([f"-?{name}" for name in offer.orderings]), "description": how}
    parameters = [
        *PAGE_PARAMETERS,
        parameter("search", TEXT | {"description": SEARCH if offer.kinds else SEARCH_OF_OTHERS}),
        parameter("ordering", ordering),
        *(parameter(name, a_list(list_filter.kind.schema)) for name, list_filter in FILTERS[entity].items()),
    ]
    if offer.kinds:
        meaning = TEXT | {"pattern": f"^[^\\s:]+:({'|'.join(offer.kinds)}):.+$"}
        parameters.append(parameter("meaning", a_list(meaning) | {"description": MEANING}))
    parameters.append(parameter("etags", FLAG | {"description": ETAGS}))
    if offer.has_health:
        parameters.append(parameter("report", TEXT | {"pattern": "^([^/]+/.+)?$", "description": REPORT}))
        parameters.append(parameter("delivery", FLAG | {"description": DELIVERY}))
    if offer.countable:
        counts = f"{COUNTS} {', '.join(offer.countable)}."
        pattern = _names([*offer.countable])
        parameters.append(parameter("counts", TEXT | {"pattern": pattern, "description": counts}))
    return parameters


def _names(names: Sequence[str]) -> str:
    """The pattern of a comma-separated list of these."""
    either = "|".join(names)
    return f"^(({either})(,({either}))*)?$"
