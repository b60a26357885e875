"""The health of deals: what is wrong with one by what it says itself, then where its funnel breaks.

Checks that need no report come first: dates, packages, seat, DSP, deal sync, price. A check of what the
service does not return is left out. Then the funnel of the last days: the first step that is zero after one
that is not is where it breaks. No data is not zero. What changed, and why, is found by diagnosis.py.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from lib.deals.deal_health import DealContext, DealHealth, FunnelStep
from lib.deals.models import DemandDeal, SupplyPackage
from lib.reporting.answers import Audience
from lib.slicers.roles import DEAL

ENDED, NEWER = "Ended", "Newer than the report"
BEGINNINGS = frozenset({"is_active", "supply_deals", "demand_deals"})
"""The fields whose change may be what lets a deal deliver."""


@dataclass(frozen=True)
class Funnels:
    """The funnels of deals by their id in the report, as far as they have rows.

    `last` is the last day asked for. `has_data` says whether the report has data of the days at all,
    `is_exact` whether every record was read: else nothing is known of a deal without rows.
    """

    steps: Mapping[str, tuple[FunnelStep, ...]]
    names: tuple[str, ...]
    last: date
    has_data: bool
    is_exact: bool


def funnels(answer: Audience, fields: Mapping[str, str], last: date) -> Funnels:
    """The funnels of an answer that is split by deal; `fields` as of `step_fields`."""
    rows = {
        str(deal): tuple(
            FunnelStep(step, float(value))
            for step, field in fields.items()
            if (value := answer.values[field].iloc[index]) == value
        )
        for index, deal in enumerate(answer.names[DEAL])
    }
    has_data = bool(answer.total.dates) or bool(rows)
    return Funnels(rows, tuple(fields), last, has_data, not answer.is_sampled)


def health(deal: DemandDeal, context: DealContext, funnels: Funnels | None) -> DealHealth:
    """The health of a deal; `funnels` is None where no report tells deals apart."""
    if (idle := _idle(deal, context)) is not None:
        return DealHealth("idle", idle)
    if fault := next(faults(deal, context), ""):
        return DealHealth("attention", fault, () if funnels is None else funnels.steps.get(str(deal.id), ()))
    if funnels is None or not funnels.names:
        return DealHealth("unknown", "No report of deals")
    steps = funnels.steps.get(str(deal.id), ())
    if not funnels.has_data:
        return DealHealth("unknown", "No data")
    packages = context.packages_of(deal)
    if packages and all(
        package.start_date is not None and package.start_date.date() > funnels.last for package in packages
    ):
        return DealHealth("unknown", NEWER)
    if (not steps or steps[0].value == 0) and _is_new(deal, context, funnels.last):
        return DealHealth("unknown", NEWER, steps)
    if not steps:
        steps = tuple(FunnelStep(name, 0.0) for name in funnels.names)
    broken = next((index for index, step in enumerate(steps) if step.value == 0), None)
    if broken is None:
        return DealHealth("healthy", "Delivers", steps)
    if not funnels.is_exact:
        return DealHealth("unknown", f"No {steps[broken].name} in the sample", steps)
    if broken == 0:
        return DealHealth("attention", f"No {steps[0].name}", steps)
    return DealHealth("attention", f"{steps[broken - 1].name.capitalize()}, no {steps[broken].name}", steps)


def may_deliver(deal: DemandDeal, context: DealContext) -> bool:
    """Whether nothing in the deal itself keeps it from delivering."""
    return _idle(deal, context) is None and not any(faults(deal, context))


def faults(deal: DemandDeal, context: DealContext) -> Iterator[str]:
    """Problems visible in the deal itself, the most important first."""
    if "supply_deals" in deal.model_fields_set and not deal.supply_deals:
        yield "No package linked"
    if deal.price is None and "price" in deal.model_fields_set:
        yield "No price"
    elif deal.price is not None and deal.price <= 0:
        yield "Price is zero"
    seat, dsp = context.buyer(deal)
    if seat is None and deal.seat is None and "seat" in deal.model_fields_set:
        yield "No seat"
    elif seat is not None and dsp is None and "dsp" in seat.model_fields_set:
        yield "Seat without DSP"
    if deal.deal_sync and dsp is not None and dsp.supports_deal_sync is False:
        yield "DSP without deal sync"
    elif deal.deal_sync and "contact_email" in deal.model_fields_set and not deal.contact_email:
        yield "Deal sync without contact"


def _idle(deal: DemandDeal, context: DealContext) -> str | None:
    """Why it is not meant to deliver now, which somebody decided; None where it is."""
    packages = context.packages_of(deal)
    if deal.is_active is False:
        return "Paused"
    if packages and all(
        package.end_date is not None and package.end_date <= context.now for package in packages
    ):
        return ENDED
    starts = [
        package.start_date
        for package in packages
        if package.end_date is None or package.end_date > context.now
    ]
    if starts and all(start is not None and start > context.now for start in starts):
        return "Not started"
    if packages and all(package.is_active is False or package.status == "paused" for package in packages):
        return "Package paused"
    return None


def _is_new(deal: DemandDeal, context: DealContext, last: date) -> bool:
    """Whether it could not deliver before the end of this day: it, or each of its packages, was created,
    linked or resumed later. Its history is read only where something changed since."""

    def begins(entity: DemandDeal | SupplyPackage) -> bool:
        changes = () if context.history is None else context.history(entity.entity, entity.id or 0)
        return any(
            change.at.date() > last
            and (change.action == "created" or not BEGINNINGS.isdisjoint(change.after or {}))
            for change in changes
        )

    def is_later(at: datetime | None) -> bool:
        return at is not None and at.date() > last

    if is_later(deal.created_at) or (is_later(deal.updated_at) and begins(deal)):
        return True
    packages = context.packages_of(deal)
    return bool(packages) and all(
        is_later(package.created_at) or (is_later(package.updated_at) and begins(package))
        for package in packages
    )
