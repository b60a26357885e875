"""The format of a deals service where the specification leaves it open: targeting elements and fee types.

Answers come in by `read`, requests go out by `write`. Nothing that does not fit is dropped or guessed: it
is kept as it came (`unread` of a resource), and goes back as it came when its list is changed.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args

from pydantic import ValidationError

from lib.deals.models import FEE_TYPES, GEO_TYPES, TARGETING_ELEMENTS, Resource, shorten
from lib.deals.reading import KINDS, Codec, Fields, Model, fields_of, text_of
from lib.deals.validation import Path, Problems
from lib.wire.errors import BadRequest, Invalid, Misconfigured, TrancheError, UnknownName, Unreadable

CODES = ("code", "status_code", "status")
FAILURE = re.compile(r"error|fail(ed|ure)?|invalid|bad_request", re.IGNORECASE)
FEE_TYPE, NEW_DEALS = "agency_curation_fee_type", "create_demand_deals"
IS_EXCLUDED, TYPE, ITSELF = "is_excluded", "type", "."
WORDS: dict[str, dict[str, Any]] = {
    IS_EXCLUDED: {"true": True, "false": False},
    TYPE: {geo_type: geo_type for geo_type in GEO_TYPES},
}
NOTHING = object()
LONGEST_PART = 80


@dataclass(frozen=True)
class Dialect(Codec):
    """The shape of each targeting array, and their number for each fee type of ours. By default our own."""

    shapes: Mapping[str, "ElementShape"] = field(default_factory=lambda: OWN)
    fee_types: Mapping[int, int] = field(default_factory=lambda: {number: number for number in FEE_TYPES})

    @classmethod
    def of(cls, targeting_names: Mapping[str, Mapping[str, str]], fee_types: Mapping[int, int]) -> "Dialect":
        """As the settings say (see ElementShape). Misconfigured for what they can't mean."""
        if unknown := [number for number in fee_types if number not in FEE_TYPES]:
            options = ", ".join(f"{number} {label}" for number, label in FEE_TYPES.items())
            raise Misconfigured(f"fee_types: there is no fee type {unknown[0]}; there are {options}")
        if len(set(fee_types.values())) < len(fee_types):
            raise Misconfigured("fee_types: two of our fee types have the same number at the service")
        shapes = {array: ElementShape.of(array, names) for array, names in targeting_names.items()}
        return cls({**OWN, **shapes}, dict(fee_types))

    @property
    def fees(self) -> dict[int, str]:
        """Our fee types that the service supports, with their labels."""
        return {number: FEE_TYPES[number] for number in FEE_TYPES if number in self.fee_types}

    def read(self, model: type[Model], raw: Any) -> Model:
        if not isinstance(raw, Mapping):
            raise Unreadable(f"The service's {model.__name__} does not follow the API")
        fields, unread = dict(raw), dict[str, Any]()
        for name in raw:
            if name in self.shapes and name in model.model_fields:
                if isinstance(raw[name], list | None):
                    elements = [(self.shapes[name].read(element), element) for element in raw[name] or ()]
                    fields[name] = [target for target, _ in elements if target is not None]
                    _add_unread(unread, name, [element for target, element in elements if target is None])
                else:
                    fields[name], unread[name] = [], raw[name]
        if FEE_TYPE in model.model_fields and fields.get(FEE_TYPE) is not None:
            same = (ours for ours, theirs in self.fee_types.items() if str(theirs) == str(raw[FEE_TYPE]))
            fields[FEE_TYPE] = next(same, None)
            if fields[FEE_TYPE] is None:
                unread[FEE_TYPE] = raw[FEE_TYPE]
        for name, inner in _nested_resources(model).items():
            if isinstance(raw.get(name), list):
                fields[name] = [self._element(inner, element) for element in raw[name]]
        return _validate(model, fields, raw, unread).known_as(unread=unread)

    def write(self, fields: Mapping[str, Any], base: Resource | None = None) -> Fields:
        """The request of these fields. `base` is what they change: what is kept of it goes as it came.

        Invalid, in our own words and places, for what can't be said to the service.
        """
        problems = Problems()
        parts = {name: self._field_value(name, value, base, problems) for name, value in fields.items()}
        if isinstance(new := parts.get(NEW_DEALS), Mapping) and FEE_TYPE in new:
            where = (NEW_DEALS, FEE_TYPE)
            parts[NEW_DEALS] = {**new, FEE_TYPE: self._number(new[FEE_TYPE], where, problems)}
        problems.check()
        return parts

    def failure(self, body: Any) -> TrancheError | None:
        """The error in the body of a success; None if it is an entity, or no error.

        `{"status": "error", "detail": "…"}`, `{"error": "…"}`, `{"errors": {"name": ["…"]}}`. Whatever has an
        id is an entity.
        """
        if not isinstance(body, Mapping) or "id" in body:
            return None
        status = body.get("status")
        has_failed = isinstance(status, str) and FAILURE.fullmatch(status)
        has_reason = any(body.get(name) for name in ("error", "errors", "detail"))
        if not (has_reason or has_failed or body.get("success") is False):
            return None
        for name in CODES:
            code = body.get(name)
            if isinstance(code, int | str) and str(code).isdecimal() and int(code) in KINDS:
                return KINDS[int(code)](text_of(body) or f"The service answered {code}")
        return Invalid(fields_of(body))

    def misfits(self, model: type[Resource], raw: Any) -> list[str]:
        """A sentence for each field of a response that does not fit; empty if all fit."""
        sentences = []
        for name, part in self.read(model, raw).unread.items():
            if name == FEE_TYPE:
                options = ", ".join(str(theirs) for theirs in self.fee_types.values()) or "none"
                sentences.append(f"{name} is {raw[name]}; the fee types of the settings are {options}")
            elif name not in self.shapes:
                text = shorten(str(part), LONGEST_PART)
                sentences.append(f"{name} is not what the specification says: {text}")
            elif not isinstance(part, list):
                expected, text = self.shapes[name].expected, shorten(str(part), LONGEST_PART)
                sentences.append(f"{name} is no list but {text}; expected is a list of {expected}")
            else:
                expected = self.shapes[name].expected
                names = ", ".join(dict.fromkeys(leaf for element in part for leaf in leaves(element)))
                count = f"{len(part)} of {len(raw[name])}"
                sentences.append(f"{name}: {count} elements have {names}; expected are {expected}")
        for name, inner in _nested_resources(model).items():
            inside = raw.get(name)
            for element in inside if isinstance(inside, list) else ():
                sentences += self.misfits(inner, element) if isinstance(element, Mapping) else []
        return list(dict.fromkeys(sentences))

    def _element(self, model: type[Resource], raw: Any) -> Any:
        try:
            return self.read(model, raw)
        except Unreadable:
            return raw

    def _field_value(self, name: str, value: Any, base: Resource | None, problems: Problems) -> Any:
        unread = None if base is None else base.unread.get(name)
        if name == FEE_TYPE:
            return self._number(value, (name,), problems)
        if not isinstance(value, list | tuple) or (unread is None and name not in self.shapes):
            return value
        if unread is not None and not isinstance(unread, list):
            problems.add((name,), "This service writes it in a way that Tranche can't read: change it there.")
            return value
        if name not in self.shapes:
            return [*value, *(unread or ())]
        shape, elements = self.shapes[name], []
        by_key = [
            (_target_key(fields), element)
            for element in (() if base is None else base.raw.get(name) or ())
            if (fields := shape.read(element)) is not None
        ]
        for index, target in enumerate(value):
            same = next((at for at, (fields, _) in enumerate(by_key) if fields == _target_key(target)), None)
            try:
                elements.append(shape.write(target) if same is None else by_key.pop(same)[1])
            except BadRequest as error:
                problems.add((name, index, "value"), error.reason)
        return [*elements, *(unread or ())]

    def _number(self, ours: Any, where: Path, problems: Problems) -> Any:
        if ours is None or ours in self.fee_types:
            return None if ours is None else self.fee_types[ours]
        problems.add(where, "The settings have no number of this service for this type of fee.")
        return ours


