"""The box that confirms what is unwise in a write: what the deals service answers to a dry run of it.

Nothing is decided here (lib/deals/warnings.py): forms, the drawer, several, CSV files, clones, proposals and
what a buyer answered show the same warnings.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from typing import Any

import streamlit as st

from lib.deals.client import Write
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import SupplyPackage
from lib.deals.proposals.models import Proposal
from lib.deals.warnings import DealWarning, factor
from lib.figures import amounts
from lib.figures.deals import field_text
from lib.figures.deals.deal_names import KINDS, seat_name
from lib.figures.numbers import Numbers
from lib.ui.deals import catalog
from lib.ui.deals.changes.creation import PlannedCreation, deal_creations
from lib.ui.deals.changes.plan import PlannedChange
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.forms.draft import NewDeals
from lib.ui.deals.forms.inputs import FormValues
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.job import PartsJob
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
PRICE, CURRENCY = "price", "currency"
COMPARED = (PRICE, "units", "budget", CURRENCY, "supply_deals", "seat", "agency_curation_fee",
            "agency_curation_fee_type")  # fmt: skip
"""The fields of a deal that questions about a change look at, changed or not."""
MOST, FEW_ALIKE, PART = 50, 3, 500
Warnings = Mapping[Key, Sequence[DealWarning]]
PlannedWrite = tuple[Write, list[Key]]
"""What is sent, and the keys that the answers are about."""


@dataclass(frozen=True)
class Point:
    """A line of the box; one that does not ask is a hint beside it."""

    sentence: str
    asks: bool = True


@dataclass
class Questions(PartsJob):
    """What is unwise in changes, by key, as far as the service was asked: PART writes at a time."""

    warnings: dict[Key, list[DealWarning]] = field(default_factory=dict)

    @classmethod
    def of(cls, context: PageContext, changes: Sequence[PlannedChange]) -> "Questions":
        """Those of these changes, which are asked next; none where the service can't be asked."""
        writes = [*_writes([change for change in changes if change.is_change and not change.is_removal])]
        slices = (writes[first : first + PART] for first in range(0, len(writes), PART))
        parts = ([*zip(part, _ask(context, part), strict=True)] for part in slices)
        return cls(parts, len(writes), warnings={change.key: [] for change in changes})

    def take(self, part: Sequence[tuple[PlannedWrite, list[list[DealWarning]]]]) -> None:
        """Take the answers to some writes."""
        for (_, keys), answer in part:
            for key, several in zip(keys, answer, strict=False):
                self.warnings.setdefault(key, []).extend(several)
        self.done_count += len(part)

    @property
    def verb(self) -> str:
        return "checked"

    @property
    def has_stop(self) -> bool:
        """None: nothing is saved before all are asked, and the dialog can be closed."""
        return False


def of_changes(context: PageContext, changes: Sequence[PlannedChange]) -> Warnings:
    """What is unwise in each change, as the service says."""
    questions = Questions.of(context, changes)
    questions.run(context.deals)
    return questions.warnings


def _writes(changes: Sequence[PlannedChange]) -> Iterator[PlannedWrite]:
    """What is sent, and the keys that the answers are about; the deals of a new package go with it."""
    creations = [change for change in changes if isinstance(change, PlannedCreation)]
    deals_of_line: dict[int | None, list[PlannedCreation]] = {}
    for creation in creations:
        deals_of_line.setdefault(creation.package_line, []).append(creation)
    for change in changes:
        if not isinstance(change, PlannedCreation):
            yield Write(change.key[0], change.after, change.key[1], change.before), [change.key]
        elif change.is_package:
            deals = deals_of_line.get(change.line, [])
            body = change.request.body()
            if deals:
                options = [
                    {
                        name: value
                        for name, value in creation.deal.body().items()
                        if name not in ("name", "supply_deals")
                    }
                    for creation in deals
                ]
                body["create_demand_deals"] = {"demand_deals_options": options}
            yield Write(SUPPLY, body), [change.key, *(deal.key for deal in deals or change.deals)]
        elif change.package_line is None:
            yield Write(DEALS, change.request.body()), [change.key]


