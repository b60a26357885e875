"""A package that is being set up: what the form holds, what is wrong with it, and its request."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal, Self

from pydantic import TypeAdapter

from lib.deals import fields as rows
from lib.deals.fields import SUPPLY, TERMS
from lib.deals.models import (
    CreateDemandDeals,
    DemandDealOption,
    Reference,
    Seat,
    SupplyPackage,
    Targeting,
    has_amount,
)
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.inputs import EMAIL, FEE, FEE_TYPE
from lib.ui.kit import amounts
from lib.ui.kit.field_problems import Path

FormValues = Mapping[str, Any]
Source = Literal["new", "existing", "none"]
NEW = "create_demand_deals"
OPTIONS: Path = (NEW, "demand_deals_options")
PLAIN = rows.writable(SUPPLY)
NO_DEAL_YET = {name: inputs.blank(rows.BY_NAME[name]) for name in TERMS}
NO_PACKAGE_YET = {name: inputs.blank(rows.BY_NAME[name]) for name in PLAIN}
_NEW_NAMES = {"start": "start_date", "end": "end_date", "fee_type": FEE_TYPE, "fee": FEE}
_PARTS = {"values": PLAIN, "terms": TERMS}


@dataclass(frozen=True)
class Terms:
    """The terms for a seat: the price as typed, deal sync, and what it has of its own, if anything.

    `own` has is_active and the fields of TERMS as typed: those of a copied deal that differ from the others'.
    """

    price: str = ""
    deal_sync: bool = False
    own: FormValues | None = None

    @property
    def amount(self) -> Decimal | None:
        """The price; None without a readable one."""
        return number(self.price)


@dataclass(frozen=True)
class NewDeals:
    """Deals to create: the terms of each seat by its id, and what those share that have none of their own."""

    seats: Mapping[int, Terms] = field(default_factory=dict)
    terms: FormValues = field(default_factory=dict)

    def request(self) -> CreateDemandDeals:
        """The request. What is missing or can't be read is left out."""
        options = tuple(_option(seat, terms) for seat, terms in self.seats.items())
        values = {name: one for name, one in terms_request(self.terms).items() if one is not None}
        return CreateDemandDeals.model_construct(**{"demand_deals_options": options, **values})

    def faults(self, has_fees: bool = True) -> "Faults":
        """What is wrong, at its place in the request. `has_fees`: the form offers a fee."""
        values = {**NO_DEAL_YET, **self.terms}
        wrong: dict[Path, str] = {}
        missing: dict[Path, str] = (
            {} if self.seats else {OPTIONS: "Choose seats, or another way to get deals."}
        )
        for place, terms in enumerate(self.seats.values()):
            where = (*OPTIONS, place, "price")
            if sentence := amounts.fault(terms.price):
                wrong[where] = sentence
            elif not terms.price.strip():
                missing[where] = inputs.MISSING["price"]
        for name, sentence in inputs.faults(values).items():
            if name != FEE or has_fees:
                (missing if name == FEE and not values[FEE].strip() else wrong)[NEW, name] = sentence
        if not values[EMAIL].strip() and any(
            one.deal_sync and one.own is None for one in self.seats.values()
        ):
            missing[NEW, EMAIL] = "Deal sync needs a contact e-mail address."
        return Faults(wrong, missing)


@dataclass(frozen=True)
class Draft:
    """The form's contents, numbers and times as they were typed.

    `values` are the package's plain fields by name, `terms` what its new deals share, `seats` the terms of
    each seat by its id, `links` ids of demand deals; which of the two counts says `deals`. Times are without
    a zone, `offset` is minutes east of UTC. `pending` are values typed for the targeting that were neither
    added nor left out (targeting/pending.py): nothing is created before they are.
    """

    values: FormValues = field(default_factory=dict)
    offset: int = 0
    targeting: Targeting = field(default_factory=Targeting)
    deals: Source = "new"
    seats: Mapping[int, Terms] = field(default_factory=dict)
    terms: FormValues = field(default_factory=dict)
    links: tuple[int, ...] = ()
    pending: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, **entries: Any) -> Self:
        """A draft of plain fields of a package and of the terms, each by its name, and of its other parts."""
        parts = {one.name for one in fields(cls)}
        values = {name: one for name, one in entries.items() if name in PLAIN}
        terms = {name: one for name, one in entries.items() if name in TERMS}
        if odd := entries.keys() - parts - values.keys() - terms.keys():
            raise TypeError(f"A draft has no {', '.join(sorted(odd))}")
        more = {name: one for name, one in entries.items() if name in parts}
        return cls(**{"values": values, "terms": terms, **more})

    def __getitem__(self, name: str) -> Any:
        """A plain field as typed: one of the package, or one that its new deals share."""
        if name in PLAIN:
            return self.values.get(name, NO_PACKAGE_YET[name])
        return self.terms.get(name, NO_DEAL_YET[name])

    def with_(self, **values: Any) -> Self:
        """The draft with these plain fields of the package."""
        return replace(self, values={**self.values, **values})

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was entered that would be lost: texts, but for the start, and what was chosen."""
        form_values = {**self.values, **self.terms}
        texts = [one for name, one in form_values.items() if isinstance(one, str) and _is_typed(name)]
        has_choice = self.seats or self.links or self.pending or self.targeting != Targeting()
        return not (has_choice or any(map(str.strip, texts)))

    @property
    def zone(self) -> timezone:
        """The zone of its times."""
        return timezone(timedelta(minutes=self.offset))

    @property
    def new_deals(self) -> NewDeals:
        """The deals that are created with it."""
        return NewDeals(self.seats, self.terms)

    def moment(self, name: str) -> datetime | None:
        """A time of the form with its offset; None without a readable one."""
        value: datetime | None = inputs.value(name, self[name], self.zone)
        return value

    def package(self) -> SupplyPackage:
        """The package to create. What is missing or can't be read is left out."""
        fields_of_package: dict[str, Any] = {
            name: inputs.value(name, self[name], self.zone) for name in PLAIN
        }
        fields_of_package |= {name: getattr(self.targeting, name) for name in Targeting.model_fields}
        if self.deals == "new":
            fields_of_package[NEW] = self.new_deals.request()
        elif self.deals == "existing":
            fields_of_package["demand_deals"] = tuple(Reference(id=deal) for deal in self.links)
        return SupplyPackage.model_construct(
            **{name: one for name, one in fields_of_package.items() if one not in (None, ())}
        )

    def faults(self, has_fees: bool = True) -> "Faults":
        """All that the form finds before anything is sent. `has_fees`: it offers a fee."""
        values = {name: self[name] for name in PLAIN}
        wrong: dict[Path, str] = {(name,): sentence for name, sentence in inputs.faults(values).items()}
        missing: dict[Path, str] = {
            (name,): inputs.MISSING.get(name, "Needed.")
            for name in PLAIN
            if _is_needed(name) and not values[name].strip()
        }
        if self.deals != "new":
            return Faults(wrong, missing)
        deals = self.new_deals.faults(has_fees)
        return Faults({**wrong, **deals.wrong}, {**missing, **deals.missing})


