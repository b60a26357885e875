"""The plain fields of supply packages and demand deals, a row each.

Requests, answers, columns of the database, filters, orders, search, the history's words, the list's columns,
the forms and the columns of CSV files are derived from these rows. A field that is a link to other
entities, a list, or computed stands where it is made (requests.py, openapi.py, store/). The models
(models.py) declare the same names once more for the type checker; tests/deals/test_fields.py compares them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from lib.deals import moments, values
from lib.deals.models import (
    DEAL_TYPES,
    DELIVERY_SPEEDS,
    FEE_TYPES,
    MEDIA_TYPES,
    PRICE_TYPES,
    BuyerState,
    DealType,
    DeliverySpeed,
    MediaType,
    PriceType,
    Resource,
    Status,
)
from lib.deals.values import (
    Amount,
    Count,
    Currency,
    Email,
    FeeType,
    Limits,
    Moment,
    Name,
    Percentage,
    Priority,
    Value,
)
from lib.wire import currencies

SUPPLY, DEALS = "supply_deals", "demand_deals"
REQUIRED: Any = object()
Reader = Literal["buyer", "dsp"]
Readers = frozenset[Reader]
FOR_HOUSE, FOR_BUYER, FOR_DSP, FOR_BOTH = (
    Readers(), Readers({"buyer"}), Readers({"dsp"}), Readers({"buyer", "dsp"}),
)  # fmt: skip
Entity = TypeVar("Entity", bound=Resource)
BOTH = (SUPPLY, DEALS)


@dataclass(frozen=True, eq=False)
class FieldKind:
    """A kind of value: the type with which requests are read, and that of answers.

    `choices` are the words of the values of a kind that has few, `limits` those of a number.
    """

    request_type: Any
    answer: Any
    choices: Mapping[Any, str] | None = None
    limits: Limits | None = None


@dataclass(frozen=True)
class DealField:
    """One field: its name in the API, its kind, its title on screen, and the kinds of entity that have it.

    `default` is for a creation that leaves it out. The service alone writes one that is not `is_writable`.
    `is_term`: also in create_demand_deals, once for all of its deals. Lists are filtered by it with
    `is_filter`, ordered by it with `is_order`, searched in it with `is_searched`. `width` is that of its
    column in the list on screen, in rem; None without a column. In forms it is called by its `label`, else by
    its title, with `help`; in CSV files by `csv`, else by its title. One that
    `is_extension` is not in the deals specification: forms offer it where the service has it. `readers` get
    it beside the house: the buyer in text, CSV, mail and page, the DSP in deal sync. By default it is for the
    house alone. One that `is_summed` adds up over deals: screens say "each" and "in all".
    """

    name: str
    kind: FieldKind
    title: str
    entities: tuple[str, ...]
    default: Any = None
    is_writable: bool = True
    is_term: bool = False
    is_filter: bool = True
    is_order: bool = True
    is_searched: bool = False
    width: float | None = None
    is_extension: bool = False
    label: str = ""
    help: str = ""
    csv: str = ""
    readers: Readers = FOR_HOUSE
    is_summed: bool = False

    @property
    def form_label(self) -> str:
        return self.label or self.title

    @property
    def column(self) -> str:
        """The title of its column in CSV files."""
        return self.csv or self.title

    @property
    def request_type(self) -> Any:
        return self.kind.request_type | None if self.default is None else self.kind.request_type

    @property
    def answer(self) -> Any:
        return self.kind.answer | None if self.is_writable and self.default is None else self.kind.answer


def _term(
    name: str,
    kind: FieldKind,
    title: str,
    width: float,
    help: str = "",
    readers: Readers = FOR_BUYER,
    is_summed: bool = False,
) -> DealField:
    """A term of deals that the deals specification does not have, agreed with the buyer."""
    return DealField(
        name, kind, title, (DEALS,), is_term=True, width=width, is_extension=True, help=help,
        readers=readers, is_summed=is_summed,
    )  # fmt: skip


Time = Annotated[str, Field(json_schema_extra={"pattern": moments.PATTERN})]
NAME = FieldKind(Name, str)
SHORT_TEXT = FieldKind(Value, str)
EMAIL = FieldKind(Email, str)
SWITCH = FieldKind(bool, bool)
OPEN_SWITCH = FieldKind(bool, bool, {True: "yes", False: "no"})
AMOUNT = FieldKind(Amount, float | None, limits=values.AMOUNT)
COUNT = FieldKind(Count, float | None, limits=values.COUNT)
PERCENTAGE = FieldKind(Percentage, float | None, limits=values.PERCENTAGE)
PRIORITY = FieldKind(Priority, float | None, limits=values.PRIORITY)
FEE_TYPE = FieldKind(FeeType, int, FEE_TYPES)
MEDIA_TYPE = FieldKind(MediaType, MediaType, {name: name for name in MEDIA_TYPES})
DEAL_TYPE = FieldKind(DealType, DealType, DEAL_TYPES)
CURRENCY = FieldKind(
    Currency,
    Annotated[Currency | None, Field(description="Null: as the setting price_currency says. An extension.")],
    {code: code for code in currencies.CODES},
)
SPEED = FieldKind(DeliverySpeed, DeliverySpeed, DELIVERY_SPEEDS)
PRICE_TYPE = FieldKind(
    PriceType,
    Annotated[PriceType | None, Field(description="Null: as the setting price_type says. An extension.")],
    PRICE_TYPES,
)
MOMENT = FieldKind(Moment, Time)
END = replace(MOMENT)
MOMENTS = (MOMENT, END)
STATUS = FieldKind(
    None, Annotated[Status, Field(description="Derived from is_active and the dates. An extension.")]
)
BUYER = FieldKind(
    None,
    Annotated[
        BuyerState | None,
        Field(description="As its DSP reported, or its buyer answered, last; null before. An extension."),
    ],
)
DEAL_ID = FieldKind(
    None, Annotated[str, Field(pattern="^[A-Z0-9-]+$", description="What the DSP knows it by. An extension.")]
)
TEXTS = (NAME, SHORT_TEXT, EMAIL)


FIELDS = (
    DealField("name", NAME, "Name", BOTH, REQUIRED, is_searched=True, width=18.0, readers=FOR_BOTH),
    DealField("status", STATUS, "Status", BOTH, is_writable=False, width=5.5, readers=FOR_BOTH),
    DealField(
        "deal_id", DEAL_ID, "Deal id", (DEALS,), is_writable=False, is_searched=True, width=9.6,
        readers=FOR_BOTH,
    ),
    DealField("media_type", MEDIA_TYPE, "Media type", (SUPPLY,), REQUIRED, width=5.5, readers=FOR_BOTH),
    DealField("start_date", MOMENT, "Start", (SUPPLY,), REQUIRED, width=6.3, readers=FOR_BOTH),
    DealField("end_date", END, "End", (SUPPLY,), width=6.3, readers=FOR_BOTH),
    DealField("price", AMOUNT, "Price", (DEALS,), REQUIRED, width=8.0, readers=FOR_BOTH),
    DealField("deal_sync", SWITCH, "Deal sync", (DEALS,), False),
    DealField("is_active", SWITCH, "Active", BOTH, True),
    DealField("is_dynamic_bidding", SWITCH, "Dynamic bidding", (SUPPLY,), False),
    DealField(
        "is_true_price_opt_enable", SWITCH, "True price", (SUPPLY,), False, help="True price optimization"
    ),
    DealField(
        "agency_curation_fee_type", FEE_TYPE, "Fee type", (DEALS,), is_term=True, label="Agency fee",
        readers=FOR_DSP,
    ),
    DealField("agency_curation_fee", AMOUNT, "Agency fee", (DEALS,), is_term=True, label="Fee", csv="Fee"),
    DealField(
        "contact_email", EMAIL, "Contact", (DEALS,), is_term=True, is_searched=True, width=12.0,
        label="Contact e-mail",
    ),
    DealField(
        "price_type", PRICE_TYPE, "Price type", (DEALS,), is_term=True, width=7.0, is_extension=True,
        help="Floor: bids compete from the price up. Fixed: the price is what a win pays", readers=FOR_BOTH,
    ),
    DealField(
        "currency", CURRENCY, "Currency", (DEALS,), is_term=True, width=5.5, is_extension=True,
        help="Of the deal's price, budget and fee", readers=FOR_BOTH,
    ),
    DealField(
        "buyer_status", BUYER, "Buyer's status", (DEALS,), is_writable=False, is_order=False, width=8.0,
        is_extension=True, readers=FOR_BUYER,
    ),
    _term("deal_type", DEAL_TYPE, "Deal type", 10.0, readers=FOR_BOTH),
    _term(
        "units", COUNT, "Guaranteed impressions", 10.0, "How many a programmatic guaranteed deal promises",
        FOR_BOTH, is_summed=True,
    ),
    _term("pacing", SPEED, "Delivery speed", 8.0, "How guaranteed impressions are spread over the dates"),
    _term(
        "budget", AMOUNT, "Budget", 7.0, "The most that the buyer spends, in the currency of the price",
        is_summed=True,
    ),
    _term("frequency_cap", COUNT, "Frequency cap", 7.0, "The most impressions per user and day"),
    _term("viewability_goal", PERCENTAGE, "Viewability goal", 8.0, "Percent of the impressions"),
    _term(
        "block_override", OPEN_SWITCH, "Block override", 8.0,
        "The publisher's blocks of advertisers and categories don't hold for it", FOR_BOTH,
    ),
    _term("audience_segments", SHORT_TEXT, "Audience segments", 10.0, "As buyer and seller call them"),
    _term("priority", PRIORITY, "Priority", 6.0, "1 is served first, 20 last", FOR_HOUSE),
    DealField(
        "house_code", SHORT_TEXT, "House code", (DEALS,), is_term=True, is_searched=True, width=8.0,
        is_extension=True, help="Your own number of the deal, such as a booking's",
    ),
    _term("buyer_note", SHORT_TEXT, "Note to the buyer", 12.0, "Part of the text and the CSV for the buyer"),
)  # fmt: skip
BY_NAME = {field.name: field for field in FIELDS}
TERMS = tuple(field.name for field in FIELDS if field.is_term)


def of(entity: str) -> tuple[DealField, ...]:
    """The plain fields of a kind of entity; none of those that have no rows here."""
    return tuple(field for field in FIELDS if entity in field.entities)


def writable(entity: str, *kinds: FieldKind) -> tuple[str, ...]:
    """The names of those that a request sets; with `kinds` of those kinds alone."""
    return tuple(
        field.name for field in of(entity) if field.is_writable and (not kinds or field.kind in kinds)
    )


def internal_names(entity: str, reader: Reader) -> frozenset[str]:
    """The names of those that are not for this reader."""
    return frozenset(field.name for field in of(entity) if reader not in field.readers)


def redact(entity: Entity, reader: Reader) -> Entity:
    """The entity as this reader may know it: without the plain fields that are not for them.

    Whatever leaves the house (hand-over, share page, mail) is made of this, so that a field that nobody said
    anything about stays inside.
    """
    return entity.model_copy(update=dict.fromkeys(internal_names(entity.entity, reader)))


def read_only(entity: str) -> frozenset[str]:
    """The names of those that the service alone writes."""
    return frozenset(field.name for field in of(entity) if not field.is_writable)


def search_fields(entity: str) -> tuple[str, ...]:
    """The names of those that a search looks in."""
    return tuple(field.name for field in of(entity) if field.is_searched)
