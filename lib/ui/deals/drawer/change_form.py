"""The widgets of a package's or a deal's fields that can be changed; `prefix` begins their keys.

Beside a deal's price: what wins cost in each of its packages, and where the price is. It is computed in the
background, over the same days as the deal's health, so that the two agree.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import streamlit as st

from lib.deals import doubts, fields
from lib.deals.fields import DEALS, SUPPLY, TERMS
from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight.filters import Translation, entries, report_filters
from lib.insight.kinds import elements
from lib.insight.seat_prices import SeatPrice
from lib.ui.deals import catalog, facts
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.merge import Fields, targeting
from lib.ui.deals.drawer import supply_path
from lib.ui.deals.forms import form_fields, inputs
from lib.ui.deals.forms.draft import PLAIN, Draft
from lib.ui.deals.forms.form_fields import ZONE
from lib.ui.deals.forms.inputs import FEE, Look
from lib.ui.deals.insight import report, seat_guide
from lib.ui.deals.insight.seat_guide import GuidePlace
from lib.ui.deals.targeting import pending, picker
from lib.ui.kit.field_problems import FieldProblems, Path, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors

LINKS = {SUPPLY: "demand_deals", DEALS: "supply_deals"}
MAIN_FIELDS = ("name", "price", *fields.writable(DEALS, fields.SWITCH), *TERMS)
OTHERS = tuple(name for name in fields.writable(DEALS) if name not in MAIN_FIELDS)
NAMES, OLD_NAME, TARGET = "form_names", "old_name", "target"
MOST, NO_SEAT = 3, 0


def fill(prefix: str, entity: str, values: Fields) -> None:
    """Fill the widgets with these fields; missing ones have none. Dates are in the zone of the start."""
    state = st.session_state
    start = values.get("start_date")
    shift = (start.utcoffset() if isinstance(start, datetime) else None) or timedelta(0)
    for name in fields.writable(entity):
        if name in values:
            one = values[name]
            local = one.astimezone(timezone(shift)) if isinstance(one, datetime) else one
            state[prefix + name] = inputs.widget_value(name, local)
    if LINKS[entity] in values:
        state[prefix + LINKS[entity]] = [one["id"] for one in values[LINKS[entity]]]
    state[prefix + NAMES], state[prefix + OLD_NAME] = frozenset(values), values.get("name")
    if entity == SUPPLY:
        state[prefix + ZONE] = int(shift.total_seconds() // 60)
        picker.fill(prefix + TARGET, targeting(values))
    elif "seat" in values:
        state[f"{prefix}seat"] = values["seat"]["id"]


def read(context: PageContext, prefix: str, entity: str) -> Fields:
    """The fields in the widgets, as in a PUT request."""
    state, zone = st.session_state, _zone(prefix)
    request: dict[str, Any] = {
        name: inputs.request_value(name, one, zone) for name, one in _widget_values(prefix, entity).items()
    }
    if (link_ids := state.get(prefix + LINKS[entity])) is not None:
        request[LINKS[entity]] = [{"id": one} for one in sorted(link_ids)]
    if entity == SUPPLY:
        return {**request, **elements(picker.read(prefix + TARGET, catalog.named_lists(context)))}
    return request | ({"seat": {"id": state[f"{prefix}seat"]}} if f"{prefix}seat" in state else {})


def as_draft(context: PageContext, prefix: str) -> Draft:
    """The widgets of a package as the draft of a new one, for an edit whose package is gone."""
    state = st.session_state
    deal_ids = tuple(sorted(state.get(f"{prefix}demand_deals", ())))
    return Draft(
        values={name: state[prefix + name] for name in PLAIN if prefix + name in state},
        offset=state[prefix + ZONE],
        targeting=picker.read(prefix + TARGET, catalog.named_lists(context)),
        deals="existing" if deal_ids else "none",
        links=deal_ids,
        pending=pending.pending(prefix + TARGET),
    )


def wrong(context: PageContext, prefix: str, entity: str, base: Fields) -> dict[Path, str]:
    """The errors by field. Fields that were empty before may stay empty, and an old name as it is."""
    typed_values = _widget_values(prefix, entity)
    if not catalog.abilities(context).fees:
        typed_values.pop(FEE, None)
    sentences = inputs.faults(typed_values)
    if typed_values.get("name") == base.get("name"):  # an older name may have what a new one may not
        sentences.pop("name", None)
    for name, sentence in inputs.MISSING.items():
        if name in typed_values and base.get(name) is not None and not typed_values[name].strip():
            sentences[name] = sentence
    if waiting := pending.tasks(prefix + TARGET) if entity == SUPPLY else []:
        sentences["targeting"] = f"Not added yet. {', '.join(waiting)}."
    return {(name,): sentence for name, sentence in sentences.items()}


def doubt(context: PageContext, prefix: str, entity: str, base: Fields) -> str:
    """Why a changed price or end has to be confirmed; empty for usual ones."""
    state, zone = st.session_state, _zone(prefix)
    if entity == SUPPLY:
        end = inputs.value("end_date", state.get(f"{prefix}end_date"), zone)
        return doubts.dates(end) if end != base.get("end_date") else ""
    price, before = inputs.value("price", state.get(f"{prefix}price")), base.get("price")
    if price is None or price == before:
        return ""
    packages = [] if before else catalog.by_id(context, SupplyPackage, state.get(f"{prefix}supply_deals", ()))
    doubt = confirmations.PriceGuard(context).doubt(
        price, before=before, seat=state.get(f"{prefix}seat"), packages=[*packages]
    )
    return confirmations.with_unit(context, doubt)


def draw(context: PageContext, prefix: str, entity: str, problems: FieldProblems) -> None:
    """Draw the widgets, each with its error; none for fields that the service does not return."""
    names: frozenset[str] = st.session_state[prefix + NAMES]
    if entity == SUPPLY:
        form_fields.draw_package_fields(context, prefix, problems, names, st.session_state[prefix + OLD_NAME])
        st.markdown("Targeting")
        query, lists = catalog.usual_days(context), catalog.named_lists(context)
        offer = picker.PickerOffer(names, takes_ids=not catalog.abilities(context).lists)
        picker.draw(context, query, prefix + TARGET, lists, problems, offer)
        supply_path.draw_lists(context, picker.read(prefix + TARGET, lists))
        _draw_links(context, prefix, "Deals", entity, DemandDeal, problems)
    else:
        _draw_deal(context, prefix, names, problems)
        _draw_links(context, prefix, "Packages", entity, SupplyPackage, problems)


def _draw_deal(context: PageContext, prefix: str, names: frozenset[str], problems: FieldProblems) -> None:
    def one(name: str, look: Look = inputs.USUAL) -> None:
        if name in names:
            inputs.draw_with_faults(name, prefix + name, problems.at(name), look)

    one("name")
    if "seat" in names:
        _draw_seat(context, prefix, problems)
    amount, sync = st.columns(2, vertical_alignment="bottom")
    with amount:
        one("price", Look(facts.prices_of(context).title))
    with sync, st.container(horizontal=True):
        for name in fields.writable(DEALS, fields.SWITCH):
            one(name)
    if "price" in names:
        state = st.session_state
        packages = state.get(f"{prefix}supply_deals", ())
        seat, price = state.get(f"{prefix}seat"), inputs.value("price", state[f"{prefix}price"])
        with st.container():  # what comes and goes in it moves no field below
            of = SeatPrice(price, seat_guide.is_fixed(context, state.get(f"{prefix}price_type")))
            _draw_guides(context, _deal_of(prefix), seat, of, packages)
    form_fields.draw_terms(context, prefix, problems, [name for name in TERMS if name in names])
    for name in OTHERS:
        one(name)


def _draw_seat(context: PageContext, prefix: str, problems: FieldProblems) -> None:
    seats, seat_id = catalog.seats(context), st.session_state[f"{prefix}seat"]
    with st.container():
        st.selectbox(
            "Seat",
            list(dict.fromkeys([*seats, *([] if seat_id is None else [seat_id])])),
            index=None,
            format_func=lambda seat: form_fields.seat_label(seats.get(seat), seat),
            key=f"{prefix}seat",
            persist_state="session",
            filter_mode="contains",
        )
        beside(problems.at("seat"))


def _draw_links(
    context: PageContext,
    prefix: str,
    label: str,
    entity: str,
    model: type[SupplyPackage] | type[DemandDeal],
    problems: FieldProblems,
) -> None:
    name = LINKS[entity]
    if prefix + name in st.session_state:
        catalog.choose_links(context, label, prefix + name, model)
        beside(problems.at(name))


def _deal_of(prefix: str) -> int | None:
    """The id of the deal that a form is of: the last number of its prefix."""
    number = prefix.rstrip("-").rpartition("-")[2]
    return int(number) if number.isdecimal() else None


def _draw_guides(
    context: PageContext, deal: int | None, seat: int | None, price: SeatPrice, packages: Sequence[int]
) -> None:
    """Draw what wins cost in each package, with what it is computed from; nothing without packages.

    Wins of the deal itself are left out.
    """
    if not packages:
        return
    with report_errors("What wins cost", effect="What you typed is kept."):
        sold_in = report.of_deals(context) or context
        own = None if deal is None else next(iter(catalog.by_id(context, DemandDeal, [deal])), None)
        lists = entries(catalog.lists(context))
        for place, package in enumerate(catalog.by_id(context, SupplyPackage, packages[:MOST])):
            translation = report_filters(package, sold_in.slicer, lists, package.media_type)
            title = f"{package.name or f'Package {package.id}'}: " if len(packages) > 1 else ""
            where = GuidePlace(f"change_prices_{place}", own)
            _draw_guide(sold_in, where, translation, {seat or NO_SEAT: price}, title)
        if len(packages) > MOST:
            st.caption(
                f":material/info: What wins cost is shown for the first {MOST} of {len(packages)} packages."
            )


def _draw_guide(
    context: PageContext,
    where: GuidePlace,
    translation: Translation,
    prices: dict[int, SeatPrice],
    title: str,
) -> None:
    """Draw the guide of one package."""
    guide = seat_guide.of(context, where, translation, prices, facts.prices_of(context))
    for sentence in guide.by_seat.values():
        st.caption(plain(f"{title}{sentence}"))
    left_out = f"Not counted in: {' '.join(translation.left_out)}" if translation.left_out else ""
    seat_guide.draw_note(guide, left_out)


def _widget_values(prefix: str, entity: str) -> dict[str, Any]:
    """What the widgets of the plain fields hold."""
    state = st.session_state
    return {name: state[prefix + name] for name in fields.writable(entity) if prefix + name in state}


def _zone(prefix: str) -> timezone:
    minutes = st.session_state.get(prefix + ZONE)
    return UTC if minutes is None else timezone(timedelta(minutes=minutes))
