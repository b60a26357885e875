"""How often a deal's health names the planted cause, and how often it claims one where nothing happened.

    python bench/statements_health.py [deals [seed]]

Deals are made by rules that the diagnosis doesn't know: counts whose level wanders (`statements.NOISES`), win
and bid rates of their own with noise, losses with reasons, and changes in the history that have no effect.
Each has one cause or none. Figures are asked for as the desk asks, of a slicer that answers from memory.
"""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from statements import NOISES, Noise, counts

from lib.deals.models import DemandDeal, Dsp, EntityChange, GeoTarget, Seat, SupplyPackage
from lib.insight import change_point, diagnosis
from lib.insight.assessor import Assessor
from lib.insight.deal_report import DealReport
from lib.insight.health import DealHealth, Surroundings
from lib.reporting.answers import Audience, Total
from lib.reporting.models import AudienceQuery, DataField, KeyField, Slicer, time_key_field

SEED, DEALS, DAYS, TODAY, DAY = 27_182, 200, 63, date(2026, 11, 24), time_key_field("day")
FIRST, ONE = TODAY - timedelta(days=DAYS), timedelta(days=1)
CAUSES = {
    "floor raised": 0.15, "floor": 0.3, "price": 0.2, "price lowered": 0.25, "creative": 0.1, "blocked": 0.4,
    "budget": 0.0, "targeting": 0.2, "seat": 0.3, "unexplained": 0.4,
}  # fmt: skip
"""Each cause, and the part that it leaves of the rate it breaks."""
REASONS = {
    "floor": "101", "outbid": "102", "creative": "202", "blocked": "205", "budget": "Budget reached",
    "unexplained": "1",
}  # fmt: skip
STEPS = ("bid_requests", "bids", "imps", "viewable_imps")
KEYS = ("deal", "supply_package", "seat", "dsp", "lost_reason", "site_domain")
SLICER = Slicer(
    key_fields=tuple(KeyField(name=name) for name in (*KEYS, DAY)),
    data_fields=tuple(DataField(name=name) for name in (*STEPS, "lost_bids", "bid_cpm", "win_cpm")),
    first_date=FIRST.isoformat(),
    last_date=(TODAY - ONE).isoformat(),
)


