"""Questions before a write: what is valid and probably a slip, and the box that confirms it.

They are asked alike in the forms, in the drawer, of several, of CSV files and of proposals, each a source of
changes; of prices by price_guard.py.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from hashlib import sha256
from typing import Any

import streamlit as st

from lib.deals import doubts
from lib.deals.client import model_of
from lib.deals.doubts import currency_slip, factor
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import SupplyPackage, Targeting
from lib.deals.proposals.models import Proposal
from lib.deals.targeting.kinds import KINDS
from lib.figures import amounts
from lib.figures.deals import deal_report, field_text, targeting_text
from lib.figures.deals.deal_names import seat_name
from lib.figures.deals.targeting_text import Marks
from lib.figures.query import ask
from lib.ui.deals import catalog
from lib.ui.deals.changes.creation import PlannedCreation, deal_creations
from lib.ui.deals.changes.plan import PlannedChange
from lib.ui.deals.changes.price_guard import PriceGuard
from lib.ui.deals.forms.draft import NewDeals
from lib.ui.deals.forms.inputs import FormValues
from lib.ui.deals.list.deal_rows import Key
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
PRICE, CURRENCY, END, UNITS, PACKAGES = "price", "currency", "end_date", "units", "supply_deals"
TERMS, DATES = (PRICE, UNITS, "budget"), ("start_date", END)
COMPARED = (*TERMS, CURRENCY, PACKAGES, "seat")
"""The fields of a deal that questions about a change look at, changed or not."""
MOST_PACKAGES, MOST = 50, 50


def of_changes(context: PageContext, changes: Sequence[PlannedChange]) -> dict[Key, list[str]]:
    """What has to be confirmed of each change: its price and currency, terms at odds with each other or with
    what the targeting had, and an end in the past."""
    creations = [change for change in changes if isinstance(change, PlannedCreation)]
    questions: dict[Key, list[str]] = {change.key: [] for change in changes}
    for key, doubt in _ask_of_creations(context, creations) if creations else ():
        questions[key].append(doubt)
    changes = [change for change in changes if change.is_change and not isinstance(change, PlannedCreation)]
    for change in changes:
        own = questions[change.key]
        if change.after.keys() & {PRICE, CURRENCY}:
            doubt = _of_price(context, change.before, {**change.before, **change.after})
            own += [doubt] if doubt else []
        if not change.after.keys().isdisjoint(TERMS):
            own += doubts.of_terms({**change.before, **change.after})
        if isinstance(end := change.after.get(END), datetime) and (over := doubts.dates(end)):
            own.append(over)
    try:
        for key, sentence in _guarantees(context, changes):
            questions[key].append(sentence)
    except TrancheError as error:  # a question less keeps nobody from saving
        log.warning("Guaranteed impressions could not be compared with the report: %s", error.reason)
    return questions


def _guarantees(context: PageContext, changes: Sequence[PlannedChange]) -> Iterator[tuple[Key, str]]:
    """Guarantees at odds with what the targeting had, each beside the last change of its package.

    Deals that change are taken together by package; where a package's targeting changes, or its days become
    fewer, all of its deals are. Of many packages the first are looked at: each is a question to the report.
    """
    units_of_deal = {
        change.key[1]: change.after[UNITS]
        for change in changes
        if change.key[0] == DEALS and change.after.get(UNITS) is not None
    }
    deals_of_package: dict[int, dict[int, Any]] = {}
    last_key: dict[int, Key] = {}
    for change in changes:
        packages: Sequence[Any] = {**change.before, **change.after}.get(PACKAGES) or ()
        if change.key[1] in units_of_deal and change.key[0] == DEALS and len(packages) == 1:
            number = packages[0].id or 0
            deals_of_package.setdefault(number, {})[change.key[1]] = units_of_deal[change.key[1]]
            last_key[number] = change.key
    moved = {change.key[1]: change for change in changes if change.key[0] == SUPPLY and _leaves_less(change)}
    ids = [*{**deals_of_package, **moved}][:MOST_PACKAGES]
    by_id: dict[int, SupplyPackage] = {}
    for package in catalog.by_id(context, SupplyPackage, ids):
        own = moved.get(package.id or 0)
        after = {**package.model_dump(), **(own.after if own is not None else {})}
        by_id[package.id or 0] = SupplyPackage.model_validate(after)
    moved_packages = [by_id[number] for number in moved if number in by_id]
    for number, deals in catalog.deals_of(context.deals, moved_packages).items() if moved_packages else ():
        guarantees = {deal.id or 0: units_of_deal.get(deal.id or 0, deal.units) for deal in deals}
        deals_of_package[number] = guarantees | deals_of_package.get(number, {})
        last_key[number] = moved[number].key
    for number, package in by_id.items():
        for sentence in _of_guarantees(context, deals_of_package.get(number, {}).values(), package):
            yield last_key[number], sentence


def _leaves_less(change: PlannedChange) -> bool:
    """Whether a package has fewer days, or others to sell, after a change: more days need no question."""
    if not change.after.keys().isdisjoint(Targeting.model_fields):
        return True
    (start, end), (new_start, new_end) = (
        [side.get(name) for name in DATES] for side in (change.before, {**change.before, **change.after})
    )
    is_shorter = end != new_end and (new_end is None or end is None or new_end < end)
    return is_shorter or (start is not None and new_start is not None and new_start > start)


def _of_price(context: PageContext, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What has to be confirmed of a deal's new price or currency, given its fields before and after."""
    money = field_text.prices_of(context)
    currency_before, currency = (money.of(values.get(CURRENCY)).currency for values in (before, after))
    price_before, price = before.get(PRICE), after.get(PRICE)
    if price == price_before:
        return currency_slip(currency_before, currency)
    if price_before and currency == currency_before:
        return PriceGuard(context).doubt(price, currency, before=price_before)
    packages = catalog.by_id(context, SupplyPackage, [link.id for link in after.get(PACKAGES) or ()])
    seat = after.get("seat")
    return PriceGuard(context).doubt(price, currency, seat=seat and seat.id, packages=packages)


