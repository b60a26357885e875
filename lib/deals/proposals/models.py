"""A proposal: a new package or a change, why, what it is expected to do, and what became of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from lib.deals import fields, moments
from lib.deals.models import Targeting
from lib.deals.package_records import PackageQuestion
from lib.deals.validation import Problems, read
from lib.deals.values import READABLE, READABLE_SCHEMA, Id, Request, Value, text_of
from lib.wire.schemas import Schema

State = Literal["open", "applying", "approved", "declined"]
Entity = Literal["supply_deals", "demand_deals"]
STATES: tuple[State, ...] = get_args(State)
Fields = dict[str, Any]
LONGEST_REASON = 2_000
LONGEST_WORD = 500
MOST = 100
LARGEST = 10**15
MOST_PERIODS = 10**6
_RANGE: Schema = {"type": "number", "exclusiveMinimum": -LARGEST, "exclusiveMaximum": LARGEST}
Count = Annotated[int, Field(strict=True, ge=0, le=MOST_PERIODS)]
Texts = Annotated[list[Value], Field(min_length=1, max_length=MOST)]
_PLAIN = (
    "id", "entity", "entity_id", "name", "fields", "reason", "expected", "by", "token", "state",
    "decided_by", "decided_token", "word", "applied_id", "is_edited",
)  # fmt: skip
COMPARE_FIELDS = {
    fields.SUPPLY: frozenset({*fields.writable(fields.SUPPLY), *Targeting.model_fields, "demand_deals"}),
    fields.DEALS: frozenset({*fields.writable(fields.DEALS), "seat", "supply_deals"}),
}


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("must be a number")
    number = Decimal(str(value))
    if not number.is_finite() or not -LARGEST < number < LARGEST:
        raise ValueError(f"must be between -{LARGEST:,} and {LARGEST:,}")
    return number


Reason = Annotated[str, text_of(LONGEST_REASON), READABLE, READABLE_SCHEMA]
Word = Annotated[str, text_of(LONGEST_WORD), READABLE, READABLE_SCHEMA]
Day = Annotated[
    str,
    AfterValidator(lambda text: date.fromisoformat(text).isoformat()),
    Field(json_schema_extra={"format": "date"}),
]
Figure = Annotated[Decimal, PlainValidator(_number), WithJsonSchema(_RANGE)]


class QuestionRequest(Request):
    """The question that it came from: a slicer, and the parameters of the link to it on the desk."""

    project: Value
    slicer: Value
    params: dict[str, str] = Field(default_factory=dict, max_length=MOST)


class FilterRequest(Request):
    """Records of which a key field has one of these values, or none of them."""

    name: Value
    value: Texts
    match: Literal["equals", "not equals"] = "equals"


class ExpectedRequest(Request):
    """A data field of a slicer from the first day to the last, within these filters, and its 95 % range.

    Such a range held in `range_held` of `past_periods_tested` periods as long and as far ahead.
    """

    project: Value
    slicer: Value
    field: Value
    filters: Annotated[list[FilterRequest], Field(max_length=MOST)] = Field(default_factory=list)
    first_day: Day
    last_day: Day
    low: Figure
    high: Figure
    range_held: Count | None = None
    past_periods_tested: Count | None = None


class ProposalRequest(Request):
    """A new package (without `entity_id`), or fields of a package or deal to change."""

    READ_ONLY = frozenset({"id", "state", "by", "at"})

    entity: Entity = "supply_deals"
    entity_id: Id | None = None
    fields: dict[str, Any]
    reason: Reason
    question: QuestionRequest | None = None
    expected: ExpectedRequest | None = None


class ApprovalRequest(Request):
    """With `fields` these instead of the proposed ones; `overwrites`: also where others changed the same."""

    fields: dict[str, Any] | None = None
    overwrites: bool = False


class DeclineRequest(Request):
    """Why, in a word or a sentence."""

    word: Word


@dataclass(frozen=True)
class Proposal:
    """A proposal as stored. `fields` are those of a POST (a new package) or of a PUT.

    `before` are all fields that can be changed as they were then, empty for a new package; `name` that of the
    package or deal. `token` and `decided_token` name the permanent tokens through which it was made, decided.
    `expected` is as in ExpectedRequest; None where no estimate exists. Of an approved one
    `applied_id` is the entity that has it and `is_edited` whether other fields were applied; `warnings` are
    about its write: the answers to a POST and to an approval have them.
    """

    id: int
    entity: str
    entity_id: int | None
    name: str
    fields: Fields
    before: Fields
    reason: str
    question: PackageQuestion | None
    expected: Fields | None
    by: str
    at: datetime
    token: str | None = None
    state: State = "open"
    decided_by: str | None = None
    decided_token: str | None = None
    decided_at: datetime | None = None
    word: str = ""
    applied_id: int | None = None
    is_edited: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The idempotency key of its application."""
        return f"proposal-{self.id}-{int(self.at.timestamp())}"

    @property
    def is_new(self) -> bool:
        return self.entity_id is None

    def has(self, fields: Mapping[str, Any]) -> bool:
        """Whether these are the proposed fields and values."""
        names = {*fields, *self.fields}
        return all(same(name, fields.get(name), self.fields.get(name)) for name in names)

    def drifts(self, now: Mapping[str, Any]) -> list["Drift"]:
        """What others changed since it was made, from the entity as it is now; empty for a new package."""
        return [
            Drift(name, self.before.get(name), now.get(name), self.fields.get(name), name in self.fields)
            for name in self.before
            if not same(name, self.before.get(name), now.get(name))
        ]

    def answer(self) -> Fields:
        """As the API returns it, with each changed field before and after."""
        times = {
            "at": moments.write(self.at),
            "decided_at": self.decided_at and moments.write(self.decided_at),
        }
        question = self.question
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            **times,
            "question": question and asdict(question),
            "warnings": [*self.warnings],
            "changes": [
                {"field": name, "before": self.before.get(name), "after": value}
                for name, value in self.fields.items()
            ],
        }


@dataclass(frozen=True)
class Drift:
    """A field that others changed since a proposal was made. It is in conflict if they chose other values."""

    field: str
    before: Any
    now: Any
    new_value: Any
    is_proposed: bool

    @property
    def is_conflict(self) -> bool:
        """Whether the proposal has another value than the one that is there now."""
        return self.is_proposed and not same(self.field, self.now, self.new_value)


def same(name: str, value: Any, other: Any) -> bool:
    """Whether two values of a field are equal, however JSON writes them: instants, ids, numbers, order."""
    return bool(_plain(name, value) == _plain(name, other))


def check(request: type[Request], body: Any) -> Fields:
    """The fields of a body by its model. Invalid lists all that is wrong."""
    problems = Problems()
    read_fields = read(request, body, problems)
    problems.check()
    return read_fields


def _plain(name: str, value: Any) -> Any:
    match value:
        case None | "" | [] | ():
            return None
        case datetime():
            return value.timestamp()
        case str() if name.endswith("_date"):
            return moments.read(value).timestamp()
        case list() | tuple():
            return sorted((_plain(name, element) for element in value), key=repr)
        case Mapping() if value.get("id") is not None:
            return int(value["id"]), bool(value.get("is_excluded"))
        case Mapping():
            parts = {key: _plain(name, part) for key, part in value.items()} | {
                "is_excluded": bool(value.get("is_excluded"))
            }
            return sorted(parts.items())
        case int() | float() | Decimal():
            return Decimal(str(value)).normalize() if not isinstance(value, bool) else value
        case _:
            return value
