"""What is valid in a write and probably a slip: one check a rule, for whoever asks.

Nothing is refused for it. A write answers with the sentences; with `dry_run` nothing is written, and forms,
files, agents, proposals and counter-offers show the same warnings. A WarningRule says what each is
about, whether it asks or hints, and who may read it: a buyer gets rules alone that compare with what their
page shows. What a write may be compared with is a Case (comparisons.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lib.deals import moments
from lib.deals.comparisons import NEW_DEALS, PRICE_FIELDS, Case, Kind, PriceScale, Reader
from lib.deals.models import CPM, FLAT, NO_FEE, PERCENT, Targeting, shorten
from lib.deals.targeting.kinds import KINDS
from lib.deals.targeting.public_lists import UNLISTED, is_known
from lib.deals.validation import FEE, FEE_TYPE
from lib.wire.text import write_day

HEADER = "Tranche-Warnings"


@dataclass(frozen=True)
class DealWarning:
    """A probable slip: the rule, the field, both values, and what it was compared with, in words.

    One that `asks` has to be confirmed on screen; another is a hint.
    """

    kind: str
    field: str
    sentence: str
    before: Any = None
    after: Any = None
    asks: bool = True
    compared_with: str = ""

    @property
    def body(self) -> dict[str, Any]:
        """As JSON: times as the API writes them."""
        return {
            name: moments.write(value) if isinstance(value, datetime) else value
            for name, value in asdict(self).items()
        }


HOUSE, BOTH = frozenset[Reader]({"house"}), frozenset[Reader]({"house", "buyer"})
Answer = tuple[str, Any, Any] | tuple[str, Any, Any, str]
"""A sentence, the value before or compared with, the value after, and what it is compared with in words."""
Check = Callable[[Case], Iterator[Answer]]


@dataclass(frozen=True)
class WarningRule:
    """A kind of slip: what it is about, the field it stands at, and what it `needs` of the service beyond the
    write and the entity before. It decorates the check that finds it.

    `names` are the fields of which a write sets one; empty for any.
    """

    kind: str
    of: tuple[Kind, ...]
    field: str
    names: frozenset[str]
    needs: tuple[str, ...] = ()
    asks: bool = True
    readers: frozenset[Reader] = HOUSE

    def __call__(self, check: Check) -> Check:
        RULES[self] = check
        return check


RULES: dict[WarningRule, Check] = {}
"""In the order in which they are answered."""


MOST = 20  # warnings of one answer


def judge(case: Case, reader: Reader = "house") -> list[DealWarning]:
    """What is probably a slip in a case, for this reader; at most MOST, and how many more there are."""
    if reader == "buyer":
        # What a buyer's page doesn't show is no part of what is compared.
        case = Case(
            case.of, case.after, case.names, case.now, case.before, case.usual_currency, reader=reader
        )
    warnings = [
        DealWarning(
            rule.kind, rule.field, f"{sentence[0].upper()}{sentence[1:]}.", before, after, rule.asks, *title
        )
        for rule, check in RULES.items()
        if case.of in rule.of and reader in rule.readers
        if not rule.names or not rule.names.isdisjoint(case.names)
        for sentence, before, after, *title in check(case)
    ]
    if len(warnings) > MOST:
        asks = any(warning.asks for warning in warnings[MOST:])
        warnings[MOST:] = [DealWarning("more", "", f"{len(warnings) - MOST} more warnings", asks=asks)]
    return list(dict.fromkeys(warnings)) if len(warnings) > 1 else warnings


FACTOR = 3  # by which an amount may be larger or smaller than what it is compared with


def _beyond(
    noun: str, value: Decimal, scale: PriceScale | None, unusual: int | None = None
) -> Iterator[Answer]:
    """That a value is more than FACTOR times above or below a scale, or without one from `unusual` up."""
    sentence = f"a {noun} of {money_text(value)}"
    if scale is not None and value > FACTOR * scale.high:
        times = f"{factor(value, scale.high)} times {scale.high_title} ({money_text(scale.high)})"
        yield f"{sentence}, {times}", scale.high, value, scale.high_title
    elif scale is not None and value * FACTOR < scale.low:
        times = f"{factor(scale.low, value)} times below {scale.low_title} ({money_text(scale.low)})"
        yield f"{sentence}, {times}", scale.low, value, scale.low_title
    elif unusual is not None and value >= unusual:
        yield sentence, None, value


def factor(larger: Decimal, smaller: Decimal) -> str:
    """How many times as large, to two decimals: `8.8`, `10`."""
    times = f"{(larger / smaller).quantize(Decimal('0.01'), ROUND_HALF_UP):,f}"
    return times.rstrip("0").rstrip(".")


def money_text(price: Decimal) -> str:
    """At least two decimals, and as many as it has."""
    text = f"{price:,f}"
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


BOOKINGS: tuple[Kind, ...] = ("deal", "package")
PRICED: tuple[Kind, ...] = ("deal", "offer")
DATED: tuple[Kind, ...] = ("package", "offer")
UNIT_FIELDS, DATE_FIELDS = frozenset({"units", "supply_deals"}), frozenset({"start_date", "end_date"})
PRICES, RUNNING, SUPPLY = "prices of other deals of a package", "running deals", "available impressions"
UNUSUAL = 1_000  # a price with nothing to compare it with


@WarningRule("price_slip", PRICED, "price", PRICE_FIELDS, ("won prices", PRICES), readers=BOTH)
def _price(case: Case) -> Iterator[Answer]:
    price = case.after.get("price")
    if price is None or not case.has_new_price or case.after.get("price") == case.price_before:
        return
    if price == 0:
        yield "a price of 0", case.before.get("price"), price
    elif price != case.before.get("price") or not case.before:
        yield from _beyond("price", price, case.scale, UNUSUAL)


@WarningRule("price_not_compared", ("deal",), "price", PRICE_FIELDS, (PRICES,), asks=False)
def _price_alone(case: Case) -> Iterator[Answer]:
    price, currency = case.after.get("price"), case.currency(case.after)
    before = case.before.get("price")
    if price and case.has_new_price and price != before and not case.scale and (case.prices or before):
        sentence = f"a price of {money_text(price)} {currency}, with no other in {currency} to compare with"
        yield sentence, None, price


@WarningRule("currency_slip", ("deal",), "currency", PRICE_FIELDS)
def _currency(case: Case) -> Iterator[Answer]:
    price, (before, after) = case.before.get("price"), map(case.currency, (case.before, case.after))
    if price and price == case.after.get("price") and before != after:
        before, after = (currency or "the usual currency" for currency in (before, after))
        yield f"the same price in {after} as before in {before}", before, after


@WarningRule("same_price", ("deal",), "price", PRICE_FIELDS, ("currencies of a request",))
def _same_price(case: Case) -> Iterator[Answer]:
    if case.same_price:
        yield f"the same price for {case.same_price}", None, case.after.get("price")


LARGE_BUDGET = 1_000_000  # with nothing to compare it with
MANY = 10_000_000
"""The impressions from which such a budget is large in its currency: a million yen buys fewer."""


@WarningRule("budget_slip", ("deal",), "budget", frozenset({"budget"}))
def _budget(case: Case) -> Iterator[Answer]:
    before: Any = case.before.get("budget")
    budget, price = case.after.get("budget"), case.after.get("price")
    if budget == before:
        return
    if budget is None:
        yield f"the budget of {money_text(before)} is removed: nothing limits what is spent", before, None
    elif budget == 0 or (price and budget < price):
        cost = f", less than 1,000 impressions cost ({money_text(price)})" if price else ""
        yield f"a budget of {money_text(budget)}{cost}", price, budget
    elif before:
        yield from _beyond("budget", budget, PriceScale.at(case.amount_before("budget"), "the budget before"))
    elif case.cost and budget > case.cost:
        yield from _beyond("budget", budget, PriceScale.at(case.cost, "what the guaranteed impressions cost"))
    elif not case.cost and budget >= max(LARGE_BUDGET, MANY * (price or 0) / 1000):
        yield f"a first budget of {money_text(budget)}", None, budget


@WarningRule("budget_exceeded", ("deal",), "budget", frozenset({"price", "units", "budget"}))
def _budget_for_units(case: Case) -> Iterator[Answer]:
    budget, cost = case.after.get("budget"), case.cost
    if budget is not None and cost is not None and cost > budget:
        units, price = case.after["units"], money_text(Decimal(case.after["price"]))
        sentence = (
            f"{units:,.0f} guaranteed impressions at {price} come to {cost:,.2f}, more than the budget of"
            f" {budget:,.2f}"
        )
        yield sentence, cost, budget


HIGH_PERCENT = 30  # of spend, of the budget or of what guaranteed impressions cost
LARGE_FEE = 100_000  # a flat fee with nothing to compare it with


@WarningRule("fee_slip", ("deal",), FEE, frozenset({FEE, FEE_TYPE, "price"}))
def _fee(case: Case) -> Iterator[Answer]:
    fee, kind, price = (case.after.get(name) for name in (FEE, FEE_TYPE, "price"))
    if not fee or kind in (None, NO_FEE):
        return
    old_fee = case.before.get(FEE) if kind == PERCENT else case.amount_before(FEE)
    before = old_fee if case.before.get(FEE_TYPE) == kind else None
    budget = case.after.get("budget")
    whole = budget or case.cost
    if kind == CPM and price is not None and fee >= price:
        bound = f"not less than the price ({money_text(price)})"
        yield f"a fee of {money_text(fee)} CPM, {bound}", price, fee
    elif fee == before:
        return
    elif kind == PERCENT and fee > HIGH_PERCENT:
        yield f"a fee of {fee.normalize():,f} % of spend, above {HIGH_PERCENT} %", before, fee
    elif kind == FLAT and whole and 100 * fee > HIGH_PERCENT * whole:
        title = "the budget" if budget else "what the guaranteed impressions cost"
        share = f"{100 * fee / whole:,.0f} % of {title} ({whole:,.2f})"
        yield f"a flat fee of {money_text(fee)}, {share}", whole, fee
    else:
        unusual = LARGE_FEE if kind == FLAT and not (before or whole) else None
        yield from _beyond("fee", fee, PriceScale.at(before, "the fee before"), unusual)


@WarningRule("units_slip", PRICED, "units", UNIT_FIELDS, readers=BOTH)
def _units(case: Case) -> Iterator[Answer]:
    units, before = case.after.get("units"), case.before.get("units")
    if units and before and (units > FACTOR * before or units * FACTOR < before):
        title = "the offer" if case.reader == "buyer" else "the deal"
        verb = "has" if case.of == "offer" else "had"
        yield f"{units:,.0f} impressions, where {title} {verb} {before:,.0f}", before, units, title


@WarningRule(
    "second_deal", ("deal",), "seat", frozenset({"seat", "supply_deals"}), ("other deals of a seat",)
)
def _twin(case: Case) -> Iterator[Answer]:
    count, name = case.twins
    if count:
        rest = f" and {count - 1} more" if count > 1 else ""
        yield f"a second deal of the same seat and package, beside {name}{rest}", None, None


@WarningRule("old_contact", ("deal",), "seat", frozenset({"seat"}))
def _old_contact(case: Case) -> Iterator[Answer]:
    before, after = ((values.get("seat") or {}).get("id") for values in (case.before, case.after))
    email = case.after.get("contact_email")
    if before and after and after != before and email and email == case.before.get("contact_email"):
        yield f"a new seat with the contact of the one before, {email}", before, after


@WarningRule(
    "no_package", BOOKINGS, "supply_deals", frozenset({"demand_deals", "supply_deals"}),
    ("links of other deals",),
)  # fmt: skip
def _no_package(case: Case) -> Iterator[Answer]:
    if case.of == "deal" and case.before.get("supply_deals") and not case.after.get("supply_deals"):
        yield "the deal is left without a package, and can't be bought", None, None
    if names := case.unlinked:
        rest = f" and {len(names) - 1} more are" if len(names) > 1 else " is"
        yield f"{names[0]}{rest} left without a package, and can't be bought", None, None


def _stop(case: Case) -> str:
    count = case.running
    return "1 deal that runs now stops" if count == 1 else f"{count:,} deals that run now stop"


LONG_MOVE = timedelta(days=180)


@WarningRule("start_moved", DATED, "start_date", DATE_FIELDS, (RUNNING,), readers=BOTH)
def _start(case: Case) -> Iterator[Answer]:
    start, before = case.after.get("start_date"), case.before.get("start_date")
    if not start or not before or start == before:
        return
    day, old_day = map(write_day, (start, before))
    if case.running and before <= case.now < start:
        yield f"the start moves to {day}: {_stop(case)} until then", before, start
    elif case.of == "offer" and before <= case.now < start:
        sentence = f"the start moves to {day} from {old_day}, which has passed: nothing runs until then"
        yield sentence, before, start
    elif abs(start - before) > LONG_MOVE:
        yield f"the start moves by {abs(start - before).days:,} days, from {old_day} to {day}", before, start


FAR = timedelta(days=5 * 365 + 1)


@WarningRule("end_slip", DATED, "end_date", DATE_FIELDS, (RUNNING,), readers=BOTH)
def _end(case: Case) -> Iterator[Answer]:
    end, before = case.after.get("end_date"), case.before.get("end_date")
    if end is None or end == before:
        return
    start = case.before.get("start_date")
    day = moments.end_words(end).removeprefix("until ")
    if end > case.now + FAR:
        yield f"an end on {day}, more than five years ahead", before, end
    elif end <= case.now and case.running:
        yield f"an end in the past, on {day}: {_stop(case)} at once", before, end
    elif end <= case.now and case.of == "package" and (start is None or start > case.now):
        yield f"dates wholly in the past: it ends on {day} and never delivers", before, end
    elif end <= case.now:
        yield f"an end in the past, on {day}", before, end


@WarningRule("guarantee_without_end", BOOKINGS, "units", UNIT_FIELDS | DATE_FIELDS)
def _open_guarantee(case: Case) -> Iterator[Answer]:
    packages = [case.after] if case.of == "package" else case.packages
    units = case.promise.units if case.promise is not None else case.after.get("units")
    if units and packages and any(package.get("end_date") is None for package in packages):
        yield f"{units:,.0f} guaranteed impressions without an end, and so without a pace", None, units


@WarningRule("guarantee_beyond", BOOKINGS, "units", frozenset(), (SUPPLY,))
def _supply(case: Case) -> Iterator[Answer]:
    promise, supply = case.promise, case.supply
    if promise is None or promise.package.end_date is None or supply is None:
        return
    days = promise.days(case.now)
    if days > 0 and float(promise.units) > supply.units:
        sentence = (
            f"{promise.units:,.0f} guaranteed impressions in {days:,.0f} days, in which {supply.whose} about"
            f" {supply.units:,.0f}"
        )
        yield sentence, round(supply.units), promise.units, "what there is"


@WarningRule("guarantee_not_compared", BOOKINGS, "units", frozenset(), (SUPPLY,), asks=False)
def _report_missing(case: Case) -> Iterator[Answer]:
    promise = case.promise
    if promise is not None and case.supply is None and 0 < promise.days(case.now) < float("inf"):
        yield f"{promise.units:,.0f} guaranteed impressions, not compared with a report", None, promise.units


LONGEST = 100  # characters of a value


@WarningRule(
    "unknown_target", ("package",), "targeting", frozenset(Targeting.model_fields), ("the report's values",)
)
def _targets(case: Case) -> Iterator[Answer]:
    targeting = case.new_targets
    for kind in KINDS:
        for value in dict.fromkeys(kind.value(target) for target in kind.of(targeting)):
            is_lacking = case.lacks.get(kind.name, {}).get(value)
            text = shorten(value.strip(), LONGEST)
            if is_lacking:
                yield f"{kind.title} '{value.strip()}' is not in the report", None, text
            elif is_lacking is None and not is_known(kind.name, value):
                yield UNLISTED[kind.name].format(text), None, text


NEEDS = tuple(dict.fromkeys(need for rule in RULES for need in rule.needs))
"""What our own service alone compares with: of another one rules are left out, or compare with less."""
RULED = frozenset().union(*(rule.names for rule in RULES)) | {NEW_DEALS}
"""The fields that rules are about."""