def _add_unread(unread: Fields, name: str, elements: Sequence[Any]) -> None:
    if elements:
        unread[name] = [*unread.get(name, ()), *elements]


def _validate(model: type[Model], fields: Fields, raw: Mapping[str, Any], unread: Fields) -> Model:
    """The model of the valid fields; the others are unread."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        paths = {problem["loc"][:2] for problem in error.errors(include_url=False, include_input=False)}
    wrong = {str(path[0]) for path in paths}
    if not wrong <= fields.keys() or "id" in wrong:
        raise Unreadable(f"The service's {model.__name__} does not follow the API")
    for name in wrong:
        odd = {path[1] for path in paths if path[0] == name and len(path) > 1}
        if odd and isinstance(raw[name], list) and all(isinstance(index, int) for index in odd):
            _add_unread(unread, name, [part for number, part in enumerate(raw[name]) if number in odd])
            fields[name] = [element for number, element in enumerate(fields[name]) if number not in odd]
        else:
            unread[name] = fields.pop(name)
    return _validate(model, fields, raw, unread)


@cache
def _nested_resources(model: type[Resource]) -> dict[str, type[Resource]]:
    """The fields that are lists of other resources whole."""
    types_of = {name: get_args(field.annotation) for name, field in model.model_fields.items()}
    return {
        name: inner[0]
        for name, inner in types_of.items()
        if len(inner) == 2
        and inner[1] is ...
        and isinstance(inner[0], type)
        and issubclass(inner[0], Resource)
    }


def _target_key(fields: Mapping[str, Any]) -> Fields:
    """The key by which targets are compared; a list's name follows from its id."""
    return {"is_excluded": False} | {name: value for name, value in fields.items() if name != "name"}


