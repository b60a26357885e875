"""Leaderboards in a link: `cards=country~device!-change!tab` is key field, order and search text of each.

An order by another data field than the one shown is its name after a dot: `device!-.clicks`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lib.reporting.links import join_texts, split_texts
from lib.reporting.models import TIME_KEY_FIELDS, Direction, Slicer

COLUMNS = ("volume", "value", "change", "name")
OF_FIELD = "."
USUAL, MOST = 4, 12
TELLING = ("advertiser", "publisher", "ssp", "country", "device", "domain", "site", "campaign", "browser")


@dataclass(frozen=True)
class Card:
    """The leaderboard of a key field: its order, and the search text.

    By `volume` is by the data field shown, or where that is a formula by the first that is none; by any
    other data field as OF_FIELD and its name.
    """

    name: str
    by: str = "volume"
    direction: Direction = "desc"
    find: str = ""


def usual(slicer: Slicer) -> tuple[Card, ...]:
    """The default leaderboards of a slicer: the key fields that people most often ask about."""
    plain = [f.name for f in slicer.key_fields if not f.is_segmented and f.name not in TIME_KEY_FIELDS]
    return tuple(Card(name) for name in sorted(plain, key=_rank)[:USUAL])


def to_text(cards: Iterable[Card]) -> str:
    """The leaderboards as one parameter."""
    return join_texts(_item(card) for card in cards)


def from_text(text: str, slicer: Slicer) -> tuple[Card, ...] | None:
    """The leaderboards that a parameter asks for, each once, of the key fields that the slicer has."""
    if not text:
        return None
    by_name: dict[str, Card] = {}
    for item in split_texts(text):
        card = _card(item, slicer)
        if card is not None:
            by_name.setdefault(card.name, card)
    return tuple(by_name.values())[:MOST] or None


def is_order(by: str, slicer: Slicer) -> bool:
    """Whether a leaderboard can be ordered by a column of this name."""
    names = {OF_FIELD + field.name for field in slicer.data_fields}
    return by in COLUMNS or by in names


def with_first(cards: Iterable[Card], name: str) -> tuple[Card, ...]:
    """The leaderboards with that of this key field in front, as it is where it is among them."""
    by_name = {card.name: card for card in cards}
    first = by_name.pop(name, Card(name))
    return (first, *by_name.values())[:MOST]


def missing(text: str, slicer: Slicer) -> list[str]:
    """The key fields of such a parameter that the slicer does not have."""
    return [item.partition("!")[0] for item in split_texts(text) if text and _card(item, slicer) is None]


def _rank(name: str) -> int:
    """The rank of a key field by the words of its name; lower is more useful."""
    words = {word.removesuffix("_id") for word in name.lower().split(".")[-2:]}
    return next((place for place, word in enumerate(TELLING) if word in words), len(TELLING))


def _item(card: Card) -> str:
    order = "" if card.by == "volume" else f"{'-' * (card.direction == 'desc')}{card.by}"
    if "!" in card.name or not (order or card.find):
        return card.name
    return "!".join((card.name, order, card.find) if card.find else (card.name, order))


def _card(item: str, slicer: Slicer) -> Card | None:
    keys = {field.name for field in slicer.key_fields}
    if item in keys:
        return Card(item)
    name, _, rest = item.partition("!")
    order, _, find = rest.partition("!")
    by = order.removeprefix("-")
    by = by if is_order(by, slicer) else "volume"
    if name not in keys:
        return None
    return Card(name, by, "desc" if order.startswith("-") or by == "volume" else "asc", find)
