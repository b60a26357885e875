"""Why a deal's funnel broke: the step whose rate fell, what happened around that day, and what to do.

A cause is named only where something carries the fall: losses by a reason make up most of it, other deals of
the package, seat, DSP, site or report fell with it, or a change that came before it took away as much. What
others show is looked at before what was changed in the deal alone. Without any of these there are the facts
in order. Advice is given for known causes alone, and names no price: what prices bring is a finding.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from lib.insight.change_point import Fall
from lib.insight.changes import FieldChange, money
from lib.insight.win_prices import WinPrices
from lib.wire.text import write_day

MOST_OF = 0.5
"""The part of a fall that losses by one reason must explain, or one site."""
PRICE_DAYS = 30
"""The days that prices are of."""
_CODES = {
    "floor": {"100", "101"}, "outbid": {"102", "103"},
    "blocked": {"104", "205", "206", "208", "209", "213"},
    "creative": {"200", "201", "202", "203", "204", "207", "210", "211", "212"},
}  # fmt: skip
"""Loss reasons of OpenRTB 2.6 and AdCOM 1.0 ("Loss Reason Codes")."""
_REASON_TEXTS = (
    ("budget", ("budget",)), ("floor", ("floor",)), ("outbid", ("higher bid", "outbid")),
    ("blocked", ("block", "exclu")), ("creative", ("creative",)),
)  # fmt: skip
SCOPES = {
    "report": "Deals in general fell", "dsp": "The DSP's deals fell", "seat": "The seat's deals fell",
    "package": "The package's deals fell", "site": "A site's deals fell",
}  # fmt: skip
"""The groups of other deals that can fall with a deal, the widest first."""
TITLES = {
    "floor raised": "Floor raised", "floor": "Bids below the floor", "price lowered": "Fixed price lowered",
    "price": "Fixed price too low", "outbid": "Outbid", "creative": "Creative rejected",
    "blocked": "Blocked by publishers", "budget": "Buyer's budget ended", "targeting": "Targeting changed",
    "list": "List changed", "links": "Package removed", **SCOPES,
}  # fmt: skip


@dataclass(frozen=True)
class Break:
    """The step of a deal's funnel that fell, the step that it is a part of ("" for the first), and the
    day."""

    step: str
    base: str
    day: date
    fall: Fall


@dataclass(frozen=True)
class Losses:
    """What was lost by a reason, as a part of the step before, before the fall and after."""

    reason: str
    before: float
    after: float

    @property
    def more(self) -> float:
        """How much more is lost."""
        return self.after - self.before


@dataclass(frozen=True)
class OtherDeals:
    """What other deals of a group have left of the same rate, and whether they fell with the deal; `outside`
    is the same without the deal's packages, where that was asked. `name` is that of a site."""

    rest: float
    fell: bool
    outside: bool | None = None
    name: str = ""


@dataclass(frozen=True)
class CauseCandidate:
    """A net change before a fall that can make it, and the part of the step that it took away; None where the
    report can't say it."""

    change: FieldChange
    lost: float | None = None


@dataclass(frozen=True)
class Witnesses:
    """What is known of a broken deal.

    `changes` are those around the day (None without a history), `candidates` those that can be its cause.
    `others` are groups of SCOPES. Prices are those of its bids, and of wins of other deals.
    """

    changes: tuple[FieldChange, ...] | None = ()
    candidates: tuple[CauseCandidate, ...] = ()
    losses: tuple[Losses, ...] = ()
    others: Mapping[str, OtherDeals] = field(default_factory=dict)
    bids: WinPrices | None = None
    win_prices: WinPrices | None = None
    creatives: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """The cause ("" where it is not known), a title for a list, what is known, and advice if any."""

    cause: str
    title: str
    findings: tuple[str, ...]
    advice: str = ""


def reason_class(reason: str) -> str:
    """What a reason for a loss is about: floor, outbid, creative, blocked or budget; "" for others."""
    text = reason.strip().casefold()
    by_code = (name for name, codes in _CODES.items() if text in codes)
    by_text = (name for name, parts in _REASON_TEXTS if any(part in text for part in parts))
    return next(by_code, "") or next(by_text, "")