def _ask(context: PageContext, planned_writes: Sequence[PlannedWrite]) -> list[list[list[DealWarning]]]:
    """The answers; the few writes of a form are not asked about twice in a row."""
    writes = [write for write, _ in planned_writes]
    if not writes:
        return []
    digest = sha256(repr(writes).encode()).hexdigest()
    try:
        if len(writes) == PART:
            return context.deals.warnings_of(writes)
        return catalog.fetch_cached(context, ("warnings", digest), lambda: context.deals.warnings_of(writes))
    except TrancheError as error:  # a question less keeps nobody from saving
        log.warning("What is unwise in a write could not be asked: %s", error.reason)
        return [[[]] for _ in writes]


def of_proposal(context: PageContext, proposal: Proposal) -> list[Point]:
    """What has to be confirmed before a proposal is approved, as of the same changes made by hand."""
    if proposal.is_new:
        return of_new_package(context, SupplyPackage.model_validate(proposal.fields), has_picker=False)
    write = Write(proposal.entity, proposal.fields, proposal.entity_id, proposal.before)
    [[own, *_]] = _ask(context, [(write, [])])
    currency = proposal.fields.get(CURRENCY) or proposal.before.get(CURRENCY)
    return [of_warning(context, warning, currency) for warning in own]


def of_edit(
    context: PageContext, key: Key, before: Mapping[str, Any], values: Mapping[str, Any]
) -> list[Point]:
    """What has to be confirmed of a change of one entity: its fields before, and those that change."""
    change = PlannedChange(key, "", before, values)
    return points(context, [change], _without_targets(of_changes(context, [change])))


def of_new_package(context: PageContext, package: SupplyPackage, *, has_picker: bool = True) -> list[Point]:
    """What has to be confirmed of a package to create, with the terms of its new deals."""
    new_deals = package.create_demand_deals
    deals = [] if new_deals is None else deal_creations(package, new_deals, catalog.seats(context))
    creation = PlannedCreation.of(1, package, title="The package", deals=deals)
    warnings = of_changes(context, [creation])
    return points(context, [creation, *deals], _without_targets(warnings) if has_picker else warnings)


def _without_targets(warnings: Warnings) -> Warnings:
    """Without unknown targets, which a form's picker has confirmed as they were typed."""
    return {
        key: [warning for warning in several if warning.kind != "unknown_target"]
        for key, several in warnings.items()
    }


def of_new_deals(context: PageContext, package: SupplyPackage, deals: NewDeals) -> list[Point]:
    """What has to be confirmed of new deals for a package that is there, as typed."""
    creations = deal_creations(package, deals.request(), catalog.seats(context))
    return [*of_creations(context, creations), *pasted_currencies(context, deals)]


def of_creations(context: PageContext, creations: Sequence[PlannedCreation]) -> list[Point]:
    """What has to be confirmed of what a form creates."""
    return points(context, creations, of_changes(context, creations))


def pasted_currencies(context: PageContext, deals: NewDeals) -> list[Point]:
    """What has to be confirmed of the prices of new deals as typed: `$2.50 as EUR (Bluebird)`."""
    seats = catalog.seats(context)
    return [
        Point(f"{point.sentence} ({seat_name(seats.get(seat), seat)})")
        for seat in deals.seats
        for point in pasted_currency(context, deals.of(seat))
    ]


def pasted_currency(context: PageContext, terms: FormValues) -> list[Point]:
    """A price typed in a currency that is another than the deal's: `$2.50 as EUR`."""
    text, currency = (terms.get(PRICE) or "").strip(), terms.get(CURRENCY) or context.clients.currency
    code = amounts.currency(text)
    return [Point(f"{text} as {currency}")] if code and currency and code != currency else []


def points(context: PageContext, changes: Sequence[PlannedChange], warnings: Warnings) -> list[Point]:
    """What is to be confirmed; of several changes each with its label, unless all say the same.

    Many that are alike are one: `30 lines: 3.8 to 6.4 times below the lower quartile …`.
    """
    entries = [
        (change, warning, of_warning(context, warning, {**change.before, **change.after}.get(CURRENCY)))
        for change in changes
        for warning in warnings.get(change.key, ())
    ]
    unique = dict.fromkeys(point for *_, point in entries)
    if len(unique) <= 1 or len(changes) == 1:
        return [*unique]
    alike: dict[object, list[tuple[PlannedChange, DealWarning, Point]]] = {}
    for entry in entries:
        warning = entry[1]
        is_below = bool(_factors(warning)) and warning.after < warning.before
        group = (warning.kind, warning.asks, warning.compared_with, is_below, entry[0].key[0])
        alike.setdefault(group, []).append(entry)
    return [point for group in alike.values() for point in _together(group)]


