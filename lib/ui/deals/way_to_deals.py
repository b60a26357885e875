"""The way from a question about one deal or one package to its drawer in Deals."""

import streamlit as st

from lib.reporting.models import AudienceQuery
from lib.ui.deals import report
from lib.ui.deals.rows import KINDS
from lib.ui.kit import screens
from lib.ui.kit.frame import PageContext
from lib.ui.query import question

LONGEST_ID = 15
ENTITIES = {report.DEAL: "demand_deals", report.PACKAGE: "supply_deals"}


def draw(context: PageContext) -> None:
    """Draw a link for the one deal that the question keeps, else for the one package."""
    if not (context.now().deals.reads and report.tells_deals(context.slicer)):
        return
    query = question.current(context)
    for name, entity in ENTITIES.items():
        if (number := only(query, name)) is not None:
            st.page_link(
                screens.DEALS,
                label=f"Open {KINDS[entity].lower()}",
                icon=":material/handshake:",
                help="Its delivery, its health and what can be changed, in Deals",
                query_params={"deals_kind": f"{KINDS[entity]}s", "open": f"{entity}-{number}"},
            )
            return


def only(query: AudienceQuery, name: str) -> int | None:
    """The one id that the filters keep of this key field; None where they keep others, or any."""
    filters = [one for one in query.filters if one.name == name]
    if len(filters) != 1 or filters[0].match != "equals" or len(filters[0].value) != 1:
        return None
    text = filters[0].value[0]
    is_id = text.isascii() and text.isdigit() and len(text) <= LONGEST_ID and text[0] != "0"
    return int(text) if is_id else None
