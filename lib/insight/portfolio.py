"""All deals side by side: what each brings, what it needs, a verdict with its evidence, and a change.

See competition.py for overlap and loss, pace.py for trend, caps and scale. A verdict claims no more than the
whole range of its figures allows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from lib.insight.competition import ASSUMPTION, MEASURES, Competition, InventoryCells, PortfolioDeal
from lib.insight.estimate import Estimate
from lib.insight.pace import RUNNING, SCALE, Cap, DealDays, DealScale, cap, running_days, scales, trend

Verdict = Literal[
    "Capped", "Never reached scale", "Could end", "Competes", "Keep", "Too little data"
]  # fmt: skip
DAYS, SMALL_LOSS, UNKNOWN, OVERLAP, FEWEST_WINS = 28, 5.0, 80.0, 80.0, 30
NameOf = Callable[[int], str]


@dataclass(frozen=True)
class Standing:
    """A deal in the portfolio: its figures of the last DAYS, and what is known of it.

    `trend` is the change of its spend in the last week; None where that is within noise.
    """

    deal: PortfolioDeal
    requests: float
    bids: float
    wins: float
    spend: float
    verdict: Verdict
    competition: Competition
    trend: float | None = None
    cap: Cap | None = None
    scale: DealScale | None = None
    running: int = 0

    @property
    def win_rate(self) -> float | None:
        """Percent of its bids; None without bids."""
        return 100 * self.wins / self.bids if self.bids else None


@dataclass(frozen=True)
class PlannedChange:
    """Fields of a deal or a package to change, and why."""

    entity: Literal["supply_deals", "demand_deals"]
    entity_id: int
    fields: Mapping[str, Any]
    reason: str


def standings(
    deals: Sequence[PortfolioDeal], inventory: InventoryCells, days: Mapping[int, DealDays], last: date
) -> list[Standing]:
    """Each deal with its verdict; `inventory` is of these deals, `last` the last one of the days."""
    caps = {deal.id: cap(deal, days[deal.id], last) for deal in deals if deal.id in days}
    full = {number for number, one in caps.items() if one is not None}
    held_against, totals = scales(deals, days), inventory.totals()
    competition = dict(inventory.competition(full))
    rows = []
    for place, deal in enumerate(deals):
        of, number = days.get(deal.id), deal.id
        rest = (caps.get(number), held_against.get(number), 0 if of is None else running_days(of))
        requests, bids, wins, spend = (float(totals[name][place]) for name in MEASURES)
        verdict = _verdict(wins, competition[number], *rest)
        change = None if of is None else trend(of.spend)
        rows.append(Standing(deal, requests, bids, wins, spend, verdict, competition[number], change, *rest))
    return rows


def _verdict(
    wins: float, competition: Competition, cap: Cap | None, scale: DealScale | None, running: int
) -> Verdict:
    if cap is not None:
        return "Capped"
    if scale is not None and scale.is_never:
        return "Never reached scale"
    if running < RUNNING or wins < FEWEST_WINS:
        return "Too little data"
    if competition.loss.high is not None and competition.loss.high < SMALL_LOSS:
        return "Could end"
    return "Competes" if competition.rivals and competition.rivals[0][1] >= OVERLAP else "Keep"


def evidence(one: Standing, name: NameOf) -> list[str]:
    """What the verdict rests on, a sentence each; `name` gives that of a deal."""
    sentences = [*_of_cap(one.cap), *_of_scale(one.scale)]
    if one.verdict == "Too little data":
        sentences.append(
            f"A verdict needs {RUNNING} days and {FEWEST_WINS} wins in the last {DAYS} days: it has run "
            f"{one.running} days and won {one.wins:,.0f} times."
        )
    if one.trend is not None:
        sentences.append(
            f"Spend of the last week: {100 * one.trend:+,.0f} % to the week before, beyond noise."
        )
    competition = one.competition
    sentences += [
        f"{share:.0f} % of its bid requests also reach {name(number)}."
        for number, share in competition.rivals[:5]
    ]
    if len(competition.rivals) > 5:
        sentences.append(f"{len(competition.rivals) - 5:,} other deals of its seat reach less of them.")
    if competition.alone is not None:
        sentences.append(f"{competition.alone:.0f} % of its bid requests reach no other deal of its seat.")
    return [*sentences, *_of_loss(competition)]


def _of_loss(competition: Competition) -> Iterable[str]:
    loss, seat = competition.loss, competition.to_seat
    if loss.value is None or loss.low is None or loss.high is None:
        return
    if loss.high - loss.low > UNKNOWN:
        yield f"How many of its wins would be lost without it is open: {loss.low:.0f} to {loss.high:.0f} %."
    else:
        yield (
            f"Without it {loss.low:.0f} to {loss.high:.0f} % of its wins would be lost, most likely "
            f"{loss.value:.0f} %. Other deals of its seat would have had {_percent(seat)} of them."
        )
    if seat.value and not seat.low:
        yield "The report has no evidence that its buyer would bid through another deal."
    yield ASSUMPTION


def _of_cap(cap: Cap | None) -> Iterable[str]:
    match cap:
        case Cap("budget", amount):
            yield f"Its budget of {amount:,.2f} is spent."
        case Cap("units", amount):
            yield f"Its {amount:,.0f} guaranteed impressions are delivered before its end."
        case Cap("daily", amount, days):
            yield (
                f"It spends {amount:,.2f} a day, never more: on {days} days of {DAYS} within 3 % of that, "
                "while its bid requests vary more than three times as much. No term of the deal says so."
            )


def _of_scale(scale: DealScale | None) -> Iterable[str]:
    if scale is None or not scale.is_never:
        return
    what = "impressions a day that its goal needs" if scale.is_goal else "in the middle of deals"
    low, high = scale.span
    span = "" if scale.is_goal else f" of its media type ({low:,.2f} to {high:,.2f})"
    yield (
        f"Its best week had {scale.best:,.2f} a day, less than {100 * SCALE:.0f} % of the "
        f"{scale.against:,.2f} {what}{span}."
    )


def _percent(of: Estimate) -> str:
    """`3 % (1 to 4 %)`."""
    return f"{of.value or 0:.0f} % ({of.low or 0:.0f} to {of.high or 0:.0f} %)"


def planned_change(
    one: Standing, name: NameOf, last: date, widening: Callable[[Standing], PlannedChange | None]
) -> PlannedChange | str:
    """The change that is known to help, or why there is none, as a sentence."""
    deal, why = one.deal, " ".join(evidence(one, name))
    if one.verdict == "Could end":
        ask = "Ask the buyer first whether a campaign of theirs is bound to this deal."
        return PlannedChange("demand_deals", deal.id, {"is_active": False}, f"Could end. {why} {ask}")
    if one.verdict == "Never reached scale":
        return widening(one) or "No target is known whose removal would bring it more bid requests."
    if one.cap is not None and one.cap.kind == "daily":
        return "The cap is none of the deal's terms: ask the buyer for it."
    if one.cap is not None:
        return _raise(deal, one.cap, why, last) or "It has no dates to compute a higher amount from."
    return f"{one.verdict}: nothing is known to change."


def _raise(deal: PortfolioDeal, cap: Cap, why: str, last: date) -> PlannedChange | None:
    """The amount that its pace until the cap would need until its end, to three figures."""
    if deal.start is None or deal.end is None or not deal.start <= last < deal.end:
        return None
    whole, so_far = (deal.end - deal.start).days, max((last - deal.start).days + 1 - cap.days, 1)
    amount = Decimal(f"{cap.amount * whole / so_far:.3g}")
    if amount <= Decimal(str(cap.amount)):
        return None
    ask = f"At its pace before, it would need {amount:,.0f} until its end. Ask the buyer for it."
    return PlannedChange("demand_deals", deal.id, {cap.kind: Decimal(f"{amount:f}")}, f"Capped. {why} {ask}")
