"""What a verb is: a name, a sentence, a short schema, and a function from Desk and arguments to an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lib.agents.answers import Json, shorten
from lib.agents.python_client import Desk
from lib.agents.python_client.answer import QuestionParts
from lib.wire.errors import BadRequest, UnknownName, problem_sentence
from lib.wire.filters import DataMatch, Match

Kind = Literal["read", "propose"]


class Arguments(BaseModel):
    """The arguments of a verb. Unknown ones are refused: a misspelled filter would be a wrong figure."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class KeyFilter(Arguments):
    """Rows whose field matches any value (negative: none)."""

    field: str
    values: list[str] = Field(max_length=500)
    match: Match = "equals"
    by_description: bool = Field(False, description="Descriptions too")


class FigureFilter(Arguments):
    """Rows by a figure."""

    field: str
    match: DataMatch
    value: float = Field(allow_inf_nan=False)


class DayRange(Arguments):
    """Days: dates like 2026-11-14, or today, yesterday, -7d; -0w_first, -1m_first, -1q_last."""

    start: str | None = Field(None, description="First day; default: a week before `end`")
    end: str | None = Field(None, description="Last day; default: last complete one")


class SlicerSelection(DayRange):
    """A slicer, its days, and filters."""

    slicer: str = Field(description="project/slicer")
    filters: list[KeyFilter] = Field([], max_length=50)
    any_of: list[list[KeyFilter]] = Field([], max_length=10, description="Any of each list (OR)")
    timezone: int | str | None = Field(None, description="Hours ahead of UTC, or Europe/Berlin")

    def parts(self, **more: Any) -> QuestionParts:
        """The question's parts as the Desk takes them."""
        parts: dict[str, Any] = {
            "filters": [key_filter(condition) for condition in self.filters],
            "any_of": [[key_filter(condition) for condition in group] for group in self.any_of],
        }
        optional = ("start", "end", "timezone")
        parts |= {name: part for name in optional if (part := getattr(self, name)) is not None}
        return cast(QuestionParts, parts | more)


Input = TypeVar("Input", bound=Arguments)


@dataclass(frozen=True)
class Verb(Generic[Input]):
    """A verb. `run` makes the answer of a Desk and arguments; `rows` names its list, which may be cut.

    `narrow` says how to ask for less, where that list is too long.
    """

    name: str
    about: str
    arguments: type[Input]
    run: Callable[[Desk, Input], Json]
    rows: str = "rows"
    narrow: str = "Filter, lower the limit, or split by fewer fields"
    kind: Kind = "read"

    @property
    def schema(self) -> Json:
        """The JSON schema of its arguments, without what only repeats names."""
        schema: Json = without_titles(self.arguments.model_json_schema())
        schema.pop("description", None)
        return schema

    def __call__(self, desk: Desk, values: Mapping[str, Any]) -> Json:
        """The answer, within its bounds. BadRequest says which argument is wrong, and what would be right."""
        for name in values:
            if name not in self.arguments.model_fields:
                raise UnknownName(f"argument of {self.name}", name, self.arguments.model_fields)
        try:
            arguments = self.arguments.model_validate(dict(values))
        except ValidationError as error:
            problems = error.errors(include_url=False)
            raise BadRequest("; ".join(dict.fromkeys(map(problem_sentence, problems)))) from None
        return shorten(self.run(desk, arguments), self.rows, self.narrow)


def key_filter(condition: KeyFilter) -> Json:
    """The filter as the reporting API has it."""
    return {
        "name": condition.field,
        "value": condition.values,
        "match": condition.match,
        "search_mappings": int(condition.by_description),
    }


def without_titles(schema: Any) -> Any:
    """A JSON schema without titles and defaults of nothing, which cost tokens and say nothing."""
    if isinstance(schema, list):
        return [without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if either := [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]:
        rest = {name: content for name, content in schema.items() if name != "anyOf"}
        has_types_alone = all(option.keys() == {"type"} for option in either)
        if len(either) == 1:
            return without_titles({**either[0], **rest})
        schema = {"type": [option["type"] for option in either]} if has_types_alone else {"anyOf": either}
        schema |= rest
    return {
        name: without_titles(content)
        for name, content in schema.items()
        if not (name == "title" and isinstance(content, str))
        and not (name == "default" and content in (None, []))
    }
