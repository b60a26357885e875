"""Searches, filters, sorts and counts a list in memory, as our own service does.

`Links` gives what an entity is linked with, as far as it is known here: a package's deals, and the reverse.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lib.deals import fields, queries
from lib.deals.models import DemandDeal, Resource, Seat, SupplyPackage
from lib.deals.queries import MEANING
from lib.deals.reading import Model, Page
from lib.wire.errors import Invalid, suggestion

LARGEST_PAGE = 500
SEARCH_FIELDS = ("external_id", *(field.name for field in fields.FIELDS if field.is_searched))
LINK_FIELDS: dict[type[Resource], tuple[str, ...]] = {
    SupplyPackage: ("seat", "dsp", "price"),
    DemandDeal: ("dsp", "media_type", "start_date", "end_date"),
}
Links = Callable[[Resource], Sequence[Resource]]
Meanings = dict[str, list[tuple[str, str]]]


def no_links(resource: Resource) -> Sequence[Resource]:
    """It is linked with nothing."""
    return ()


def page(
    model: type[Model], everything: Iterable[Model], params: Mapping[str, Any], links_of: Links = no_links
) -> Page[Model]:
    """The result of `Deals.list` for these parameters. Invalid for unsupported ones."""
    conditions = {name: value for name, value in params.items() if value is not None}
    limit, offset = int(conditions.pop("limit", LARGEST_PAGE)), int(conditions.pop("offset", 0))
    text, ordering = str(conditions.pop("search", "")), str(conditions.pop("ordering", ""))
    orders = [part.strip() for part in ordering.split(",") if part.strip()]
    counts = [name.strip() for name in str(conditions.pop("counts", "")).split(",") if name.strip()]
    meanings: Meanings = {}
    texts = conditions.pop("meaning", ())
    for meaning in [texts] if isinstance(texts, str) else texts:
        if (read := MEANING.fullmatch(meaning)) and read[2] in queries.KINDS:
            meanings.setdefault(read[1].casefold(), []).append((read[2], read[3]))
    names = [*model.model_fields, *LINK_FIELDS.get(model, ())]
    for name in [*conditions, *counts, *(order.removeprefix("-") for order in orders)]:
        if name not in names:
            raise Invalid({name: [f"There is no such field{suggestion(name, names) or '.'}"]})
    words = queries.terms(text)
    matches = [
        resource
        for resource in everything
        if all(_has_word(resource, word, meanings, links_of) for word in words)
    ]
    models = [resource for resource in matches if _has(resource, conditions, links_of)]
    counts_of = {}
    for name in counts:  # ignoring the filter itself
        others = {other: value for other, value in conditions.items() if other != name}
        values_of = (
            _ids(resource, name, links_of) for resource in matches if _has(resource, others, links_of)
        )
        counts_of[name] = dict(Counter(text for texts in values_of for text in texts - {"None"}))
    result = sorted(models, key=lambda resource: resource.id or 0)
    # By the last name first: sorting keeps the order of equals. What has no value comes last.
    for by in reversed(orders):
        order_name = by.removeprefix("-")
        keys = {id(resource): _key(resource, order_name, links_of) for resource in result}
        with_key = [resource for resource in result if keys[id(resource)] is not None]
        with_key.sort(key=lambda resource: keys[id(resource)], reverse=by.startswith("-"))
        if order_name == "price":  # prices are compared with those in the same currency alone
            with_key.sort(key=lambda resource: _currencies(resource, links_of)[0])
        result = with_key + [resource for resource in result if keys[id(resource)] is None]
    return Page(len(models), tuple(result[offset : offset + limit]), counts_of)


def values(resource: Resource, name: str, links_of: Links = no_links) -> list[Any]:
    """The values for a filter or an order: those of the field, or of the linked entities."""
    if isinstance(resource, DemandDeal) and name == "dsp":
        return [dsp for dsp in (resource.dsp or (resource.seat and resource.seat.dsp),) if dsp is not None]
    if name in LINK_FIELDS.get(type(resource), ()):
        return [value for other in links_of(resource) for value in values(other, name)]
    value = getattr(resource, name)
    return [*value] if isinstance(value, tuple) else [value]


def _has_word(resource: Resource, word: str, meanings: Meanings, links_of: Links) -> bool:
    """Whether the entity or a linked one contains the word, or it is the id."""
    if str(resource.id) == word:
        return True
    everything = (resource, *links_of(resource))
    beginning = re.compile(queries.beginning(word))
    if any(beginning.search(text.casefold()) for part in everything for text in _texts(part)):
        return True
    parts = [*queries.of_word(word), *(queries.of_value(*pair) for pair in meanings.get(word, ()))]
    targets = [queries.text(part.model_dump()) for part in everything if isinstance(part, SupplyPackage)]
    return any(part in text for text in targets for part in parts)


def _texts(resource: Resource) -> list[str]:
    """Its names and codes, and those of its seat and DSP, or of its lists and deals."""
    texts: list[str | None] = [getattr(resource, name, None) for name in SEARCH_FIELDS]
    if isinstance(resource, SupplyPackage):
        texts += [part.name for part in (*resource.domain_list_targetings, *resource.app_list_targetings)]
        texts += [part.name for part in resource.demand_deals]
    if isinstance(resource, DemandDeal):
        texts += [part.name for part in resource.supply_deals]
    if isinstance(resource, DemandDeal | Seat):
        seat = resource.seat if isinstance(resource, DemandDeal) else resource
        texts += [seat.name, seat.external_id] if seat is not None else []
        texts += [dsp.name for dsp in values(resource, "dsp") if dsp is not None]
    return [text for text in texts if text]


def _has(resource: Resource, conditions: Mapping[str, Any], links_of: Links) -> bool:
    """Whether each field has a requested value; other entities are compared by id."""
    for name, value in conditions.items():
        either = value if isinstance(value, list | tuple | set) else [value]
        if not _ids(resource, name, links_of) & {str(option) for option in either}:
            return False
    return True


def _ids(resource: Resource, name: str, links_of: Links) -> set[str]:
    return {str(getattr(part, "id", part)) for part in values(resource, name, links_of)}


def _key(resource: Resource, name: str, links_of: Links) -> Any:
    """The least value, of prices if they are in one currency; another entity by its name."""
    if name == "price" and len(_currencies(resource, links_of)) > 1:
        return None
    raw = [value.name if isinstance(value, Resource) else value for value in values(resource, name, links_of)]
    comparable = [value.casefold() if isinstance(value, str) else value for value in raw if value is not None]
    return min(comparable, default=None)


def _currencies(resource: Resource, links_of: Links) -> list[str]:
    """Those of its price, or of the prices of its deals, once each; an empty text is the usual one."""
    deals = [resource] if isinstance(resource, DemandDeal) else links_of(resource)
    return sorted({deal.currency or "" for deal in deals if isinstance(deal, DemandDeal)})
