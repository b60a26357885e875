"""Part of a list that is at hand, as a service with lists would give it: searched, filtered, ordered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lib.deals.dialect import Model
from lib.deals.models import Resource
from lib.deals.reading import Page
from lib.wire.errors import Invalid, suggestion

LARGEST_PAGE = 500
SEARCHED = ("name", "deal_id", "external_id")


def page(model: type[Model], everything: Iterable[Model], params: Mapping[str, Any]) -> Page[Model]:
    """What `Deals.list` gives for these parameters. Invalid for one that the list can't have."""
    given = {name: value for name, value in params.items() if value is not None}
    limit, offset = int(given.pop("limit", LARGEST_PAGE)), int(given.pop("offset", 0))
    text, ordering = str(given.pop("search", "")), str(given.pop("ordering", ""))
    for name in [*given, *(one.strip().removeprefix("-") for one in ordering.split(",") if one.strip())]:
        if name not in model.model_fields:
            raise Invalid({name: [f"There is no such field{suggestion(name, [*model.model_fields]) or '.'}"]})
    found = [one for one in everything if _is_sought(one, text) and _has(one, given)]
    return Page(len(found), tuple(_ordered(found, ordering)[offset : offset + limit]))


def _is_sought(one: Resource, text: str) -> bool:
    texts = (str(getattr(one, name, None) or "") for name in SEARCHED)
    wanted = text.strip().casefold()
    return str(one.id) == wanted or any(wanted in found.casefold() for found in texts)


def _has(one: Resource, wanted: Mapping[str, Any]) -> bool:
    """Whether each field is what is wanted, or one of several; another entity counts by its id."""
    for name, value in wanted.items():
        values = value if isinstance(value, list | tuple | set) else [value]
        if not _ids(getattr(one, name)) & {str(either) for either in values}:
            return False
    return True


def _ids(value: Any) -> set[str]:
    parts = value if isinstance(value, tuple) else (value,)
    return {str(getattr(part, "id", part)) for part in parts}


def _ordered(found: Sequence[Model], ordering: str) -> list[Model]:
    """By the last name first: sorting keeps the order of equals. What has no value comes last."""
    ordered = sorted(found, key=lambda one: one.id or 0)
    for part in reversed([part.strip() for part in ordering.split(",") if part.strip()]):
        name, falls = part.removeprefix("-"), part.startswith("-")
        known = [one for one in ordered if getattr(one, name) is not None]
        known.sort(key=lambda one: _key(getattr(one, name)), reverse=falls)
        ordered = known + [one for one in ordered if getattr(one, name) is None]
    return ordered


def _key(value: Any) -> Any:
    value = getattr(value, "id", value)
    return value.casefold() if isinstance(value, str) else value
