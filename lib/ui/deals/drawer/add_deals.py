"""Deals that are added to a package: the form in its drawer, and their creation, all or none."""

from collections.abc import Collection
from functools import partial
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.abilities import Abilities
from lib.deals.models import PackageOrDeal, SupplyPackage
from lib.ui.deals import catalog
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.creation import CreationPlan, deal_creations
from lib.ui.deals.changes.creation_form import CreationForm
from lib.ui.deals.counts import count_label
from lib.ui.deals.forms.draft import NEW, fault_labels
from lib.ui.deals.forms.seat_rows import SeatRows
from lib.ui.kit import notes
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.wire.errors import Invalid


def is_offered(entity: PackageOrDeal, does: Abilities) -> bool:
    """Whether deals can be added to this package."""
    may_create = not does.why_not("demand_deals", "create") and not does.why_not("supply_deals", "change")
    return isinstance(entity, SupplyPackage) and may_create and does.finds and does.repeats


def draw(context: PageContext, package: PackageOrDeal) -> None:
    """Draw the form. The input is kept until the deals are created."""
    if not isinstance(package, SupplyPackage):
        return
    form = _form(package)
    form.begin()
    rows = SeatRows(context, form.prefix)
    deals, seats = rows.read(), catalog.seats(context)
    faults = deals.faults(bool(catalog.abilities(context).fees))
    paths = {*faults.all} if form.is_tried else {*faults.wrong, *rows.cleared_places()}
    problems = form.problems.still({NEW: deals.request().body()}) if form.problems else form.problems
    problems = problems.with_({path: text for path, text in faults.all.items() if path in paths})
    rows.draw(problems)
    beside(problems.others([(NEW,)]))
    form.confirm(confirmations.of_new_deals(context, package, deals), "added")
    form.draw_failure()
    st.button(
        f"Add {count_label('deal', len(deals.seats))}" if deals.seats else "Add deals", type="primary",
        key=f"{form.prefix}add", disabled=not deals.seats, on_click=add, args=(context, package),
    )  # fmt: skip
    if form.is_tried and faults.all:
        beside([f"Not added. To fix: {', '.join(fault_labels(faults, deals, seats))}."])


def add(context: PageContext, package: SupplyPackage) -> None:
    """Create the deals, only once for the same input. A callback."""
    form = _form(package)
    rows = SeatRows(context, form.prefix)
    deals = rows.read()
    if not deals.seats or not form.may_create():
        return  # the second click of a double click: the first one has created them
    is_wrong = deals.faults(bool(catalog.abilities(context).fees)).all
    questions = confirmations.of_new_deals(context, package, deals)
    if is_wrong or not confirmations.is_confirmed(questions, form.prefix):
        return
    request = deals.request()
    creations = deal_creations(package, request, catalog.seats(context))
    common = {*fields.TERMS} - {*rows.columns}
    plan = form.create(
        context, f"Added to {package.name or f'package {package.id}'}", creations, {NEW: request.body()},
        in_form=partial(_in_rows, len(creations), common),
    )  # fmt: skip
    if plan is not None:
        form.clear()
        notes.say(f"{count_label('deal', len(deals.seats))} added")


def _in_rows(count: int, common: Collection[str], plan: CreationPlan, error: Invalid) -> Invalid:
    """What is wrong with some of the deals at its place in the form: a row, or one of the terms `common`."""
    line = plan.failed.line if plan.failed is not None else 1
    by_row = {str(line - 1): error.fields}
    if all(name.isdecimal() for name in error.fields):  # several were sent at once
        by_row = error.fields
    rows: list[dict[str, Any]] = [{} for _ in range(count)]
    for_all: dict[str, Any] = {}
    for row, fields_of_row in by_row.items():
        for name, part in fields_of_row.items():
            (for_all if name in common else rows[int(row)])[name] = part
    return Invalid({NEW: {"demand_deals_options": rows, **for_all}})


def _form(package: SupplyPackage) -> CreationForm:
    return CreationForm(f"add-{package.id or 0}-")
