"""The health of deals on falls of other shapes than `statements_health.py` makes, by a generator of its own.

    python bench/statements_shapes.py [deals [seed]]

A fall comes at once, over two days, or in the afternoon, so that its first day is only partly hit. Weekends
are quiet, and up to three days of the past are nearly without anything. What is changed comes with other
changes of the same day: a price that is put back within hours, a targeting wider and narrower at once, a
package in another's place, a list that is exchanged but for one entry. Every second deal has no cause.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
from statements_health import DAY, DAY_NAMES, DAYS, FIRST, ONE, SUMS, Made, print_table

from lib.deals.models import DemandDeal, Dsp, EntityChange, ListTarget, Seat, SupplyPackage

SEED, DEALS = 27_182, 400
KINDS = (
    "floor raised", "price lowered", "targeting", "list", "links", "creative", "budget", "dsp", "package",
    "unexplained",
)  # fmt: skip
LATE_DAY = 9 / 24
"""The part of a day that is left after three in the afternoon."""
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def made(draw: np.random.Generator, number: int, scale: float) -> Made:
    """So many deals, half of them with a cause; the noise is of this size a day, and lasts for some days."""
    population = Made()
    for deal in range(1, number + 1):
        _Story(draw, population, deal, KINDS[deal // 2 % len(KINDS)] if deal % 2 else "", scale).tell()
    return population


class _Story:
    """What happens to one deal. Figures have the shape (days, groups): of packages, sites and countries."""

    def __init__(self, draw: np.random.Generator, made: Made, deal: int, kind: str, scale: float) -> None:
        self.draw, self.made, self.deal, self.kind, self.scale = draw, made, deal, kind, scale
        self.at = int(draw.integers(32, 56))
        self.day = FIRST + self.at * ONE
        self.packages = [40_000 + deal, 50_000 + deal]
        self.sites = [f"s{number}.example" for number in draw.choice(40, 4, replace=False)]
        self.countries = ["US", "DE", "BR"]
        index = pd.MultiIndex.from_product([self.packages, self.sites, self.countries])
        self.groups = pd.DataFrame([*index], columns=["supply_package", "site_domain", "country"])
        self.shares = draw.dirichlet(np.full(len(self.groups), 3.0))
        self.is_fixed = kind == "price lowered" or (kind != "floor raised" and draw.random() < 0.4)
        self.left = float(draw.uniform(0.05, 0.4))
        self.seat = Seat(id=70_000 + deal, dsp=Dsp(id=2_000 + deal if kind == "dsp" else 3))
        self.hour, self.onset = self._shape()
        self.dead = draw.choice(self.at - 5, int(draw.integers(0, 4)), replace=False)
        self.price = float(draw.uniform(1, 6))

    def _shape(self) -> tuple[int, Floats]:
        """When on its first day it begins, and the part of the effect that each day has."""
        onset = (np.arange(DAYS) >= self.at).astype(float)
        match int(self.draw.integers(3)):
            case 0:
                return 1, onset
            case 1:
                onset[self.at] = 0.5
                return 1, onset
            case _:
                onset[self.at] = LATE_DAY
                return 15, onset

    def tell(self) -> None:
        """Add the deal, its changes and rows, and other deals that share its fate."""
        keep, floors = self._change()
        if self.draw.random() < 0.6:
            self._add_decoys()
        self._rows(self.deal, self.seat, keep, floors, 1.0)
        links = tuple(SupplyPackage(id=number) for number in self.packages)
        self.made.deals.append(
            DemandDeal(
                id=self.deal, price=Decimal(f"{floors[-1]:.2f}"), seat=self.seat, dsp=self.seat.dsp,
                is_active=True, deal_sync=False, supply_deals=links,
                price_type="fixed" if self.is_fixed else "floor",
            )
        )  # fmt: skip
        for package in self.packages:
            self.made.packages[package] = SupplyPackage(
                id=package, name=f"P{package}", is_active=True, start_date=datetime(2026, 1, 1, tzinfo=UTC),
                domain_list_targetings=(ListTarget(id=self.deal, name="L"),),
            )  # fmt: skip
        self.made.causes[self.deal] = self.kind, self.day
        # Others in both packages: hit by what is of the package, or of the DSP, and by nothing of this deal.
        for sister in range(3):
            number = 200_000 + 4 * self.deal + sister
            seat = Seat(id=number, dsp=self.seat.dsp if self.kind == "dsp" else Dsp(id=3))
            is_hit = self.kind in ("targeting", "list", "package")
            self._rows(
                number,
                seat,
                keep if is_hit else np.ones_like(keep),
                np.full(DAYS, 0.01),
                0.6,
                self.kind == "dsp",
            )

    def _effect(self, rest: Floats | float) -> Floats:
        """What is left each day, by what is left of each group once all has come; shape (days, groups)."""
        return 1 - self.onset[:, None] * (1 - np.asarray(rest))

    def _change(self) -> tuple[Floats, Floats]:
        """Plant the cause: what is left of each group of what is offered, and the price, each day."""
        groups, prices = self.groups, np.full(DAYS, self.price)
        everything = np.ones((DAYS, len(groups)))
        package = ("supply_deals", self.packages[0])
        match self.kind:
            case "floor raised" | "price lowered":
                prices[self.at :] *= float(self.draw.uniform(2.5, 5)) ** (-1 if self.is_fixed else 1)
                self._note(("demand_deals", self.deal), "price", f"{prices[0]:.2f}", f"{prices[-1]:.2f}")
            case "targeting":
                # Wider and narrower at once: the largest country goes, another comes.
                lost = (
                    groups["country"]
                    .groupby(groups["country"])
                    .apply(lambda rows: self.shares[rows.index].sum())
                )
                names = lost.sort_values().index.tolist()
                was, now = (
                    [{"type": "country", "value": name} for name in of] for of in (names, [names[0], "FR"])
                )
                self._note(package, "geo_targetings", was, now)
                self._note(("supply_deals", self.packages[1]), "geo_targetings", was, now)
                return self._effect((groups["country"] == names[0]).to_numpy(float)), prices
            case "list":
                kept, others = self.sites[:1], [f"new{number}.example" for number in range(6)]
                self._note(("domain_lists", self.deal), "domains", self.sites, [*kept, *others])
                return self._effect(groups["site_domain"].isin(kept).to_numpy(float)), prices
            case "links":
                # One package takes another's place; the shares of what went are most of all.
                old = self.packages[0]
                is_old = (groups["supply_package"] == old).to_numpy()
                self.shares = (
                    np.where(is_old, 5.0, 1.0)
                    * self.shares
                    / (self.shares * np.where(is_old, 5.0, 1.0)).sum()
                )
                self.packages = [self.packages[1], 60_000 + self.deal]
                self._note(
                    ("demand_deals", self.deal), "supply_deals", [old, self.packages[0]], self.packages
                )
                return self._effect((~is_old).astype(float)), prices
            case "package":
                return self._effect(self.left), prices
        return everything, prices

    def _add_decoys(self) -> None:
        """Changes of the same day or the day before that take nothing away."""
        deal, package = ("demand_deals", self.deal), ("supply_deals", self.packages[0])
        tv = {"value": "tv"}
        decoys: list[Callable[[], None]] = [
            lambda: self._note(package, "device_targetings", [tv], [tv, {"value": "phone"}]),
            lambda: self._note(("app_lists", self.deal), "apps", ["a"], ["a", "b", "c"]),
            lambda: self._note(package, "name", "P", "Q", days=-1),
        ]
        if self.kind not in ("floor raised", "price lowered"):
            decoys += [self._put_price_back, lambda: self._note(deal, "fee", "1", "2")]
        for decoy in self.draw.choice(len(decoys), 2, replace=False):
            decoys[int(decoy)]()

    def _put_price_back(self) -> None:
        for before, after, hour in ((1.0, 3.0, 9), (3.0, 1.0, 11)):
            prices = (f"{self.price * before:.2f}", f"{self.price * after:.2f}")
            self._note(("demand_deals", self.deal), "price", *prices, hour=hour)

    def _note(
        self, entity: tuple[str, int], field: str, before: object, after: object, days: int = 0, hour: int = 0
    ) -> None:
        at = datetime.combine(self.day + timedelta(days=days), datetime.min.time(), UTC).replace(
            hour=hour or self.hour
        )
        number = sum(map(len, self.made.changes.values())) + 1
        self.made.changes.setdefault(entity, []).append(
            EntityChange(
                id=number, at=at, who="bo", action="changed", before={field: before}, after={field: after}
            )
        )

    def _noise(self, count: int) -> Floats:
        """Levels per day and column that keep 0 to 80 % of the day before."""
        keep, levels = self.draw.uniform(0, 0.8), self.draw.normal(size=(DAYS, count))
        for day in range(1, DAYS):
            levels[day] = keep * levels[day - 1] + np.sqrt(1 - keep**2) * levels[day]
        return np.exp(self.scale * levels)

    def _rows(
        self, deal: int, seat: Seat, keep: Floats, floors: Floats, size: float, is_hit: bool = True
    ) -> None:
        draw, kind, groups = self.draw, self.kind if is_hit else "", self.groups
        weekday = np.where((np.arange(DAYS) + FIRST.weekday()) % 7 >= 5, draw.choice([0.3, 0.7]), 1.0)
        level = size * float(np.exp(draw.uniform(7.5, 10))) * weekday * self._noise(1)[:, 0]
        level[self.dead] *= draw.choice([0.0, 0.05], len(self.dead))
        requests = draw.poisson(level[:, None] * self.shares * keep)
        effect = self._effect(self.left)
        rates = np.clip(draw.uniform(0.2, 0.7) * self._noise(1), 0, 0.95) * np.ones_like(requests)
        withheld = requests * rates if kind == "budget" else np.zeros(requests.shape)
        bids = draw.binomial(requests, rates * (effect if kind in ("budget", "dsp") else 1))
        # Bids by site scatter about a price that lets most of them through; a fixed price is the bid.
        # Others win at less than what a fixed price was.
        centers = self.price * np.exp(draw.normal(-0.8 if self.is_fixed else 0.5, 0.25, len(groups)))
        cpm = centers * np.exp(draw.normal(0, 0.05, requests.shape))
        passes = 1 / (1 + np.exp(-12 * np.log(cpm / floors[:, None])))
        if self.is_fixed and deal == self.deal:
            # Others' wins cost about the price: a lower one wins fewer auctions.
            passes = np.clip((floors / self.price)[:, None], 0, 1) * np.ones_like(cpm)
            cpm = floors[:, None] * np.ones_like(cpm)
        price_passes = (
            1 - self.onset[:, None] * (1 - passes) if kind in ("floor raised", "price lowered") else passes
        )
        if kind in ("creative", "unexplained"):
            price_passes = price_passes * effect
        through = draw.binomial(bids, np.clip(price_passes, 0, 1))
        imps = draw.binomial(through, np.clip(0.3 * self._noise(1), 0, 1) * np.ones_like(cpm))
        whole = pd.concat([groups] * DAYS, ignore_index=True).assign(
            **{DAY: np.repeat(DAY_NAMES, len(groups))}, lost_reason="", lost_bids=0.0
        )
        figures = (requests, bids, imps, draw.binomial(imps, 0.5), 0 * imps, bids * cpm, imps * cpm)
        for name, values in zip(SUMS, figures, strict=True):
            whole[name] = values.ravel()
        reason = {"creative": "202", "floor raised": "101", "price lowered": "102"}.get(kind, "")
        losses = {"102": 0.8 * (through - imps).sum(axis=1), "1": 0.2 * (through - imps).sum(axis=1)}
        if kind == "budget":
            losses["Budget cap"] = (withheld * (1 - effect)).sum(axis=1)
        elif reason and (kind == "creative" or deal % 3):
            losses[reason] = losses.get(reason, 0) + (bids - through).sum(axis=1)
        lost = [
            pd.DataFrame({DAY: DAY_NAMES, "lost_reason": why, "lost_bids": values})
            for why, values in losses.items()
        ]
        first = dict(zip(groups, groups.iloc[0], strict=True))
        rows = pd.concat([whole, pd.concat(lost).assign(**first)]).fillna(0)
        ids = {"deal": deal, "seat": seat.id, "dsp": seat.dsp.id if seat.dsp else ""}
        rows = rows.assign(**{name: str(number) for name, number in ids.items()})
        self.made.frames.append(rows.astype({"supply_package": str}))


def main() -> None:
    """Print the tables."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else DEALS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    for scale in (0.08, 0.25):
        print(f"\nNoise of {scale:.0%} a day:\n")
        print_table(made(np.random.default_rng(seed), number, scale), KINDS)


if __name__ == "__main__":
    main()
