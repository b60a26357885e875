"""The bench that plants causes, for tests; and small worlds of deals whose rows are worked out by hand."""

import datetime as dt
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.models import DemandDeal, Dsp, Seat, SupplyPackage
from lib.insight.assessor import Assessor
from lib.insight.deal_report import DealReport

NOON = dt.time(12)


@cache
def bench() -> ModuleType:
    """The bench that plants causes."""
    folder = Path(__file__).parents[2] / "bench"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("statements_health", folder / "statements_health.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["statements_health"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


@dataclass
class World:
    """Deals of which each has 1,000 requests a day, 400 bids and 80 impressions, with a ripple of 4 %.

    Two thirds of the bids are on cheap.example at 1.50, the others on dear.example at 3.00.
    """

    made: Any = field(default_factory=lambda: bench().Made())
    packages: dict[int, SupplyPackage] = field(default_factory=dict)

    @property
    def days(self) -> int:
        """How many days there are."""
        return len(bench().DAY_NAMES)

    def day(self, at: int) -> dt.date:
        """A day by its place; negative ones count from today, which has no data yet."""
        return bench().FIRST + dt.timedelta(days=at if at >= 0 else self.days + at + 1)

    def add(
        self,
        deal: int,
        package: int,
        seat: int,
        dsp: int,
        left: Mapping[str, object] | None = None,
        **fields: object,
    ) -> None:
        """Add a deal; `left` are the parts, per day or for all, that remain of a step on each site."""
        module, ripple = bench(), 1 + 0.04 * np.cos(2.4 * np.arange(self.days) + deal)
        for site, part, price in (("cheap.example", 2 / 3, 1.5), ("dear.example", 1 / 3, 3.0)):
            parts = {
                step: (left or {}).get(f"{step} {site}", (left or {}).get(step, 1.0)) for step in module.STEPS
            }
            requests = 1_000 * part * ripple * parts["bid_requests"]
            bids = 0.4 * requests * parts["bids"]
            imps = 0.2 * bids * parts["imps"]
            rows = pd.DataFrame(
                {module.DAY: module.DAY_NAMES, "bid_requests": requests, "bids": bids, "imps": imps}
            )
            rows = rows.assign(viewable_imps=0.5 * rows["imps"], lost_bids=0.0, lost_reason="", country="US")
            rows = rows.assign(bid_sum=price * bids, win_sum=price * imps, site_domain=site)
            ids = {"deal": deal, "supply_package": package, "seat": seat, "dsp": dsp}
            self.made.frames.append(rows.assign(**{name: str(number) for name, number in ids.items()}))
        self.packages[package] = SupplyPackage(
            id=package, name="P", is_active=True, start_date=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
        )
        values = {"price": "1.20", "is_active": True, "deal_sync": False, "price_type": "floor", **fields}
        self.made.deals.append(
            DemandDeal(
                id=deal, seat=Seat(id=seat, dsp=Dsp(id=dsp)), dsp=Dsp(id=dsp),
                supply_deals=(SupplyPackage(id=package),), **values,
            )
        )  # fmt: skip

    def change(self, entity: str, number: int, at: int, field: str, before: object, after: object) -> None:
        """Note a change of a day, at nine in the morning."""
        self.made.note((entity, number), self.day(at), field, before, after)

    def health(self, deal: int = 1, **more: Any) -> DealHealth:
        """The health of a deal, by the report of all."""
        module, rows = bench(), pd.concat(self.made.frames, ignore_index=True)
        answer = lambda query: self.made.answer(query, rows)  # noqa: E731
        report = DealReport("p", "s", module.SLICER, module.TODAY, answer, True)
        now = dt.datetime.combine(module.TODAY, NOON, dt.UTC)
        history = lambda entity, number: self.made.changes.get((entity, number), [])  # noqa: E731
        context = DealContext(self.packages, {}, {}, now, history)
        return Assessor(report, **more).assess(self.made.deals, context)[deal]


def since(world: World, at: int, part: float) -> np.ndarray:
    """All of it before a day, and a part from it on."""
    return np.where(np.arange(world.days) >= at, part, 1.0)