@dataclass(frozen=True)
class FieldPlace:
    """Where a field stands in an element, and what it may say there: pairs of (ours, theirs)."""

    path: tuple[str, ...]
    words: tuple[tuple[Any, Any], ...] = ()

    def find(self, element: Any) -> Any:
        """The value in an element, in our words; NOTHING without one. ValueError for an unknown word."""
        for step in self.path:
            if not isinstance(element, Mapping) or step not in element:
                return NOTHING
            element = element[step]
        if not self.words:
            return element
        for ours, theirs in self.words:
            if _same(theirs, element):
                return ours
        raise ValueError(element)

    def put(self, element: dict[str, Any], value: Any) -> None:
        """Set the value in an element, in their words. BadRequest if they have none for it."""
        theirs_or_nothing = next((theirs for ours, theirs in self.words if ours == value), NOTHING)
        if self.words and theirs_or_nothing is NOTHING:
            raise BadRequest(f"The settings have no value of this service for {json.dumps(value)}.")
        for step in self.path[:-1]:
            element = element.setdefault(step, {})
        element[self.path[-1]] = theirs_or_nothing if self.words else value


@dataclass(frozen=True)
class ElementShape:
    """The elements of one array: our fields, and where each stands in theirs."""

    array: str
    places: Mapping[str, FieldPlace]

    @classmethod
    def of(cls, array: str, names: Mapping[str, str]) -> "ElementShape":
        """The shape in the settings. Misconfigured, with a sentence, if they are not valid."""
        if array not in TARGETING_ELEMENTS:
            raise Misconfigured(f"targeting_names: {UnknownName('targeting', array, TARGETING_ELEMENTS)}")
        fields = TARGETING_ELEMENTS[array].model_fields
        for name in names:
            if name not in fields:
                raise Misconfigured(f"targeting_names: {array}: {UnknownName('field', name, fields)}")
        missing = [name for name, field in fields.items() if field.is_required() and name not in names]
        if missing:
            raise Misconfigured(f"targeting_names: {array} must map {' and '.join(missing)}")
        places = {name: _place(array, name, text) for name, text in names.items()}
        if len(places) > 1 and not all(place.path for place in places.values()):
            raise Misconfigured(
                f"targeting_names: {array}: an element that is a value alone has no other field"
            )
        return cls(array, places)

    @property
    def expected(self) -> str:
        """The fields of an element, as written by that service."""
        return ", ".join(".".join(place.path) or "a value alone" for place in self.places.values())

    def read(self, element: Any) -> dict[str, Any] | None:
        """Our fields of an element; None if it does not fit, as its meaning must not be guessed.

        One that does not say whether it is excluded fits only if it has no field that we don't know: that
        might be where it says so.
        """
        try:
            values = {name: place.find(element) for name, place in self.places.items()}
        except ValueError:
            return None
        fields = {name: value for name, value in values.items() if value is not NOTHING}
        names = {place.path[0] for place in self.places.values() if place.path}
        has_more = isinstance(element, Mapping) and not element.keys() <= names
        if IS_EXCLUDED in self.places and IS_EXCLUDED not in fields and has_more:
            return None
        if fields.get(TYPE, GEO_TYPES[0]) not in GEO_TYPES:
            return None
        try:
            return TARGETING_ELEMENTS[self.array].model_validate(fields).model_dump()
        except ValidationError:
            return None

    def write(self, fields: Mapping[str, Any]) -> Any:
        """An element from our fields. BadRequest if the service can't express it."""
        if self == OWN[self.array]:
            return dict(fields)
        if IS_EXCLUDED not in self.places and fields.get(IS_EXCLUDED):
            raise BadRequest("This service can't exclude anything here.")
        element: dict[str, Any] = {}
        for name, value in {IS_EXCLUDED: False, **fields}.items():
            place = self.places.get(name)
            if place is not None and not place.path:
                return value
            if place is not None:
                place.put(element, value)
        return element


