"""The elements of a targeting in requests and answers (decisions: Targeting elements).

What an element consists of is said once, by the models; here are the limits of each of its fields.
"""

from collections.abc import Mapping
from types import GenericAlias
from typing import Any, get_args

from pydantic import Field, create_model

from lib.deals.fields import FieldKind
from lib.deals.models import GeoType, Targeting, WireModel
from lib.deals.values import Id, Pixels, Request, Unread, Value
from lib.wire.schemas import FLAG, TEXT, Schema, a_list, an_object

MOST_TARGETS = 1_000
WHOLE: Schema = {"type": "integer", "minimum": 1}
KINDS = {
    "id": FieldKind(Id, WHOLE),
    "name": FieldKind(Unread | None, TEXT),
    "type": FieldKind(GeoType, TEXT),
    "value": FieldKind(Value, TEXT),
    "width": FieldKind(Pixels, WHOLE),
    "height": FieldKind(Pixels, WHOLE),
    "is_excluded": FieldKind(bool, FLAG),
}
ELEMENTS: dict[str, type[WireModel]] = {
    name: get_args(field.annotation)[0] for name, field in Targeting.model_fields.items()
}


def _element(model: type[WireModel]) -> type[Request]:
    """An element of a request: the model's fields and defaults, each within its limits."""
    fields: Mapping[str, Any] = {
        name: (KINDS[name].given, ... if field.is_required() else field.default)
        for name, field in model.model_fields.items()
    }
    return create_model(model.__name__, __base__=Request, __doc__=model.__doc__, **fields)


_ELEMENTS = {model: _element(model) for model in ELEMENTS.values()}
REQUESTS: dict[str, Any] = {
    name: (GenericAlias(list, (_ELEMENTS[model],)), Field(max_length=MOST_TARGETS, default_factory=list))
    for name, model in ELEMENTS.items()
}
ANSWERS: dict[str, Schema] = {
    name: a_list(an_object({field: KINDS[field].answer for field in model.model_fields}))
    for name, model in ELEMENTS.items()
}
