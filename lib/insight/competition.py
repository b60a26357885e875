"""Which deals of a seat reach the same bid requests, and what others would have won of a deal's wins.

Inventory is cut into cells: a value of each key field that a targeting names. A deal's bid requests per cell
are the report's, whether another deal reaches a cell is what its targeting says. So the overlap of all deals
of a seat is one sparse product, bid requests per cell times reached cells.

What would be lost without a deal rests on an assumption (ASSUMPTION). Nothing lost is possible by it alone;
that at most a little is lost needs evidence for it in the report (_is_free). The range has the price (a
dearer deal may not be taken: Markov's inequality bounds how many wins paid enough), parts of a targeting that
filters can't say, bid requests that the other deal may not get, and the noise of both win rates. Other buyers
count as far as they won what this deal did not bid on.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csc_array, csr_array, issparse

from lib.insight.estimate import Estimate
from lib.reporting.models import Filter

ASSUMPTION = (
    "Assumes that the buyer bids for the impression and not for the deal: without this deal it bids the same "
    "through another deal of its seat that reaches the bid request and whose price is no higher, and wins as "
    "often as that deal does there."
)
MEASURES = ("requests", "bids", "wins", "spend")
FEWEST_BIDS, MOST_DENSE, Z = 50, 2_000_000, 1.96
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PortfolioDeal:
    """A deal as it is compared with others.

    `floor` is its price by CPM; None where it has none, or prices are not by CPM. `targetings` are the
    filters of each of its packages; `is_whole` says whether they say all of the targeting. Of a guaranteed
    deal `units` are its impressions.
    """

    id: int
    seat: int | None = None
    floor: float | None = None
    targetings: tuple[tuple[Filter, ...], ...] = ((),)
    is_whole: bool = True
    media_type: str = ""
    start: date | None = None
    end: date | None = None
    budget: float | None = None
    units: float | None = None


@dataclass(frozen=True)
class Competition:
    """A deal among the others of its seat.

    `alone` is the percent of its bid requests that none of them reaches, `rivals` the percent that each of
    them reaches, the most first. `loss` is the percent of its wins that nobody else would have had, `to_seat`
    that of its wins that the others of its seat would have had.
    """

    alone: float | None = None
    rivals: tuple[tuple[int, float], ...] = ()
    loss: Estimate = field(default_factory=lambda: Estimate(None))
    to_seat: Estimate = field(default_factory=lambda: Estimate(None))


class InventoryCells:
    """The cells of a report: `rows` have a deal's id as text, these key fields, and MEASURES (NaN: none)."""

    def __init__(self, deals: Sequence[PortfolioDeal], rows: pd.DataFrame, fields: Sequence[str]) -> None:
        places = {str(deal.id): place for place, deal in enumerate(deals)}
        rows = rows[rows["deal"].isin(places)]
        cell = rows.groupby([*fields], sort=False).ngroup().to_numpy() if fields else np.zeros(len(rows), int)
        _, first = np.unique(cell, return_index=True)
        shape = len(deals), len(first)
        at = rows["deal"].map(places).to_numpy(), cell
        of = {name: np.nan_to_num(rows[name].to_numpy(float)) for name in MEASURES}
        self.deals = deals
        self._sums = {name: csr_array((values, at), shape=shape) for name, values in of.items()}
        self._values = {name: pd.factorize(rows[name].iloc[first].astype(str)) for name in fields}
        self._reach: dict[tuple[Filter, ...], Flags] = {}
        most = self._sums["requests"].max(axis=0).toarray() if shape[1] else np.zeros(0)
        self._most: Numbers = np.asarray(most, float).ravel()
        self._whole = {name: np.asarray(self._sums[name].sum(axis=0), float) for name in ("bids", "wins")}

    def totals(self) -> dict[str, Numbers]:
        """Each measure per deal."""
        return {name: np.asarray(sums.sum(axis=1), float) for name, sums in self._sums.items()}

    def competition(self, full: Collection[int] = ()) -> Iterator[tuple[int, Competition]]:
        """Each deal with its competition, by id; deals that are `full` take no more wins."""
        seats = defaultdict(list)
        for place, deal in enumerate(self.deals):
            seats[deal.seat if deal.seat is not None else -place - 1].append(place)
        for places in seats.values():
            yield from _Seat(self, places, full).competition()

    def reach(self, deal: PortfolioDeal, cells: npt.NDArray[np.intp]) -> Flags:
        """Which of these cells the deal's targeting reaches, as far as filters on the key fields say."""
        reach = np.zeros(len(cells), bool)
        for filters in deal.targetings:
            of_package = np.ones(len(cells), bool)
            for one in filters:
                if one.name in self._values:
                    of_package &= self._passes(one)[self._values[one.name][0][cells]]
            reach |= of_package
        return reach

    def _passes(self, one: Filter) -> Flags:
        """Which distinct values of its key field a filter lets through."""
        if (one,) not in self._reach:
            is_named = np.isin(np.asarray(self._values[one.name][1], dtype=object), [*one.value])
            self._reach[one,] = is_named if one.match == "equals" else ~is_named
        return self._reach[one,]

    def volume(self, targeting: tuple[Filter, ...]) -> float:
        """The bid requests that a targeting reaches, of those that any of the deals got."""
        cells = np.arange(len(self._most))
        deal = PortfolioDeal(0, targetings=(targeting,))
        return float(self._most[self.reach(deal, cells)].sum())

    def columns(self, name: str, places: Sequence[int]) -> csc_array:
        """A measure of these deals, ready to be cut by cells."""
        return self._sums[name][places].tocsc()

    def others(self, cells: npt.NDArray[np.intp]) -> tuple[Numbers, Numbers, Numbers]:
        """Of these cells: the bid requests that any deal got at most, and the bids and wins of all."""
        return self._most[cells], self._whole["bids"][cells], self._whole["wins"][cells]


