"""How often a deal's health names the planted cause, and how often it claims one where nothing happened.

    python bench/statements_health.py [deals [seed]]

Deals are made by rules that the diagnosis doesn't know: counts whose level wanders (`statements.NOISES`), on
sites and in countries, bids with prices of which a floor lets some through, losses with reasons. Half of them
have a cause. Half of these have a change of the price within two days beside it that has little to do with
it, and half another change that took nothing away: a price put back, a wider targeting, a longer list, a
package more. Figures are asked for as the desk asks, of a slicer that answers from memory.
"""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr
from statements import NOISES, counts

from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.models import DemandDeal, Dsp, EntityChange, GeoTarget, ListTarget, Seat, SupplyPackage
from lib.insight import Assessor, Insight, change_point, diagnosis
from lib.reporting.answers import Audience, Total
from lib.reporting.models import AudienceQuery
from lib.slicers.granularities import time_key_field
from lib.slicers.models import DataField, KeyField, Slicer

Floats = npt.NDArray[np.float64]
SEED, DEALS, DAYS, TODAY, DAY = 14_142, 400, 63, date(2026, 11, 24), time_key_field("day")
FIRST, ONE = TODAY - timedelta(days=DAYS), timedelta(days=1)
CAUSES = (
    "floor raised", "floor", "price lowered", "price", "creative", "blocked", "budget", "targeting", "list",
    "seat", "dsp", "package", "site", "unexplained",
)  # fmt: skip
REASONS = {
    "floor raised": "101", "floor": "101", "price": "102", "price lowered": "102", "creative": "202",
    "blocked": "205", "unexplained": "1",
}  # fmt: skip
"""The reason of the losses that a cause makes; every second raised floor is left without."""
SHARED = {"seat": "seat", "dsp": "dsp", "package": "supply_package", "site": "site_domain"}
"""Causes that other deals have too: what they have in common."""
STEPS = ("bid_requests", "bids", "imps", "viewable_imps")
SUMS = (*STEPS, "lost_bids", "bid_sum", "win_sum")
KEYS = ("deal", "supply_package", "seat", "dsp", "lost_reason", "site_domain", "country")
SLICER = Slicer(
    key_fields=tuple(KeyField(name=name) for name in (*KEYS, DAY)),
    data_fields=tuple(DataField(name=name) for name in (*STEPS, "lost_bids", "bid_cpm", "win_cpm")),
    first_date=FIRST.isoformat(),
    last_date=(TODAY - ONE).isoformat(),
)
DAY_NAMES = np.array([(FIRST + number * ONE).isoformat() for number in range(DAYS)])
COUNTRIES, SCATTER, USUAL_LOSSES = ("US", "DE", "FR"), 0.2, {"102": 0.7, "101": 0.15, "2": 0.15}


@dataclass
class Made:
    """Made deals with their rows, the planted cause and day of each, and what was changed."""

    deals: list[DemandDeal] = field(default_factory=list)
    causes: dict[int, tuple[str, date]] = field(default_factory=dict)
    changes: dict[tuple[str, int], list[EntityChange]] = field(default_factory=dict)
    packages: dict[int, SupplyPackage] = field(default_factory=dict)
    frames: list[pd.DataFrame] = field(default_factory=list)

    def note(self, entity: tuple[str, int], day: date, field: str, before: object, after: object) -> None:
        """Add a change to the history."""
        at = datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
        number = sum(map(len, self.changes.values())) + 1
        change = EntityChange(
            id=number, at=at, who="ada", action="changed", before={field: before}, after={field: after}
        )
        self.changes.setdefault(entity, []).append(change)

    def answer(self, query: AudienceQuery, rows: pd.DataFrame) -> Audience:
        """What the slicer answers, from its rows."""
        start, end = TODAY - timedelta(days=-int(str(query.start_date)[:-1])), TODAY - ONE
        keep = np.ones(len(rows), bool)
        for only in query.filters:
            is_in = rows[only.name].isin(only.value).to_numpy()
            keep &= is_in if only.match == "equals" else ~is_in
        rows = rows[keep & rows[DAY].isin([day for day in DAY_NAMES if day >= start.isoformat()]).to_numpy()]
        split = list(query.split_by)
        sums = rows.groupby(split, sort=True, observed=True)[[*SUMS]].sum().reset_index()
        sums["bid_cpm"] = sums["bid_sum"] / sums["bids"].where(sums["bids"] > 0)
        sums["win_cpm"] = sums["win_sum"] / sums["imps"].where(sums["imps"] > 0)
        values = sums[[*(query.data_fields or ())]]
        days = tuple(day for day in DAY_NAMES if start.isoformat() <= day <= end.isoformat())
        return Audience(sums[split], values, values, Total({}, len(sums), days))


