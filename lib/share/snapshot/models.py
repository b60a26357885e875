"""What a snapshot shows, as plain values: texts are written, numbers are for drawing and sorting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Bar = tuple[float, float, float]
UNAVAILABLE = "View not available"
"""The title of a block whose view is gone, or that its reader may not see."""


@dataclass(frozen=True)
class Figure:
    """A figure of the headline. `delta` and `range` are None without a comparison and for exact figures.

    Its change `is_noise` where single days differ by as much, or a sample may have made it.
    """

    title: str
    text: str
    delta: str | None = None
    color: str = "gray"
    range: str | None = None
    help: str = ""
    is_noise: bool = False


@dataclass(frozen=True)
class Line:
    """A line over time: a value per bucket (None: unknown), and the text of each.

    `color` is `#rrggbb`, empty for the accent; `names` are its own buckets, where these are other days;
    `low` and `high` are the ends of its range. One that `is_before` is dotted, one that `is_beside` has an
    axis of its own.
    """

    label: str
    values: Sequence[float | None]
    texts: Sequence[str]
    color: str = ""
    names: Sequence[str] = ()
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    is_before: bool = False
    is_beside: bool = False


@dataclass(frozen=True)
class Chart:
    """The chart over time. `starts` are the buckets' beginnings (ISO 8601) with their `names`, `parts` how
    much there is of each (empty: all), `ticks` what each is called on the axis.
    `marks` are the places of days whose clocks change, each with a sentence.

    `lines` are in the order in which they are named; the first is the one in front. `has_zero`: the axis
    begins at zero.
    """

    title: str
    alt: str
    grain: str
    names: Sequence[str]
    starts: Sequence[str]
    parts: Sequence[str]
    ticks: Sequence[str]
    lines: Sequence[Line]
    has_zero: bool = True
    marks: Mapping[int, str] = field(default_factory=dict)

    def bucket(self, index: int) -> str:
        """A bucket in words: its name, how much there is of it, and what is odd about it."""
        about = self.parts[index] or self.marks.get(index, "")
        return f"{self.names[index]} ({about})" if about else self.names[index]


@dataclass(frozen=True)
class Cell:
    """A cell; `order` is its number for sorting (None: by its text), `bar` as in tables of the desk."""

    text: str
    order: float | None = None
    is_faint: bool = False
    bar: Bar | None = None
    has_sides: bool = False
    help: str = ""


@dataclass(frozen=True)
class Row:
    """A row; those of kind `total` and `rest` stay where they are when the table is sorted."""

    cells: Sequence[Cell]
    kind: Literal["row", "total", "rest"] = "row"
    level: int = 1


@dataclass(frozen=True)
class Table:
    """A table: titles of columns, of which the first `keys` are names. `message` stands where no rows are.

    `change` is the column of the changes in percent, the first where several days are compared.
    """

    title: str
    about: str
    columns: Sequence[str]
    keys: int
    rows: Sequence[Row]
    message: str = ""
    change: int | None = None


@dataclass(frozen=True)
class Snapshot:
    """A question and its figures. `facts` say what it is, of which days, and how exact, in pairs.

    `address` is the live question's, empty where the desk has none. `nothing` says why there are no figures,
    `lead` what there is to say of them before anything else.
    """

    title: str
    facts: Sequence[tuple[str, str]]
    address: str
    figures: Sequence[Figure] = ()
    chart: Chart | None = None
    notes: Sequence[str] = ()
    cards: Sequence[Table] = ()
    tables: Sequence[Table] = ()
    nothing: str = ""
    lead: Sequence[str] = ()


@dataclass(frozen=True)
class Block:
    """A cell of a board: one part of a question, or a text, over `width` of four columns.

    `about` says view, days and filters, `message` stands where there are no figures. `params` are those of
    the question on the desk.
    """

    title: str
    about: str
    width: int
    address: str = ""
    figures: Sequence[Figure] = ()
    chart: Chart | None = None
    table: Table | None = None
    notes: Sequence[str] = ()
    message: str = ""
    text: str = ""
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    """A board and its figures; `facts` and `address` as of a snapshot."""

    title: str
    facts: Sequence[tuple[str, str]]
    address: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class FormRow:
    """A row of fields: its name, and a value for each field, by the field's name."""

    name: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class Form:
    """A form below a snapshot: a text or a file of `example`'s shape, or rows of fields under `columns`.

    `faults` are what is wrong with what was sent (where, and a sentence), `about` sentences before it; with
    `can_remove` there is something to remove.
    """

    title: str
    about: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[FormRow]
    example: str
    text: str = ""
    faults: Sequence[tuple[str, str]] = ()
    can_remove: bool = False


@dataclass(frozen=True)
class Round:
    """One answer of a negotiation: what, when, and the word with it."""

    text: str
    when: str
    word: str


@dataclass(frozen=True)
class Field:
    """A field of a form: its label, what was typed, what stands in it while it is empty, and its kind."""

    name: str
    label: str
    value: str
    placeholder: str
    kind: Literal["text", "date"] = "text"


@dataclass(frozen=True)
class Answer:
    """Where a negotiation stands, its rounds, and the form for the next one.

    `mark` names the state that is answered, `terms` are its words, which the form sends back; `faults` are
    what is wrong with what was sent (where, and a sentence). The form is folded unless it `is_open`, its
    terms unless the reader `proposes` some. With a `confirmation` it has a box for what was asked, with this
    value.
    """

    sentence: str
    rounds: Sequence[Round]
    mark: str
    terms: str
    name: str
    word: str
    fields: Sequence[Field]
    faults: Sequence[tuple[str, str]] = ()
    is_open: bool = True
    proposes: bool = False
    confirmation: str = ""


@dataclass(frozen=True)
class Code:
    """The form for the code of a page that is limited to one address, and what was wrong."""

    note: str = ""
