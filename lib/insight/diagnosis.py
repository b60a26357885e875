"""Why a deal's funnel broke: the step whose rate fell, what happened around that day, and what to do.

A cause is named only where something says so: losses by reason make up most of the fall, or a change in the
history of the deal, its packages or their lists lies on that day and can have this effect. Without one, other
deals say how far the fall goes: this package, seat or DSP. Advice is given for known causes alone, and names
no price: what prices bring is a finding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from lib.insight.change_point import LARGEST_REST, Fall
from lib.insight.win_prices import WinPrices

MOST_OF, LEAST_RISE, DAYS_BEFORE, DAYS_AFTER, MOST_EVENTS, PRICE_DAYS = 0.5, 0.05, 2, 1, 5, 30
"""The part of a fall that losses by one reason must explain; the least change of a price, as a part of it;
the days around a fall in which a change may be its cause; how many are listed; the days that prices are
of."""
NOTABLE = 0.1
"""The part of the largest rise of losses that the second reason must have to be listed."""
SALES = ("bids", "wins", "impressions")
_CODES = {
    "floor": {"100", "101"}, "outbid": {"102", "103"},
    "blocked": {"104", "205", "206", "208", "209", "213"},
    "creative": {"200", "201", "202", "203", "204", "207", "210", "211", "212"},
}  # fmt: skip
"""Loss reasons of OpenRTB 2.6 and AdCOM 1.0 ("Loss Reason Codes")."""
_WORDS = (
    ("budget", ("budget",)), ("floor", ("floor",)), ("outbid", ("higher bid", "outbid")),
    ("blocked", ("block", "exclu")), ("creative", ("creative",)),
)  # fmt: skip
TITLES = {
    "floor raised": "Floor raised", "floor": "Bids below the floor", "price lowered": "Fixed price lowered",
    "price": "Fixed price too low", "outbid": "Outbid", "creative": "Creative rejected",
    "blocked": "Blocked by publishers", "budget": "Buyer's budget ended", "targeting": "Targeting changed",
    "list": "List changed", "dsp": "The DSP's deals fell", "seat": "The seat's deals fell",
    "package": "The package's deals fell",
}  # fmt: skip


@dataclass(frozen=True)
class Break:
    """The step of a deal's funnel that fell, of which step it is a part ("" for the first), and the day."""

    step: str
    of: str
    day: date
    fall: Fall


@dataclass(frozen=True)
class Event:
    """One field of an entity that was changed on a day, as its history has it."""

    day: date
    entity: str
    field: str
    before: Any
    after: Any

    @property
    def growth(self) -> float:
        """By how much a price grew, as a part of it; 0 where it has none on a side."""
        try:
            before, after = Decimal(str(self.before)), Decimal(str(self.after))
            return float(after / before) - 1 if before > 0 else 0.0
        except (InvalidOperation, ZeroDivisionError):
            return 0.0


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
class Witnesses:
    """What is known of a broken deal: events around the day (None without a history), losses by reason, what
    other deals have left of the same rate (by "package", "seat", "dsp"), prices of its bids and of others'
    wins, and creatives with such losses."""

    events: tuple[Event, ...] | None = ()
    losses: tuple[Losses, ...] = ()
    others: Mapping[str, float] | None = None
    bids: WinPrices | None = None
    win_prices: WinPrices | None = None
    creatives: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """The cause ("" where it is not known), in words for a list, what is known, and advice if any."""

    cause: str
    words: str
    findings: tuple[str, ...]
    advice: str = ""


def reason_class(reason: str) -> str:
    """What a reason for a loss is about: floor, outbid, creative, blocked or budget; "" for others."""
    text = reason.strip().casefold()
    by_code = (name for name, codes in _CODES.items() if text in codes)
    by_word = (name for name, words in _WORDS if any(word in text for word in words))
    return next(by_code, "") or next(by_word, "")


def cause(broken: Break | None, step: str, witnesses: Witnesses, is_fixed: bool) -> str:
    """The cause of a break, or of a `step` that was never reached: one of TITLES, "" if it is not known."""
    near = (witnesses.events or ()) if broken is not None else ()
    by_reason = _reason(witnesses.losses, 1.0 if broken is None else broken.fall.before - broken.fall.after)
    is_raise = any(one.field == "price" and one.growth >= LEAST_RISE for one in near)
    is_cut = any(one.field == "price" and one.growth <= -LEAST_RISE for one in near)
    if by_reason == "floor" or (not by_reason and is_raise and not is_fixed and step in SALES):
        return "floor raised" if is_raise else "floor"
    if by_reason == "outbid" and not is_fixed:
        return "outbid"
    if by_reason == "outbid" or (not by_reason and is_cut and is_fixed and step in SALES):
        return "price lowered" if is_cut else "price"
    return by_reason or _by_targeting(near, step) or _scope(witnesses.others or {})


def diagnosis(
    broken: Break | None, step: str, witnesses: Witnesses, price: Decimal | None, is_fixed: bool
) -> Diagnosis:
    """What is wrong with a deal, from all that is known of it."""
    its_cause = cause(broken, step, witnesses, is_fixed)
    findings = [] if broken is None else [fall_sentence(broken), chance_sentence(broken.fall)]
    findings += [_event_sentence(one) for one in (witnesses.events or ())[:MOST_EVENTS]]
    if broken is not None and witnesses.events == ():
        findings.append("Nothing was changed around that day in the deal, its packages or their lists.")
    findings += _loss_sentences(witnesses.losses)
    if price is not None:
        findings += _price_sentences(witnesses, price)
    if witnesses.others:
        findings.append(_others_sentence(broken, witnesses.others))
    words = TITLES.get(its_cause) or ("" if broken is None else f"{broken.step.capitalize()} fell")
    return Diagnosis(its_cause, words, tuple(findings), advice(its_cause, witnesses))


