"""A package that is being set up, as typed: its fields, its new deals, their faults, and the request."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, Field, TypeAdapter

from lib.deals import fields as rows
from lib.deals import moments
from lib.deals.fields import SUPPLY, TERMS
from lib.deals.models import (
    CreateDemandDeals,
    DemandDeal,
    DemandDealOption,
    Reference,
    Seat,
    SupplyPackage,
    Targeting,
)
from lib.deals.moments import Zone
from lib.deals.validation import FEE, FEE_TYPE
from lib.figures.deals.deal_names import seat_name
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.inputs import Faults, FormValues
from lib.ui.kit import times
from lib.ui.kit.field_problems import Path

Source = Literal["new", "existing", "none"]
NEW = "create_demand_deals"
OPTIONS: Path = (NEW, "demand_deals_options")
PLAIN = rows.writable(SUPPLY)
PER_SEAT = (*TERMS, "is_active")
BLANK = {name: inputs.blank(rows.BY_NAME[name]) for name in (*PLAIN, *TERMS)}
NO_SEATS = "Choose seats, or another way to get deals."


@dataclass(frozen=True)
class Terms:
    """The terms for a seat as typed: price, deal sync, and what it has of its own by name (PER_SEAT)."""

    price: str = ""
    deal_sync: bool = False
    own: FormValues = field(default_factory=dict)

    @property
    def amount(self) -> Decimal | None:
        """The price; None without a readable one."""
        price: Decimal | None = inputs.value("price", self.price)
        return price


@dataclass(frozen=True)
class NewDeals:
    """Deals to create: the terms of each seat by its id, and what those share that have none of their own."""

    seats: Mapping[int, Terms] = field(default_factory=dict)
    terms: FormValues = field(default_factory=dict)

    def of(self, seat: int) -> FormValues:
        """All terms of a seat as typed: its own, else the shared ones."""
        terms = self.seats[seat]
        whole = {name: self.terms.get(name, BLANK[name]) for name in TERMS} | {"is_active": True}
        return {**whole, **terms.own, "price": terms.price, "deal_sync": terms.deal_sync}

    def total(self, name: str) -> Decimal | None:
        """What a term that adds up over deals comes to in all; None where no seat has a readable amount.

        Money has a sum only where `currencies` are alike.
        """
        amounts = [inputs.value(name, self.of(seat)[name]) for seat in self.seats]
        readable = [amount for amount in amounts if amount is not None]
        return sum(readable, Decimal(0)) if readable else None

    @property
    def currencies(self) -> list[str | None]:
        """The currency of each deal; None: the usual one."""
        return [self.of(seat)["currency"] for seat in self.seats]

    def request(self) -> CreateDemandDeals:
        """The request. What is missing or can't be read is left out."""
        options = tuple(
            DemandDealOption.model_construct(
                seat=Reference(id=seat), deal_sync=terms.deal_sync,
                **_present({"price": terms.amount, **inputs.terms_request(terms.own)}),
            )
            for seat, terms in self.seats.items()
        )  # fmt: skip
        common = _present(inputs.terms_request(self.terms))
        return CreateDemandDeals.model_construct(**{"demand_deals_options": options, **common})

    def faults(self, has_fees: bool = True) -> Faults:
        """What is wrong, at its place in the request. `has_fees`: the form offers a fee.

        A sentence stands in the row of the seat that has what it is about of its own, else at the shared
        term.
        """
        if not self.seats:
            common = inputs.faults({name: self.terms.get(name, BLANK[name]) for name in TERMS})
            wrong, missing = ({(NEW, *at): text for at, text in part.items()} for part in common.parts)
            return Faults(wrong, {**missing, OPTIONS: NO_SEATS}).of_form(has_fees)
        faults: list[dict[Path, str]] = [{}, {}]
        for index, seat in enumerate(self.seats):
            own = {"price", *self.seats[seat].own}
            for part, sentences in zip(faults, inputs.faults(self.of(seat), ("price",)).parts, strict=True):
                for (name,), sentence in sentences.items():
                    is_own = not own.isdisjoint(inputs.rule_terms(str(name)))
                    part[(*OPTIONS, index, name) if is_own else (NEW, name)] = sentence
        return Faults(*faults).of_form(has_fees)


