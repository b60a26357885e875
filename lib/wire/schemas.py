"""Building blocks of the OpenAPI documents of both APIs."""

from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NO_TEXT: Schema = {"type": ["string", "null"]}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": ["number", "null"]}


def an_object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object with these properties."""
    properties = required | (optional or {})
    return {"type": "object", "properties": properties, "required": list(required)}


def a_list(items: Schema) -> Schema:
    """An array of these."""
    return {"type": "array", "items": items}


def of_model(model: type[BaseModel], mode: Any = "validation") -> Schema:
    """The model's schema in one piece, without references; titles of models name a client's classes."""
    whole = _with_references(model, mode)
    result: Schema = _inline(whole, whole.get("$defs", {}))
    return result


@cache
def _with_references(model: type[BaseModel], mode: Any) -> Schema:
    return model.model_json_schema(mode=mode, schema_generator=_Schemas)


class _Schemas(GenerateJsonSchema):
    """Without a title for each field."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _inline(part: Any, definitions: dict[str, Schema]) -> Any:
    """The schema with its references replaced by what they refer to."""
    if isinstance(part, list):
        return [_inline(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inline(definitions[part["$ref"].rpartition("/")[2]], definitions)
    return {key: _inline(value, definitions) for key, value in part.items() if key != "$defs"}
