"""The state of a page resolved: its days, granularity, fields and leaderboards, and its parts' queries."""

from dataclasses import dataclass, replace

from lib.figures import series
from lib.figures.context import RequestContext
from lib.figures.numbers import Numbers
from lib.figures.query import ask, card, periods
from lib.figures.query.card import Card
from lib.figures.query.periods import Comparison, granularities
from lib.figures.query.state import PageState, View
from lib.figures.query.view_parts import ValueLines, value_lines
from lib.reporting import named_days
from lib.reporting.models import AudienceQuery
from lib.slicers.dates import Days
from lib.slicers.granularities import CYCLE_KEY_FIELDS, TIME_KEY_FIELDS, Granularity, time_key_field
from lib.slicers.models import DataField, Order, Slicer
from lib.slicers.zones import Zone

USUAL_METRICS, TIMES = 6, 100


@dataclass(frozen=True)
class Focus:
    """A state as the page shows it. `period` and `compared_days` are days, `field` the data field shown.

    `whole` are the days from which the page was zoomed in to its period; None without a zoom.
    `comparison` is the part of these two that can be compared, where there is any. `days_together` are all
    that the page asks about where they are several: its answers have one precision.
    """

    context: RequestContext
    query: AudienceQuery
    view: View
    period: Days
    whole: Days | None
    compared_days: Days | None
    comparison: Comparison | None
    grain: Granularity | None
    metrics: tuple[str, ...]
    field: DataField
    numbers: Numbers
    days_together: tuple[Days, ...] = ()

    @property
    def comparisons(self) -> "tuple[Focus, ...]":
        """The same, compared with the first days; and with the second, if these are others."""
        if not self.view.also:
            return (self,)
        view = replace(self.view, compare=self.view.also, also=())
        today = ask.today(self.context, self.query)
        compared_days, comparison = periods.comparison(
            view.compare, self.period, self.slicer, today, self.whole, view.start_name(self.query)
        )
        if comparison == self.comparison:
            return (self,)
        return self, replace(self, view=view, compared_days=compared_days, comparison=comparison)

    @property
    def other_days(self) -> tuple[Days, ...]:
        """The days to ask for in addition to the query's own, each once."""
        candidates = (days for focus in self.comparisons for days in focus.comparison or ())
        return tuple(dict.fromkeys(days for days in candidates if days != self.period))

    @property
    def zone(self) -> Zone:
        return named_days.zone(self.query, self.slicer)

    @property
    def slicer(self) -> Slicer:
        return self.context.slicer

    @property
    def fields(self) -> tuple[str, ...]:
        """The data fields to ask for: the one shown, and the headline's."""
        return tuple(dict.fromkeys((self.field.name, *self.metrics)))

    @property
    def compared_fields(self) -> tuple[str, ...]:
        """The data fields asked for on the days compared: the one shown, or all for their columns."""
        return self.fields if self.view.compared_columns else (self.field.name,)

    @property
    def headline(self) -> tuple[str, ...]:
        """The data fields of the headline: those chosen for it, and the one shown."""
        return tuple(dict.fromkeys((*self.metrics, self.field.name)))

    def over_time(self) -> AudienceQuery:
        """The query behind headline and time chart."""
        split = () if self.grain is None else (time_key_field(self.grain),)
        second = [self.view.second] if self.view.second else []
        fields = tuple(dict.fromkeys((*self.fields, *second)))
        return self._audience_query(split_by=split, data_fields=fields, order_by=())

    def rows(self) -> AudienceQuery:
        """The query behind the split's table and bars: its top rows."""
        runs_in_time = self.query.split_by[:1] and self.query.split_by[0] in TIME_KEY_FIELDS
        limit = max(self.view.rows, TIMES) if runs_in_time else self.view.rows
        return self._audience_query(data_fields=self.fields, order_by=self.order, limit=limit)

    def passing_rows(self) -> AudienceQuery:
        """The same, but those alone whose figures pass the filters by figures."""
        return self.rows().model_copy(update={"data_filters": self.view.data_filters})

    @property
    def cards(self) -> tuple[Card, ...]:
        """The leaderboards; weekdays and hours of the day as time runs, unless another order is chosen."""
        return tuple(
            replace(leaderboard, by="name", direction="asc")
            if leaderboard.name in CYCLE_KEY_FIELDS and leaderboard.by == "volume"
            else leaderboard
            for leaderboard in self.view.cards or card.default_cards(self.slicer)
        )

    @property
    def columns(self) -> tuple[DataField, ...]:
        """The data fields that leaderboards have as more columns."""
        return tuple(self.slicer.data_field(name) for name in self.view.columns if name != self.field.name)

    @property
    def value_lines(self) -> ValueLines:
        """A key field and its values with their own lines on the chart; empty without any."""
        return value_lines(self.query, self.view.value_lines) if self.grain is not None else ()

    @property
    def order(self) -> tuple[Order, ...]:
        """The order of the split's rows: as requested, by time, by the field shown, or by volume."""
        if self.query.order_by:
            return self.query.order_by
        by_volume = Order(name=volume(self.slicer, self.field))
        times = [name for name in self.query.split_by if name in TIME_KEY_FIELDS]
        if times and times[0] == self.query.split_by[0]:
            return (*(Order(name=name, direction="asc") for name in times), by_volume)
        return (by_volume,)

    def in_days(self, query: AudienceQuery, days: Days) -> AudienceQuery:
        """The same query for other days."""
        start, end = (day.isoformat() for day in days)
        return query.model_copy(update={"start_date": start, "end_date": end})

    def _audience_query(self, **changes: object) -> AudienceQuery:
        days = tuple((first.isoformat(), last.isoformat()) for first, last in self.days_together)
        whole = {"limit": None, "offset": 0, "precision": 1, "include_mappings": 1, "same_precision_as": days}
        return self.query.model_copy(update={**whole, **changes})


def resolve(context: RequestContext, page_state: PageState) -> Focus:
    """The focus of a state about the context's slicer."""
    query, view = page_state.query, page_state.view
    now = ask.today(context, query)
    period = named_days.days_of(query, context.slicer)
    grains = granularities(context.slicer)
    metrics = query.data_fields or usual_metrics(context.slicer)
    whole = view.zoom.days(now, context.slicer) if view.zoom else None
    compared_days, comparison = periods.comparison(
        view.compare, period, context.slicer, now, whole, view.start_name(query)
    )
    focus = Focus(
        context=context,
        query=query,
        view=view,
        period=period,
        whole=whole,
        compared_days=compared_days,
        comparison=comparison,
        grain=(view.grain or series.usual_grain(period, grains)) if grains else None,
        metrics=metrics,
        field=context.slicer.data_field(view.field or metrics[0]),
        numbers=Numbers.of(context.locale),
    )
    return replace(focus, days_together=(period, *focus.other_days)) if focus.other_days else focus


def usual_metrics(slicer: Slicer) -> tuple[str, ...]:
    """The data fields of a headline that names none: the slicer's first six, and its unique users."""
    names = {*slicer.data_names}
    unique = names & {f"unique_{source.name}" for source in slicer.audience_sources[:1]}
    plain = [field.name for field in slicer.data_fields if not field.is_optional and field.name not in unique]
    return tuple(plain[:USUAL_METRICS]) + tuple(unique)


def volume(slicer: Slicer, field: DataField) -> str:
    """The field that rows are sorted by: the field shown, or for a formula the first plain field."""
    plain = [data_field.name for data_field in slicer.data_fields if data_field.formula is None]
    return plain[0] if field.formula is not None and plain else field.name