def made(draw: np.random.Generator, number: int, scale: float = 0.08) -> Made:
    """So many deals, half of them with a cause; noise of this size a day."""
    population = Made()
    for place in range(number):
        kind = CAUSES[place // 2 % len(CAUSES)] if place % 2 == 0 else ""
        _Deal(draw, population, place + 1, kind, scale).add()
    return population


class _Deal:
    """A deal to make, by sites and countries: figures have the shape (days, groups)."""

    def __init__(self, draw: np.random.Generator, made: Made, deal: int, kind: str, scale: float) -> None:
        self.draw, self.made, self.deal, self.kind, self.scale = draw, made, deal, kind, scale
        self.noise = NOISES[str(draw.choice(list(NOISES)))]
        self.at = int(draw.integers(30, 59))
        self.day, self.after = FIRST + self.at * ONE, np.arange(DAYS)[:, None] >= self.at
        self.left = 0.0 if kind == "budget" else float(draw.uniform(0.05, 0.45))
        seat, self.package = 10_000 + deal // 4, 5_000 + deal
        dsp = Dsp(id=1_000 + deal if kind == "dsp" else seat % 7)
        self.seat = Seat(id=20_000 + deal if kind == "seat" else seat, dsp=dsp)
        self.sites = [f"{letter}.example" for letter in draw.permutation([*"abcdef"])[:3]]
        if kind == "site":
            self.sites = [f"site-{deal}.example"]
        self.is_fixed = kind in ("price", "price lowered") or (not kind and draw.random() < 0.3)
        groups = [(site, country) for site in self.sites for country in COUNTRIES]
        self.groups = pd.DataFrame(groups, columns=["site_domain", "country"])
        self.shares = draw.dirichlet(np.full(len(groups), 4.0))
        self.level = float(draw.uniform(1, 8))
        scatter = draw.normal(0, 0.3, len(groups)) + draw.normal(0, 0.08, (DAYS, len(groups)))
        self.cpm = self.level * np.exp(scatter)

    def add(self) -> None:
        """Add the deal with its rows and history, and others that share its cause."""
        floors = self._floors()
        self._change_supply()
        self._rows(self.deal, self.seat, self.package, floors, 1.0)
        self.made.deals.append(
            DemandDeal(
                id=self.deal, price=Decimal(f"{floors[-1]:.2f}"), seat=self.seat, dsp=self.seat.dsp,
                is_active=True, deal_sync=False, supply_deals=(SupplyPackage(id=self.package),),
                price_type="fixed" if self.is_fixed else "floor",
            )
        )  # fmt: skip
        self.made.packages[self.package] = SupplyPackage(
            id=self.package, name="P", is_active=True, start_date=datetime(2026, 1, 1, tzinfo=UTC),
            domain_list_targetings=(ListTarget(id=self.deal, name="L"),),
        )  # fmt: skip
        self.made.causes[self.deal] = self.kind, self.day
        for sister in range(3 if self.kind in SHARED else 0):
            number = 100_000 + self.deal * 3 + sister
            dsp = self.seat.dsp if self.kind == "dsp" else Dsp(id=7)
            seat = self.seat if self.kind == "seat" else Seat(id=number, dsp=dsp)
            package = self.package if self.kind == "package" else number
            self._rows(number, seat, package, np.full(DAYS, 0.01), 0.5)

    def _floors(self) -> Floats:
        """The price of each day: a raise that is the cause, or one beside the break that changes little."""
        low = 0.6 * float(np.quantile(self.cpm, 0.02))
        floors = np.full(DAYS, self.level if self.is_fixed else low)
        if self.kind == "floor raised":
            steps = np.geomspace(low, 6 * self.level, 400)
            before = self.cpm[: self.at, :, None]
            through = ndtr(np.log(before / steps) / SCATTER).mean(axis=(0, 1))
            floors[self.at :] = steps[through <= self.left][0]
            self._note_price(self.day, floors[0], floors[-1])
        elif self.kind == "price lowered":
            floors[: self.at] *= 2
            self._note_price(self.day, floors[0], floors[-1])
        elif self.draw.random() < 0.5:
            at = min(self.at + int(self.draw.integers(-2, 3)), DAYS - 1)
            before, growth = floors[at], float(self.draw.uniform(1.05, 1.4))
            floors[at:] *= growth if self.draw.random() < 0.7 else 1 / growth
            self._note_price(FIRST + at * ONE, before, floors[at])
        return floors

    def _note_price(self, day: date, before: float, after: float) -> None:
        self.made.note(("demand_deals", self.deal), day, "price", f"{before:.2f}", f"{after:.2f}")

    def _change_supply(self) -> None:
        """What was changed of targeting and lists: the cause, or what took nothing away."""
        package, domains = ("supply_deals", self.package), ("domain_lists", self.deal)
        kept, listed = self._kept(), [f"{number}.example" for number in range(20)]
        if self.kind == "targeting":
            wide, narrow = (
                [GeoTarget(type="country", value=name) for name in of] for of in (COUNTRIES, kept)
            )
            self.made.note(package, self.day, "geo_targetings", wide, narrow)
        elif self.kind == "list":
            self.made.note(domains, self.day, "domains", [*self.sites, *listed], [*kept, *listed])
        elif self.draw.random() < 0.5:
            day = FIRST + (self.at + int(self.draw.integers(-2, 1))) * ONE
            match int(self.draw.integers(4)):
                case 0 if self.kind not in ("floor raised", "price lowered"):
                    self._note_price(day - ONE, 9, 4.5)
                    self._note_price(day, 4.5, 9)
                case 1:
                    tv, phone = {"value": "tv"}, {"value": "phone"}
                    self.made.note(package, day, "device_targetings", [tv], [tv, phone])
                case 2:
                    self.made.note(domains, day, "domains", listed, [*listed, "one-more.example"])
                case 3:
                    self.made.note(("demand_deals", self.deal), day, "supply_deals", [1], [1, self.package])

    def _kept(self) -> list[str]:
        """The country or the site of least volume: it stays where others are removed."""
        name = "country" if self.kind == "targeting" else "site_domain"
        return [str(pd.Series(self.shares).groupby(self.groups[name]).sum().idxmin())]

    def _rows(self, deal: int, seat: Seat, package: int, floors: Floats, size: float) -> None:
        """The rows of a deal: the funnel in one per day and group, and more for what was lost by a reason."""
        draw, kind, left = self.draw, self.kind, np.where(self.after, self.left, 1.0)
        volume = counts(draw, self.noise, DAYS, size * float(np.exp(draw.uniform(7, 10))), self.scale)
        shares = np.ones((DAYS, 1)) * self.shares
        if kind in ("targeting", "list"):
            stays = self.groups["country" if kind == "targeting" else "site_domain"].isin(self._kept())
            shares = np.where(self.after & ~stays.to_numpy(), 0.0, shares)
        if kind in ("package", "site"):
            shares = left * shares
        requests = draw.poisson(volume[:, None] * shares)
        bid_rates, win_rates = (
            np.clip(rate * np.exp(self.scale * self.noise(draw, DAYS)), 0, 0.95)[:, None]
            for rate in (draw.beta(4, 6), draw.beta(5, 14))
        )
        withheld = bid_rates * requests if kind == "budget" else 0 * requests
        bids = draw.binomial(requests, bid_rates * (left if kind in ("budget", "dsp", "seat") else 1))
        through = (
            np.ones_like(self.cpm) if self.is_fixed else ndtr(np.log(self.cpm / floors[:, None]) / SCATTER)
        )
        if kind in REASONS and kind != "floor raised":
            through = left * through
        passed = draw.binomial(bids, through)
        imps = draw.binomial(passed, win_rates)
        losses = {reason: part * (passed - imps) for reason, part in USUAL_LOSSES.items()}
        if kind == "budget":
            losses["Budget reached"] = np.where(self.after, withheld, 0)
        elif kind in REASONS and not (kind == "floor raised" and self.deal % 4 == 1):
            losses[REASONS[kind]] = losses.get(REASONS[kind], 0) + bids - passed
        prices = floors[:, None] * np.ones_like(self.cpm) if self.is_fixed else self.cpm
        whole = pd.concat([self.groups] * DAYS, ignore_index=True)
        whole = whole.assign(**{DAY: np.repeat(DAY_NAMES, len(self.groups))}, lost_reason="", lost_bids=0.0)
        figures = (requests, bids, imps, draw.binomial(imps, 0.6), bids * prices, imps * prices)
        for name, values in zip((*STEPS, "bid_sum", "win_sum"), figures, strict=True):
            whole[name] = values.ravel()
        lost = [
            pd.DataFrame({DAY: DAY_NAMES, "lost_reason": reason, "lost_bids": values.sum(axis=1)})
            for reason, values in losses.items()
        ]
        rows = pd.concat([whole, pd.concat(lost).assign(site_domain=self.sites[0], country="US")]).fillna(0)
        dsp = seat.dsp.id if seat.dsp else ""
        ids = {"deal": deal, "supply_package": package, "seat": seat.id, "dsp": dsp}
        self.made.frames.append(rows.assign(**{name: str(number) for name, number in ids.items()}))


def judged(population: Made) -> dict[int, str]:
    """The cause that the desk names for each deal; "healthy" without a break, "" for an unnamed one.

    One of a day that is off by more than one is "another day".
    """
    rows = pd.concat(population.frames, ignore_index=True).astype(dict.fromkeys((*KEYS, DAY), "category"))
    report = Insight("p", "s", SLICER, TODAY, lambda query: population.answer(query, rows), True)
    context = DealContext(
        population.packages,
        {},
        {},
        datetime(2026, 11, 24, 12, tzinfo=UTC),
        lambda entity, number: population.changes.get((entity, number), []),
    )
    titles = {title: name for name, title in diagnosis.TITLES.items()}
    found = Assessor(report).assess(population.deals, context)
    return {deal: _named(health, titles, population.causes[deal][1]) for deal, health in found.items()}


def _named(health: DealHealth, titles: dict[str, str], day: date) -> str:
    if health.state == "healthy":
        return "healthy"
    text = re.search(r"\d+ [A-Z][a-z]{2} \d{4}", health.findings[0] if health.findings else "")
    found = datetime.strptime(f"{text[0]} +0000", "%d %b %Y %z").date() if text else day
    return "another day" if abs((found - day).days) > 1 else titles.get(health.words, "")


def print_table(population: Made, causes: Sequence[str] = CAUSES) -> None:
    """The table of causes: how many were named rightly, and what else was said."""
    found = judged(population)
    print(
        "| planted | deals | named rightly | unnamed | named wrongly | no claim |\n|---|--:|--:|--:|--:|--:|"
    )
    every = Counter[str]()
    for kind in [*causes, ""]:
        right = {"unexplained": "", "": "healthy"}.get(kind, kind)
        names = Counter(found[deal] for deal, (planted, _) in population.causes.items() if planted == kind)
        parts = {"all": sum(names.values()), "right": names.pop(right, 0)}
        parts |= {
            "silent": names.pop("healthy", 0),
            "unnamed": names.pop("", 0),
            "wrong": sum(names.values()),
        }
        every.update(parts if kind else {})
        _print_row(kind or "nothing", parts)
    _print_row("all causes", every)


def _print_row(kind: str, parts: Mapping[str, int]) -> None:
    shares = [f"{parts[name] / max(parts['all'], 1):.1%}" for name in ("right", "unnamed", "wrong", "silent")]
    print(f"| {kind} | {parts['all']} | {' | '.join(shares)} |")


def print_falls(draws: int, seed: int) -> None:
    """The table of change points: three rates of a deal, with the same noise each."""
    print(
        "\n| noise | a day | unbroken deals with a claim | a rate halved: found | on the day or beside it |"
    )
    print("|---|--:|--:|--:|--:|")
    for name, noise in NOISES.items():
        for scale in (0.08, 0.25):
            draw = np.random.default_rng([seed, int(100 * scale)])
            claimed = np.zeros(draws, bool)
            base = np.array([counts(draw, noise, DAYS, scale=scale) for _ in range(draws)])
            places = draw.integers(30, 59, draws)
            halved = np.where(np.arange(DAYS) >= places[:, None], 0.5, 1.0)
            for rate in (0.5, 0.3, 0.6):
                rates = np.array([rate * np.exp(scale * noise(draw, DAYS)) for _ in range(draws)])
                part = draw.binomial(base.astype(np.int64), np.clip(rates, 0, 1)).astype(np.float64)
                claimed |= [fall is not None for fall in change_point.falls(part, base, 3)]
                broken = draw.binomial(part.astype(np.int64), halved).astype(np.float64)
                found = change_point.falls(broken, base, 3)
                base = part
            right = [
                fall is not None and abs(fall.place - at) <= 1 for fall, at in zip(found, places, strict=True)
            ]
            shares = np.mean(claimed), np.mean([fall is not None for fall in found]), np.mean(right)
            print(f"| {name} | {scale:.0%} | {' | '.join(f'{share:.1%}' for share in shares)} |")


def main() -> None:
    """Print the tables."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else DEALS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    for scale in (0.08, 0.25):
        print(f"\nNoise of {scale:.0%} a day:\n")
        print_table(made(np.random.default_rng(seed), number, scale))
    print_falls(number, seed)


if __name__ == "__main__":
    main()
