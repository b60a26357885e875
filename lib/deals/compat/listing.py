"""Searches, filters, sorts and counts a list in memory, as our own service does.

`Links` gives what an entity is linked with, as far as it is known here: a package's deals, and the reverse.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lib.deals import fields, queries
from lib.deals.models import DemandDeal, Resource, Seat, SupplyPackage
from lib.deals.queries import MEANING
from lib.deals.reading import Model, Page
from lib.wire.errors import Invalid
from lib.wire.text import suggestion

LARGEST_PAGE = 500
SEARCH_FIELDS = ("external_id", *(field.name for field in fields.FIELDS if field.is_searched))
LINK_FIELDS: dict[type[Resource], tuple[str, ...]] = {
    SupplyPackage: ("seat", "dsp", "price"),
    DemandDeal: ("dsp", "media_type", "start_date", "end_date"),
}
Links = Callable[[Resource], Sequence[Resource]]
Meanings = dict[str, list[tuple[str, str]]]


def no_links(one: Resource) -> Sequence[Resource]:
    """It is linked with nothing."""
    return ()


def page(
    model: type[Model], everything: Iterable[Model], params: Mapping[str, Any], links_of: Links = no_links
) -> Page[Model]:
    """The result of `Deals.list` for these parameters. Invalid for unsupported ones."""
    fields = {name: value for name, value in params.items() if value is not None}
    limit, offset = int(fields.pop("limit", LARGEST_PAGE)), int(fields.pop("offset", 0))
    text, ordering = str(fields.pop("search", "")), str(fields.pop("ordering", ""))
    counts = [name.strip() for name in str(fields.pop("counts", "")).split(",") if name.strip()]
    meanings = _meanings(fields.pop("meaning", ()))
    names = [*model.model_fields, *LINK_FIELDS.get(model, ())]
    for name in [
        *fields,
        *counts,
        *(one.strip().removeprefix("-") for one in ordering.split(",") if one.strip()),
    ]:
        if name not in names:
            raise Invalid({name: [f"There is no such field{suggestion(name, names) or '.'}"]})
    words = text.casefold().split()
    matches = [one for one in everything if all(_has_word(one, word, meanings, links_of) for word in words)]
    models = [one for one in matches if _has(one, fields, links_of)]
    counts_of = {name: _counts(matches, fields, name, links_of) for name in counts}
    return Page(len(models), tuple(_order(models, ordering, links_of)[offset : offset + limit]), counts_of)


def values(one: Resource, name: str, links_of: Links = no_links) -> list[Any]:
    """The values for a filter or an order: those of the field, or of the linked entities."""
    if isinstance(one, DemandDeal) and name == "dsp":
        return [dsp for dsp in (one.dsp or (one.seat and one.seat.dsp),) if dsp is not None]
    if name in LINK_FIELDS.get(type(one), ()):
        return [value for other in links_of(one) for value in values(other, name)]
    value = getattr(one, name)
    return [*value] if isinstance(value, tuple) else [value]


def _meanings(texts: Any) -> Meanings:
    meanings: Meanings = {}
    for text in [texts] if isinstance(texts, str) else texts:
        if (read := MEANING.fullmatch(text)) and read[2] in queries.KINDS:
            meanings.setdefault(read[1].casefold(), []).append((read[2], read[3]))
    return meanings


def _has_word(one: Resource, word: str, meanings: Meanings, links_of: Links) -> bool:
    """Whether the entity or a linked one contains the word, or it is the id."""
    if str(one.id) == word:
        return True
    everything = (one, *links_of(one))
    if any(word in text.casefold() for part in everything for text in _texts(part)):
        return True
    parts = [*queries.of_word(word), *(queries.of_value(*pair) for pair in meanings.get(word, ()))]
    targets = [queries.text(part.model_dump()) for part in everything if isinstance(part, SupplyPackage)]
    return any(part in text for text in targets for part in parts)


def _texts(one: Resource) -> list[str]:
    """Its names and codes, and those of its seat and DSP, or of its lists and deals."""
    texts: list[str | None] = [getattr(one, name, None) for name in SEARCH_FIELDS]
    if isinstance(one, SupplyPackage):
        texts += [part.name for part in (*one.domain_list_targetings, *one.app_list_targetings)]
        texts += [part.name for part in one.demand_deals]
    if isinstance(one, DemandDeal):
        texts += [part.name for part in one.supply_deals]
    if isinstance(one, DemandDeal | Seat):
        seat = one.seat if isinstance(one, DemandDeal) else one
        texts += [seat.name, seat.external_id] if seat is not None else []
        texts += [dsp.name for dsp in values(one, "dsp") if dsp is not None]
    return [text for text in texts if text]


def _has(one: Resource, conditions: Mapping[str, Any], links_of: Links) -> bool:
    """Whether each field has a requested value; other entities are compared by id."""
    for name, value in conditions.items():
        either = value if isinstance(value, list | tuple | set) else [value]
        if not _ids(one, name, links_of) & {str(one) for one in either}:
            return False
    return True


def _ids(one: Resource, name: str, links_of: Links) -> set[str]:
    return {str(getattr(part, "id", part)) for part in values(one, name, links_of)}


def _counts(
    models: Iterable[Resource], conditions: Mapping[str, Any], name: str, links_of: Links
) -> dict[str, int]:
    """The counts per value of a filter, ignoring that filter itself."""
    others = {other: value for other, value in conditions.items() if other != name}
    matches = (one for one in models if _has(one, others, links_of))
    return dict(Counter(text for one in matches for text in _ids(one, name, links_of) - {"None"}))


def _order(models: Sequence[Model], ordering: str, links_of: Links) -> list[Model]:
    """By the last name first: sorting keeps the order of equals. What has no value comes last."""
    result = sorted(models, key=lambda one: one.id or 0)
    for part in reversed([part.strip() for part in ordering.split(",") if part.strip()]):
        name, falls = part.removeprefix("-"), part.startswith("-")
        keys = {id(one): _key(one, name, links_of) for one in result}
        with_key = [one for one in result if keys[id(one)] is not None]
        with_key.sort(key=lambda one: keys[id(one)], reverse=falls)
        if name == "price":  # prices are compared with those in the same currency alone
            with_key.sort(key=lambda one: _currencies(one, links_of)[0])
        result = with_key + [one for one in result if keys[id(one)] is None]
    return result


def _currencies(one: Resource, links_of: Links) -> list[str]:
    """Those of its price, or of the prices of its deals, once each; an empty text is the usual one."""
    deals = [one] if isinstance(one, DemandDeal) else links_of(one)
    return sorted({deal.currency or "" for deal in deals if isinstance(deal, DemandDeal)})


def _key(one: Resource, name: str, links_of: Links) -> Any:
    """The least value, of prices if they are in one currency; another entity by its name."""
    if name == "price" and len(_currencies(one, links_of)) > 1:
        return None
    raw = [value.name if isinstance(value, Resource) else value for value in values(one, name, links_of)]
    comparable = [value.casefold() if isinstance(value, str) else value for value in raw if value is not None]
    return min(comparable, default=None)
