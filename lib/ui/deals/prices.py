"""Units of prices and fees, shown once in the title of a column or field, not beside every figure."""

from dataclasses import dataclass
from decimal import Decimal

from lib.deals.models import CPM, FEE_TYPES, FLAT, NO_FEE, PERCENT
from lib.ui.kit.frame import PageContext

BY_CPM = "CPM"


@dataclass(frozen=True)
class Prices:
    """The currency of prices and fees, and what a price is for."""

    currency: str = "USD"
    unit: str = "CPM"

    @property
    def terms(self) -> str:
        """`USD CPM`."""
        return f"{self.currency} {self.unit}".strip()

    @property
    def title(self) -> str:
        """`Price, USD CPM`: the header of a column, the label of a field."""
        return f"Price, {self.terms}" if self.terms else "Price"

    def fee(self, size: Decimal | None, fee_type: int) -> str:
        """`12.5 % of spend`, `5.00 USD CPM`, `undisclosed`."""
        kind = FEE_TYPES.get(fee_type, f"type {fee_type}")
        if size is None or fee_type == NO_FEE:
            return kind
        if fee_type == PERCENT:
            return f"{shortest(size)} % of spend"
        return f"{amount(size)} {self.currency} {kind}".replace("  ", " ")

    def fee_title(self, fee_type: int | None) -> str:
        """The label of a fee's size: `Fee, %`, `Fee, USD CPM`."""
        units = {PERCENT: "%", FLAT: self.currency, CPM: f"{self.currency} CPM".strip()}
        unit = units.get(fee_type or 0, "")
        return f"Fee, {unit}" if unit else "Fee"


USUAL = Prices()


def of(context: PageContext) -> Prices:
    """As the settings have them."""
    return Prices(context.clients.currency, context.clients.price_unit)


def amount(value: Decimal | None) -> str:
    """A price or a fee: at least two decimals, and as many as it has."""
    if value is None:
        return "–"
    whole, _, decimals = shortest(value).partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}"


def shortest(value: Decimal) -> str:
    """A number with marks between thousands and all of its decimals: `1,234.5`."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
