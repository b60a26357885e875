"""A service's validation messages, shown beside the fields until the person changes them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from lib.ui.kit.markdown import plain
from lib.wire.errors import Invalid

WHOLE = "non_field_errors"
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class FieldProblems:
    """Messages by their place in the request; the empty place is the whole."""

    messages: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    request: Any = None

    @classmethod
    def of(cls, error: Invalid, request: Any) -> "FieldProblems":
        """The messages of an error about this request."""
        return cls(dict(_places(error.fields, ())), request)

    def still(self, now: Any) -> "FieldProblems":
        """The messages about fields that have not been changed since the request."""
        problems = {
            path: sentences
            for path, sentences in self.messages.items()
            if _at(self.request, path) == _at(now, path)
        }
        return FieldProblems(problems, self.request)

    def with_(self, faults: Mapping[Path, str]) -> "FieldProblems":
        """These together with the form's own messages, which win at their places."""
        local = {path: (text,) for path, text in faults.items() if text}
        return FieldProblems({**self.messages, **local}, self.request)

    def inside(self, *path: str | int) -> "FieldProblems":
        """The messages at this place, as FieldProblems of their own."""
        problems = {
            where[len(path) :]: sentences
            for where, sentences in self.messages.items()
            if where[: len(path)] == path
        }
        return FieldProblems(problems, _at(self.request, path))

    def at(self, *path: str | int) -> list[str]:
        """The messages at this place, and inside of it."""
        return [text for sentences in self.inside(*path).messages.values() for text in sentences]

    def with_names(self, *path: str | int) -> list[str]:
        """The messages inside of this place, each after the name of its field."""
        return [
            f"{_field_label(where).capitalize()}: {text}" if where else text
            for where, sentences in self.inside(*path).messages.items()
            for text in sentences
        ]

    def others(self, visible: Iterable[Path]) -> list[str]:
        """The messages that are at none of the places `visible`, each with its place."""
        visible_paths = list(visible)
        return [
            f"{_field_label(where)}: {text}" if where else text
            for where, sentences in self.messages.items()
            if not any(where[: len(path)] == path for path in visible_paths)
            for text in sentences
        ]

    def __bool__(self) -> bool:
        return bool(self.messages)


def beside(messages: Iterable[str]) -> None:
    """Draw the messages below the field that they are about."""
    for text in dict.fromkeys(messages):
        st.markdown(f":red[:small[:material/error: {plain(text)}]]")


def _places(fields: Any, path: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """`{"geo_targetings": [{}, {"type": ["…"]}]}` → `("geo_targetings", 1, "type")` and its messages."""
    if isinstance(fields, str):
        yield path, (fields,)
    elif isinstance(fields, Mapping):
        for name, part in fields.items():
            yield from _places(part, path if name == WHOLE else (*path, name))
    elif isinstance(fields, list):
        if texts := tuple(part for part in fields if isinstance(part, str)):
            yield path, texts
        for number, part in enumerate(fields):
            if not isinstance(part, str):
                yield from _places(part, (*path, number))


def _at(request: Any, path: Path) -> Any:
    """The part of a request at this place; None where there is none."""
    for step in path:
        if isinstance(request, Mapping):
            request = request.get(step)
        elif isinstance(request, list | tuple) and isinstance(step, int) and step < len(request):
            request = request[step]
        else:
            return None
    return request


def _field_label(path: Path) -> str:
    return " ".join(str(step + 1) if isinstance(step, int) else step.replace("_", " ") for step in path)