@dataclass(frozen=True)
class Draft:
    """The form's contents, numbers and times as they were typed.

    `values` are the package's plain fields by name, `terms` what its new deals share, `seats` the terms of
    each seat by its id, `links` ids of demand deals; which of the two counts says `deals`. Times are without
    a zone, `zone` is whose clocks they are on. `pending` are values typed for the targeting that were neither
    added nor left out (targeting/pending.py): nothing is created before they are.
    """

    values: FormValues = field(default_factory=dict)
    zone: Annotated[Zone, Field(validation_alias=AliasChoices("zone", "offset"))] = 0
    targeting: Targeting = field(default_factory=Targeting)
    deals: Source = "new"
    seats: Mapping[int, Terms] = field(default_factory=dict)
    terms: FormValues = field(default_factory=dict)
    links: tuple[int, ...] = ()
    pending: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, **entries: Any) -> Self:
        """A draft of plain fields of a package and of the terms, each by its name, and of its other parts."""
        parts = {part.name for part in fields(cls)}
        if odd := entries.keys() - parts - {*PLAIN, *TERMS}:
            raise TypeError(f"A draft has no {', '.join(sorted(odd))}")
        values = {name: value for name, value in entries.items() if name in PLAIN}
        terms = {name: value for name, value in entries.items() if name in TERMS}
        return cls(
            values=values, terms=terms, **{name: value for name, value in entries.items() if name in parts}
        )

    @classmethod
    def of_package(
        cls, package: SupplyPackage, deal_of_seat: Mapping[int, DemandDeal | DemandDealOption], **parts: Any
    ) -> Self:
        """The draft of a package like this, in the zone of its dates, with deals like these, by the id of the
        seat: each has of its own the terms that are not alike. `parts` are others of the draft."""
        zone = moments.zone_of((package.start_date, package.end_date), times.zone_name())
        values = {name: value for name in PLAIN if (value := getattr(package, name)) is not None}
        whole = {
            seat: inputs.contents({name: getattr(deal, name) for name in TERMS})
            | {"is_active": deal.is_active is not False}
            for seat, deal in deal_of_seat.items()
        }
        first = next(iter(whole.values()), {})
        apart = {name for name in PER_SEAT for terms in whole.values() if terms[name] != first[name]}
        if any(not terms["is_active"] for terms in whole.values()):
            apart.add("is_active")  # deals that share their terms are created active
        if not apart.isdisjoint((FEE, FEE_TYPE)):
            apart |= {FEE, FEE_TYPE}
        seats = {
            seat: Terms(
                inputs.widget_value("price", deal.price), bool(deal.deal_sync),
                {name: whole[seat][name] for name in PER_SEAT if name in apart},
            )
            for seat, deal in deal_of_seat.items()
        }  # fmt: skip
        return cls(
            values=inputs.contents(values, moments.rules(zone)), zone=zone, targeting=package, seats=seats,
            terms={name: first[name] for name in TERMS if name in first and name not in apart}, **parts,
        )  # fmt: skip

    def __getitem__(self, name: str) -> Any:
        """A plain field as typed: one of the package, or one that its new deals share."""
        return (self.values if name in PLAIN else self.terms).get(name, BLANK[name])

    def with_(self, **values: Any) -> Self:
        return replace(self, values={**self.values, **values})

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was entered that would be lost: texts, but for the start, and what was chosen."""
        contents = [
            value
            for name, value in {**self.values, **self.terms}.items()
            if rows.BY_NAME[name].kind.choices is None and name != "start_date"
        ]
        has_choice = self.seats or self.links or self.pending or self.targeting != Targeting()
        return not (has_choice or any(isinstance(value, str) and value.strip() for value in contents))

    @property
    def clocks(self) -> tzinfo:
        return moments.rules(self.zone)

    @property
    def new_deals(self) -> NewDeals:
        """The deals that are created with it; none where deals are linked."""
        return NewDeals(self.seats, self.terms)

    def moment(self, name: str) -> datetime | None:
        """A time of the form with its offset; None without a readable one."""
        value: datetime | None = inputs.value(name, self[name], self.clocks)
        return value

    def package(self) -> SupplyPackage:
        """The package to create. What is missing or can't be read is left out."""
        package = {name: inputs.value(name, self[name], self.clocks) for name in PLAIN}
        package |= {name: getattr(self.targeting, name) for name in Targeting.model_fields}
        if self.deals == "new":
            package[NEW] = self.new_deals.request()
        elif self.deals == "existing":
            package["demand_deals"] = tuple(Reference(id=deal) for deal in self.links)
        return SupplyPackage.model_construct(**_present(package))

    def faults(self, has_fees: bool = True) -> Faults:
        """All that the form finds before anything is sent, at its place. `has_fees`: it offers a fee."""
        required = [
            name
            for name in PLAIN
            if rows.BY_NAME[name].default is rows.REQUIRED and rows.BY_NAME[name].kind.choices is None
        ]  # of buttons one is always pressed
        faults = inputs.faults({name: self[name] for name in PLAIN}, required, zone=self.clocks)
        if self.deals != "new":
            return faults
        of_deals = self.new_deals.faults(has_fees)
        return Faults({**faults.wrong, **of_deals.wrong}, {**faults.missing, **of_deals.missing})


def fault_labels(faults: Faults, deals: NewDeals, seats: Mapping[int, Seat]) -> list[str]:
    """The fields of these errors by their labels, in the order of the form: `Price of Bluebird`."""
    order: list[Path] = [*((name,) for name in PLAIN), OPTIONS, *((NEW, name) for name in TERMS)]
    ids = [*deals.seats]

    def label(path: Path) -> str:
        if path == OPTIONS:
            return "Seats"
        field_label = rows.BY_NAME[str(path[-1])].form_label
        if path[:2] != OPTIONS:
            return field_label
        seat = ids[int(path[2])]
        return f"{field_label} of {seat_name(seats.get(seat), seat)}"

    paths = sorted(faults.all, key=lambda path: (order.index(path if path in order else path[:2]), path[2:]))
    return [label(path) for path in paths]


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, ())}


ADAPTER = TypeAdapter(Draft)


def dump_draft(draft: Draft) -> dict[str, Any]:
    """The draft as it is kept."""
    body: dict[str, Any] = ADAPTER.dump_python(draft, mode="json")
    return body


def load_draft(body: Any) -> Draft:
    """The draft that was kept. ValidationError for what is none, KeyError for an unknown time zone."""
    draft = ADAPTER.validate_python(body)
    moments.rules(draft.zone)
    return draft
