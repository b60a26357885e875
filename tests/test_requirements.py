"""Every validation error of a request has a plain message."""

import itertools
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.validation import Problems, read
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.reporting.requests import parse
from lib.slicers.definition.file import parse_definition
from lib.wire.errors import WORDS, BadDefinition, BadRequest, Invalid, requirement

VALUES = (None, True, -1, 1.5, 1e300, float("nan"), "", "x", "x" * 100_000, "\ud800", [], [[]], [None], {})
OF_PYTHON = re.compile(
    r"\b(tuple|dict|str|int|bool|list\[|NoneType|instance|input|valid|parse|parsable|mapping)\b", re.I
)
MODELS = (InfoQuery, AudienceQuery, ExportQuery)


def plain(message: str) -> None:
    """Fail where a message speaks of Python, or says nothing."""
    without_values = re.sub(r"'[^']*'|\"[^\"]*\"|\{[^}]*\}", "", message)
    assert not OF_PYTHON.search(without_values), message
    assert "not allowed here" not in message, message


def places(model: type[BaseModel]) -> Iterator[tuple[str | int, ...]]:
    """Every field of a request, also those of what its lists hold."""
    for name, field in model.model_fields.items():
        yield (name,)
        for part in _models(field.annotation):
            yield from ((name, *deeper) for place in places(part) for deeper in ((0, *place), place))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def body(place: tuple[str | int, ...], value: Any) -> Any:
    """A body that has the value at this place, and nothing else."""
    for part in reversed(place):
        value = [value] if part == 0 else {part: value}
    return value


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_of_the_reporting_api(model: type[InfoQuery]) -> None:
    """Any value in any place of a question is read, or refused without a word of Python."""
    for place, value in itertools.product(places(model), VALUES):
        try:
            parse(model, body(place, value))
        except BadRequest as error:
            plain(error.reason)


@pytest.mark.parametrize("entity", ENTITY_STORES)
def test_of_the_deals_api(entity: str) -> None:
    """Any value in any place of a deals request is read, or refused without a word of Python."""
    for place, value in itertools.product(places(ENTITY_STORES[entity].request), VALUES):
        problems = Problems()
        read(ENTITY_STORES[entity].request, body(place, value), problems)
        with pytest.raises(Invalid) as refused:
            problems.add((), "not whole")
            problems.check()
        plain(refused.value.reason)


@pytest.mark.parametrize("line", ["timezone: true", "timezone: [1]", "key_fields: {a: 1}", "time: 5"])
def test_of_definitions(line: str) -> None:
    """So is what is wrong with a definition; true is no number."""
    with pytest.raises(BadDefinition) as refused:
        parse_definition(f"data_fields: [{{name: imps}}]\n{line}\n")
    plain(refused.value.reason)
    assert line.partition(":")[0] in refused.value.reason


@pytest.mark.parametrize("kind", WORDS)
def test_words(kind: str) -> None:
    """Each says what would be right."""
    context = dict.fromkeys(
        ("max_length", "pattern", "gt", "ge", "lt", "le", "expected", "error", "reason"), 3
    )
    plain(requirement(kind, context))
