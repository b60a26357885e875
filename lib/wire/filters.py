"""The filter object of the reporting API (specification, Filter object), and what its matches mean.

Questions have filters, and grants. A new match is a name in `Match` and an entry in `RULES`: the API, the
engines, links and screens read these. An engine that knows a quicker way than `holds` may take it, for the
tests that it names; others are done by `holds`. `COMPARE` are the matches of data filters, on a number or an
array, for the service and for previews.
"""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from lib.wire.errors import UnknownName

Match = Literal["equals", "not equals", "contains", "not contains", "begins with", "ends with"]
DataMatch = Literal["<", "<=", ">", ">=", "=", "!="]
MATCHES: tuple[Match, ...] = get_args(Match)
COMPARE: dict[DataMatch, Callable[[Any, float], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip


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
    BeforeValidator(lambda value: int(value) if isinstance(value, bool) else value),
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
    descriptions = []
    for filter_ in filters:
        values = ", ".join(value or '""' for value in filter_.value)
        options = ["in any case"] if filter_.case_insensitive else []
        options += ["or by description"] if filter_.search_mappings else []
        suffix = f" ({' '.join(options)})" if options else ""
        descriptions.append(f"{filter_.name} {filter_.match} {values}{suffix}")
    return "; ".join(descriptions)


@dataclass(frozen=True)
class Rule:
    """One match: whether a text passes for a value, the words on screen, and the code in links.

    `test` names the test that `holds` is; a negative match lets through what does not pass it. Of an
    `is_whole` match, the values are whole values of the key field.
    """

    test: str
    holds: Callable[[str, str], bool]
    words: str
    code: str
    is_negative: bool = False
    is_whole: bool = False


RULES: dict[Match, Rule] = {
    "equals": Rule("equals", str.__eq__, "is", "is", is_whole=True),
    "not equals": Rule("equals", str.__eq__, "is not", "not", is_negative=True, is_whole=True),
    "contains": Rule("contains", str.__contains__, "contains", "has"),
    "not contains": Rule("contains", str.__contains__, "doesn't contain", "hasnt", is_negative=True),
    "begins with": Rule("begins with", str.startswith, "begins with", "starts"),
    "ends with": Rule("ends with", str.endswith, "ends with", "ends"),
}
BY_CODE: dict[str, Match] = {rule.code: match for match, rule in RULES.items()}


def rule(match: str) -> Rule:
    """The rule of a match; UnknownName if there is none."""
    if match not in RULES:
        raise UnknownName("match", match, RULES)
    return RULES[match]


def lets_through(filter_: Filter, text: str) -> bool:
    """Whether a row with this value of the filter's key field passes; descriptions are not looked at."""
    match = rule(filter_.match)
    text, *values = [part.lower() if filter_.case_insensitive else part for part in (text, *filter_.value)]
    return any(match.holds(text, value) for value in values) != match.is_negative