@dataclass(frozen=True)
class Faults:
    """Sentences by place in the request: what is `wrong` as it was typed, and what is `missing`."""

    wrong: Mapping[Path, str] = field(default_factory=dict)
    missing: Mapping[Path, str] = field(default_factory=dict)

    @property
    def all(self) -> dict[Path, str]:
        """Both."""
        return {**self.missing, **self.wrong}

    def names(self, deals: NewDeals, seats: Mapping[int, Seat]) -> list[str]:
        """The fields of these errors by their labels, in the order of the form: `Price of Bluebird`."""
        own, new = [(name,) for name in PLAIN], [(NEW, name) for name in TERMS]
        order: list[Path] = [*own, OPTIONS, *new]
        places = sorted(self.all, key=lambda at: (order.index(at if at in order else at[:2]), at[2:]))
        return [_label(place, [*deals.seats], seats) for place in places]


def terms_request(form_values: FormValues) -> dict[str, Any]:
    """The terms of deals as a request has them; no fee where its type has none."""
    terms = {**NO_DEAL_YET, **form_values}
    fields_of_request = {name: inputs.value(name, terms[name]) for name in TERMS}
    if not has_amount(terms[FEE_TYPE]):
        fields_of_request[FEE] = None
    return fields_of_request


def number(text: str) -> Decimal | None:
    """A typed number; None without a readable one."""
    try:
        return amounts.read(text)
    except ValueError:
        return None


def seat_name(seat: Seat | None, seat_id: int) -> str:
    """A seat by name, or by its id where it is not known."""
    return (seat and seat.name) or f"Seat {seat_id}"


def _label(place: Path, ids: list[int], seats: Mapping[int, Seat]) -> str:
    if place == OPTIONS:
        return "Seats"
    if place[:2] == OPTIONS:
        seat = ids[int(place[2])]
        return f"Price of {seat_name(seats.get(seat), seat)}"
    return rows.BY_NAME[str(place[-1])].form_label


def _is_typed(name: str) -> bool:
    """Whether a text was typed by somebody: not chosen, and not the start that every form has."""
    return rows.BY_NAME[name].kind.choices is None and name != "start_date"


def _is_needed(name: str) -> bool:
    """Whether it has to be typed; of buttons one is always pressed."""
    one = rows.BY_NAME[name]
    return one.default is rows.REQUIRED and one.kind.choices is None


def _option(seat: int, terms: Terms) -> DemandDealOption:
    values: dict[str, Any] = {"seat": Reference(id=seat), "deal_sync": terms.deal_sync}
    if terms.amount is not None:
        values["price"] = terms.amount
    return DemandDealOption.model_construct(**values)


ADAPTER = TypeAdapter(Draft)


def dump_draft(draft: Draft) -> dict[str, Any]:
    """The draft as it is kept."""
    body: dict[str, Any] = ADAPTER.dump_python(draft, mode="json")
    return body


def load_draft(body: Any) -> Draft:
    """The draft that was kept, by this version or by one that named the fields of the form otherwise.

    ValidationError for what is none.
    """
    if isinstance(body, Mapping) and "values" not in body:
        body = _of_before(body)
    return ADAPTER.validate_python(body)


def _of_before(body: FormValues) -> dict[str, Any]:
    form = {_NEW_NAMES.get(name, name): one for name, one in body.items()}
    seats = form.get("seats") or {}
    if isinstance(seats, Mapping):
        seats = {seat: {**terms, "own": _own_of_before(terms.get("own"))} for seat, terms in seats.items()}
    split = {name: {one: form.pop(one) for one in of if one in form} for name, of in _PARTS.items()}
    return {**form, **split, "seats": seats}


def _own_of_before(own: FormValues | None) -> FormValues | None:
    return own and {_NEW_NAMES.get(name, name): one for name, one in own.items()}