def _of_guarantees(context: PageContext, units: Iterable[Any], package: SupplyPackage) -> list[str]:
    """The guaranteed impressions of a package's deals, all together, compared with what its targeting had
    over as many days as are left; without an answer of the report that is not asked."""
    guarantees = [Decimal(str(count)) for count in units if count is not None]
    if not guarantees:
        return []
    daily = None
    try:
        insight = replace(deal_report.insight(context), ask=partial(ask.audience, context))
        lists = catalog.list_entries(context)
        daily = insight.daily_impressions(package, lists, package.media_type)
    except TrancheError as error:  # a question less keeps nobody from saving
        log.warning("Guaranteed impressions could not be compared with the report: %s", error.reason)
    return doubts.of_guarantee(sum(guarantees), package.end_date, package.start_date, daily)


def of_all(context: PageContext, changes: Sequence[PlannedChange]) -> list[str]:
    """What has to be confirmed of changes together: one price for deals in several currencies."""
    price_changes = [change for change in changes if change.is_change and PRICE in change.after]
    currencies = [{**change.before, **change.after}.get(CURRENCY) for change in price_changes]
    counts = field_text.prices_of(context).currency_counts(currencies)
    has_one_price = len({change.after[PRICE] for change in price_changes}) == 1
    return [f"the same price for {counts}"] if counts and has_one_price else []


def of_proposal(context: PageContext, proposal: Proposal) -> list[str]:
    """What has to be confirmed before a proposal is approved, as of the same changes made by hand."""
    if proposal.is_new:
        package = SupplyPackage.model_validate(proposal.fields)
        return [*_of_new_targets(context, {}, proposal.fields), *of_new_package(context, package)]
    key = proposal.entity, proposal.entity_id or 0
    entities = catalog.by_id(context, model_of(key[0]), [key[1]])
    before = entities[0].model_dump() if entities else proposal.before
    return [
        *_of_new_targets(context, before, proposal.fields), *of_edit(context, key, before, proposal.fields),
    ]  # fmt: skip


