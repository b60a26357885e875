"""The settings of deal sync: what the documents of deals say of the seller's side."""

from typing import Annotated

from pydantic import Field

from lib.settings.connected import Connecting

DOMAIN = r"^$|^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$"
DEMO = "tranche.example"
Domain = Annotated[str, Field(pattern=DOMAIN)]


class Syncing(Connecting):
    """The settings of deal sync."""

    deal_sync_origin: Domain = Field(
        default="",
        description="Domain of the system that receives the bids for the deals, like `ssp.example`; empty: "
        f"no deal sync (the demo says `{DEMO}`).",
    )
    deal_sync_seller: Domain = Field(
        default="", description="Domain of the business that sells the deals, for deal sync."
    )
    deal_sync_curator: Domain = Field(
        default="", description="Domain of the business that curates the packages, for deal sync."
    )
    deal_sync_price_type: int = Field(
        default=0,
        ge=0,
        description="How the deals are priced, in the numbers of deal sync: 0 as each bid request says, 1 "
        "first price, 2 second price, 3 fixed price.",
    )

    @property
    def sync_origin(self) -> str:
        """The origin of the documents; empty where there are none."""
        return self.deal_sync_origin or (DEMO if self.demo else "")
