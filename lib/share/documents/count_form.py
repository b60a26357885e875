"""The form that takes the buyer's counts by day, and what was sent with it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from operator import itemgetter

from lib.deals.buyer_counts import LARGEST_COUNT, LARGEST_SPEND, MOST_DAYS, NOUNS, DayCounts
from lib.deals.values import Limits
from lib.figures import amounts
from lib.serving.front.shared_route import LARGEST_FORM, Fields
from lib.share.snapshot import models as snapshots
from lib.wire import csv_text
from lib.wire.csv_text import CsvShape
from lib.wire.text import write_day

COLUMNS = {step: noun.capitalize() for step, noun in NOUNS.items()}
_TITLES = tuple(COLUMNS.values())
SHAPE = CsvShape("days", ("Day",), _TITLES, MOST_DAYS, LARGEST_FORM, _TITLES, ("Day",))
WHOLE, MONEY = Limits(0, LARGEST_COUNT, 0), Limits(0, int(LARGEST_SPEND), 6)
DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ]00:00(:00)?)?")
DOTS = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
EXAMPLE, FORM_DAYS, MOST_FAULTS = "Day,Bid requests,Bids,Wins,Spend", 7, 20
EMPTY = "There is nothing in it: paste rows, or choose a file."


@dataclass(frozen=True)
class EnteredForm:
    """What a form has: counts by day, what is wrong (where, and a sentence), and the texts as they came."""

    days: Mapping[date, DayCounts]
    faults: tuple[tuple[str, str], ...] = ()
    text: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)


def read_counts(fields: Fields, today: date) -> EnteredForm:
    """What was sent: a CSV, else rows; nothing later than `today` may be counted."""
    if fields.get("do") == "rows":
        return _read_rows(fields, today)
    file = fields.get("file", b"")
    text = _text(file) if isinstance(file, bytes) and file.strip() else _text(fields.get("text", ""))
    if not text.strip():
        return EnteredForm({}, (("CSV", EMPTY),))
    table = csv_text.read(text, SHAPE)
    faults = [(fault.line, fault.text) for fault in table.faults]
    wrong, days = {fault.line for fault in table.faults}, dict[date, DayCounts]()
    for row in table.rows:
        if row.line in wrong:
            continue
        try:
            day = _day(row["Day"], today)
            if day in days:
                raise ValueError(f"{row['Day']} is there twice.")
            days[day] = _counts({step: row[title] for step, title in COLUMNS.items()})
        except ValueError as error:
            faults.append((row.line, str(error)))
    in_order = [(f"Line {line}", fault) for line, fault in sorted(faults, key=itemgetter(0))]
    return EnteredForm(days, _few(in_order), text)


def counts_form(
    counts: Mapping[date, DayCounts], last: date, about: Iterable[str], submission: EnteredForm | None = None
) -> snapshots.Form:
    """The form with what is stored, or with what was sent where that could not be stored."""
    recent_days = [last - timedelta(days=back) for back in range(FORM_DAYS)]
    texts = {} if submission is None else submission.texts
    rows = []
    for day in sorted({*recent_days, *counts}, reverse=True):
        values = {}
        for step in COLUMNS:
            name, count = f"{step}.{day.isoformat()}", getattr(counts.get(day), step, None)
            values[name] = texts.get(name, "" if count is None else amounts.to_text(Decimal(count)))
        rows.append(snapshots.FormRow(write_day(day), values))
    return snapshots.Form(
        title="Your counts",
        about=[*about],
        columns=[*COLUMNS.values()],
        rows=rows,
        example=EXAMPLE,
        text="" if submission is None else submission.text,
        faults=() if submission is None else submission.faults,
        can_remove=bool(counts),
    )


def _read_rows(fields: Fields, today: date) -> EnteredForm:
    """Rows of fields named `step.day`; days without any text are empty."""
    texts = {
        name: value
        for name, value in fields.items()
        if isinstance(value, str) and name.split(".")[0] in COLUMNS
    }
    days: dict[date, DayCounts] = {}
    faults: list[tuple[str, str]] = []
    for text in dict.fromkeys(name.partition(".")[2] for name in texts):
        try:
            day = _day(text, today)
            days[day] = _counts({step: texts.get(f"{step}.{text}", "") for step in COLUMNS})
        except ValueError as error:
            faults.append((text[:20], str(error)))
    if len(days) > MOST_DAYS:
        faults.append(("Days", f"At most {MOST_DAYS} can be sent."))
    return EnteredForm(days, _few(faults), "", texts)


def _day(text: str, today: date) -> date:
    iso = DOTS.sub(lambda dots: f"{dots[3]}-{dots[2]:0>2}-{dots[1]:0>2}", text.strip())
    match = DAY.fullmatch(iso)
    try:
        day = date.fromisoformat(match[1] if match else "")
    except ValueError:
        raise ValueError(f"'{text[:30]}' is not a day: write it like {today.isoformat()}.") from None
    if day > today:
        raise ValueError(f"{day.isoformat()} has not come yet.")
    return day


def _counts(texts: Mapping[str, str]) -> DayCounts:
    """The counts of these texts by step. ValueError with a sentence that names the column."""
    numbers = {}
    for step, text in texts.items():
        try:
            numbers[step] = amounts.read(text, MONEY if step == "spend" else WHOLE)
        except ValueError as error:
            raise ValueError(f"{COLUMNS[step]}: {error}") from None
    counts = {
        step: None if (count := numbers[step]) is None else int(count)
        for step in ("requests", "bids", "wins")
    }
    return DayCounts(**counts, spend=numbers["spend"])


def _text(value: str | bytes) -> str:
    """A text, or the content of a file: in UTF-8 or UTF-16 as it says, else as Windows writes it."""
    if isinstance(value, str):
        return value
    encoding = "utf-16" if value[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return value.decode(encoding)
    except UnicodeDecodeError:
        return value.decode("cp1252", errors="replace")


def _few(faults: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The first faults, and how many others there are."""
    more = len(faults) - MOST_FAULTS
    rest = [("Further lines", f"{more:,} other faults.")] if more > 0 else []
    return (*faults[:MOST_FAULTS], *rest)