def _of_new_targets(
    context: PageContext, before: Mapping[str, Any], fields: Mapping[str, Any]
) -> Iterator[str]:
    """Values that fields of a request add to a targeting, and that the report or public lists lack.

    In forms the picker asks as soon as such a value is typed; a proposal comes from where there is none.
    """
    names = [name for name in Targeting.model_fields if name in fields]
    if names:
        old, new = (
            Targeting.model_validate({name: side[name] for name in names if name in side})
            for side in (before, fields)
        )
        marks = targeting_text.marks(context, deal_report.usual_days(context), [new], with_gaps=True)
        was_there = {*_of_targets(old, marks)}
        yield from (sentence for sentence in _of_targets(new, marks) if sentence not in was_there)


def of_edit(
    context: PageContext, key: Key, before: Mapping[str, Any], fields: Mapping[str, Any]
) -> list[str]:
    """What has to be confirmed of a change of one entity: its fields before, and those that change, both as
    a request has them."""
    model = model_of(key[0])
    after = model.model_validate({**before, **fields})
    values = {name: getattr(after, name) for name in fields}
    return of_changes(context, [PlannedChange(key, "", dict(model.model_validate(before)), values)])[key]


def of_new_package(context: PageContext, package: SupplyPackage) -> list[str]:
    """What has to be confirmed of a package to create: the terms of its new deals, and an end in the past."""
    new_deals = package.create_demand_deals
    creations = [] if new_deals is None else deal_creations(package, new_deals, catalog.seats(context))
    return [*of_creations(context, creations), *filter(None, [doubts.dates(package.end_date)])]


def of_new_deals(context: PageContext, package: SupplyPackage, deals: NewDeals) -> list[str]:
    """What has to be confirmed of new deals for a package that is there, as typed."""
    creations = deal_creations(package, deals.request(), catalog.seats(context))
    return [*of_creations(context, creations), *pasted_currencies(context, deals)]


def pasted_currencies(context: PageContext, deals: NewDeals) -> list[str]:
    """What has to be confirmed of the prices of new deals as typed: `$2.50 as EUR (Bluebird)`."""
    seats = catalog.seats(context)
    return [
        f"{sentence} ({seat_name(seats.get(seat), seat)})"
        for seat in deals.seats
        for sentence in pasted_currency(context, deals.of(seat))
    ]


def pasted_currency(context: PageContext, terms: FormValues) -> list[str]:
    """A price typed in a currency that is another than the deal's: `$2.50 as EUR`."""
    text, currency = (terms.get(PRICE) or "").strip(), terms.get(CURRENCY) or context.clients.currency
    code = amounts.currency(text)
    return [f"{text} as {currency}"] if code and currency and code != currency else []


def of_creations(context: PageContext, creations: Sequence[PlannedCreation]) -> list[str]:
    """What has to be confirmed of what a form creates."""
    return sentences(creations, of_changes(context, creations))


def sentences(changes: Sequence[PlannedChange], questions: Mapping[Key, Sequence[str]]) -> list[str]:
    """What is to be confirmed; of several changes each with its label, unless all say the same."""
    pairs = [(change.label, sentence) for change in changes for sentence in questions[change.key]]
    unique = dict.fromkeys(sentence for _, sentence in pairs)
    return [*unique] if len(unique) <= 1 else [f"{label}: {sentence}" for label, sentence in pairs]


def price_factor(before: Any, after: Any) -> str:
    """How a price changes, beside both: `×8.8`, `÷10`; empty without two prices, and where they are alike."""
    if not before or not after or before == after:
        return ""
    old, new = Decimal(str(before)), Decimal(str(after))  # as Undo has them they may be floats
    return f"×{factor(new, old)}" if new > old else f"÷{factor(old, new)}"


