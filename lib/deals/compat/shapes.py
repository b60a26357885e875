"""The format of targeting elements of third-party services (decisions: Targeting elements).

The settings name, for each of our fields, where it stands in their element, as `path` or as
`path=ours:theirs,ours:theirs`:

    "geo_targetings": {"type": "geo.kind=country:COUNTRY,city:CITY", "value": "geo.code",
                       "is_excluded": "operator=true:EXCLUDE,false:INCLUDE"}

The path is dotted where it goes into objects; `.` is the element itself. The words are for `type` and
`is_excluded` alone; theirs are JSON (`1`, `true`, `"1"`), and else text. A field that is not named does not
exist there: without `is_excluded`, nothing can be excluded.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError

from lib.deals.models import GEO_TYPES, Targeting, WireModel
from lib.wire.errors import BadRequest, Misconfigured, UnknownName

IS_EXCLUDED, TYPE, ITSELF = "is_excluded", "type", "."
WORDS: dict[str, dict[str, Any]] = {
    IS_EXCLUDED: {"true": True, "false": False},
    TYPE: {geo_type: geo_type for geo_type in GEO_TYPES},
}
ELEMENTS: dict[str, type[WireModel]] = {
    name: get_args(field.annotation)[0] for name, field in Targeting.model_fields.items()
}
NOTHING = object()


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
    def own(cls, array: str) -> "ElementShape":
        """As our own service writes them."""
        return cls(array, {name: FieldPlace((name,)) for name in ELEMENTS[array].model_fields})

    @classmethod
    def of(cls, array: str, names: Mapping[str, str]) -> "ElementShape":
        """The shape in the settings. Misconfigured, with a sentence, if they are not valid."""
        if array not in ELEMENTS:
            raise Misconfigured(f"targeting_names: {UnknownName('targeting', array, ELEMENTS)}")
        fields = ELEMENTS[array].model_fields
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
        if IS_EXCLUDED in self.places and IS_EXCLUDED not in fields and self._has_more(element):
            return None
        if fields.get(TYPE, GEO_TYPES[0]) not in GEO_TYPES:
            return None
        try:
            return ELEMENTS[self.array].model_validate(fields).model_dump()
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

    def _has_more(self, element: Any) -> bool:
        names = {place.path[0] for place in self.places.values() if place.path}
        return isinstance(element, Mapping) and not element.keys() <= names


OWN = {array: ElementShape.own(array) for array in ELEMENTS}


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
    pairs = [pair.partition(":") for pair in pairs_text.split(",")]
    for ours, _, theirs in pairs:
        if ours.strip() not in words_of_field or not theirs.strip():
            raise Misconfigured(
                f"{at} has '{ours}': words are {', '.join(f'{word}:theirs' for word in words_of_field)}"
            )
    return FieldPlace(
        path, tuple((words_of_field[ours.strip()], _literal(theirs.strip())) for ours, _, theirs in pairs)
    )


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _same(theirs: Any, element: Any) -> bool:
    """`1` is `1` and `"1"`, but not `true`."""
    if isinstance(theirs, bool) or isinstance(element, bool):
        return theirs is element
    return str(theirs) == str(element)