def advice(cause: str, witnesses: Witnesses) -> str:
    """What to do about a cause; "" where that is not known, or a matter of price."""
    if cause == "creative":
        which = f" {', '.join(witnesses.creatives)}" if witnesses.creatives else "s"
        return f"Ask the buyer to replace or resubmit the creative{which}: {_why(witnesses, cause)}."
    if cause == "blocked":
        return f"Ask the publishers to allow it, or the buyer to change it: {_why(witnesses, cause)}."
    if cause == "budget":
        return "Ask the buyer whether the campaign goes on; nothing on the selling side stops it."
    if cause in ("targeting", "list"):
        return "Check the change above: since then the deal is not offered what it was offered before."
    return ""


def events(
    changes: Iterable[tuple[str, str, date, Mapping[str, Any], Mapping[str, Any]]], day: date
) -> tuple[Event, ...]:
    """The changed fields around a day, those that can have an effect first.

    `changes` are kind, name, day, fields before and after.
    """
    all_events = [
        Event(at, f"{kind} {name}".strip(), field, before.get(field), after[field])
        for kind, name, at, before, after in changes
        if -DAYS_BEFORE <= (at - day).days <= DAYS_AFTER
        for field in after
    ]
    return tuple(sorted(all_events, key=lambda one: (not _is_relevant(one), abs((one.day - day).days))))


def fall_sentence(broken: Break) -> str:
    """The fall in words: "Impressions per bid: 24.1 % before, 0.0 % since 16 Nov 2026"."""
    fall = broken.fall
    if not broken.of:
        return (
            f"{broken.step.capitalize()} fell by {100 * (1 - fall.rest):.0f} % against those of all other "
            f"deals, on {day_words(broken.day)} or a day beside it."
        )
    return (
        f"{broken.step.capitalize()} were {_percent(fall.before)} of {broken.of} in the four weeks before "
        f"{day_words(broken.day)}, and are {_percent(fall.after)} since; the day is right within one."
    )


def chance_sentence(fall: Fall) -> str:
    """How often noise falls as far, as a sentence."""
    share = round(1_000 * fall.chance)
    count = f"about {share}" if share > 1 else "at most 1"
    return f"Noise like this deal's makes {count} of 1,000 deals without a change fall so far."


def money(value: object) -> str:
    """A price as it is written in the history: two decimals."""
    try:
        return f"{Decimal(str(value)):,.2f}"
    except InvalidOperation:
        return str(value)


def day_words(day: date) -> str:
    """`16 Nov 2026`."""
    return f"{day.day} {day:%b %Y}"


def _reason(losses: Sequence[Losses], fall: float) -> str:
    """The class of reasons that makes up most of the fall, if one does."""
    more: dict[str, float] = {}
    for one in losses:
        more[reason_class(one.reason)] = more.get(reason_class(one.reason), 0.0) + one.more
    largest = max(more, key=lambda name: more[name], default="")
    return largest if largest and more[largest] >= MOST_OF * fall else ""


def _by_targeting(near: Sequence[Event], step: str) -> str:
    if step != "requests":
        return ""
    if any(one.field.endswith("_targetings") or one.field in ("supply_deals", "media_type") for one in near):
        return "targeting"
    return "list" if any(one.field in ("domains", "apps") for one in near) else ""


def _scope(others: Mapping[str, float]) -> str:
    """The widest group whose other deals fell alike."""
    return next((name for name in ("dsp", "seat", "package") if others.get(name, 1.0) <= LARGEST_REST), "")


def _is_relevant(one: Event) -> bool:
    return one.field in ("price", "price_type", "supply_deals", "domains", "apps", "media_type") or (
        one.field.endswith("_targetings")
    )


def _event_sentence(one: Event) -> str:
    what = one.field.replace("_", " ")
    if isinstance(one.before, list | tuple) or isinstance(one.after, list | tuple):
        old, new = len(one.before or ()), len(one.after or ())
        return f"{day_words(one.day)}: {what} of {one.entity} changed from {old:,} to {new:,} entries."
    write = money if one.field == "price" else str
    return f"{day_words(one.day)}: {what} of {one.entity}: {write(one.before)} → {write(one.after)}."


def _loss_sentences(losses: Sequence[Losses]) -> list[str]:
    most = max((one.more for one in losses), default=0.0)
    top = sorted((one for one in losses if one.more > NOTABLE * most), key=lambda one: -one.more)[:2]
    return [f"Lost by “{one.reason}”: {_percent(one.after)}, {_percent(one.before)} before." for one in top]


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


def _quartiles(of: WinPrices) -> str:
    low, median, high = (money(round(value, 2)) for value in (of.low, of.median, of.high))
    return f"quartiles {low}, {median} and {high} (averages of {of.groups:,} groups)"


def _others_sentence(broken: Break | None, others: Mapping[str, float]) -> str:
    names = {"package": "of its packages", "seat": "of its seat", "dsp": "of its DSP"}
    parts = [f"{names[name]} {_change(rest)}" for name, rest in others.items()]
    return f"The same rate of other deals since: {', '.join(parts)}."


def _change(rest: float) -> str:
    percent = round(100 * (rest - 1))
    return f"{percent:+,d} %".replace("-", "−") if percent else "unchanged"


def _why(witnesses: Witnesses, cause: str) -> str:
    reasons = sorted(
        (one for one in witnesses.losses if reason_class(one.reason) == cause), key=lambda one: -one.more
    )
    return f"“{reasons[0].reason}”" if reasons else "see above"


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"
