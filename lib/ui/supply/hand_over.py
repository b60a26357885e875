"""What a buyer needs of a package's deals: the deal id of each seat, as text to copy and as CSV."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from lib.deals.models import SupplyPackage
from lib.ui.frame import copying
from lib.ui.supply import facts
from lib.ui.supply.prices import Prices, amount
from lib.ui.supply.rows import DealRow, safe

NO_DEAL_ID = "This service returns no deal ids, so the numbers are those of the deals in the service."


def draw(package: SupplyPackage, deals: Sequence[DealRow], money: Prices) -> None:
    """Draw the text with its copy button, and the download; once per screen."""
    copying.draw(text(package, deals, money))
    if not any(one.deal_id for one in deals):
        st.caption(NO_DEAL_ID)
    st.download_button(
        "CSV for the buyer",
        data=partial(csv, package, deals, money),
        file_name=f"package-{package.id}-deals.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="hand_over_csv",
    )


def text(package: SupplyPackage, deals: Sequence[DealRow], money: Prices) -> str:
    """The package, when it runs, and a line for each deal: seat, deal id and price."""
    head = f"{package.name or f'Package {package.id}'} ({package.media_type or 'any media'})"
    return "\n".join([head, facts.span(package), "", *(_line(one, money) for one in deals)])


def csv(package: SupplyPackage, deals: Sequence[DealRow], money: Prices) -> bytes:
    """A row for each deal: times with their offset, nothing that a spreadsheet would run."""
    start, end = (at.isoformat(sep=" ") if at else "" for at in (package.start_date, package.end_date))
    data = [
        {
            "Seat": "; ".join(one.seats),
            "DSP": "; ".join(one.dsps),
            "Deal id": _number(one),
            "Deal": one.name,
            money.title: amount(one.prices[0]).replace(",", "") if one.prices else "",
            "Status": one.status,
            "Package": package.name or "",
            "Media type": package.media_type or "",
            "Start": start,
            "End": end,
        }
        for one in deals
    ]
    frame = pd.DataFrame([{name: safe(value) for name, value in row.items()} for row in data])
    return frame.to_csv(index=False, lineterminator="\r\n").encode()


def _line(deal: DealRow, money: Prices) -> str:
    """`Bluebird (Alder Bidder): TR-7EN1-W6ZZ-2TY2, 2.50 USD CPM`."""
    dsp = f" ({deal.dsps[0]})" if deal.dsps else ""
    price = f", {amount(deal.prices[0])} {money.terms}".rstrip() if deal.prices else ""
    return f"{', '.join(deal.seats)}{dsp}: {_number(deal)}{price}"


def _number(deal: DealRow) -> str:
    """The deal id; where the service returns none, the number of the deal."""
    return deal.deal_id or str(deal.id)