def _together(entries: Sequence[tuple[PlannedChange, DealWarning, Point]]) -> Iterator[Point]:
    """Points that are alike: each by itself, or those of many lines as one."""
    line_count = len({change.key for change, *_ in entries})
    if line_count <= FEW_ALIKE:
        yield from (Point(f"{change.label}: {point.sentence}", point.asks) for change, _, point in entries)
        return
    change, warning, point = entries[0]
    is_of_file = change.label.startswith("Line ")
    count = count_label("line" if is_of_file else KINDS[change.key[0]].lower(), line_count)
    factors = sorted(times for _, warning, _ in entries for times in _factors(warning))
    if warning.compared_with and factors:
        side = "below" if warning.after < warning.before else "above"
        title = field_text.title(warning.field).lower()
        low, high = (factor(times, Decimal(1)) for times in (factors[0], factors[-1]))
        span = low if low == high else f"{low} to {high}"
        sentence = f"{title} {span} times {side} {warning.compared_with}"
    elif len({point.sentence for *_, point in entries}) == 1:
        sentence = point.sentence
    else:
        sentence = f"such as {change.label}, {point.sentence}"
    yield Point(f"{count}: {sentence}", point.asks)


def _factors(warning: DealWarning) -> list[Decimal]:
    """How many times a value is above or below what it is compared with, where both are numbers above 0."""
    values = (warning.before, warning.after)
    if not all(isinstance(value, Decimal | int) and value > 0 for value in values):
        return []
    return [Decimal(max(values)) / Decimal(min(values))]


def of_warning(context: PageContext, warning: DealWarning, currency: str | None) -> Point:
    """The sentence as it goes on in the box; a price has the deal's currency and unit."""
    sentence = f"{warning.sentence[:1].lower()}{warning.sentence[1:]}".rstrip(".")
    terms = field_text.prices_of(context).of(currency).terms
    has_terms = warning.kind == "price_slip" and terms
    return Point(f"{sentence} ({terms})" if has_terms else sentence, warning.asks)


def price_change(before: Any, after: Any) -> str:
    """How a price changes, to follow both: ` (+7.6 %)`; empty without two prices, or of equal ones."""
    if not before or not after or before == after:
        return ""
    ratio = Decimal(str(after)) / Decimal(str(before)) - 1  # as Undo has them they may be floats
    return f" ({Numbers().change(float(ratio))})"


def confirm(points: Sequence[Point], prefix: str, refusal: str = "") -> bool:
    """Draw the box that confirms these, if any asks, and the hints beside it; whether nothing is left to
    confirm.

    Of several the first are a list above the box. Others have to be confirmed again. `refusal` is drawn under
    an empty box: why nothing was written.
    """
    questions = [point.sentence for point in points if point.asks]
    hints = [point.sentence for point in points if not point.asks]
    if hints:
        st.caption(f":material/info: {plain('; '.join(_some(hints, 'hints')))}.")
    if not questions:
        return True
    if len(questions) == 1:
        label = f"Confirm {plain(questions[0])}"
    else:
        lines = [f"- {plain(sentence)}" for sentence in _some(questions, "points")]
        st.warning("\n".join(lines), title="Please check", icon=":material/warning:")
        label = f"Confirm these {len(questions):,} points"
    is_sure = st.checkbox(label, key=_key(questions, prefix))
    if refusal and not is_sure:
        beside([refusal])
    return is_sure


def _some(sentences: Sequence[str], noun: str) -> list[str]:
    rest = len(sentences) - MOST
    return [*sentences[:MOST], *([f"and {number(rest)} more {noun}"] if rest > 0 else [])]


def is_confirmed(points: Sequence[Point], prefix: str) -> bool:
    """Whether there is nothing to confirm, or its box is ticked."""
    questions = [point.sentence for point in points if point.asks]
    return not questions or bool(st.session_state.get(_key(questions, prefix)))


def _key(questions: Sequence[str], prefix: str) -> str:
    """The key of the box: other questions are asked anew."""
    return f"{prefix}meant_{sha256(repr([*questions]).encode()).hexdigest()[:16]}"
