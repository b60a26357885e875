"""The widgets of a package's or a deal's fields that can be changed; `prefix` begins their keys.

Beside a deal's price: what wins cost in each of its packages, and where the price is. It is computed in the
background, over the same days as the deal's health, so that the two agree.
"""

from collections.abc import Sequence

import streamlit as st

from lib.deals import fields
from lib.deals.fields import DEALS, SUPPLY, TERMS
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.targeting.filters import report_filters
from lib.figures.deals import field_text
from lib.ui.deals import catalog
from lib.ui.deals.changes import confirmations, merge
from lib.ui.deals.changes.confirmations import Point
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.forms import entity_form, inputs
from lib.ui.deals.forms.draft import Draft
from lib.ui.deals.forms.entity_form import LINKS, EntityForm, Fields
from lib.ui.deals.forms.inputs import Faults, Look
from lib.ui.deals.id_picker import draw_seat
from lib.ui.deals.insight import report, seat_guide, supply_path
from lib.ui.deals.insight.seat_guide import SeatPrice
from lib.ui.deals.targeting import pending
from lib.ui.deals.targeting.picker import TargetingPicker
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors

MAIN_FIELDS = ("name", "price", *fields.writable(DEALS, fields.SWITCH), *TERMS)
OTHERS = tuple(name for name in fields.writable(DEALS) if name not in MAIN_FIELDS)
NAMES, OLD_NAME = "form_names", "old_name"
MOST, NO_SEAT = 3, 0


def begin(prefix: str, entity: str, values: Fields) -> None:
    """Fill the widgets with these fields; missing ones have none."""
    entity_form.fill_from(prefix, entity, values)
    st.session_state.update({prefix + NAMES: frozenset(values), prefix + OLD_NAME: values.get("name") or ""})


def as_draft(form: EntityForm) -> Draft:
    """The widgets of a package as the draft of a new one, for an edit whose package is gone."""
    deal_ids = tuple(sorted(st.session_state.get(f"{form.prefix}demand_deals", ())))
    return Draft(
        values=form.contents,
        zone=form.zone,
        targeting=form.targeting,
        deals="existing" if deal_ids else "none",
        links=deal_ids,
        pending=pending.pending(f"{form.prefix}target"),
    )


def questions(form: EntityForm, key: Key, base: Fields, faults: Faults) -> list[Point]:
    """What has to be confirmed of what was changed, as far as it can be read."""
    edits = merge.edited_fields(base, form.read())
    readable = {name: value for name, value in edits.items() if (name,) not in faults.wrong}
    slips = confirmations.pasted_currency(form.context, form.contents) if form.entity == DEALS else []
    return [*(confirmations.of_edit(form.context, key, base, readable) if readable else ()), *slips]


def draw(form: EntityForm, key: Key, problems: FieldProblems) -> None:
    """Draw the widgets, each with its error; none for fields that the service does not return."""
    context, prefix = form.context, form.prefix
    names: frozenset[str] = st.session_state[prefix + NAMES]
    if form.entity == SUPPLY:
        form.draw_package(problems, names, st.session_state[prefix + OLD_NAME])
        st.markdown("Targeting")
        TargetingPicker(context, f"{prefix}target").draw(problems, names)
        supply_path.draw_lists(context, form.targeting)
    else:
        state = st.session_state
        if "name" in names:
            form.draw_field("name", problems)
        if "seat" in names:
            with st.container():
                draw_seat(catalog.seats(context), f"{prefix}seat")
                beside(problems.at("seat"))
        amount, sync = st.columns(2, vertical_alignment="bottom")
        if "price" in names:
            with amount:
                money = field_text.prices_of(context).of(state.get(f"{prefix}currency"))
                form.draw_field("price", problems, Look(money.title))
        with sync, st.container(horizontal=True):
            for name in fields.writable(DEALS, fields.SWITCH):
                if name in names:
                    form.draw_field(name, problems)
        if "price" in names:
            packages = state.get(f"{prefix}supply_deals", ())
            seat, typed_price = state.get(f"{prefix}seat"), inputs.value("price", state[f"{prefix}price"])
            with st.container():  # what comes and goes in it moves no field below
                terms = {name: state.get(f"{prefix}{name}") for name in TERMS}
                of_seat = seat_guide.seat_price(context, typed_price, terms)
                _draw_guides(context, key[1], seat, of_seat, packages)
        form.draw_terms(problems, [name for name in TERMS if name in names])
        for name in OTHERS:
            if name in names:
                form.draw_field(name, problems)
    link = LINKS[form.entity]
    if prefix + link in st.session_state:
        model = DemandDeal if form.entity == SUPPLY else SupplyPackage
        catalog.draw_link_picker(context, field_text.title(link), prefix + link, model)
        beside(problems.at(link))


def _draw_guides(
    context: PageContext, deal: int, seat: int | None, price: SeatPrice, packages: Sequence[int]
) -> None:
    """Draw what wins cost in each package, with what it is computed from; nothing without packages.

    Wins of the deal itself are left out.
    """
    if not packages:
        return
    with report_errors("What wins cost", effect="What you typed is kept."):
        sold_in = report.of_deals(context) or context
        own = next(iter(catalog.by_id(context, DemandDeal, [deal])), None)
        lists = catalog.list_entries(context)
        for number, package in enumerate(catalog.by_id(context, SupplyPackage, packages[:MOST])):
            translation = report_filters(package, sold_in.slicer, lists, package.media_type)
            title = f"{package.name or f'Package {package.id}'}: " if len(packages) > 1 else ""
            prices = {seat or NO_SEAT: price}
            guide = seat_guide.of(sold_in, f"change_prices_{number}", translation, prices, own)
            for sentence in guide.by_seat.values():
                st.caption(plain(f"{title}{sentence}"))
            left_out = f"Not counted in: {' '.join(translation.left_out)}" if translation.left_out else ""
            seat_guide.draw_note(guide, left_out)
        if len(packages) > MOST:
            st.caption(
                f":material/info: What wins cost is shown for the first {MOST} of {len(packages)} packages."
            )
