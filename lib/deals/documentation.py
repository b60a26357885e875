"""What /openapi.json says of the deals endpoints: parameters, bodies, answers, codes, worked examples."""

from typing import Any

from lib.deals import failures
from lib.deals.answers import ANSWERS, CHANGE, page_of
from lib.deals.examples import CHANGED, CREATED, Examples
from lib.deals.fields import LARGEST_ID
from lib.deals.queries import DEFAULT_LIMIT, LARGEST_LIMIT
from lib.deals.store.filters import FILTERS, orderings
from lib.deals.store.idempotency import LONGEST
from lib.deals.store.nouns import NOUNS
from lib.wire.schemas import TEXT, Schema, of_model

DEPRECATED = "packages"
AT_CREATION_ALONE = "create_demand_deals"
TAG: Schema = {"description": "The state that If-Match names", "schema": TEXT}
NOTES = {
    "create_supply_deals": "With create_demand_deals its demand deals are created too, all or nothing; with "
    "demand_deals existing ones are linked; not both.",
    "change_supply_deals": "demand_deals is the whole list of linked deals.",
    "change_demand_deals": "supply_deals is the whole list of linked packages.",
    "create_packages": "One demand deal is created for each seat whose `value` is true. Create supply "
    "packages with create_demand_deals instead.",
    "change_packages": "A newly selected seat gets a demand deal; one that has a deal can't be deselected.",
}
EXTENSION = "Latest first; it stays when the entity is removed. Ours, not the specification's."
FIRST = {
    "list": "{}s",
    "get": "A {}",
    "create": "Create a {}",
    "change": "Change fields of a {}",
    "remove": "Delete a {}",
    "history": "What happened to a {}",
}


def operation(entity: str, verb: str) -> dict[str, Any]:
    """The documentation of one endpoint, as `add_api_route` takes it."""
    name = f"{verb}_{entity}"
    summary = FIRST[verb].format(NOUNS[entity].called)
    return {
        "operation_id": name,
        "summary": summary[0].upper() + summary[1:],
        "description": EXTENSION if verb == "history" else NOTES.get(name, ""),
        "deprecated": True if entity == DEPRECATED else None,
        "status_code": {"create": 201, "change": 204, "remove": 204}.get(verb, 200),
        "response_model": None,
        "responses": _success(entity, verb) | failures.of(verb, NOUNS[entity].called),
        "openapi_extra": {"parameters": _parameters(entity, verb), **_body(entity, verb)},
    }


def _parameters(entity: str, verb: str) -> list[Schema]:
    found = []
    if verb not in ("list", "create"):
        id_ = {"type": "integer", "minimum": 1, "maximum": LARGEST_ID}
        found.append({"name": "id", "in": "path", "required": True, "schema": id_, "example": 1})
    if verb in ("list", "history"):
        found += [
            _query("limit", {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT}, DEFAULT_LIMIT),
            _query("offset", {"type": "integer", "minimum": 0, "maximum": LARGEST_ID}, 0),
        ]
    if verb == "list":
        found += _finding(entity)
    if verb == "create":
        found.append(_header("Idempotency-Key", "The same key and body create once.", {"maxLength": LONGEST}))
    if verb in ("change", "remove"):
        found.append(_header("If-Match", "The ETag that was read: 409 if there was a change since.", {}))
    return found


def _finding(entity: str) -> list[Schema]:
    """Search, ordering, and a filter for each plain field."""
    names = orderings(entity)
    either = "|".join(f"-?{name}" for name in names)
    how = f"Comma-separated, a minus before what falls: {', '.join(names)}"
    return [
        _query("search", TEXT | {"description": "In the name and other ids, whatever its case"}),
        _query("ordering", TEXT | {"pattern": f"^(({either})(,({either}))*)?$", "description": how}),
        *(_query(name, {"type": "array", "items": one.kind.schema}) for name, one in FILTERS[entity].items()),
    ]


def _query(name: str, schema: Schema, usual: int | None = None) -> Schema:
    described = schema if usual is None else schema | {"default": usual}
    return {"name": name, "in": "query", "required": False, "schema": described}


def _header(name: str, description: str, limits: Schema) -> Schema:
    schema = TEXT | {"minLength": 1, "pattern": "^[!-~]+$"} | limits
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _body(entity: str, verb: str) -> Schema:
    if verb not in ("create", "change"):
        return {}
    schema = of_model(NOUNS[entity].request)
    examples = CREATED[entity] if verb == "create" else CHANGED[entity]
    if verb == "change":
        schema = _partial(schema)
    elif AT_CREATION_ALONE in schema["properties"]:
        some = {"type": "array", "minItems": 1}
        both = {"demand_deals": some, AT_CREATION_ALONE: {"type": "object"}}
        schema |= {"not": {"required": list(both), "properties": both}}
    content = {"schema": schema, "examples": _shown(examples)}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def _partial(schema: Schema) -> Schema:
    """For a change: any of the fields, and no defaults."""
    properties = {
        name: {key: value for key, value in field.items() if key != "default"}
        for name, field in schema["properties"].items()
        if name != AT_CREATION_ALONE
    }
    return {key: value for key, value in schema.items() if key != "required"} | {"properties": properties}


def _shown(examples: Examples) -> Schema:
    return {name: {"summary": summary, "value": value} for name, (summary, value) in examples.items()}


def _success(entity: str, verb: str) -> dict[int | str, Any]:
    called = NOUNS[entity].called
    if verb == "remove":
        return {204: {"description": "It is deleted"}}
    if verb == "change":
        return {204: {"description": "It is changed", "headers": {"ETag": TAG}}}
    if verb in ("list", "history"):
        schema = page_of(ANSWERS[entity] if verb == "list" else CHANGE)
        return {200: {"description": "A page", "content": {"application/json": {"schema": schema}}}}
    content = {"application/json": {"schema": ANSWERS[entity]}}
    if verb == "get":
        return {200: {"description": f"The {called}", "headers": {"ETag": TAG}, "content": content}}
    headers = {
        "ETag": TAG,
        "Location": {"description": "Where it is", "schema": TEXT},
        "Idempotency-Replayed": {"description": "`true` on the first answer, repeated", "schema": TEXT},
    }
    return {201: {"description": f"The {called}, created", "headers": headers, "content": content}}