class _Seat:
    """The deals of one seat, at these places."""

    def __init__(self, inventory: InventoryCells, places: Sequence[int], full: Collection[int]) -> None:
        self._inventory, self._deals = inventory, [inventory.deals[place] for place in places]
        of = {name: inventory.columns(name, places) for name in MEASURES}
        self._cells = np.flatnonzero(np.diff(of["requests"].indptr))
        is_small = len(places) * len(self._cells) <= MOST_DENSE
        parts = {name: sums[:, self._cells] for name, sums in of.items()}
        self._of = {name: part.toarray() if is_small else part for name, part in parts.items()}
        self._reach = np.array([inventory.reach(deal, self._cells) for deal in self._deals])
        self._floors = np.array([np.nan if deal.floor is None else deal.floor for deal in self._deals])
        self._is_whole = np.array([deal.is_whole for deal in self._deals])
        self._has_room = np.array([deal.id not in full for deal in self._deals])
        self._rows = parts["requests"].tocsr()

    def competition(self) -> Iterator[tuple[int, Competition]]:
        """Each of the seat's deals, by id."""
        for place, deal in enumerate(self._deals):
            own = self._rows.indices[self._rows.indptr[place] : self._rows.indptr[place + 1]]
            yield deal.id, self._of_deal(place, np.sort(own)) if len(own) else Competition()

    def _of_deal(self, place: int, at: npt.NDArray[np.intp]) -> Competition:
        """The competition of a deal, by the places of its cells among those of the seat."""
        cells, parts = self._cells[at], {name: of[:, at] for name, of in self._of.items()}
        sums = {name: part.toarray() if issparse(part) else part for name, part in parts.items()}
        reach = self._reach[:, at].copy()
        reach[place] = False
        requests = sums["requests"][place]
        shares = 100 * (reach @ requests) / requests.sum()
        alone = 100 * float(requests[~reach.any(axis=0)].sum() / requests.sum())
        rivals = sorted(
            ((self._deals[other].id, float(shares[other])) for other in np.flatnonzero(shares)),
            key=lambda one: -one[1],
        )
        wins = sums["wins"][place].sum()
        if not wins:
            return Competition(alone, tuple(rivals))
        to_seat = self._to_seat(place, sums, reach, self._inventory.others(cells)[0])
        low, high = self._to_others(place, cells, sums)
        value, least, most = to_seat.value or 0.0, to_seat.low or 0.0, to_seat.high or 0.0
        loss = Estimate(
            *(100 * (1 - one) for one in (max(value, low), min(1.0, most + high), max(least, low)))
        )
        return Competition(alone, tuple(rivals), loss, to_seat.times(100))

    def _to_seat(
        self, place: int, sums: Mapping[str, Numbers], reach: Flags, most_requests: Numbers
    ) -> Estimate:
        """The share of the deal's wins that the other deals of the seat would have had."""
        requests, _, wins, spend = (sums[name][place] for name in MEASURES)
        weights = wins / wins.sum()
        price = 1000 * np.divide(spend, wins, out=np.zeros_like(wins), where=wins > 0)
        present, least_present = _presence(requests, sums["requests"], most_requests)
        is_cheaper, takes, may_take = self._prices(place, price)
        is_safe = is_cheaper & self._has_room & self._is_whole
        may = reach | (~self._is_whole & (np.arange(len(self._deals)) != place))[:, None]
        _, low = _ratio(place, sums, reach & is_safe[:, None])
        if not self._is_free(place, sums, reach & is_safe[:, None], is_safe, most_requests):
            low = 0.0
        rate, _ = _ratio(place, sums, reach & self._has_room[:, None])
        least = (least_present * reach * is_safe[:, None]).max(axis=0) @ weights * low
        value = (present * reach * takes * self._has_room[:, None]).max(axis=0) @ weights * rate
        most = float((may * may_take * self._has_room[:, None]).max(axis=0) @ weights)
        value = min(float(value), most)
        return Estimate(value, min(float(least), value), most)

    def _is_free(
        self, place: int, sums: Mapping[str, Numbers], reach: Flags, is_safe: Flags, most: Numbers
    ) -> bool:
        """Whether the report shows that the deal's buyer bids for the impression, and not for the deal.

        A buyer that bids once per bid request bids through the others where this deal does not reach what it
        bids through this one where it does. So the others' bids per bid request, there less here, over the
        deal's own are 1; they are 0 if each deal has a buyer of its own. Above a half, by the range, is taken
        for evidence; without bid requests that only the others reach there is none.
        """
        is_here = reach.any(axis=0)
        out = ~self._reach[place] & (self._reach & is_safe[:, None]).any(axis=0)
        total, all_most = most[is_here].sum(), self._inventory.others(self._cells[out])[0].sum()
        if not (total and all_most):
            return False
        inside = float(sums["bids"][reach].sum() / total)
        outside = float(self._of["bids"][:, out][is_safe].sum() / all_most)
        own = float(sums["bids"][place][is_here].sum() / total)
        return outside - inside - Z * math.sqrt(inside / total + outside / all_most) > own / 2

    def _prices(self, place: int, price: Numbers) -> tuple[Flags, Numbers, Numbers]:
        """Which deals are no dearer; and the share of each cell's wins that paid enough, by the average, and
        at most: of prices from the deal's own up with this average (Markov's inequality)."""
        own, floors = self._floors[place], self._floors[:, None]
        is_cheaper = floors[:, 0] <= own
        takes = (is_cheaper[:, None] | (price >= floors)).astype(float)
        gap = np.where(floors > own, floors - own, np.nan)
        most = np.clip((price - own) / gap, 0.0, 1.0)
        return is_cheaper, takes, np.where(is_cheaper[:, None] | np.isnan(most), 1.0, most)

    def _to_others(
        self, place: int, cells: npt.NDArray[np.intp], sums: Mapping[str, Numbers]
    ) -> tuple[float, float]:
        """The least and most share of the deal's wins that any other deal, and other seats, would have had.

        At least: of what it did not bid on others won a share m, all that it lost set aside. If it bids on
        bid requests like the others of a cell, with win rate w, they would have won (m − (1 − w)) / w.
        """
        requests, bids, wins, _ = (sums[name][place] for name in MEASURES)
        most, all_bids, all_wins = self._inventory.others(cells)
        weights, part = wins / wins.sum(), requests / most
        rest = requests - bids
        can_say = (wins > 0) & (rest > 0)
        safe_rest, rate = np.where(can_say, rest, 1.0), np.where(can_say, wins / np.maximum(bids, 1e-9), 1.0)
        share = np.clip(((all_wins - wins) * part - (bids - wins)) / safe_rest, 0.0, 1.0)
        least = np.where(can_say, (share - (1 - rate)) / rate, 0.0)
        error = np.where(can_say, (share * (1 - share) + 1 / safe_rest) / safe_rest / rate**2, 0.0)
        low = float(weights @ least) - Z * float(np.sqrt(weights**2 @ error))
        of_seats = np.minimum(1.0, (all_bids - sums["bids"].sum(axis=0)) / most)
        return max(0.0, low), float(weights @ of_seats)


