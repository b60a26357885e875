"""The deals service over HTTP: `/api/<entity>/`, `/api/<entity>/<id>/` and its history, for every entity."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.security import HTTPBearer

from lib.deals import batches, fields
from lib.deals.endpoints import (
    ID_PARAMETER,
    JSON,
    PAGE_PARAMETERS,
    Admission,
    Endpoints,
    Handler,
    answer,
    body,
    body_of,
    endpoint,
    errors,
    id_of,
    list_page,
    parameter,
    parameters_of,
    scope_of,
)
from lib.deals.queries import ListPage
from lib.deals.requests import ANSWERS, CHANGE, CHANGED_ONE, WARNING_LIST, page_of, with_warnings
from lib.deals.service import DealsService, EntityResponse, WriteRequest
from lib.deals.store import listing
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.filters import FILTERS
from lib.deals.store.work import LONGEST, DealsScope, EntityKey
from lib.wire import exact
from lib.wire.deadline import Deadline
from lib.wire.errors import Conflict, InUse, NotFound, TrancheError
from lib.wire.problems import problem
from lib.wire.schemas import TEXT, Schema, a_list, an_object, of_model

THREADS = 8
LEGACY, WARNINGS = "packages", "Tranche-Warnings"
BEARER = HTTPBearer(
    auto_error=False, description="A token for the deals API"
)  # for /docs; Admission reads it
NEW_DEALS = "create_demand_deals"
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
ORDERS = "Another entity goes by its name, a supply package's price is the lowest of its deals."
SEARCH_OF_OTHERS = (
    "Entities with each of these words in their name or code, whatever its case, or as their id"
)
SEARCH = (
    "Entities with each of these words, whatever its case: in their name, codes, contact or targeting, in "
    "those of the packages or deals that they are linked with, of their seats and DSPs, or as their "
    "id. An extension."
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
ATOMIC = "All are refused if one is: the others then have the status 424."
ID_SCHEMA = ID_PARAMETER["schema"]
TAG: Schema = {"description": "The state that If-Match names", "schema": TEXT}
KEY_TEXT = TEXT | {"minLength": 1, "pattern": "^[!-~]+$"}
KEY = parameter(
    "Idempotency-Key",
    KEY_TEXT | {"maxLength": LONGEST},
    "header",
    "A request with the same key and body takes effect once.",
)
IF_MATCH = parameter(
    "If-Match", KEY_TEXT, "header", "The ETag that was read: 409 if there was a change since."
)
CREATED_HEADERS: Schema = {
    "ETag": TAG,
    "Location": {"description": "Where it is", "schema": TEXT},
    "Idempotency-Replayed": {"description": "`true` on the first answer, repeated", "schema": TEXT},
}
Examples = dict[str, tuple[str, Schema]]

PACKAGE: Schema = {
    "name": "Morning News Display",
    "media_type": "banner",
    "start_date": "2026-11-20 09:00:00+0100",
    "end_date": None,
    "is_active": True,
    "geo_targetings": [{"type": "country", "value": "US"}, {"type": "country", "value": "CA"}],
    "device_targetings": [{"value": "smartphone"}],
    "browser_targetings": [{"value": "Safari", "is_excluded": True}],
    "size_targetings": [{"width": 300, "height": 250}],
}
NEW_DEALS_EXAMPLE: Schema = {
    "demand_deals_options": [
        {"seat": {"id": 1}, "price": 2.5, "deal_sync": True},
        {"seat": {"id": 4}, "price": 3.15},
    ],
    "agency_curation_fee": 10,
    "agency_curation_fee_type": 1,
    "contact_email": "deals@agency.example",
}
CREATE_EXAMPLES: dict[str, Examples] = {
    "supply_deals": {
        "new": (
            "With two demand deals, created with it",
            PACKAGE | {"create_demand_deals": NEW_DEALS_EXAMPLE},
        ),
        "linked": ("With a demand deal that is there already", PACKAGE | {"demand_deals": [{"id": 7}]}),
        "alone": ("Without demand deals", PACKAGE),
    },
    "demand_deals": {
        "deal": (
            "A seat's access to one supply package",
            {
                "name": "Morning News - Bluebird",
                "seat": {"id": 1},
                "price": 2.5,
                "supply_deals": [{"id": 1}],
            },
        )
    },
    "packages": {
        "package": (
            "Of two seats one is selected, and gets a deal",
            {
                "name": "Morning News",
                "seats": [
                    {"value": True, "seat": {"id": 1}, "dsp": {"id": 1}},
                    {"value": False, "seat": {"id": 4}, "dsp": {"id": 2}},
                ],
                "supply_deals": [{"id": 1}],
            },
        )
    },
    "seats": {
        "seat": ("A seat", {"name": "Bluebird & Partners", "external_id": "seat-107", "dsp": {"id": 1}})
    },
    "dsps": {"dsp": ("A DSP", {"name": "Alder Bidder", "supports_deal_sync": True})},
    "domain_lists": {
        "list": ("Two sites", {"name": "Quiet reading", "domains": ["news.example", "books.example"]})
    },
    "app_lists": {"list": ("Two apps", {"name": "Games", "apps": ["com.example.chess", "1234567890"]})},
}
CHANGE_EXAMPLES: dict[str, Examples] = {
    "supply_deals": {
        "pause": ("Pause it", {"is_active": False}),
        "prolong": ("Prolong it", {"end_date": "2026-12-31 23:59:59+0100"}),
        "link": ("Link these deals and no others", {"demand_deals": [{"id": 7}, {"id": 8}]}),
    },
    "demand_deals": {
        "price": ("Another price", {"price": 2.75}),
        "pause": ("Pause it", {"is_active": False}),
    },
    "packages": {"rename": ("Another name", {"name": "Morning News, old"})},
    "seats": {"rename": ("Another name", {"name": "Bluebird"})},
    "dsps": {"sync": ("It takes synchronized deals now", {"supports_deal_sync": True})},
    "domain_lists": {"domains": ("These domains and no others", {"domains": ["news.example"]})},
    "app_lists": {"apps": ("These apps and no others", {"apps": ["com.example.chess"]})},
}


def routes(
    deals: DealsService, admission: Admission, seconds: float, *, with_packages: bool = True
) -> APIRouter:
    """The endpoints, by default with those of the deprecated packages."""
    router = APIRouter(prefix="/api", tags=["deals"], dependencies=[Depends(BEARER)])
    for entity in ENTITY_STORES:
        kind = _Deals if entity == fields.DEALS else _Entity
        if with_packages or entity != LEGACY:
            router.include_router(kind(entity, deals, admission, seconds).router())
    return router


def _list_parameters(entity: "_Entity") -> list[Schema]:
    """Search, ordering, and a filter for each plain field."""
    offer = listing.offer(entity.name)
    how = f"Comma-separated, a minus before a name reverses it: {', '.join(offer.orderings)}. {ORDERS}"
    ordering = TEXT | {"pattern": _names([f"-?{name}" for name in offer.orderings]), "description": how}
    parameters = [
        *PAGE_PARAMETERS,
        parameter("search", TEXT | {"description": SEARCH if offer.kinds else SEARCH_OF_OTHERS}),
        parameter("ordering", ordering),
        *(
            parameter(name, {"type": "array", "items": list_filter.kind.schema})
            for name, list_filter in FILTERS[entity.name].items()
        ),
    ]
    if offer.kinds:
        meaning = TEXT | {"pattern": f"^[^\\s:]+:({'|'.join(offer.kinds)}):.+$"}
        parameters.append(parameter("meaning", a_list(meaning) | {"description": MEANING}))
    parameters.append(parameter("etags", {"type": "boolean", "description": ETAGS}))
    if offer.has_health:
        parameters.append(parameter("report", TEXT | {"pattern": "^([^/]+/.+)?$", "description": REPORT}))
    if offer.countable:
        counts = f"{COUNTS} {', '.join(offer.countable)}."
        pattern = _names([*offer.countable])
        parameters.append(parameter("counts", TEXT | {"pattern": pattern, "description": counts}))
    return parameters


def _names(names: Sequence[str]) -> str:
    """The pattern of a comma-separated list of these."""
    either = "|".join(names)
    return f"^(({either})(,({either}))*)?$"


def _body_schema(entity: "_Entity", *, is_partial: bool = False) -> Schema:
    """The schema of an entity's body; for a change any of the fields, and no defaults."""
    schema = of_model(ENTITY_STORES[entity.name].request)
    if is_partial:
        properties = {
            name: {key: value for key, value in field.items() if key != "default"}
            for name, field in schema["properties"].items()
        }
        schema = {key: value for key, value in schema.items() if key != "required"} | {
            "properties": properties
        }
    return schema


