"""Names shared by the parts of the screen Deals: the URL parameter and session keys."""

import re

import streamlit as st

from lib.ui.deals.rows import KINDS
from lib.ui.kit import notes

OPEN, SAID = "open", notes.SAID
FIND, KIND, FILTER, ALSO = "find", "deals_kind", "deals_{}", "also_{}"
CSV_MENU = "deals_csv_menu"
PLURALS = {entity: f"{word}s" for entity, word in KINDS.items()}
ADDRESS = re.compile(r"(supply_deals|demand_deals)-([1-9][0-9]{0,15})")


def opened() -> tuple[str, int] | None:
    """The package or deal that is open, by the URL."""
    match = ADDRESS.fullmatch(st.query_params.get(OPEN, ""))
    return (match[1], int(match[2])) if match else None
