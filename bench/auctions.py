"""Made auctions, request by request: seats with values of their own bid through deals, and the loss is known.

The rules are not those that the portfolio reads by: values are log-normal with a part that all seats share,
buyers prefer deals by habit, the open market outbids, deals miss a part of the bid requests unseen, daily
caps end a day's bids, and some deals never find a buyer. `lost` runs the auctions again without one deal.
"""

from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import numpy as np
import pandas as pd

from lib.insight.competition import PortfolioDeal
from lib.insight.pace import DealDays
from lib.reporting.models import Filter

FIELDS = {"country": 6, "device_type": 3, "size": 4, "site_domain": 12}
DAYS, LAST = 28, date(2026, 11, 24)
NOBODY, FEWEST_CAPPED = -1, 1_000


@dataclass
class Auctions:
    """A made history: the deals, who won each bid request (a deal's place, or NOBODY), and by what bid.

    `capped` are the ids of deals with a daily cap that held them back, or whose goal or budget is reached,
    `tiny` those that find no buyer, or reach a twentieth of their goal.
    """

    deals: list[PortfolioDeal] = field(default_factory=list)
    capped: set[int] = field(default_factory=set)
    tiny: set[int] = field(default_factory=set)

    def rows(self) -> pd.DataFrame:
        """The report by deal and cell."""
        frames = []
        for place, deal in enumerate(self.deals):
            at = np.flatnonzero(self.offered[place])
            frames.append(self._frame(deal.id, place, at).groupby(list(FIELDS)).sum().reset_index())
            frames[-1].insert(0, "deal", str(deal.id))
        return pd.concat(frames)

    def _frame(self, deal: int, place: int, at: np.ndarray) -> pd.DataFrame:
        won = self.winner[at] == place
        measures = {"requests": 1.0, "bids": self.through[self.group_of[place]][at] == place, "wins": won}
        keys = {name: self.keys[name][at] for name in FIELDS}
        return pd.DataFrame({**keys, **measures, "spend": won * self.paid[at] / 1000}).astype(
            dict.fromkeys((*measures, "spend"), float)
        )

    def days(self) -> dict[int, DealDays]:
        """The figures per day of each deal."""
        found = {}
        for place, deal in enumerate(self.deals):
            won = self.winner == place
            of = [
                np.bincount(self.day[mask], weights=weights, minlength=DAYS).astype(float)
                for mask, weights in (
                    (self.offered[place], None), (won, None), (won, self.paid[won] / 1000),
                )
            ]  # fmt: skip
            found[deal.id] = DealDays(*of, (of[1].sum(), of[2].sum()))
        return found

    def lost(self, place: int) -> float | None:
        """The share of a deal's wins that no deal has in the same auctions without it; None without wins."""
        at = np.flatnonzero(self.winner == place)
        if not len(at):
            return None
        seat = self.deals[place].seat
        others = [
            one for one, deal in enumerate(self.deals)
            if deal.seat == seat and one != place and deal.id not in self.capped
        ]  # fmt: skip
        is_bound = seat in self.bound
        again = np.zeros(len(at))
        for one in others:
            value = self.bids[one][at] if is_bound else self.bids[place][at]
            can = self.offered[one][at] & (value >= self.floors[one])
            again = np.maximum(again, np.where(can, value, 0.0))
        rest = np.where(self.seat_of_through[:, None] == seat, 0.0, self.bid_by_seat)[:, at].max(axis=0)
        return float((np.maximum(again, rest) <= self.outside[at]).mean())


def made(
    draw: np.random.Generator, deals: int = 200, requests: int = 120_000, bound: float = 0.0
) -> Auctions:
    """So many deals of a fifth as many seats; of a `bound` share of the seats each deal has its own buyer."""
    of = Auctions()
    weekly = 1 + 0.15 * np.sin(np.arange(DAYS) * 2 * np.pi / 7) + draw.normal(0, 0.12, DAYS)
    of.day = np.sort(draw.choice(DAYS, requests, p=weekly / weekly.sum()))
    of.keys = {}
    for name, count in FIELDS.items():
        weights = draw.dirichlet(np.full(count, 2.0))
        values = np.array([f"{name[0]}{number}" for number in range(count)], dtype=object)
        of.keys[name] = values[draw.choice(count, requests, p=weights)]
    seats = deals // 5
    of.bound = {seat for seat in range(seats) if draw.random() < bound}
    for number in range(deals):
        of.deals.append(_deal(draw, number, int(draw.integers(seats))))
    of.floors = np.array([deal.floor for deal in of.deals])
    unseen = np.where(draw.random(deals) < 0.75, 1.0, draw.uniform(0.4, 0.95, deals))
    of.offered = np.array([_reaches(of, deal) & (draw.random(requests) < unseen[place])
                           for place, deal in enumerate(of.deals)])  # fmt: skip
    _bid(draw, of, requests, seats)
    _promise(draw, of)
    return of


def _deal(draw: np.random.Generator, number: int, seat: int) -> PortfolioDeal:
    filters = []
    for name, count in FIELDS.items():
        if draw.random() < (0.45 if name != "site_domain" else 0.2):
            some = draw.choice(count, int(draw.integers(1, count)), replace=False)
            match = "equals" if draw.random() < 0.8 else "not equals"
            values = tuple(f"{name[0]}{one}" for one in sorted(some))
            filters.append(Filter(name=name, value=values, match=match))
    floor = float(np.round(draw.choice([1.0, 1.0, 1.5, 2.0, 3.0]), 2))
    start = LAST - timedelta(days=90)
    return PortfolioDeal(number + 1, seat, floor, (tuple(filters),), start=start)


