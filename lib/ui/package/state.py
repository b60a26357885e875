"""The form's state: what the widgets hold, as a draft; a draft, put into the widgets."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import streamlit as st

from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.field_problems import FieldProblems
from lib.ui.package import seats
from lib.ui.package.draft import Draft, Terms
from lib.ui.targeting import picker
from lib.ui.targeting.picker import NamedLists

PREFIX = "np_"
TARGETING = "np_target"
NAME, MEDIA, START, END, ZONE = "np_name", "np_media", "np_start", "np_end", "np_zone"
ACTIVE, DYNAMIC, TRUE_PRICE = "np_active", "np_dynamic", "np_true_price"
DEALS, LINKS, FEE_TYPE, FEE, EMAIL = "np_deals", "np_links", "np_fee_type", "np_fee", "np_email"
KEY, PROBLEMS, FAILURE, CREATED = "np_idempotency_key", "np_problems", "np_failure", "np_created"
ASKED, SURE = "np_asked", "np_sure"


def begin() -> None:
    """Start an empty form where there is none yet: with its key, so that it creates one package at most."""
    if KEY not in st.session_state:
        fill(Draft(media_type="banner", start=_tomorrow(), offset=browser_offset()))


def fill(draft: Draft) -> None:
    """A new form that says what the draft says."""
    clear()
    st.session_state.update(
        {
            KEY: str(uuid.uuid4()),
            NAME: draft.name,
            MEDIA: draft.media_type,
            START: draft.start,
            END: draft.end,
            ZONE: draft.offset,
            ACTIVE: draft.is_active,
            DYNAMIC: draft.is_dynamic_bidding,
            TRUE_PRICE: draft.is_true_price_opt_enable,
            DEALS: draft.deals,
            LINKS: list(draft.links),
            FEE_TYPE: draft.fee_type,
            FEE: None if draft.fee is None else float(draft.fee),
            EMAIL: draft.contact_email,
            seats.CHOSEN: list(draft.seats),
            seats.TERMS: dict(draft.seats),
        }
    )
    picker.fill(TARGETING, draft.targeting)


def clear() -> None:
    """Forget the form."""
    for key in [key for key in st.session_state if str(key).startswith(PREFIX)]:
        del st.session_state[key]


def read(lists: NamedLists) -> Draft:
    """What the form says; `lists` names domain and app lists by kind and id."""
    state = st.session_state
    fee = state.get(FEE)
    return Draft(
        name=state.get(NAME) or "",
        media_type=state.get(MEDIA),
        start=state.get(START),
        end=state.get(END),
        offset=state.get(ZONE) or 0,
        is_active=bool(state.get(ACTIVE)),
        is_dynamic_bidding=bool(state.get(DYNAMIC)),
        is_true_price_opt_enable=bool(state.get(TRUE_PRICE)),
        targeting=picker.read(TARGETING, lists),
        deals=state.get(DEALS) or "none",
        seats=seats.chosen(state),
        fee_type=state.get(FEE_TYPE),
        fee=None if fee is None else Decimal(str(fee)),
        contact_email=state.get(EMAIL) or "",
        links=tuple(state.get(LINKS, ())),
    )


def problems(draft: Draft) -> FieldProblems:
    """What the service said is wrong, as far as it has not been changed since."""
    said: FieldProblems = st.session_state.get(PROBLEMS) or FieldProblems()
    return said.still(draft.package().sent()) if said else said


def copy_of(package: SupplyPackage, deals: Sequence[DemandDeal]) -> Draft:
    """A draft like a package that is there, with new deals for the seats of its own, on the same terms."""
    start = package.start_date or datetime.now(UTC)
    offset = start.utcoffset() or timedelta(0)
    local, first = timezone(offset), next(iter(deals), DemandDeal())
    return Draft(
        name=f"{package.name} (copy)",
        media_type=package.media_type,
        start=max(start, datetime.now(UTC)).astimezone(local).replace(tzinfo=None, microsecond=0, second=0),
        end=None if package.end_date is None else package.end_date.astimezone(local).replace(tzinfo=None),
        offset=int(offset.total_seconds() // 60),
        is_active=bool(package.is_active),
        is_dynamic_bidding=bool(package.is_dynamic_bidding),
        is_true_price_opt_enable=bool(package.is_true_price_opt_enable),
        targeting=package,
        deals="new" if deals else "none",
        seats={
            deal.seat.id: Terms(deal.price, bool(deal.deal_sync))
            for deal in deals
            if deal.seat is not None and deal.seat.id is not None
        },
        fee_type=first.agency_curation_fee_type,
        fee=first.agency_curation_fee,
        contact_email=first.contact_email or "",
    )


def browser_offset() -> int:
    """Minutes east of UTC, where the reader's clock stands now."""
    return -(st.context.timezone_offset or 0)


def _tomorrow() -> datetime:
    zone = timezone(timedelta(minutes=browser_offset()))
    day = datetime.now(zone).replace(tzinfo=None) + timedelta(days=1)
    return day.replace(hour=0, minute=0, second=0, microsecond=0)
