"""Validation that reports all errors of a request at once, each at its place."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from lib.wire.errors import Invalid, requirement
from lib.wire.text import suggestion

WHOLE = "non_field_errors"
Path = tuple[str | int, ...]
Fields = dict[str, Any]


class Problems:
    """The errors found while a request is parsed and checked."""

    def __init__(self) -> None:
        self._sentences: dict[Path, list[str]] = {}

    def add(self, where: Path, message: str) -> None:
        """Add an error at this place of the request; the empty place is the whole request."""
        self._sentences.setdefault(where or (WHOLE,), []).append(message)

    def at(self, *where: str | int) -> bool:
        """Whether there is an error at this place, or inside of it."""
        return any(path[: len(where)] == where for path in self._sentences)

    def check(self) -> None:
        """Raise Invalid with all errors, if there are any."""
        if self._sentences:
            raise Invalid(_nest(self._sentences))


def read(
    model: type[BaseModel], body: Any, problems: Problems, *, where: Path = (), whole: bool = True
) -> Fields:
    """The valid fields of `body` by `model`; errors of the others are added to `problems`.

    `whole` demands the fields that the model requires, and gives the others their defaults. Nested models
    are read alike, so that one fault hides no other: they come out as dicts, which lack what was wrong.
    """
    if not isinstance(body, Mapping):
        is_element = where and isinstance(where[-1], int)
        problems.add((*where, WHOLE) if is_element else where, "This must be an object.")
        return {}
    _name_unknown(model, body, problems, where)
    good: Fields = {}
    for name, field in model.model_fields.items():
        if name in body:
            good |= _field(model, name, body[name], problems, (*where, name))
        elif whole and field.is_required():
            problems.add((*where, name), "This field is required.")
        elif whole:
            good[name] = field.get_default(call_default_factory=True)
    return good


def _name_unknown(model: type[BaseModel], body: Iterable[str], problems: Problems, where: Path) -> None:
    read_only: frozenset[str] = getattr(model, "READ_ONLY", frozenset())
    for name in body:
        if name in read_only:
            problems.add((*where, name), "This is given by the service and can't be set.")
        elif name not in model.model_fields:
            near = suggestion(name, list(model.model_fields))
            problems.add((*where, name), f"There is no such field{near or '.'}")


def _field(model: type[BaseModel], name: str, value: Any, problems: Problems, where: Path) -> Fields:
    """`{name: value}` as the model wants it, or nothing where there is nothing good about it."""
    annotation = model.model_fields[name].annotation
    inner = _model_in(annotation)
    if inner is None or (value is None and NoneType in get_args(annotation)):
        return _leaf(_adapter(model, name), name, value, problems, where)
    if inner is annotation or NoneType in get_args(annotation):
        return {name: read(inner, value, problems, where=where)}
    if not _leaf(_adapter(model, name, of_anything=True), name, value, problems, where):
        return {}
    return {name: [read(inner, one, problems, where=(*where, number)) for number, one in enumerate(value)]}


def _leaf(adapter: TypeAdapter[Any], name: str, value: Any, problems: Problems, where: Path) -> Fields:
    try:
        return {name: adapter.validate_python(value, strict=True)}
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            place = (*where, *(part for part in one["loc"] if isinstance(part, int)))
            problems.add(place, f"This {requirement(one['type'], one.get('ctx'))}.")
    return {}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that the field holds: itself, or null, or a list of it."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


@cache
def _adapter(model: type[BaseModel], name: str, of_anything: bool = False) -> TypeAdapter[Any]:
    """Checks one field; `of_anything` looks at a list's length and not into it."""
    field = model.model_fields[name]
    if of_anything:
        return TypeAdapter(Annotated[list[Any], *field.metadata] if field.metadata else list[Any])
    return TypeAdapter(field.rebuild_annotation())


def _nest(messages_at: Mapping[Path, list[str]]) -> dict[str, Any]:
    """Paths → a tree as the request is; a list has an empty object where nothing is wrong."""
    tree: dict[str, Any] = {}
    for name in dict.fromkeys(path[0] for path in messages_at):
        below = {path[1:]: messages for path, messages in messages_at.items() if path[0] == name}
        tree[str(name)] = _branch(below)
    return tree


def _branch(messages: Mapping[Path, list[str]]) -> Any:
    """A field's own messages win over those inside of it: both can't stand in one place."""
    if () in messages:
        return messages[()]
    if all(isinstance(path[0], int) for path in messages):
        return _elements(messages)
    return _nest(messages)


def _elements(messages_at: Mapping[Path, list[str]]) -> list[Any]:
    last = max(int(path[0]) for path in messages_at)
    parts = [
        {path[1:]: messages for path, messages in messages_at.items() if path[0] == n}
        for n in range(last + 1)
    ]
    if all(path.keys() <= {()} for path in parts):
        return [f"Element {n + 1}: {text}" for n, part in enumerate(parts) for text in part.get((), [])]
    return [_branch(part) if part else {} for part in parts]
