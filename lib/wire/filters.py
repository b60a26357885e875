"""The filter object of the reporting API (specification, Filter object): questions have it, and grants."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

Match = Literal["equals", "not equals", "contains", "not contains", "begins with", "ends with"]


def _flag(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _text(value: Any) -> Any:
    """Converts numbers to text; whole floats to whole numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return str(int(value)) if float(value).is_integer() else str(value)


def _texts(value: Any) -> Any:
    """Converts a single value to a list of one."""
    if isinstance(value, list | tuple):
        return tuple(_text(item) for item in value)
    return (_text(value),) if isinstance(value, str | int | float) else value


Flag = Annotated[
    Literal[0, 1],
    BeforeValidator(_flag),
    WithJsonSchema({"anyOf": [{"type": "integer", "enum": [0, 1]}, {"type": "boolean"}]}),
]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class Value(BaseModel):
    """Frozen, comparable, hashable: a value, not an object with a life of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Filter(Value):
    """Rows whose key field `name` matches any of `value` (a negative match: none of them)."""

    name: str
    value: Texts
    match: Match
    case_insensitive: Flag = 0
    search_mappings: Flag = 0


def describe(filters: Iterable[Filter]) -> str:
    """Filters in words, by the names of their fields: `seat equals 3, 7; country not equals US`."""
    return "; ".join(_describe(filter_) for filter_ in filters)


def _describe(filter_: Filter) -> str:
    options = " ".join(
        sentence
        for sentence, is_on in (
            ("in any case", filter_.case_insensitive),
            ("or by description", filter_.search_mappings),
        )
        if is_on
    )
    values = ", ".join(value or '""' for value in filter_.value)
    return f"{filter_.name} {filter_.match} {values}{f' ({options})' if options else ''}"
