"""The leaderboards of a page (`Card`): their order, their text in a link, and those in the database."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from lib.figures.context import RequestContext
from lib.reporting.links import join_texts, split_texts
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.models import Direction, Slicer
from lib.wire.errors import TrancheError

DEFAULT_CARDS, MOST_CARDS = 4, 12
CARD_ORDERS = ("volume", "value", "change", "name")
FIELD_ORDER = "."
USEFUL_KEYS = (
    "advertiser", "publisher", "ssp", "country", "device", "domain", "site", "campaign", "browser",
)  # fmt: skip
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Card:
    """The leaderboard of a key field: its order, and the search text.

    By `volume` is by the data field shown, or where that is a formula by the first that is none; by any
    other data field as FIELD_ORDER and its name. In a link `device!-change!tab` is name, order and text.
    """

    name: str
    by: str = "volume"
    direction: Direction = "desc"
    find: str = ""

    @property
    def text(self) -> str:
        """The leaderboard in a link."""
        order = "" if self.by == "volume" else f"{'-' * (self.direction == 'desc')}{self.by}"
        if "!" in self.name or not (order or self.find):
            return self.name
        return "!".join((self.name, order, self.find) if self.find else (self.name, order))

    @classmethod
    def read(cls, text: str, slicer: Slicer) -> Self:
        """The leaderboard in a link, in an order that the slicer has; it may lack the key field."""
        if text in slicer.key_names:
            return cls(text)
        name, order, find = (*text.split("!", 2), "", "")[:3]
        by = order.removeprefix("-") if is_card_order(order.removeprefix("-"), slicer) else "volume"
        return cls(name, by, "desc" if order.startswith("-") or by == "volume" else "asc", find)


def cards_text(cards: Iterable[Card]) -> str:
    """Leaderboards as one parameter: `country~device!-change!tab`."""
    return join_texts(card.text for card in cards)


def cards_from_text(text: str, slicer: Slicer) -> tuple[Card, ...] | None:
    """The leaderboards that a parameter asks for, each once, of the key fields that the slicer has."""
    keys = {*slicer.key_names}
    cards: dict[str, Card] = {}
    for card in (Card.read(part, slicer) for part in split_texts(text)) if text else ():
        if card.name in keys:
            cards.setdefault(card.name, card)
    return tuple(cards.values())[:MOST_CARDS] or None


def is_card_order(by: str, slicer: Slicer) -> bool:
    """Whether a leaderboard can be ordered by a column of this name."""
    return by in CARD_ORDERS or by in {FIELD_ORDER + field.name for field in slicer.data_fields}


def default_cards(slicer: Slicer) -> tuple[Card, ...]:
    """The leaderboards that nobody chose: those of the key fields that people most often ask about."""
    return tuple(Card(name) for name in sorted(plain_keys(slicer), key=usefulness)[:DEFAULT_CARDS])


def plain_keys(slicer: Slicer) -> list[str]:
    """The key fields that are neither times nor multi-valued."""
    return [f.name for f in slicer.key_fields if not f.is_segmented and f.name not in TIME_KEY_FIELDS]


@lru_cache(maxsize=4096)
def usefulness(name: str) -> int:
    """The rank of a key field by the parts of its name; lower is more useful."""
    parts = {part.removesuffix("_id") for part in name.lower().split(".")[-2:]}
    return next((rank for rank, part in enumerate(USEFUL_KEYS) if part in parts), len(USEFUL_KEYS))


def own_cards_text(context: RequestContext) -> str:
    """The leaderboards that the person chose, as in a link; empty without any, or if the database fails."""
    try:
        return context.clients.view_store.cards.get(context.project, context.slicer_name)
    except TrancheError as error:
        log.warning("The choice of leaderboards could not be read: %s", error.reason)
        return ""