def _one_source(schema: Schema) -> Schema:
    """Either new deals or linked ones (the specification, Rules: 1)."""
    if NEW_DEALS not in schema["properties"]:
        return schema
    both = {"demand_deals": {"type": "array"}, NEW_DEALS: {"type": "object"}}
    return schema | {"not": {"required": list(both), "properties": both}}


def _many_changes(entity: "_Entity") -> Schema:
    schema = _body_schema(entity, is_partial=True)
    changes = {name: field for name, field in schema["properties"].items() if name != NEW_DEALS}
    item = schema | {"properties": {"id": ID_SCHEMA, "etag": TEXT, **changes}, "required": ["id"]}
    examples = {
        name: (summary, [{"id": 1, **value}])
        for name, (summary, value) in CHANGE_EXAMPLES[entity.name].items()
    }
    limits = {"minItems": 1, "maxItems": batches.MOST, "uniqueItems": True}
    return body(a_list(item) | limits, examples)


class _Entity(Endpoints):
    """The endpoints of one entity."""

    def __init__(self, name: str, deals: DealsService, admission: Admission, seconds: float) -> None:
        super().__init__(name, admission, seconds, THREADS)
        self.deals, self.noun = deals, ENTITY_STORES[name].noun

    @endpoint(
        "GET",
        parameters=_list_parameters,
        responses=lambda self: {200: answer("A page", page_of(ANSWERS[self.name]))} | errors(),
    )
    async def list(self, request: Request) -> Response:
        """{Noun}s."""
        return await self._page(
            request,
            lambda scope, deadline: self.deals.list(self.name, parameters_of(request), scope, deadline),
        )

    @endpoint(
        "POST",
        status_code=201,
        parameters=[KEY],
        requestBody=lambda self: body(_one_source(_body_schema(self)), CREATE_EXAMPLES[self.name]),
        responses=lambda self: (
            {201: answer(f"The {self.noun}, created", with_warnings(ANSWERS[self.name]), CREATED_HEADERS)}
            | errors(Conflict)
        ),
    )
    async def create(self, request: Request) -> Response:
        """Create a {noun}."""
        deadline = self.deadline()
        write = await self.write_request(request, deadline)
        response = await self.run(lambda: self.deals.create(self.name, write, deadline))
        result = _response(response, 201)
        result.headers["Location"] = f"/api/{self.name}/{response.body['id']}/"
        return result

    @endpoint(
        "PUT",
        parameters=[parameter("atomic", {"type": "boolean", "description": ATOMIC})],
        requestBody=_many_changes,
        responses=lambda self: (
            {
                200: answer(
                    "The result of each, in the order of the list",
                    an_object({"results": a_list(CHANGED_ONE)}),
                )
            }
            | errors(Conflict)
        ),
    )
    async def change_many(self, request: Request) -> Response:
        """Change fields of several {noun}s.

        A list of changes, each with its id: one that is refused leaves the others changed. An extension.
        """
        deadline = self.deadline()
        write = await self.write_request(request, deadline)
        results = await self.run(lambda: self.deals.change_many(self.name, write, deadline))
        return Response(exact.dumps({"results": results}), media_type=JSON)

    @endpoint(
        "GET",
        "/{id}",
        parameters=[ID_PARAMETER],
        responses=lambda self: (
            {200: answer(f"The {self.noun}", ANSWERS[self.name], {"ETag": TAG})}
            | errors(NotFound, noun=self.noun)
        ),
    )
    async def get(self, request: Request) -> Response:
        """A {noun}."""
        deadline = self.deadline()
        scope, key = scope_of(await self.admit(request, writes=False)), self._key(request)
        response = await self.run(lambda: self.deals.get(key, parameters_of(request), scope, deadline))
        return _response(response)

    @endpoint(
        "PUT",
        "/{id}",
        status_code=204,
        parameters=[ID_PARAMETER, KEY, IF_MATCH],
        requestBody=lambda self: body(
            _one_source(_body_schema(self, is_partial=True)), CHANGE_EXAMPLES[self.name]
        ),
        responses=lambda self: (
            {
                204: {
                    "description": "It is changed",
                    "headers": {"ETag": TAG, WARNINGS: {"description": ABOUT_WARNINGS, "schema": TEXT}},
                }
            }
            | errors(Conflict, NotFound, InUse, noun=self.noun)
        ),
    )
    async def change(self, request: Request) -> Response:
        """Change fields of a {noun}."""
        deadline = self.deadline()
        write, key = await self.write_request(request, deadline), self._key(request)
        answer = await self.run(lambda: self.deals.change(key, write, deadline))
        header = {WARNINGS: json.dumps(answer.warnings)} if answer.warnings else {}
        return Response(status_code=204, headers={"ETag": answer.etag} | header)

    @endpoint(
        "DELETE",
        "/{id}",
        status_code=204,
        parameters=[ID_PARAMETER, IF_MATCH],
        responses=lambda self: (
            {204: {"description": "It is deleted"}} | errors(Conflict, NotFound, InUse, noun=self.noun)
        ),
    )
    async def remove(self, request: Request) -> Response:
        """Delete a {noun}."""
        deadline = self.deadline()
        write, key = await self.write_request(request, deadline, has_body=False), self._key(request)
        await self.run(lambda: self.deals.remove(key, write, deadline))
        return Response(status_code=204)

    @endpoint(
        "GET",
        "/{id}/history",
        parameters=[ID_PARAMETER, *PAGE_PARAMETERS],
        responses=lambda self: {200: answer("A page", page_of(CHANGE))} | errors(NotFound, noun=self.noun),
    )
    async def history(self, request: Request) -> Response:
        """What happened to a {noun}.

        Latest first; it stays when the entity is removed. An extension.
        """
        key = self._key(request)
        return await self._page(
            request, lambda scope, deadline: self.deals.history(key, parameters_of(request), scope, deadline)
        )

    def documentation(self, handler: Any, values: dict[str, Any]) -> dict[str, Any]:
        """As of any endpoint, with the entity's noun and notes."""
        options = super().documentation(handler, values)
        noun = f"{self.noun[0].upper()}{self.noun[1:]}"
        options["summary"] = options["summary"].format(noun=self.noun, Noun=noun)
        options["description"] = options["description"] or NOTES.get(options["operation_id"], "")
        return options | {"deprecated": True if self.name == LEGACY else None}

    def wrap(self, handler: Handler) -> Handler:
        """The handler, of the deprecated entity with a header that says so, on errors too."""
        if self.name != LEGACY:
            return super().wrap(handler)

        async def respond(request: Request) -> Response:
            try:
                response = await handler(request)
            except TrancheError as error:
                response = problem(request.url.path, error)
            response.headers["Deprecation"] = "true"
            return response

        return respond

    async def write_request(
        self, request: Request, deadline: Deadline, *, has_body: bool = True
    ) -> WriteRequest:
        """What is asked to be changed, and by whom."""
        caller = await self.admit(request, writes=True)
        return WriteRequest(
            scope=scope_of(caller),
            body=await body_of(request, deadline) if has_body else None,
            parameters=parameters_of(request),
            if_match=request.headers.get("if-match"),
            idempotency_key=request.headers.get("idempotency-key"),
        )

    def _key(self, request: Request) -> EntityKey:
        return self.name, id_of(request, self.noun)

    async def _page(self, request: Request, work: Callable[[DealsScope, Deadline], ListPage]) -> Response:
        deadline = self.deadline()
        scope = scope_of(await self.admit(request, writes=False))
        part = await self.run(lambda: work(scope, deadline))
        return Response(exact.dumps(list_page(request, part)), media_type=JSON)


