"""The fields of a supply package that can be changed, as widgets."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import streamlit as st

from lib.deals.models import MEDIA_TYPES
from lib.ui.deals import abilities, catalogue, facts, links
from lib.ui.deals.edits import Fields, targeting
from lib.ui.deals.names import deal_label
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.frame import Here
from lib.ui.package.words import OFFSETS, offset
from lib.ui.targeting import picker
from lib.ui.targeting.kinds import elements

SWITCHES = ("is_active", "is_dynamic_bidding", "is_true_price_opt_enable")
PLAIN = ("name", "media_type", *SWITCHES)
DATES = ("start_date", "end_date")
KNOWN = "known_fields"


def fill(prefix: str, fields: Fields) -> None:
    """Let the widgets show these fields; dates as they are said in the zone of the start."""
    state = st.session_state
    for name in PLAIN:
        if name in fields:
            state[prefix + name] = fields[name]
    start: datetime = fields.get("start_date") or datetime.now(UTC)
    zone = timezone(start.utcoffset() or timedelta(0))
    state[f"{prefix}zone"] = int((start.utcoffset() or timedelta(0)).total_seconds() // 60)
    for name in DATES:
        moment: datetime | None = fields.get(name)
        state[prefix + name] = None if moment is None else moment.astimezone(zone).replace(tzinfo=None)
    if "demand_deals" in fields:
        state[f"{prefix}demand_deals"] = [one["id"] for one in fields["demand_deals"]]
    state[f"{prefix}{KNOWN}"] = frozenset(fields)
    picker.fill(f"{prefix}target", targeting(fields))


def read(here: Here, prefix: str) -> Fields:
    """The fields that the widgets show."""
    state = st.session_state
    zone = timezone(timedelta(minutes=state[f"{prefix}zone"]))
    dates: dict[str, Any] = {
        name: None if state[prefix + name] is None else state[prefix + name].replace(tzinfo=zone)
        for name in DATES
    }
    return {
        **{name: state[prefix + name] for name in PLAIN if prefix + name in state},
        **dates,
        **elements(picker.read(f"{prefix}target", catalogue.named_lists(here))),
        "demand_deals": [{"id": one} for one in sorted(state.get(f"{prefix}demand_deals", ()))],
    }


def draw(here: Here, prefix: str, problems: FieldProblems) -> None:
    """The widgets, each with what is wrong with it; none for what the service does not tell."""
    state, known = st.session_state, st.session_state[f"{prefix}{KNOWN}"]
    st.text_input("Name", key=f"{prefix}name", persist_state="session", max_chars=200)
    beside(problems.at("name"))
    if "media_type" in known:
        media_types = dict.fromkeys([*MEDIA_TYPES, state[f"{prefix}media_type"]])
        st.segmented_control(
            "Media type", list(media_types), format_func=str.capitalize, key=f"{prefix}media_type",
            required=True, persist_state="session",
        )  # fmt: skip
        beside(problems.at("media_type"))
    _dates(prefix, problems)
    with st.container(horizontal=True):
        for name in SWITCHES:
            if name in known:
                st.toggle(facts.title(name), key=prefix + name, persist_state="session")
    beside(text for name in SWITCHES for text in problems.at(name))
    st.markdown("Targeting")
    query, lists = catalogue.usual_days(here), catalogue.named_lists(here)
    offer = picker.Offer(frozenset(known), takes_ids=not abilities.of(here).lists)
    picker.draw(here, query, f"{prefix}target", lists, problems, offer)
    if "demand_deals" in known:
        _deals(here, prefix, problems)


def _deals(here: Here, prefix: str, problems: FieldProblems) -> None:
    deals = {deal.id: deal_label(deal) for deal in catalogue.deals(here) if deal.id is not None}
    links.choose("Deals", f"{prefix}demand_deals", deals, "Deal")
    beside(problems.at("demand_deals"))


def _dates(prefix: str, problems: FieldProblems) -> None:
    start, end, zone = st.columns([2, 2, 1], vertical_alignment="top")
    with start:
        st.datetime_input(
            "Start", value=None, key=f"{prefix}start_date", format="YYYY-MM-DD", persist_state="session"
        )
        beside(problems.at("start_date"))
    with end:
        st.datetime_input(
            "End", value=None, key=f"{prefix}end_date", format="YYYY-MM-DD", persist_state="session"
        )
        beside(problems.at("end_date"))
    with zone:
        offsets = sorted({*OFFSETS, st.session_state[f"{prefix}zone"]})
        st.selectbox("Time zone", offsets, format_func=offset, key=f"{prefix}zone", persist_state="session")
