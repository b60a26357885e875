"""The days of a report's funnels: each step per day, of the report, of a deal, or of each value of a key
field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np

from lib.insight.change_point import DAYS as HISTORY
from lib.insight.change_point import Numbers
from lib.insight.deal_report import KEY_FIELDS, DealReport, Entity
from lib.reporting.answers import Audience
from lib.slicers.granularities import time_key_field
from lib.wire.filters import Filter

PATIENCE, DAY = 10_000, time_key_field("day")
"""Milliseconds for an exact answer, and a key field."""
Steps = dict[str, Numbers]
"""Figures per day of the last HISTORY days, by step; NaN on days without data."""
Series = dict[str, Steps]
"""The same, by what they are of: a deal's id, say."""


@dataclass
class FunnelDays:
    """The days of a report's funnels: its data fields by step; `price_type` is that of deals without one."""

    report: DealReport
    fields: dict[str, str]
    price_type: str

    @cached_property
    def whole(self) -> Steps:
        """The report's own figures per day and step."""
        return self.series(None).get("", {})

    @property
    def first_day(self) -> date:
        return self.report.period(HISTORY)[0]

    def groups(self, members: Mapping[str, Sequence[Entity]]) -> dict[str, Series]:
        """The figures of these packages, seats and DSPs, as far as the report tells them apart."""
        field_names = {*self.report.slicer.key_names}
        return {
            name: self.series(field, self.report.only(entities))
            for name, entities in members.items()
            if entities and (field := KEY_FIELDS[type(entities[0])]) in field_names
        }

    def series(
        self, by: str | None, filters: tuple[Filter, ...] = (), fields: Mapping[str, str] | None = None
    ) -> Series:
        """The figures per day of each value of a key field, or of all (by ""); none where they are of a
        sample.

        `fields` are data fields by the name that their figures get; those of the funnel where none are given.
        """
        fields = fields or self.fields
        answer = self.ask(HISTORY, tuple(fields.values()), (*((by,) if by else ()), DAY), filters)
        series: Series = {}
        if answer.is_sampled:
            return series
        first = self.first_day
        without_rows = np.full(HISTORY, np.nan)
        without_rows[[(date.fromisoformat(day) - first).days for day in answer.total.dates]] = 0.0
        names: Sequence[object] = [""] * len(answer.names)
        if by:
            names = answer.names[by].astype(object).where(answer.names[by].notna(), "").tolist()
        places = [(date.fromisoformat(str(day)[:10]) - first).days for day in answer.names[DAY]]
        for step, field in fields.items():
            if answer.total.withheld(field):
                continue
            for name, index, value in zip(names, places, answer.values[field], strict=True):
                figures = series.setdefault(str(name), {}).setdefault(step, without_rows.copy())
                figures[index] = value if value == value else 0.0
        return series

    def ask(
        self, days: int, fields: tuple[str, ...], split: tuple[str, ...], filters: tuple[Filter, ...]
    ) -> Audience:
        """The answer about the last days, exact where that takes no more than PATIENCE."""
        changes = {"data_fields": fields, "split_by": split, "filters": filters, "exact_within": PATIENCE}
        return self.report.ask(self.report.query(days, **changes))