@dataclass
class Made:
    """Made deals with their rows, the planted cause and day of each, and what was changed."""

    deals: list[DemandDeal] = field(default_factory=list)
    causes: dict[int, tuple[str, date]] = field(default_factory=dict)
    changes: dict[tuple[str, int], list[EntityChange]] = field(default_factory=dict)
    packages: dict[int, SupplyPackage] = field(default_factory=dict)
    frames: list[pd.DataFrame] = field(default_factory=list)

    def note(self, entity: tuple[str, int], day: date, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Add a change to the history."""
        at = datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
        one = EntityChange(id=1, at=at, who="ada", action="changed", before=before, after=after)
        self.changes.setdefault(entity, []).append(one)

    def answer(self, query: AudienceQuery, rows: pd.DataFrame) -> Audience:
        """What the slicer answers, from its rows."""
        start, end = TODAY - timedelta(days=-int(str(query.start_date)[:-1])), TODAY - ONE
        rows = rows[(rows[DAY] >= start.isoformat()) & (rows[DAY] <= end.isoformat())]
        for one in query.filters:
            there = rows[one.name].isin(one.value)
            rows = rows[there if one.match == "equals" else ~there]
        split = list(query.split_by)
        of = rows.groupby(split, sort=True)[[*STEPS, "lost_bids", "bid_sum", "win_sum"]].sum().reset_index()
        of["bid_cpm"] = of["bid_sum"] / of["bids"].where(of["bids"] > 0)
        of["win_cpm"] = of["win_sum"] / of["imps"].where(of["imps"] > 0)
        days = tuple((FIRST + number * ONE).isoformat() for number in range(DAYS))
        inside = tuple(day for day in days if start.isoformat() <= day <= end.isoformat())
        values = of[[*(query.data_fields or ())]]
        return Audience(of[split], values, values, Total({}, len(of), inside))


def made(draw: np.random.Generator, number: int) -> Made:
    """So many deals, two to a package, four to a seat; half of them with a cause."""
    all_made = Made()
    names = list(CAUSES)
    for place in range(number):
        kind = names[place // 2 % len(names)] if place % 2 == 0 else ""
        _add(draw, all_made, place + 1, kind)
    return all_made


@dataclass(frozen=True)
class _Plan:
    """A deal to make: its ids, its cause, the place of its day, and the part that stays of what it breaks."""

    deal: int
    seat: int
    package: int
    kind: str
    at: int
    left: float
    noise: Noise

    @property
    def after(self) -> Any:
        """Which days are those after the break."""
        return np.arange(DAYS) >= self.at

    @property
    def day(self) -> date:
        """The first one of them."""
        return FIRST + self.at * ONE


def _add(draw: np.random.Generator, all_made: Made, deal: int, kind: str) -> None:
    noise = NOISES[str(draw.choice(list(NOISES)))]
    seat = deal if kind == "seat" else 10_000 + deal // 4
    package = 5_000 + deal if kind == "targeting" else deal // 2
    at, left = int(draw.integers(30, 59)), min(0.6, CAUSES.get(kind, 1.0) * draw.uniform(0.5, 1.5))
    plan = _Plan(deal, seat, package, kind, at, left, noise)
    price = Decimal(str(round(draw.uniform(0.5, 8), 2)))
    funnel, lost = _funnel(draw, plan)
    by_reason = _by_reason(plan, funnel[2], lost)
    is_fixed = kind in ("price", "price lowered") or (not kind and draw.random() < 0.3)
    seat_of = Seat(id=seat, dsp=Dsp(id=seat % 7))
    all_made.deals.append(
        DemandDeal(
            id=deal, price=price, seat=seat_of, dsp=seat_of.dsp, is_active=True, deal_sync=False,
            supply_deals=(SupplyPackage(id=package),), price_type="fixed" if is_fixed else "floor",
        )
    )  # fmt: skip
    began = datetime(2026, 1, 1, tzinfo=UTC)
    all_made.packages[package] = SupplyPackage(id=package, name="P", is_active=True, start_date=began)
    all_made.causes[deal] = kind, plan.day
    _history(draw, all_made, deal, package, kind, plan.day, price)
    _rows(all_made, deal, package, seat_of, funnel, by_reason, float(price), draw)
    if kind == "seat":
        _sister(draw, all_made, seat_of, plan.after, left, noise)


def _funnel(draw: np.random.Generator, plan: _Plan) -> tuple[tuple[Any, Any, Any], Any]:
    """Requests, bids and impressions by day, broken as planned, and the bids (of a budget, requests) lost."""
    kind, left, after = plan.kind, plan.left, plan.after
    requests = counts(draw, plan.noise, DAYS, float(np.exp(draw.uniform(6, 10))))
    bid_rate, win_rate = draw.beta(4, 6), draw.beta(5, 14)
    bid_rates, win_rates = (
        np.clip(rate * np.exp(0.08 * NOISES[str(draw.choice(list(NOISES)))](draw, DAYS)), 0, 0.95)
        for rate in (bid_rate, win_rate)
    )
    if kind == "targeting":
        requests = np.where(after, draw.binomial(requests.astype(np.int64), left), requests)
    if kind in ("budget", "seat"):
        bid_rates = np.where(after, left * bid_rates, bid_rates)
    if kind not in ("", "targeting", "budget", "seat"):
        win_rates = np.where(after, left * win_rates, win_rates)
    bids = draw.binomial(requests.astype(np.int64), bid_rates)
    imps = draw.binomial(bids, win_rates)
    if kind == "budget":
        withheld = draw.binomial((requests - bids).astype(np.int64), bid_rate)
        return (requests, bids, imps), np.where(after, withheld, 0)
    return (requests, bids, imps), bids - imps


def _by_reason(plan: _Plan, imps: Any, lost: Any) -> dict[str, Any]:
    """What was lost by day, by reason: the usual ones, and that of the cause for what the break took."""
    planted = {"floor raised": "floor", "price": "outbid", "price lowered": "outbid"}.get(
        plan.kind, plan.kind
    )
    if planted not in REASONS:
        return _usual_reasons(lost)
    if planted == "budget":
        return {**_usual_reasons(np.zeros(DAYS)), REASONS[planted]: lost}
    more = np.where(plan.after, imps / max(plan.left, 0.01) * (1 - plan.left), 0)
    usual = np.maximum(lost - more, 0)
    reasons = _usual_reasons(usual)
    return {**reasons, REASONS[planted]: reasons.get(REASONS[planted], 0) + lost - usual}


def _usual_reasons(lost: Any) -> dict[str, Any]:
    return {name: lost * part for name, part in {"102": 0.7, "101": 0.15, "2": 0.15}.items()}


def _sister(
    draw: np.random.Generator, all_made: Made, seat: Seat, after: Any, left: float, noise: Any
) -> None:
    """Another deal of the seat, that falls with it; it is not judged."""
    requests = counts(draw, noise, DAYS, 4_000)
    bids = draw.binomial(requests.astype(np.int64), np.where(after, left, 1) * 0.4)
    rows = (requests, bids, draw.binomial(bids, 0.25))
    _rows(all_made, 20_000 + (seat.id or 0), 9_999, seat, rows, {"102": bids * 0.75}, 2.0, draw)


def _history(
    draw: np.random.Generator, made: Made, deal: int, package: int, kind: str, day: date, price: Decimal
) -> None:
    """The change that is the cause, and others that have no effect, on any day."""
    if kind in ("floor raised", "price lowered"):
        before = price / 2 if kind == "floor raised" else price * 2
        made.note(("demand_deals", deal), day, {"price": str(before)}, {"price": str(price)})
    if kind == "targeting":
        before_geo, after_geo = ([GeoTarget(type="country", value=one)] for one in ("US", "DE"))
        made.note(
            ("supply_deals", package), day, {"geo_targetings": before_geo}, {"geo_targetings": after_geo}
        )
    for _ in range(int(draw.integers(0, 4))):
        other = FIRST + int(draw.integers(0, DAYS)) * ONE
        change = [("name", "A", "B"), ("price", "2.00", "2.05"), ("price", "2.00", "2.40")]
        name, before_, after_ = change[int(draw.integers(3))]
        made.note(("demand_deals", deal), other, {name: before_}, {name: after_})


def _rows(
    all_made: Made, deal: int, package: int, seat: Seat, steps: Sequence[Any], lost: dict[str, Any],
    price: float, draw: np.random.Generator,
) -> None:  # fmt: skip
    """The rows of a deal: the funnel in one per day, and one more per day and reason."""
    ids = {"deal": str(deal), "supply_package": str(package), "seat": str(seat.id)}
    ids["dsp"] = str(seat.dsp.id if seat.dsp else "")
    days = [(FIRST + number * ONE).isoformat() for number in range(DAYS)]
    requests, bids, imps = steps
    whole = pd.DataFrame({DAY: days, "bid_requests": requests, "bids": bids, "imps": imps})
    whole["viewable_imps"] = draw.binomial(np.asarray(imps, np.int64), 0.6)
    whole["bid_sum"], whole["win_sum"] = bids * price * draw.uniform(0.4, 0.9, DAYS), imps * price
    frames = [whole.assign(lost_reason="", lost_bids=0.0)]
    for reason, values in lost.items():
        frames.append(pd.DataFrame({DAY: days, "lost_reason": reason, "lost_bids": values}))
    rows = pd.concat(frames).fillna(0).assign(**ids)
    all_made.frames.append(rows.assign(site_domain="a.example"))


def judged(all_made: Made) -> dict[int, str]:
    """The cause that the desk names for each deal; "healthy" without a break, "" for an unnamed one.

    One of a day that is off by more than one is "another day".
    """
    rows = pd.concat(all_made.frames, ignore_index=True)
    report = DealReport("p", "s", SLICER, TODAY, lambda query: all_made.answer(query, rows))
    around = Surroundings(
        all_made.packages,
        {},
        {},
        datetime(2026, 11, 24, 12, tzinfo=UTC),
        lambda entity, number: all_made.changes.get((entity, number), []),
    )
    titles = {title: name for name, title in diagnosis.TITLES.items()}
    found = Assessor(report).assess(all_made.deals, around)
    return {deal: _named(one, titles, all_made.causes[deal][1]) for deal, one in found.items()}


def _named(one: DealHealth, titles: dict[str, str], day: date) -> str:
    if one.state == "healthy":
        return "healthy"
    text = re.search(r"\d+ [A-Z][a-z]{2} \d{4}", one.findings[0] if one.findings else "")
    found = datetime.strptime(f"{text[0]} +0000", "%d %b %Y %z").date() if text else day
    return "another day" if abs((found - day).days) > 1 else titles.get(one.words, "")


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
            for of in (0.5, 0.3, 0.6):
                rates = np.array([of * np.exp(scale * noise(draw, DAYS)) for _ in range(draws)])
                part = draw.binomial(base.astype(np.int64), np.clip(rates, 0, 1)).astype(np.float64)
                claimed |= [one is not None for one in change_point.falls(part, base)]
                broken = draw.binomial(part.astype(np.int64), halved).astype(np.float64)
                found = change_point.falls(broken, base)
                base = part
            right = [
                one is not None and abs(one.place - at) <= 1 for one, at in zip(found, places, strict=True)
            ]
            shares = np.mean(claimed), np.mean([one is not None for one in found]), np.mean(right)
            print(f"| {name} | {scale:.0%} | {' | '.join(f'{share:.1%}' for share in shares)} |")


def main() -> None:
    """Print the tables."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else DEALS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    all_made = made(np.random.default_rng(seed), number)
    found = judged(all_made)
    print(
        "| planted | deals | named rightly | unnamed | named wrongly, or another day | no claim |\n"
        "|---|--:|--:|--:|--:|--:|"
    )
    for kind in [*CAUSES, ""]:
        wanted = {"unexplained": "", "": "healthy"}.get(kind, kind)
        of = Counter(found[deal] for deal, (one, _) in all_made.causes.items() if one == kind)
        total, right = sum(of.values()), of.pop(wanted, 0)
        silent, unnamed = of.pop("healthy", 0), of.pop("", 0)
        parts = [f"{part / total:.1%}" for part in (right, unnamed, sum(of.values()), silent)]
        print(f"| {kind or 'nothing'} | {total} | {' | '.join(parts)} |")
    print_falls(number, seed)


if __name__ == "__main__":
    main()
