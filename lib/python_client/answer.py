"""What the Python client returns: figures and movements, as pandas frames and Arrow tables."""

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from lib.insight import estimate
from lib.insight.estimate import Estimate
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery, Slicer
from lib.reporting.moved.explain import Moved


@dataclass(frozen=True)
class Answer:
    """The answer to a question: its rows and totals. `days` are its days; `link` asks it on the desk."""

    query: AudienceQuery
    slicer: Slicer
    audience: Audience
    days: Days
    link: str

    @property
    def frame(self) -> pd.DataFrame:
        """A row per result row: a text column per key field of the split, then a float64 one per data field.

        NaN where there is no figure. Without a split, one row.
        """
        return pd.concat([self.audience.names, self.audience.values], axis="columns")

    @property
    def ranges(self) -> pd.DataFrame | None:
        """The 95 % ranges of the rows, as `<data field>.low` and `.high`; None where all are exact."""
        low, high = self.audience.low, self.audience.high
        if self.is_exact or low is None or high is None:
            return None
        both = {f"{name}.{end}": side[name] for name in low for end, side in (("low", low), ("high", high))}
        return pd.concat([self.audience.names, pd.DataFrame(both)], axis="columns")

    @property
    def arrow(self) -> pa.Table:
        """The frame as an Arrow table."""
        return pa.Table.from_pandas(self.frame, preserve_index=False)

    @property
    def is_exact(self) -> bool:
        """Whether every record in range was read."""
        read = self.audience.precision
        is_sampled = read is not None and read.is_sampled
        return not (is_sampled or self.audience.total.confidence_range)

    @property
    def total(self) -> dict[str, float | None]:
        """The totals of all rows, also of those beyond a limit, by data field."""
        return dict(self.audience.total.values)

    def estimate(self, field: str) -> Estimate:
        """The total of a data field with its 95 % range."""
        return estimate.total(self.audience, field)


@dataclass(frozen=True)
class WhatMoved:
    """The values that moved a data field between two periods; see Moved. `link` shows them on the desk."""

    field: str
    moved: Moved
    before: Days
    now: Days
    link: str

    @property
    def frame(self) -> pd.DataFrame:
        """A row per value that moved more than noise: key field, value, description, contribution, figures.

        `overlapping` are those of key fields with several values per record, which don't add up.
        """
        columns = ["key_field", "value", "description", "contribution", "before", "now", "overlapping"]
        rows = [
            (
                one.name,
                mover.code,
                mover.words,
                mover.contribution,
                mover.before,
                mover.now,
                one.is_overlapping,
            )
            for one in self.moved.shown
            for mover in one.movers
        ]
        return pd.DataFrame(rows, columns=pd.Index(columns)).sort_values(
            ["overlapping", "contribution"],
            key=lambda column: column if column.name == "overlapping" else -column.abs(),
            ignore_index=True,
            kind="stable",
        )

    @property
    def arrow(self) -> pa.Table:
        """The frame as an Arrow table."""
        return pa.Table.from_pandas(self.frame, preserve_index=False)
