"""The health of deals: what is wrong with one by what it says itself, then where its funnel breaks.

Checks that need no report come first: dates, packages, seat, DSP, deal sync, price. A check of what the
service does not return is left out. Then the funnel of the last days: the first step that is zero after one
that is not is where it breaks. No data is not zero. What changed, and why, is found by diagnosis.py.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from lib.deals.models import DemandDeal, Dsp, EntityChange, HealthState, Seat, SupplyPackage
from lib.insight.deal_report import DEAL
from lib.reporting.answers import Audience, Estimate
from lib.slicers.models import Slicer
from lib.slicers.roles import BIDS, IMPRESSIONS, REQUESTS, VIEWABLE, WINS, field_of

STEPS = (
    ("requests", REQUESTS), ("bids", BIDS),  ("wins", WINS), ("impressions", IMPRESSIONS),
    ("viewable impressions", VIEWABLE),
)  # fmt: skip
ENDED = "Ended"
History = Callable[[str, int], Sequence[EntityChange]]
"""The changes of an entity (`demand_deals`, `supply_deals`, a list) by its id, as far as they are known."""


@dataclass(frozen=True)
class FunnelStep:
    """A step of the funnel: what is counted, and how many."""

    name: str
    value: float


@dataclass(frozen=True)
class DealHealth:
    """A deal's health in words, and the funnel that it is read from, if any.

    `findings` are what is known of its cause, a sentence each, and `advice` what to do, where that is known.
    `delivery` has its figures by name (lib/deals/delivery.py), which may be an estimate. `repaired_at` is
    when somebody repaired it (`words` say how), as long as that can't be judged yet.
    """

    state: HealthState
    words: str
    steps: tuple[FunnelStep, ...] = ()
    findings: tuple[str, ...] = ()
    advice: str = ""
    delivery: Mapping[str, float | None] = field(default_factory=dict, hash=False)
    is_estimate: bool = False
    repaired_at: datetime | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """All but the state and the delivery, as JSON."""
        steps = [[step.name, step.value] for step in self.steps]
        more = {
            "findings": [*self.findings],
            "advice": self.advice,
            "is_estimate": self.is_estimate,
            "repaired_at": self.repaired_at and self.repaired_at.isoformat(),
        }
        return {"words": self.words, "steps": steps} | {name: fact for name, fact in more.items() if fact}

    @classmethod
    def from_facts(
        cls, state: str, facts: Mapping[str, Any], delivery: Mapping[str, float | None]
    ) -> "DealHealth":
        """The health that a state, its facts and its delivery are of."""
        steps = tuple(FunnelStep(name, float(value)) for name, value in facts["steps"])
        findings = tuple(facts.get("findings", ()))
        advice, is_estimate = facts.get("advice", ""), facts.get("is_estimate", False)
        at = datetime.fromisoformat(facts["repaired_at"]) if "repaired_at" in facts else None
        return cls(state, facts["words"], steps, findings, advice, delivery, is_estimate, at)  # type: ignore[arg-type]

    def with_fault(self, title: str, finding: str, advice: str = "") -> "DealHealth":
        """With another fault of a deal that should deliver: its reason for attention, unless there is one."""
        if self.state == "idle":
            return self
        findings = (*self.findings, finding)
        if self.state == "attention" or self.repaired_at is not None:
            return replace(self, findings=findings)
        return replace(self, state="attention", words=title, findings=findings, advice=advice)

    def repair_sentence(self, now: datetime) -> str:
        """`Put back to 1.35 today, 11:04; judged after four days.` in the time zone of `now`; "" without
        one."""
        if self.repaired_at is None:
            return ""
        at = self.repaired_at.astimezone(now.tzinfo)
        day = "today" if at.date() == now.date() else f"on {at.day} {at:%b %Y}"
        return f"{self.words} {day}, {at:%H:%M}; judged after four days."


@dataclass(frozen=True)
class DealContext:
    """The context of a deal's checks: packages, seats and DSPs by id, as far as known, the time, and what
    was changed."""

    packages: Mapping[int, SupplyPackage]
    seats: Mapping[int, Seat]
    dsps: Mapping[int, Dsp]
    now: datetime
    history: History | None = None


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


def step_fields(slicer: Slicer) -> dict[str, str]:
    """The slicer's data fields for the steps of the funnel, as far as it has them, by the step's name."""
    fields = {name: field_of(slicer, names) for name, names in STEPS}
    return {name: field.name for name, field in fields.items() if field is not None}


def funnels(answer: Audience, fields: Mapping[str, str], last: date) -> Funnels:
    """The funnels of an answer that is split by deal; `fields` as of `step_fields`."""
    rows = {
        str(deal): tuple(
            FunnelStep(step, float(value))
            for step, field in fields.items()
            if (value := answer.values[field].iloc[place]) == value
        )
        for place, deal in enumerate(answer.names[DEAL])
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
    return _judge_delivery(deal, context, funnels)


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
    seat, dsp = buyer(deal, context)
    if seat is None and deal.seat is None and "seat" in deal.model_fields_set:
        yield "No seat"
    elif seat is not None and dsp is None and "dsp" in seat.model_fields_set:
        yield "Seat without DSP"
    if deal.deal_sync and dsp is not None and dsp.supports_deal_sync is False:
        yield "DSP without deal sync"
    elif deal.deal_sync and "contact_email" in deal.model_fields_set and not deal.contact_email:
        yield "Deal sync without contact"


def until(deal: DemandDeal, context: DealContext) -> datetime | None:
    """When its health may change by itself: the next start or end of one of its packages."""
    packages = packages_of(deal, context)
    moments = [at for package in packages for at in (package.start_date, package.end_date) if at is not None]
    return min((at for at in moments if at > context.now), default=None)


def rates(steps: Sequence[FunnelStep]) -> list[tuple[str, float, Estimate]]:
    """Each step with its value, and its percent of the step before; no value for the first one."""
    values = [None, *(step.value for step in steps)]
    return [
        (step.name, step.value, Estimate(100 * step.value / before if before else None))
        for step, before in zip(steps, values, strict=False)
    ]


def _idle(deal: DemandDeal, context: DealContext) -> str | None:
    """Why it is not meant to deliver now, which somebody decided; None where it is."""
    packages = packages_of(deal, context)
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


def packages_of(deal: DemandDeal, context: DealContext) -> list[SupplyPackage]:
    """Its packages; none unless all of them are known."""
    packages = [context.packages.get(link.id or 0) for link in deal.supply_deals]
    return [package for package in packages if package is not None] if all(packages) else []


def buyer(deal: DemandDeal, context: DealContext) -> tuple[Seat | None, Dsp | None]:
    """Its seat and DSP, as whole as they are known."""
    seat = deal.seat and (context.seats.get(deal.seat.id or 0) or deal.seat)
    dsp = deal.dsp or (None if seat is None else seat.dsp)
    return seat, None if dsp is None else context.dsps.get(dsp.id or 0) or dsp


def _judge_delivery(deal: DemandDeal, context: DealContext, funnels: Funnels) -> DealHealth:
    steps = funnels.steps.get(str(deal.id), ())
    if not funnels.has_data:
        return DealHealth("unknown", "No data")
    packages = packages_of(deal, context)
    if packages and all(
        package.start_date is not None and package.start_date.date() > funnels.last for package in packages
    ):
        return DealHealth("unknown", "Newer than the report")
    if not steps:
        steps = tuple(FunnelStep(name, 0.0) for name in funnels.names)
    broken = next((place for place, step in enumerate(steps) if step.value == 0), None)
    if broken is None:
        return DealHealth("healthy", "Delivers", steps)
    if not funnels.is_exact:
        return DealHealth("unknown", f"No {steps[broken].name} in the sample", steps)
    if broken == 0:
        return DealHealth("attention", f"No {steps[0].name}", steps)
    return DealHealth("attention", f"{steps[broken - 1].name.capitalize()}, no {steps[broken].name}", steps)
