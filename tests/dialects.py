"""Tables as people's tools write them: the same rows in any notation, delimiter, encoding and frame."""

import csv
import datetime as dt
import io
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from hypothesis import strategies as st

NEGATIVES: dict[str, Callable[[str], str]] = {
    "minus": lambda text: f"-{text}",
    "true minus": lambda text: f"−{text}",
    "trailing": lambda text: f"{text}-",
    "brackets": lambda text: f"({text})",
}
DATES = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d", "%d-%b-%Y", "%B %d, %Y"]
UNITS: dict[str, Callable[[str], str]] = {
    "": lambda text: text,
    "€ behind": lambda text: f"{text} €",
    "$ before": lambda text: f"${text}",
    "CHF before": lambda text: f"CHF {text}",
    "₹ before": lambda text: f"₹{text}",
}


@dataclass(frozen=True)
class Dialect:
    """How a table is written."""

    decimal: str
    thousands: str
    is_indian: bool
    negative: str
    unit: str
    missing: str
    date: str
    delimiter: str
    newline: str
    encoding: str
    above: str
    total: bool
    has_header: bool

    def number(self, value: float | None, decimals: int, unit: str = "") -> str:
        """A number in this dialect; None is missing."""
        if value is None or value != value:
            return self.missing
        whole, _, fraction = f"{abs(value):.{decimals}f}".partition(".")
        text = self._grouped(whole) + (self.decimal + fraction if fraction else "")
        text = UNITS[unit](text)
        return NEGATIVES[self.negative](text) if value < 0 else text

    def _grouped(self, digits: str) -> str:
        head, tail = digits[:-3], digits[-3:]
        size, groups = (2 if self.is_indian else 3), [tail]
        while head:
            head, groups = head[:-size], [head[-size:], *groups]
        return self.thousands.join(groups)

    def written(self, rows: pd.DataFrame) -> bytes:
        """The table of `date`, `site`, `imps`, `cost`, `rate`."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator=self.newline)
        if self.has_header:
            writer.writerow(rows.columns)
        for date, site, imps, cost, rate in rows.itertuples(index=False, name=None):
            numbers = [self.number(imps, 0), self.number(cost, 2, self.unit), self.number(rate, 1) + "%"]
            writer.writerow([date.strftime(self.date), site, *numbers])
        if self.total:
            known = rows["cost"].dropna()
            writer.writerow(
                ["Total", "", self.number(sum(rows["imps"]), 0), self.number(sum(known), 2, self.unit), ""]
            )
        return (self.above.replace("\n", self.newline) + text.getvalue()).encode(self.encoding)


def dialects() -> st.SearchStrategy[Dialect]:
    """Any dialect whose characters its encoding has."""
    marks = st.sampled_from(
        [
            *itertools.product(".", ["", ",", "'", "’"]),
            *itertools.product(",", ["", ".", "\u00a0", "\u202f", " "]),
        ]
    )

    @st.composite
    def random_dialect(draw: st.DrawFn) -> Dialect:
        decimal, thousands = draw(marks)
        delimiter = draw(st.sampled_from([mark for mark in ",;\t|" if mark != decimal]))
        return Dialect(
            decimal=decimal,
            thousands=thousands,
            is_indian=thousands == "," and draw(st.booleans()),
            negative=draw(st.sampled_from(sorted(NEGATIVES))),
            unit=draw(st.sampled_from(sorted(UNITS))),
            missing=draw(st.sampled_from(["", "-", "N/A", "NULL", "—", "#N/A"])),
            date=draw(st.sampled_from(DATES)),
            delimiter=delimiter,
            newline=draw(st.sampled_from(["\n", "\r\n"])),
            encoding=draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])),
            above=draw(st.sampled_from(["", "Report: all sites\nMade by hand\n\n", "# remark\n"])),
            total=draw(st.booleans()),
            has_header=draw(st.booleans()),
        )  # fmt: skip

    return random_dialect()


def tables() -> st.SearchStrategy[pd.DataFrame]:
    """Some days of some sites, with amounts of every size; some costs are missing."""
    row = st.tuples(
        st.dates(dt.date(2026, 1, 1), dt.date(2026, 3, 31)),
        st.sampled_from(["Zürich, news", "a.example", 'The "Post"', "x"]),
        st.integers(0, 5_000_000),
        st.none() | st.integers(-10_000_000, 10_000_000).map(lambda cents: cents / 100),
        st.integers(0, 1000).map(lambda tenths: tenths / 10),
    )
    tells = [
        (dt.date(2026, 1, 31), "x", 1_234_567, 1234.5, 12.5),
        (dt.date(2026, 2, 28), "a.example", 45, -0.25, 0.5),
    ]
    return st.lists(row, min_size=3, max_size=40).map(
        lambda rows: pd.DataFrame([*tells, *rows], columns=["date", "site", "imps", "cost", "rate"]).astype(
            {"cost": object}
        )
    )
