"""The widgets for the fields of a supply package that can be changed."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import streamlit as st

from lib.deals import doubts, fields
from lib.deals.models import MEDIA_TYPES, DemandDeal
from lib.insight.kinds import elements
from lib.ui.deals import catalogue, edits, facts, links, permission
from lib.ui.deals.draft import Draft
from lib.ui.deals.edits import Fields, targeting
from lib.ui.deals.new_package import faults, names
from lib.ui.deals.targeting import picker, typed
from lib.ui.deals.words import OFFSETS, offset
from lib.ui.kit import times
from lib.ui.kit.field_problems import FieldProblems, Path, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

SWITCHES = fields.writable(fields.SUPPLY, fields.SWITCH)
DATES = fields.writable(fields.SUPPLY, fields.MOMENT)
PLAIN = tuple(name for name in fields.writable(fields.SUPPLY) if name not in DATES)
KNOWN, OLD_NAME = "known_fields", "old_name"


def fill(prefix: str, edited: Fields) -> None:
    """Fill the widgets with these fields; dates are shown in the time zone of the start."""
    state = st.session_state
    for name in PLAIN:
        if name in edited:
            state[prefix + name] = edits.held(name, edited[name])
    start: datetime = edited.get("start_date") or datetime.now(UTC)
    zone = timezone(start.utcoffset() or timedelta(0))
    state[f"{prefix}zone"] = int((start.utcoffset() or timedelta(0)).total_seconds() // 60)
    for name in DATES:
        moment: datetime | None = edited.get(name)
        state[prefix + name] = times.typed(moment and moment.astimezone(zone).replace(tzinfo=None))
    if "demand_deals" in edited:
        state[f"{prefix}demand_deals"] = [one["id"] for one in edited["demand_deals"]]
    state[f"{prefix}{KNOWN}"] = frozenset(edited)
    state[f"{prefix}{OLD_NAME}"] = edited.get("name")
    picker.fill(f"{prefix}target", targeting(edited))


def read(context: PageContext, prefix: str) -> Fields:
    """The fields in the widgets."""
    state = st.session_state
    zone = timezone(timedelta(minutes=state[f"{prefix}zone"]))
    dates: dict[str, Any] = {name: _moment(state[prefix + name], zone) for name in DATES}
    return {
        **{name: edits.sent(name, state[prefix + name]) for name in PLAIN if prefix + name in state},
        **dates,
        **elements(picker.read(f"{prefix}target", catalogue.named_lists(context))),
        "demand_deals": [{"id": one} for one in sorted(state.get(f"{prefix}demand_deals", ()))],
    }


def as_draft(context: PageContext, prefix: str) -> Draft:
    """The widgets as the draft of a new package, for an edit whose package is gone."""
    state = st.session_state
    links = tuple(sorted(state.get(f"{prefix}demand_deals", ())))
    return Draft(
        name=state[f"{prefix}name"],
        media_type=state.get(f"{prefix}media_type"),
        start=state[f"{prefix}start_date"],
        end=state[f"{prefix}end_date"],
        offset=state[f"{prefix}zone"],
        is_active=bool(state.get(f"{prefix}is_active", True)),
        is_dynamic_bidding=bool(state.get(f"{prefix}is_dynamic_bidding")),
        is_true_price_opt_enable=bool(state.get(f"{prefix}is_true_price_opt_enable")),
        targeting=picker.read(f"{prefix}target", catalogue.named_lists(context)),
        deals="existing" if links else "none",
        links=links,
        pending=typed.pending(f"{prefix}target"),
    )


def wrong(context: PageContext, prefix: str, base: Fields) -> dict[Path, str]:
    """The errors by field. Fields that were empty before may stay empty."""
    held = {name: st.session_state.get(prefix + name) or "" for name in ("name", *DATES)}
    missing = {"name": "Type a name.", "start_date": "Type the start."}
    found: dict[Path, str] = {
        (name,): missing.get(name, "") if base.get(name) and not held[name].strip() else "" for name in held
    }
    if held["name"] != base.get("name"):  # an older name may have what a new one may not
        found["name",] = found["name",] or faults.name(held["name"])
    for name in DATES:
        found[name,] = found[name,] or times.fault(held[name])
    start, end = (_moment(held[name], UTC) for name in DATES)
    if isinstance(start, datetime) and isinstance(end, datetime) and end <= start:
        found["end_date",] = "The end must be after the start."
    if waiting := typed.unsettled(f"{prefix}target"):
        found["targeting",] = f"Not added yet. {', '.join(waiting)}."
    return {place: text for place, text in found.items() if text}


def doubt(context: PageContext, prefix: str, base: Fields) -> str:
    """Why a changed end has to be confirmed; empty if the package may still deliver."""
    zone = timezone(timedelta(minutes=st.session_state[f"{prefix}zone"]))
    end = _moment(st.session_state[f"{prefix}end_date"], zone)
    return doubts.dates(end) if isinstance(end, datetime) and end != base.get("end_date") else ""


def draw(context: PageContext, prefix: str, problems: FieldProblems) -> None:
    """Draw the widgets, each with its error; none for fields that the service does not return."""
    state, known = st.session_state, st.session_state[f"{prefix}{KNOWN}"]
    st.text_input("Name", key=f"{prefix}name", persist_state="session", max_chars=200)
    beside(problems.at("name"))
    if state[f"{prefix}name"] != state[f"{prefix}{OLD_NAME}"] and (
        same := names.same(context, state[f"{prefix}name"])
    ):
        st.caption(f":orange[:material/warning: {plain(same)}]")
    if "media_type" in known:
        media_types = dict.fromkeys([*MEDIA_TYPES, state[f"{prefix}media_type"]])
        st.segmented_control(
            "Media type", list(media_types), format_func=lambda one: plain(one.capitalize()),
            key=f"{prefix}media_type", required=True, persist_state="session",
        )  # fmt: skip
        beside(problems.at("media_type"))
    _dates(prefix, problems)
    with st.container(horizontal=True, vertical_alignment="center"):
        for name in SWITCHES:
            if name in known:
                st.toggle(plain(facts.title(name)), key=prefix + name, persist_state="session")
        times.calendar({"Start": f"{prefix}start_date", "End": f"{prefix}end_date"}, f"{prefix}calendar")
    beside(text for name in SWITCHES for text in problems.at(name))
    edits.draw(fields.SUPPLY, prefix, problems)
    st.markdown("Targeting")
    query, lists = catalogue.usual_days(context), catalogue.named_lists(context)
    offer = picker.PickerOffer(frozenset(known), takes_ids=not permission.of(context).lists)
    picker.draw(context, query, f"{prefix}target", lists, problems, offer)
    if "demand_deals" in known:
        _deals(context, prefix, problems)


def _deals(context: PageContext, prefix: str, problems: FieldProblems) -> None:
    links.choose(context, "Deals", f"{prefix}demand_deals", DemandDeal)
    beside(problems.at("demand_deals"))


def _dates(prefix: str, problems: FieldProblems) -> None:
    start, end, zone = st.columns([2, 2, 1], vertical_alignment="top")
    with start:
        times.draw("Start", f"{prefix}start_date", problems.at("start_date"))
    with end:
        times.draw("End", f"{prefix}end_date", problems.at("end_date"), empty="no end")
    with zone:
        offsets = sorted({*OFFSETS, st.session_state[f"{prefix}zone"]})
        st.selectbox("Time zone", offsets, format_func=offset, key=f"{prefix}zone", persist_state="session")


def _moment(text: str, zone: tzinfo) -> datetime | str | None:
    """The time in this zone; unreadable text stays as it is."""
    try:
        local = times.read(text or "")
    except ValueError:
        return text
    return None if local is None else local.replace(tzinfo=zone)