def cause(broken: Break | None, witnesses: Witnesses, is_fixed: bool) -> str:
    """The cause of a break, or of a step that was never reached: one of TITLES, "" if it is not known."""
    reason = _reason(witnesses.losses, 1.0 if broken is None else broken.fall.before - broken.fall.after)
    if (change := carrying_change(broken, witnesses, is_fixed)) is not None:
        if change.field == "price":
            return "price lowered" if is_fixed else "floor raised"
        if change.field in ("supply_deals", "is_active"):
            return "links"
        return "list" if change.field in ("domains", "apps") else "targeting"
    if reason:
        return "price" if reason == "outbid" and is_fixed else reason
    return next((name for name in SCOPES if name in witnesses.others and witnesses.others[name].fell), "")


CARRIES = 0.7
"""The part of a fall that a change must have taken away."""
SAID = 0.4
"""The same where the losses are by its reason too."""


def carrying_change(broken: Break | None, witnesses: Witnesses, is_fixed: bool) -> FieldChange | None:
    """The change that took away most, of those that carry the fall and that nothing else speaks against."""
    if broken is None:
        return None
    reason = _reason(witnesses.losses, broken.fall.before - broken.fall.after)
    fall = 1 - broken.fall.rest
    carrying: dict[float, FieldChange] = {}
    for candidate in witnesses.candidates:
        is_said = _says_price(candidate.change, reason, is_fixed)
        share = candidate.lost if candidate.lost is not None else fall if is_said else 0.0
        is_enough = share >= (SAID if is_said else CARRIES) * fall
        if is_enough and not _is_outranked(candidate.change, witnesses, reason, is_fixed):
            carrying[share] = candidate.change
    return carrying[max(carrying)] if carrying else None


MOST_LISTED = 5
"""How many changes are listed."""
NOTABLE = 0.1
"""The part of the largest rise of losses that the second reason must have to be listed."""


def diagnosis(broken: Break | None, witnesses: Witnesses, price: Decimal | None, is_fixed: bool) -> Diagnosis:
    """What is wrong with a deal, from all that is known of it."""
    its_cause = cause(broken, witnesses, is_fixed)
    findings = [] if broken is None else [fall_sentence(broken), chance_sentence(broken.fall)]
    candidates = {
        (candidate.change.entity, candidate.change.field, candidate.change.day): candidate
        for candidate in witnesses.candidates
    }
    findings += [
        _change_sentence(change, candidates.get((change.entity, change.field, change.day)))
        for change in (witnesses.changes or ())[:MOST_LISTED]
    ]
    if broken is not None and witnesses.changes == ():
        findings.append("No change of the deal, its packages or their lists is recorded around that day.")
    most = max((loss.more for loss in witnesses.losses), default=0.0)
    top = sorted(
        (loss for loss in witnesses.losses if loss.more > NOTABLE * most), key=lambda loss: -loss.more
    )[:2]
    findings += [
        f"Lost by “{loss.reason}”: {_percent(loss.after)}, {_percent(loss.before)} before." for loss in top
    ]
    if price is not None:
        findings += _price_sentences(witnesses, price)
    if witnesses.others:
        names = {
            "package": "of its packages",
            "seat": "of its seat",
            "dsp": "of its DSP",
            "report": "all together",
        }
        parts = []
        for name, group in witnesses.others.items():
            percent = round(100 * (group.rest - 1))
            growth = f"{percent:+,d} %".replace("-", "−") if percent else "unchanged"
            parts.append(f"{names.get(name) or f'on {group.name}'} {growth}")
        findings.append(f"The same rate of other deals since: {', '.join(parts)}.")
    title = TITLES.get(its_cause) or ("" if broken is None else f"{broken.step.capitalize()} fell")
    return Diagnosis(its_cause, title, tuple(findings), advice(its_cause, witnesses))


def advice(cause: str, witnesses: Witnesses) -> str:
    """What to do about a cause; "" where that is not known, or a matter of price."""
    if cause == "creative":
        which = f" {', '.join(witnesses.creatives)}" if witnesses.creatives else "s"
        return (
            f"Ask the buyer to replace or resubmit the creative{which}: {_quoted_reason(witnesses, cause)}."
        )
    if cause == "blocked":
        return (
            f"Ask the publishers to allow it, or the buyer to change it: {_quoted_reason(witnesses, cause)}."
        )
    if cause == "budget":
        return f"Ask the buyer whether the campaign goes on: {_quoted_reason(witnesses, cause)}."
    if cause in ("targeting", "list", "links"):
        return "Check the change above: what it took away had about as much as is missing."
    return ""


