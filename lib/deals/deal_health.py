"""What is known of a deal's health, and what its checks look at beside the deal itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from lib.deals.models import DemandDeal, Dsp, EntityChange, HealthState, Seat, SupplyPackage
from lib.wire.text import write_day

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
    `delivery` has its figures by name (delivery.py), which may be an estimate. `repaired_at` is when somebody
    repaired it (`words` say how), as long as that can't be judged yet.
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
        day = "today" if at.date() == now.date() else f"on {write_day(at)}"
        return f"{self.words} {day}, {at:%H:%M}; judged after four days."

    @property
    def rates(self) -> list[tuple[str, float, float | None]]:
        """Each step with its value, and its percent of the step before; None for the first one."""
        values = [None, *(step.value for step in self.steps)]
        return [
            (step.name, step.value, 100 * step.value / before if before else None)
            for step, before in zip(self.steps, values, strict=False)
        ]


@dataclass(frozen=True)
class DealContext:
    """The context of a deal's checks: packages, seats and DSPs by id, as far as known, the time, and what
    was changed."""

    packages: Mapping[int, SupplyPackage]
    seats: Mapping[int, Seat]
    dsps: Mapping[int, Dsp]
    now: datetime
    history: History | None = None

    def packages_of(self, deal: DemandDeal) -> list[SupplyPackage]:
        """Its packages; none unless all of them are known."""
        packages = [self.packages.get(link.id or 0) for link in deal.supply_deals]
        return [package for package in packages if package is not None] if all(packages) else []

    def buyer(self, deal: DemandDeal) -> tuple[Seat | None, Dsp | None]:
        """Its seat and DSP, as whole as they are known."""
        seat = deal.seat and (self.seats.get(deal.seat.id or 0) or deal.seat)
        dsp = deal.dsp or (None if seat is None else seat.dsp)
        return seat, None if dsp is None else self.dsps.get(dsp.id or 0) or dsp

    def until(self, deal: DemandDeal) -> datetime | None:
        """When its health may change by itself: the next start or end of one of its packages."""
        packages = self.packages_of(deal)
        moments = [
            at for package in packages for at in (package.start_date, package.end_date) if at is not None
        ]
        return min((at for at in moments if at > self.now), default=None)