# As our own service writes them.
OWN: Mapping[str, ElementShape] = {
    array: ElementShape(array, {name: FieldPlace((name,)) for name in model.model_fields})
    for array, model in TARGETING_ELEMENTS.items()
}


def leaves(element: Any, path: str = "") -> Iterator[str]:
    """The dotted names of all values in an element."""
    if isinstance(element, Mapping) and element:
        for name, part in element.items():
            yield from leaves(part, f"{path}.{name}" if path else str(name))
    else:
        yield path or "a value alone"


def _place(array: str, name: str, text: str) -> FieldPlace:
    where, has_words, pairs_text = text.partition("=")
    path = () if where.strip() == ITSELF else tuple(step.strip() for step in where.split("."))
    at = f"targeting_names: {array}: {name}"
    if not all(path):
        raise Misconfigured(f"{at} is '{text}', and should be a name, dotted where it goes into objects")
    if not has_words:
        return FieldPlace(path)
    words_of_field = WORDS.get(name, {})
    if not words_of_field:
        raise Misconfigured(f"{at} can't have its own values: only {TYPE} and {IS_EXCLUDED} can")
    pairs = []
    for pair in pairs_text.split(","):
        ours, _, theirs = (part.strip() for part in pair.partition(":"))
        if ours not in words_of_field or not theirs:
            options = ", ".join(f"{word}:theirs" for word in words_of_field)
            raise Misconfigured(f"{at} has '{pair.partition(':')[0]}': words are {options}")
        try:
            pairs.append((words_of_field[ours], json.loads(theirs)))
        except (ValueError, RecursionError):
            pairs.append((words_of_field[ours], theirs))
    return FieldPlace(path, tuple(pairs))


def _same(theirs: Any, element: Any) -> bool:
    """`1` is `1` and `"1"`, but not `true`."""
    if isinstance(theirs, bool) or isinstance(element, bool):
        return theirs is element
    return str(theirs) == str(element)