def _reaches(of: Auctions, deal: PortfolioDeal) -> np.ndarray:
    reached = np.ones(len(of.day), bool)
    for one in deal.targetings[0]:
        named = np.isin(of.keys[one.name], one.value)
        reached &= named if one.match == "equals" else ~named
    return reached


def _bid(draw: np.random.Generator, of: Auctions, requests: int, seats: int) -> None:
    """Let everybody bid, twice: the second time deals with a daily cap end each day where they reach it."""
    common = draw.lognormal(0.0, 0.3, requests)
    of.outside = draw.lognormal(np.log(draw.uniform(1.5, 4.0)), 0.6, requests) * common
    level, part = draw.lognormal(np.log(3.0), 0.5, seats), draw.uniform(0.02, 0.3, seats)
    value = level[:, None] * common * draw.lognormal(0.0, 0.4, (seats, requests))
    value *= draw.random((seats, requests)) < part[:, None]
    tiny = draw.random(len(of.deals)) < 0.08
    habit = draw.normal(0.0, 1.0, len(of.deals)) - 30.0 * tiny
    of.bids = np.array([value[deal.seat] for deal in of.deals])
    for place, deal in enumerate(of.deals):
        if deal.seat in of.bound:
            interest = draw.random(requests) < part[deal.seat]
            of.bids[place] = np.where(interest, level[deal.seat] * draw.lognormal(0, 0.4, requests), 0.0)
        if tiny[place]:
            of.bids[place] = np.where(draw.random(requests) < 0.01, of.bids[place], 0.0)
    chooses = draw.gumbel(size=(len(of.deals), requests)) + habit[:, None]
    ended = np.zeros((len(of.deals), requests), bool)
    _auction(of, chooses, ended)
    wants_cap = (draw.random(len(of.deals)) < 0.25) & ~tiny
    caps = {
        place: 0.5 * _daily(of, place).mean()
        for place in np.flatnonzero(wants_cap)
        if _wins(of, place) > FEWEST_CAPPED
    }
    for _ in range(4):
        for place, most in caps.items():
            ended[place] |= _over(of, place, most)
        _auction(of, chooses, ended)
    for place, most in caps.items():
        rest = _over(of, place, most) & (of.winner == place)
        of.winner[rest] = NOBODY
    of.capped = {of.deals[place].id for place in caps}
    of.tiny = {deal.id for place, deal in enumerate(of.deals) if tiny[place]}


def _promise(draw: np.random.Generator, of: Auctions) -> None:
    """Goals and budgets that some deals have reached, some not, and some never will."""
    begins = LAST - timedelta(days=DAYS - 1)
    won = np.bincount(of.winner[of.winner != NOBODY], minlength=len(of.deals))
    spent = np.bincount(np.maximum(of.winner, 0), of.paid * (of.winner != NOBODY), len(of.deals)) / 1000
    for place, deal in enumerate(of.deals):
        kind = draw.choice(["", "early", "on its way", "never", "spent", "unspent"], p=[0.75, *[0.05] * 5])
        if not kind or won[place] < 100 or deal.id in of.capped | of.tiny:
            continue
        goal = {"early": 0.9, "on its way": 1.5, "never": 20.0}.get(kind)
        budget = {"spent": 1.0, "unspent": 2.0}.get(kind)
        of.deals[place] = replace(
            deal, start=begins, end=LAST + timedelta(days=5),
            units=goal and float(round(goal * won[place])), budget=budget and float(budget * spent[place]),
        )  # fmt: skip
        of.capped |= {deal.id} if kind in ("early", "spent") else set()
        of.tiny |= {deal.id} if kind == "never" else set()


def _auction(of: Auctions, chooses: np.ndarray, ended: np.ndarray) -> None:
    """Each seat bids once, through one deal (a bound seat through each deal); the highest bid pays itself."""
    can = of.offered & (of.bids >= of.floors[:, None]) & (of.bids > 0) & ~ended
    groups = {}
    for place, deal in enumerate(of.deals):
        key = (deal.seat, place) if deal.seat in of.bound else (deal.seat, NOBODY)
        groups.setdefault(key, []).append(place)
    through, bids = [], []
    for places in groups.values():
        score = np.where(can[places], chooses[places], -np.inf)
        best = score.argmax(axis=0)
        is_in = np.isfinite(score.max(axis=0))
        through.append(np.where(is_in, np.array(places)[best], NOBODY))
        bids.append(np.where(is_in, of.bids[places][best, np.arange(len(of.day))], 0.0))
    of.through, of.bid_by_seat = np.array(through), np.array(bids)
    of.seat_of_through = np.array([seat for seat, _ in groups])
    of.group_of = {place: at for at, places in enumerate(groups.values()) for place in places}
    top = of.bid_by_seat.argmax(axis=0)
    of.paid = of.bid_by_seat.max(axis=0)
    of.winner = np.where(of.paid > of.outside, of.through[top, np.arange(len(of.day))], NOBODY)


def _wins(of: Auctions, place: int) -> int:
    return int((of.winner == place).sum())


def _daily(of: Auctions, place: int) -> np.ndarray:
    won = of.winner == place
    return np.bincount(of.day[won], weights=of.paid[won], minlength=DAYS)


def _over(of: Auctions, place: int, most: float) -> np.ndarray:
    """The bid requests after a deal has spent so much on their day."""
    spent = np.where(of.winner == place, of.paid, 0.0)
    ends = np.cumsum(spent)
    before = np.concatenate([[0.0], ends[np.flatnonzero(np.diff(of.day))]])
    return ends - before[of.day] > most
