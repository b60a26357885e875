"""Validation that reports all errors of a request at once, each at its place.

TERM_RULES are the terms of a deal that need or exclude another: one table for the API, forms and files.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from lib.deals.models import FIXED_PRICE_TYPES, GUARANTEED, NO_FEE, PERCENT, UNDISCLOSED, has_amount
from lib.wire.errors import Invalid, requirement, suggestion

WHOLE = "non_field_errors"
Path = tuple[str | int, ...]
Fields = dict[str, Any]
FEE, FEE_TYPE, CONTACT = "agency_curation_fee", "agency_curation_fee_type", "contact_email"


@dataclass(frozen=True)
class TermRule:
    """A term that needs another or excludes it; `sentence` stands at the term `name`.

    `terms` are all that it is about. `is_missing`: it is broken by what is empty, not by what is there.
    """

    name: str
    terms: frozenset[str]
    sentence: str
    is_broken: Callable[[Mapping[str, Any]], bool]
    is_missing: bool = False


TERM_RULES = (
    TermRule(
        FEE_TYPE, frozenset({FEE, FEE_TYPE}),
        "A fee needs its type: 0 undisclosed, 1 percent of spend, 2 flat, 3 CPM.",
        lambda terms: terms.get(FEE) is not None and terms.get(FEE_TYPE) is None, is_missing=True,
    ),
    TermRule(
        FEE, frozenset({FEE, FEE_TYPE}), "There is a fee, but its type is 4: none.",
        lambda terms: bool(terms.get(FEE)) and terms.get(FEE_TYPE) == NO_FEE,
    ),
    TermRule(
        FEE, frozenset({FEE, FEE_TYPE}), "This type of fee needs an amount.",
        lambda terms: (
            terms.get(FEE) is None and has_amount(terms.get(FEE_TYPE)) and terms[FEE_TYPE] != UNDISCLOSED
        ),
        is_missing=True,
    ),
    TermRule(
        FEE, frozenset({FEE, FEE_TYPE}), "A percentage may be at most 100.",
        lambda terms: (terms.get(FEE) or 0) > 100 and terms.get(FEE_TYPE) == PERCENT,
    ),
    TermRule(
        "deal_type", frozenset({"deal_type", "units", "pacing"}),
        "Guaranteed impressions and a delivery speed are for a programmatic guaranteed deal.",
        lambda terms: terms.get("deal_type") != GUARANTEED
        and any(terms.get(name) is not None for name in ("units", "pacing")),
    ),
    TermRule(
        "units", frozenset({"deal_type", "units"}),
        "A programmatic guaranteed deal needs its guaranteed impressions.",
        lambda terms: terms.get("deal_type") == GUARANTEED and terms.get("units") is None, is_missing=True,
    ),
    TermRule(
        "price_type", frozenset({"deal_type", "price_type"}),
        "A programmatic guaranteed or preferred deal has a fixed price, not a floor.",
        lambda terms: terms.get("deal_type") in FIXED_PRICE_TYPES and terms.get("price_type") == "floor",
    ),
    TermRule(
        CONTACT, frozenset({"deal_sync", CONTACT}), "Deal sync needs a contact e-mail address.",
        lambda terms: bool(terms.get("deal_sync")) and terms.get(CONTACT) is None, is_missing=True,
    ),
)  # fmt: skip


def broken_rules(terms: Mapping[str, Any], changes: Collection[str] | None = None) -> dict[str, TermRule]:
    """The rules that the values of a deal's terms break, by the term at which each stands.

    With `changes`, the names of the fields that a request sets, those about others are left out: a deal that
    was stored before there was a rule can still be changed in all else.
    """
    broken: dict[str, TermRule] = {}
    for rule in TERM_RULES:
        if (changes is None or not rule.terms.isdisjoint(changes)) and rule.is_broken(terms):
            broken.setdefault(rule.name, rule)
    return broken


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

    def below(self, name: str) -> "Problems":
        """The same errors inside of this field of a larger request."""
        problems = Problems()
        problems._sentences = {(name, *path): sentences for path, sentences in self._sentences.items()}
        return problems

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
    read_only: frozenset[str] = getattr(model, "READ_ONLY", frozenset())
    for name in body:
        if name in read_only:
            problems.add((*where, name), "This is given by the service and can't be set.")
        elif name not in model.model_fields:
            near = suggestion(name, list(model.model_fields))
            problems.add((*where, name), f"There is no such field{near or '.'}")
    good: Fields = {}
    for name, field in model.model_fields.items():
        if name in body:
            good |= _field(model, name, body[name], problems, (*where, name))
        elif whole and field.is_required():
            problems.add((*where, name), "This field is required.")
        elif whole:
            good[name] = field.get_default(call_default_factory=True)
    return good


def _field(model: type[BaseModel], name: str, value: Any, problems: Problems, where: Path) -> Fields:
    """`{name: value}` as the model wants it, or nothing where there is nothing good about it."""
    annotation = model.model_fields[name].annotation
    # The model that the field holds: itself, or null, or a list of it.
    kinds = (kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type))
    inner = next((kind for kind in kinds if issubclass(kind, BaseModel)), None)
    may_be_null = NoneType in get_args(annotation)
    is_leaf = inner is None or (value is None and may_be_null)
    if inner is not None and not is_leaf and (inner is annotation or may_be_null):
        return {name: read(inner, value, problems, where=where)}
    try:
        good = {name: _adapter(model, name, of_anything=not is_leaf).validate_python(value, strict=True)}
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            path = (*where, *(part for part in fault["loc"] if isinstance(part, int)))
            problems.add(path, f"This {requirement(fault['type'], fault.get('ctx'))}.")
        return {}
    if inner is None or is_leaf:
        return good
    return {name: [read(inner, part, problems, where=(*where, number)) for number, part in enumerate(value)]}


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


def _branch(messages_at: Mapping[Path, list[str]]) -> Any:
    """A field's own messages win over those inside of it: both can't stand in one place."""
    if () in messages_at:
        return messages_at[()]
    if not all(isinstance(path[0], int) for path in messages_at):
        return _nest(messages_at)
    parts: list[dict[Path, list[str]]] = [{} for _ in range(max(int(path[0]) for path in messages_at) + 1)]
    for path, messages in messages_at.items():
        parts[int(path[0])][path[1:]] = messages
    if all(part.keys() <= {()} for part in parts):
        return [f"Element {n}: {text}" for n, part in enumerate(parts, 1) for text in part.get((), [])]
    return [_branch(part) if part else {} for part in parts]