def confirm(sentences: Sequence[str], prefix: str, refusal: str = "") -> bool:
    """Draw the box that confirms these, if there are any; whether nothing is left to confirm.

    Of several the first are a list above the box. Others have to be confirmed again. `refusal` is drawn under
    an empty box: why nothing was written.
    """
    if not sentences:
        return True
    if len(sentences) == 1:
        label = f"Confirm {plain(sentences[0])}"
    else:
        rest = len(sentences) - MOST
        lines = [f"- {plain(sentence)}" for sentence in sentences[:MOST]]
        lines += [f"- and {rest:,} more"] if rest > 0 else []
        st.warning("\n".join(lines), title="Please check", icon=":material/warning:")
        label = f"Confirm these {len(sentences):,} points"
    is_sure = st.checkbox(label, key=_key(sentences, prefix))
    if refusal and not is_sure:
        beside([refusal])
    return is_sure


def is_confirmed(sentences: Sequence[str], prefix: str) -> bool:
    """Whether there is nothing to confirm, or its box is ticked."""
    return not sentences or bool(st.session_state.get(_key(sentences, prefix)))


def _key(sentences: Sequence[str], prefix: str) -> str:
    """The key of the box: other questions are asked anew."""
    return f"{prefix}meant_{sha256(repr([*sentences]).encode()).hexdigest()[:16]}"


def _ask_of_creations(
    context: PageContext, creations: Sequence[PlannedCreation]
) -> Iterator[tuple[Key, str]]:
    """The questions about the lines of a file; what the deals of a package promise, at its last."""
    package_of_line = {creation.line: creation.new_package for creation in creations if creation.is_package}
    targetings = [targeting_of(package) for package in package_of_line.values()]
    days = deal_report.usual_days(context)
    marks = targeting_text.marks(context, days, targetings, with_gaps=True) if targetings else {}
    deals_of_package: dict[int, list[PlannedCreation]] = {}
    for creation in creations:
        if creation.is_package:
            targets = _of_targets(targeting_of(creation.new_package), marks)
            for doubt in filter(None, (*targets, doubts.dates(creation.new_package.end_date))):
                yield creation.key, doubt
        elif creation.package is not None:
            deals_of_package.setdefault(creation.package.id or 0, []).append(creation)
        else:
            deals_of_package.setdefault(-(creation.package_line or 0), []).append(creation)
    guard = PriceGuard(context)
    for number, deals in deals_of_package.items():
        package = package_of_line.get(-number) or deals[0].package
        packages = [] if package is None else [package]
        list_prices = [(creation.deal.price, creation.deal.currency) for creation in deals]
        for index, creation in enumerate(deals):
            others = [*list_prices[:index], *list_prices[index + 1 :]] if package is not None else []
            seat = None if creation.seat is None else creation.seat.id
            if doubt := guard.doubt(*list_prices[index], seat=seat, packages=packages, others=others):
                yield creation.key, doubt
            yield from ((creation.key, doubt) for doubt in doubts.of_terms(dict(creation.deal)))
        guarantees = [creation for creation in deals if creation.deal.units is not None]
        units = [creation.deal.units for creation in guarantees]
        for doubt in [] if package is None else _of_guarantees(context, units, package):
            yield guarantees[-1].key, doubt


def _of_targets(targeting: Targeting, marks: Marks) -> Iterator[str]:
    """Values that the report lacks, or, where it can't tell, that public lists lack."""
    for kind in KINDS:
        for value in dict.fromkeys(kind.value(target) for target in kind.of(targeting)):
            mark = marks.get(kind.name, {}).get(value)
            if mark == targeting_text.UNKNOWN:
                yield f"{kind.title} '{value}' is not in the report"
            elif mark == targeting_text.NO_CHECK and not doubts.is_known(kind.name, value):
                yield f"{kind.title} '{value}' is not known, and the report can't be asked"


def targeting_of(package: SupplyPackage) -> Targeting:
    """The targeting of a package to create, alone."""
    return Targeting.model_construct(**{name: getattr(package, name) for name in Targeting.model_fields})