class _Deals(_Entity):
    """The endpoints of demand deals, of which several are created at once."""

    @endpoint(
        "POST",
        "/batch",
        status_code=201,
        parameters=[KEY],
        requestBody=lambda self: body(
            a_list(_body_schema(self)) | {"minItems": 1, "maxItems": batches.MOST},
            {name: (summary, [value]) for name, (summary, value) in CREATE_EXAMPLES[self.name].items()},
        ),
        responses=lambda self: (
            {
                201: answer(
                    "Each, in the order of the list",
                    an_object(
                        {
                            "results": a_list(
                                an_object(
                                    {
                                        "id": ANSWERS[self.name]["properties"]["id"],
                                        "name": TEXT,
                                        "deal_id": TEXT,
                                    },
                                    {"warnings": WARNING_LIST},
                                )
                            )
                        }
                    ),
                )
            }
            | errors(Conflict)
        ),
    )
    async def create_many(self, request: Request) -> Response:
        """Create several {noun}s.

        A list of them: all are created, or none. An extension.
        """
        deadline = self.deadline()
        write = await self.write_request(request, deadline)
        results = await self.run(lambda: self.deals.create_many(write, deadline))
        return Response(exact.dumps({"results": results}), 201, media_type=JSON)


def _response(response: EntityResponse, code: int = 200) -> Response:
    headers = {"ETag": response.etag} | ({"Idempotency-Replayed": "true"} if response.is_replay else {})
    return Response(exact.dumps(response.body), code, headers, JSON)