def _presence(requests: Numbers, others: Numbers, most: Numbers) -> tuple[Numbers, Numbers]:
    """The part of a deal's bid requests per cell that others get as well: as of all of them, and at least.

    `most` are the bid requests of the deal that gets most; two that both miss some may miss different ones.
    """
    return np.minimum(1.0, others / most), np.clip(
        (requests + others - most) / np.maximum(requests, 1e-9), 0, 1
    )


def _ratio(place: int, sums: Mapping[str, Numbers], reach: Flags) -> tuple[float, float]:
    """The win rate of others in these cells, over this deal's there, at most 1; and its lower end."""
    is_shared = reach & (sums["requests"] > 0)
    is_any = is_shared.any(axis=0)
    bids, wins = (float(sums[name][place][is_any].sum()) for name in ("bids", "wins"))
    other_bids, other_wins = (float(sums[name][is_shared].sum()) for name in ("bids", "wins"))
    if other_bids < FEWEST_BIDS or not wins or not other_wins:
        return 0.0, 0.0
    rate, own = min(1.0, other_wins / other_bids), min(1.0, wins / bids)
    error = math.sqrt((1 - rate) / other_wins + (1 - own) / wins)
    return min(1.0, rate / own), min(1.0, rate / own * math.exp(-Z * error))
