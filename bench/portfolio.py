"""How often the portfolio's ranges hold the true loss, and how often its verdicts are false or missed.

    python bench/portfolio.py [histories [deals [seed]]]

Auctions are made request by request (auctions.py), read as the desk reads a report, and run again without
each deal of 30 wins or more. In the last rows a part of the buyers has a campaign bound to each deal, which
the portfolio assumes not to be. Then 5,000 deals are compared, and the seconds printed.
"""

import sys
import time
from dataclasses import astuple, dataclass

import numpy as np
import pandas as pd
from auctions import FIELDS, LAST, Auctions, made

from lib.insight.competition import InventoryCells, PortfolioDeal
from lib.insight.portfolio import FEWEST_WINS, SMALL_LOSS, Standing, standings
from lib.reporting.models import Filter

SEED, HISTORIES, DEALS, MANY, LARGE = 31_415, 5, 200, 5_000, 1_000


@dataclass
class Score:
    """Counts: deals, those whose range holds the loss, that could end (large ones too), claims (large ones
    too), false claims; deals with a cap, found, falsely found; the same of those that never reached scale."""

    deals: int = 0
    held: int = 0
    could_end: int = 0
    could_end_large: int = 0
    claims: int = 0
    claims_large: int = 0
    false_claims: int = 0
    caps: int = 0
    caps_found: int = 0
    caps_false: int = 0
    tiny: int = 0
    tiny_found: int = 0
    tiny_false: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


def judge(of: Auctions) -> list[Standing]:
    """The portfolio of a made history."""
    return standings(of.deals, InventoryCells(of.deals, of.rows(), [*FIELDS]), of.days(), LAST)


def score(of: Auctions) -> Score:
    """The verdicts held against what is known."""
    total, found = Score(), judge(of)
    days = of.days()
    week = pd.Series({one.deal.id: days[one.deal.id].spend.mean() for one in found if one.wins})
    for place, one in enumerate(found):
        is_capped, is_tiny = one.deal.id in of.capped, one.deal.id in of.tiny
        total.caps += is_capped
        total.caps_found += is_capped and one.verdict == "Capped"
        total.caps_false += not is_capped and one.verdict == "Capped"
        total.tiny += is_tiny
        total.tiny_found += is_tiny and one.verdict == "Never reached scale"
        is_small = is_tiny or (not one.deal.units and week.get(one.deal.id, 0.0) < 0.2 * week.median())
        total.tiny_false += not is_small and one.verdict == "Never reached scale"
        if one.wins >= FEWEST_WINS:
            total += _loss(one, 100 * (of.lost(place) or 0.0))
    return total


def _loss(one: Standing, lost: float) -> Score:
    loss, is_large = one.competition.loss, one.wins >= LARGE
    claims, could_end = loss.high < SMALL_LOSS, lost < SMALL_LOSS
    return Score(
        1, loss.low - 1e-6 <= lost <= loss.high + 1e-6, could_end, could_end and is_large, claims,
        claims and could_end and is_large, claims and not could_end,
    )  # fmt: skip


def many(draw: np.random.Generator, count: int = MANY) -> tuple[list[PortfolioDeal], pd.DataFrame]:
    """So many deals with 100 cells each, eight to a seat."""
    codes = draw.integers(0, [30, 4, 8, 60], (count * 100, 4))
    rows = pd.DataFrame({name: codes[:, at].astype(str) for at, name in enumerate(FIELDS)})
    rows.insert(0, "deal", np.repeat(np.arange(1, count + 1), 100).astype(str))
    requests = draw.integers(10, 1_000, len(rows)).astype(float)
    rows = rows.assign(requests=requests, bids=requests // 2, wins=requests // 5, spend=requests / 5_000)
    filters = [
        Filter(name="country", value=tuple(map(str, draw.choice(30, 8, False))), match="equals")
        for _ in range(count)
    ]
    deals = [PortfolioDeal(at + 1, at // 8, 2.0, ((one,),)) for at, one in enumerate(filters)]
    return deals, rows.groupby(["deal", *FIELDS]).sum().reset_index()


def main() -> None:
    """Print the table, and the seconds."""
    histories, deals, seed = (
        int(sys.argv[at]) if len(sys.argv) > at else usual
        for at, usual in ((1, HISTORIES), (2, DEALS), (3, SEED))
    )
    print(
        "| buyers bound to deals | deals | range holds the true loss | could end | found | of 1,000 wins or "
        "more | false claims | caps found | false | never reached scale found | false |\n|---|" + "--:|" * 10
    )
    for bound in (0.0, 0.1, 0.3):
        of = Score()
        for number in range(histories):
            of += score(made(np.random.default_rng([seed, number]), deals, bound=bound))
        print(
            f"| {bound:.0%} | {of.deals} | {of.held / of.deals:.1%} | {of.could_end} | "
            f"{of.claims - of.false_claims} | {of.claims_large} of {of.could_end_large} | "
            f"{of.false_claims} of {of.claims} | {of.caps_found} of {of.caps} | {of.caps_false} | "
            f"{of.tiny_found} of {of.tiny} | {of.tiny_false} |",
            flush=True,
        )
    of_many, rows = many(np.random.default_rng(seed))
    began = time.perf_counter()
    compared = dict(InventoryCells(of_many, rows, [*FIELDS]).competition())
    print(f"\n{len(compared):,} deals, {len(rows):,} rows: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
