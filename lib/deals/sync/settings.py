"""The seller's side of deal sync, as the settings describe it."""

from lib.deals.sync.documents import SellingSide
from lib.settings import Settings


def selling_side(settings: Settings) -> SellingSide:
    """What the documents say of the seller's side."""
    return SellingSide(
        origin=settings.sync_origin,
        seller=settings.deal_sync_seller,
        curator=settings.deal_sync_curator,
        currency=settings.price_currency,
        price_unit=settings.price_unit,
        price_type=settings.deal_sync_price_type,
        usual_price=settings.price_type,
    )