def fall_sentence(broken: Break) -> str:
    """The fall in words: "Impressions per bid: 24.1 % before, 0.0 % since 16 Nov 2026"."""
    fall = broken.fall
    if not broken.base:
        return (
            f"{broken.step.capitalize()} fell by {100 * (1 - fall.rest):.0f} % against those of all other "
            f"deals, from about {write_day(broken.day)} on."
        )
    return (
        f"{broken.step.capitalize()} were {_percent(fall.before)} of {broken.base} in the four weeks before "
        f"{write_day(broken.day)}, and are {_percent(fall.after)} since; the day is an estimate."
    )


def chance_sentence(fall: Fall) -> str:
    """How many of the simulated deals without a change fall as far, as a sentence."""
    deals = f"{_percent(fall.chance)} or fewer"
    return f"Of simulated deals that vary like this one without a change, {deals} fall so far."


def _reason(losses: Sequence[Losses], fall: float) -> str | None:
    """The class of reasons that makes up most of the fall, "" for one that says nothing more; None if no
    class does."""
    more: dict[str, float] = {}
    for loss in losses:
        more[reason_class(loss.reason)] = more.get(reason_class(loss.reason), 0.0) + loss.more
    largest = max(more, key=lambda name: more[name], default="")
    return largest if more and more[largest] >= MOST_OF * fall else None


def _says_price(change: FieldChange, reason: str | None, is_fixed: bool) -> bool:
    """Whether the losses are by the reason that this change of a price makes."""
    return change.field == "price" and reason == ("outbid" if is_fixed else "floor")


UNTOUCHED = 0.85
"""What others have left of a rate where they did not fall."""


def _is_outranked(change: FieldChange, witnesses: Witnesses, reason: str | None, is_fixed: bool) -> bool:
    """Whether losses or other deals say that something else made the fall.

    Deals of the same package fall with a change of the package, and don't with one of this deal.
    """
    others = witnesses.others
    if change.field == "price" and reason is not None and not _says_price(change, reason, is_fixed):
        return True
    if change.is_of_deal:
        return any(group.fell for group in others.values())
    sisters = others.get("package")
    if sisters is not None and not sisters.fell and sisters.rest > UNTOUCHED:
        return True
    return any(
        group.fell and group.outside is not False for name, group in others.items() if name != "package"
    )


def _change_sentence(change: FieldChange, candidate: CauseCandidate | None) -> str:
    what = change.field.replace("_", " ")
    if isinstance(change.before, list | tuple) or isinstance(change.after, list | tuple):
        old, new = len(change.before or ()), len(change.after or ())
        text = f"{what} of {change.entity.label} changed from {old:,} to {new:,} entries"
    else:
        write = money if change.field == "price" else str
        text = f"{what} of {change.entity.label}: {write(change.before)} → {write(change.after)}"
    if candidate is None:
        return f"{write_day(change.day)}: {text}."
    if candidate.lost is None:
        return f"{write_day(change.day)}: {text}. How much that took away can't be computed."
    return f"{write_day(change.day)}: {text}, which took away {_percent(candidate.lost)} of what it had."


def _price_sentences(witnesses: Witnesses, price: Decimal) -> Iterator[str]:
    """Where the price is among the deal's bids, or among what won in other deals."""
    if (bids := witnesses.bids) is not None:
        yield (
            f"Its bids of the last {PRICE_DAYS} days: {_quartiles(bids)}. The floor of {money(price)} lets "
            f"through {bids.share_from(price)} of them."
        )
    if (wins := witnesses.win_prices) is not None:
        yield (
            f"Wins of other deals of its packages in the last {PRICE_DAYS} days: {_quartiles(wins)}. The "
            f"price of {money(price)} is at or below what {wins.share_from(price)} of them cost."
        )


def _quartiles(prices: WinPrices) -> str:
    low, median, high = (money(round(value, 2)) for value in (prices.low, prices.median, prices.high))
    return f"quartiles {low}, {median} and {high} (averages of {prices.groups:,} groups)"


def _quoted_reason(witnesses: Witnesses, cause: str) -> str:
    reasons = sorted(
        (loss for loss in witnesses.losses if reason_class(loss.reason) == cause), key=lambda loss: -loss.more
    )
    return f"“{reasons[0].reason}”" if reasons else "see above"


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"
