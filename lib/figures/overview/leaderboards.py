"""The leaderboards: a card per key field, with its top and chosen values, also on the days compared."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lib.figures import error_text, numbers, rows
from lib.figures.numbers import NOTHING
from lib.figures.overview import split_levels, split_table
from lib.figures.query import ask, compared_answers, filters, precision, split_rows, values
from lib.figures.query.card import FIELD_ORDER, Card
from lib.figures.query.compared_answers import Change, ComparedAnswers
from lib.figures.query.focus import Focus, volume
from lib.figures.query.periods import PREVIOUS, WEEKDAYS, YEAR
from lib.figures.query.split_rows import SplitRows
from lib.figures.query.state import ComparedColumn
from lib.figures.query.view_parts import line_colors
from lib.figures.rows import Cell, Column, Row, Table
from lib.reporting.answers import LEVEL, Audience
from lib.reporting.models import AudienceQuery
from lib.slicers.granularities import CYCLE_KEY_FIELDS, SPAN_KEY_FIELDS
from lib.slicers.models import DataField, Direction, Order
from lib.wire.errors import TrancheError
from lib.wire.filters import Filter

LIMIT, FAR_LIMIT, DAY_HOURS = 8, 1000, 24
OTHERS, ALL_OTHERS = "Others", "All others"
SHARE_RANK = 9  # the first to go where there is no room
AGAINST = {PREVIOUS: "vs prior", WEEKDAYS: "vs weeks", YEAR: "vs year"}
VAGUE = "Smaller than its uncertainty: it may not be a real rise or fall"


def tables(focus: Focus) -> list[Table]:
    """The tables. The rows of all cards are queried first, then their comparisons."""
    sources = [CardSource(focus, card) for card in focus.cards]
    ask.prefetch(focus.context, [query for source in sources for query in source.first_queries()])
    answers: dict[Card, Audience] = {}
    card_tables: dict[Card, Table] = {}
    for source in sources:
        try:
            answers[source.card] = source.rows()
        except TrancheError as error:
            card_tables[source.card] = source.failure(error_text.sentence(error))
    queries = [
        source.query_of_rows(answers[source.card])
        for source in sources
        if source.card in answers and not source.is_ranked
    ]
    ask.prefetch(
        focus.context, [focus.in_days(query, days) for query in queries for days in focus.other_days]
    )
    for source in sources:
        try:
            if source.card in answers:
                card_tables[source.card] = source.leaderboard(answers[source.card]).table()
        except TrancheError as error:
            card_tables[source.card] = source.failure(error_text.sentence(error))
    return [card_tables[card] for card in focus.cards]


@dataclass(frozen=True)
class CardSource:
    """The questions behind a card, and its rows from their answers."""

    focus: Focus
    card: Card

    @cached_property
    def query(self) -> AudienceQuery:
        """The question about the key field, without its own filters: its other values stay visible."""
        focus, card, field = self.focus, self.card, self.focus.field.name
        by_volume = volume(focus.slicer, focus.field)
        columns = {FIELD_ORDER + column.name: column.name for column in focus.columns}
        by = {"name": card.name, "value": field, **columns}.get(card.by, by_volume)
        direction: Direction = "desc" if self.is_ranked or card.by == "change" else card.direction
        changes = {
            "split_by": (card.name,),
            "filters": (*self.other_filters, *filters.searching(card.name, card.find)),
            "data_fields": tuple(dict.fromkeys((field, by_volume, *columns.values()))),
            "order_by": (Order(name=by_volume if self.is_ranked else by, direction=direction),),
            "limit": FAR_LIMIT if self.is_ranked or self.brings_others else self._most,
            "data_filters": focus.view.data_filters,
        }
        return focus.rows().model_copy(update=changes)

    @property
    def _most(self) -> int:
        """How many values are shown: of weekdays and hours of the day all."""
        return DAY_HOURS if self.card.name in CYCLE_KEY_FIELDS else LIMIT

    @cached_property
    def other_filters(self) -> tuple[Filter, ...]:
        """The page's filters but those on the card's own values."""
        return filters.other_filters(self.focus.query, self.card.name)

    @cached_property
    def is_ranked(self) -> bool:
        """Whether the desk has to sort the values, as the service can't sort by change or description."""
        is_in_words = self.card.by == "name" and bool(self.focus.slicer.key_field(self.card.name).mapping)
        return is_in_words or (self.card.by == "change" and self.focus.comparison is not None)

    @property
    def brings_others(self) -> bool:
        """Whether a search finds values without its text: those of records that have one with it too."""
        return bool(self.card.find and self.focus.slicer.key_field(self.card.name).is_segmented)

    @property
    def chosen_values(self) -> tuple[str, ...]:
        """The values that filters include or exclude, and those drawn as lines."""
        lines, name = self.focus.value_lines, self.card.name
        line_values = lines[1:] if lines[:1] == (name,) else ()
        return tuple(dict.fromkeys((*filters.values(self.focus.query, name), *line_values)))

    def first_queries(self) -> Iterator[AudienceQuery]:
        """The questions that depend on no answer."""
        focus = self.focus
        yield self.query
        if self.other_filters != focus.query.filters and focus.comparison is not None:
            whole = compared_answers.whole_query(focus, self.other_filters)
            yield from (whole, *(focus.in_days(whole, days) for days in focus.other_days))
        if self.is_ranked:
            all_values = self.query.model_copy(update={"data_filters": ()})
            yield from (focus.in_days(all_values, days) for days in focus.other_days)

    def rows(self) -> Audience:
        """The rows on the question's days: the top ones, and those chosen."""
        answer = ask.estimate(self.focus.context, self.query)
        if self.is_ranked:
            return answer
        answer = self._containing(answer, self._most)
        names = set(answer.names[self.card.name])
        missing = tuple(value for value in self.chosen_values if value not in names)
        if not missing:
            return answer
        exact = Filter(name=self.card.name, value=missing, match="equals")
        changes = {"filters": (*self.other_filters, exact), "limit": None, "data_filters": ()}
        more = ask.estimate(self.focus.context, self.query.model_copy(update=changes))
        return split_levels.with_rows(answer, more)

    def query_of_rows(self, answer: Audience) -> AudienceQuery:
        """The question about the rows shown, on other days."""
        only = Filter(name=self.card.name, value=tuple(answer.names[self.card.name]), match="equals")
        if self.card.name in SPAN_KEY_FIELDS:  # days of before have other names
            row_filters = self.other_filters
        else:
            row_filters = (*self.other_filters, only) if len(answer) else self.query.filters
        changes = {
            "filters": row_filters, "limit": None, "data_fields": (self.focus.field.name,), "order_by": (),
            "data_filters": (),
        }  # fmt: skip
        return self.query.model_copy(update=changes)

    def compare(self, query: AudienceQuery, answer: Audience) -> ComparedAnswers | None:
        """Both sides of a question; days, weeks and months are paired by their place."""
        both = compared_answers.fetch(self.focus, query, answer)
        return split_levels.pair_times(self.focus, both) if self.card.name in SPAN_KEY_FIELDS else both

    def leaderboard(self, answer: Audience) -> "Leaderboard":
        """The leaderboard of these rows, with the same rows on all days compared."""
        if not self.is_ranked:
            both, count = self.compare(self.query_of_rows(answer), answer), answer.total.records_found
            split, whole = self._split(answer, both), self._whole(answer)
            leaderboard = Leaderboard(self.focus, self.card, split, whole, count)
        else:  # those values that come first once all are sorted here
            both = self.compare(self.query.model_copy(update={"data_filters": ()}), answer)
            if both is not None:
                answer, both = _add_old_rows(self.focus, answer, both)
            answer = self._containing(answer, FAR_LIMIT)
            count, whole = answer.total.records_found, self._whole(answer)
            audience = split_levels.take(answer, self._visible(self._split(answer, both)))
            split, is_cut = self._split(audience, both), count > FAR_LIMIT
            leaderboard = Leaderboard(self.focus, self.card, split, whole, max(count, len(answer)), is_cut)
        for other in self.focus.comparisons[1:]:
            source, now = CardSource(other, self.card), leaderboard.split.answer
            both = source.compare(source.query_of_rows(now), now)
            leaderboard = replace(
                leaderboard, split=replace(leaderboard.split, also=source._split(now, both))
            )
        return leaderboard

    def failure(self, why: str) -> Table:
        """The card in place of a leaderboard that could not be loaded."""
        title = filters.field(self.card.name, self.focus.slicer)
        header = rows.CardHeader(title, find=self.card.find, message=why)
        return Table(self.card.name, title, [], [], card=header)

    def _containing(self, answer: Audience, most: int) -> Audience:
        """The answer's first values that contain the search text."""
        if not self.brings_others:
            return answer
        names = values.matching(self.focus.context, answer, self.card.name, self.card.find)
        indices = [index for index, name in enumerate(answer.names[self.card.name]) if name in names]
        total = replace(answer.total, records_found=len(indices))
        return replace(split_levels.take(answer, indices[:most]), total=total)

    def _whole(self, answer: Audience) -> float | None:
        """The total of all values, ignoring the search text."""
        field = self.focus.field.name
        if self.card.find:
            changes = {"filters": self.other_filters, "data_fields": (field,), "split_by": (), "order_by": ()}
            query = self.focus.rows().model_copy(update={**changes, "limit": None})
            answer = ask.estimate(self.focus.context, query)
        return answer.total.values.get(field)

    def _split(self, answer: Audience, both: ComparedAnswers | None) -> SplitRows:
        has_rest = both is not None and not self.card.find and self.focus.field.name in answer.percents
        whole = compared_answers.of_whole(self.focus, self.other_filters) if has_rest else None
        return SplitRows.of(self.focus, answer, both, whole, bool(self.focus.view.data_filters))

    def _visible(self, split: SplitRows) -> list[int]:
        """The places of the rows shown: the top ones, then other chosen ones."""
        indices, is_falling = range(len(split.answer)), self.card.direction == "desc"
        if self.card.by == "name":
            labels = [label.casefold() for label in split_rows.row_labels(split)]
            order = sorted(indices, key=labels.__getitem__, reverse=is_falling)
        else:
            is_amount, sign = self.focus.view.changes == "amount", -1 if is_falling else 1
            changes = split_rows.changes(split)
            sizes = [change.amount if is_amount else change.ratio for change in changes]
            # unknown changes come last
            order = sorted(indices, key=lambda i: (sizes[i] is None, sign * (sizes[i] or 0.0), i))
        names, choices = split.answer.names[self.card.name].tolist(), {*self.chosen_values}
        return [*order[:LIMIT], *(index for index in order[LIMIT:] if names[index] in choices)]


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard: its rows, the total for shares, and the number of values.

    Where `is_cut`, the order is that of the values with the largest volume only.
    """

    focus: Focus
    card: Card
    split: SplitRows
    whole: float | None
    count: int
    is_cut: bool = False

    def table(self) -> Table:
        """The card: name with its share as a bar, value, share and change."""
        focus, card = self.focus, self.card
        title = filters.field(card.name, focus.slicer)
        why = "No data for these filters and days."  # there are no rows, where there are none
        if card.find:
            why = f"No value contains “{card.find}”."
        elif self.split.is_chosen:
            why = "No value passes the metric filters."
        return Table(
            id=card.name,
            label=f"{title} by {numbers.title(focus.field)}",
            columns=self._columns(),
            rows=[*self._rows(), *self._rest()],
            verb="Keep",
            card=rows.CardHeader(title, self._about(), card.find, "" if len(self.split.answer) else why),
            has_lines=focus.grain is not None,
            has_records=focus.slicer.knows("records"),
        )

    def _columns(self) -> list[Column]:
        focus, field, by = self.focus, self.focus.field, self.card.by
        is_by_value = by == "value" or (by == "volume" and volume(focus.slicer, field) == field.name)
        title = numbers.title(field, with_unit=True)
        columns = [
            Column("name", "Name", True, "asc", self._direction("name")),
            Column("value", title, False, "desc", self.card.direction if is_by_value else None),
        ]
        if self.split.has_share:
            about = "Of all values, whatever this card's filter"
            columns.append(Column("share", "Share, %", about=about, rank=SHARE_RANK))
        if self._has_ranges:
            about = f"{LEVEL} confidence interval: how far off the figure may be"
            columns.append(Column("range", split_table.RANGE, about=about, rank=1))
        columns += self._change_columns()
        if focus.comparison is not None:
            on_days = f"{numbers.title(field)}, {numbers.days(*focus.comparison.before)}"
            for name in self._compared_columns:
                columns.append(Column(name, numbers.compared_title(name, field), about=on_days, rank=3))
        for rank, column in enumerate(focus.columns, 4):
            order, title = FIELD_ORDER + column.name, numbers.title(column, with_unit=True)
            columns.append(Column(order, title, False, "desc", self._direction(order), rank=rank))
        return columns

    def _change_columns(self) -> Iterator[Column]:
        """The column of the change, and one more against the second days compared."""
        focus, order = self.focus, self._direction("change")
        title_of = numbers.change_title if focus.view.changes == "percent" else numbers.amount_title
        for side, split in zip(focus.comparisons, self.split.comparisons, strict=True):
            if side.comparison is None:
                continue
            title = title_of(focus.field)
            if len(focus.comparisons) > 1:
                against = AGAINST.get(side.view.compare[0], "vs own")
                title = re.sub("change", against, title, flags=re.IGNORECASE)
            coverage = split_rows.coverage(split)
            about = f"Against {numbers.days(*side.comparison.before)}{coverage}"
            title += "*" if coverage else ""  # the days stand in the head where there is room
            if side is focus:
                is_percent = focus.view.changes == "percent"
                yield Column("change", title, False, "desc", order, about, rank=1, is_change=is_percent)
            else:
                yield Column("also", title, about=about, rank=2)

    def _direction(self, by: str) -> Direction | None:
        return self.card.direction if self.card.by == by else None

    @property
    def _compared_columns(self) -> list[ComparedColumn]:
        """The columns of the days compared; differences only where the change's column has none."""
        is_amount = self.focus.view.changes == "amount"
        return [name for name in self.focus.view.compared_columns if not (name == "amount" and is_amount)]

    @property
    def _compared_rows(self) -> list[SplitRows]:
        """The rows per comparison that has a column."""
        sides = zip(self.focus.comparisons, self.split.comparisons, strict=True)
        return [split for side, split in sides if side.comparison is not None]

    def _rows(self) -> Iterator[Row]:
        focus, split, name = self.focus, self.split, self.card.name
        include, exclude = (filters.values(focus.query, name, kind) for kind in ("equals", "not equals"))
        changes, colors = map(split_rows.changes, self._compared_rows), line_colors(focus.value_lines)
        figures = [split_rows.amounts(split.answer, field.name) for field in (focus.field, *focus.columns)]
        columns = (
            split.answer.names[name].tolist(),
            split_rows.row_labels(split),
            split_rows.bars(split, self.whole),
            zip(*figures, strict=True),
            self._half_ranges,
            zip(*changes, strict=True) if self._compared_rows else [()] * len(split.answer),
        )
        for code, label, bar, row_figures, half_range, row_changes in zip(*columns, strict=True):
            name_cell = Cell(label, bar=bar, about=filters.both(code, label))
            yield Row(
                [name_cell, *self._cells(row_figures, row_changes, half_range)],
                ((name, code),),
                included=(code in include,),
                excluded=(code in exclude,),
                color=colors.get((name, code)),
            )

    def _rest(self) -> Iterator[Row]:
        """Others: the total less the values shown, for fields whose values add up."""
        rest = None if self.card.find else split_rows.others(self.split)
        if rest is None:
            return
        answer = self.split.answer
        label = precision.others(answer, self.focus.numbers, OTHERS, self.count - len(answer))
        columns = [split_rows.others(replace(self.split, field=column)) for column in self.focus.columns]
        changes = [split_rows.others_change(split) for split in self._compared_rows]
        cells = self._cells([rest, *columns], changes)
        yield Row([Cell(ALL_OTHERS if self.split.is_chosen else label), *cells], kind="rest")

    @cached_property
    def _half_ranges(self) -> list[float]:
        """How far off each row's figure may be, in percent."""
        return list(split_rows.half_ranges(self.split))

    @property
    def _has_ranges(self) -> bool:
        return any(half_range >= precision.LEAST_RANGE for half_range in self._half_ranges)

    def _cells(
        self, figures: Sequence[float | None], changes: Sequence[Change], half_range: float | None = None
    ) -> Iterator[Cell]:
        """The cells after a row's name: value, share, range, changes, figures compared, and more columns."""
        focus, value = self.focus, figures[0]
        yield self._figure(focus.field, value)
        if self.split.has_share:
            share = 100 * value / self.whole if self.whole and value is not None else None
            yield Cell(focus.numbers.number(share, 1))
        if self._has_ranges:
            yield Cell(focus.numbers.number(half_range, 1))
        yield from map(self._change, changes)
        for name in self._compared_columns if changes and focus.comparison is not None else ():
            if name == "previous":
                yield self._figure(focus.field, changes[0].previous)
            else:
                amount = changes[0].amount
                text = NOTHING if amount is None else self._amount_text(amount)
                yield Cell(text, is_faint=not changes[0].is_certain)
        for column, figure in zip(focus.columns, figures[1:], strict=True):
            yield self._figure(column, figure)

    def _figure(self, field: DataField, value: float | None) -> Cell:
        if value is None:
            return Cell(NOTHING)
        return Cell(self.focus.numbers.brief(value, field), about=self.focus.numbers.full(value, field))

    def _change(self, change: Change) -> Cell:
        if change.amount is None:
            return Cell(NOTHING, about=change.coverage)
        percent, amount = self.focus.numbers.change(change.ratio), self._amount_text(change.amount)
        before = f"Before: {self.focus.numbers.full(change.previous, self.focus.field)}"
        about = " · ".join([before, amount, percent, *([] if change.is_certain else [VAGUE])])
        text = percent.removesuffix(" %") if self.focus.view.changes == "percent" else amount
        return Cell(text, is_faint=not change.is_certain, about=about)

    def _amount_text(self, amount: float) -> str:
        return numbers.plus(amount, self.focus.numbers.brief(amount, self.focus.field))

    def _about(self) -> str:
        """The number of values and the precision of their figures, and a note if not all are sorted."""
        answer, writing = self.split.answer, self.focus.numbers
        text = precision.sentence(answer, self.focus.field.name, writing)
        count = precision.count(answer, writing, self.count)
        parts = [f"top {writing.number(FAR_LIMIT)} of {count}" if self.is_cut else count]
        withheld = answer.total.withheld(self.focus.field.name)
        parts += [text] if text != precision.EXACT else []
        parts += [f"*{coverage.strip(' ()')}"] if (coverage := split_rows.coverage(self.split)) else []
        return " · ".join(parts if withheld.endswith(self.card.name) or not withheld else [*parts, withheld])


def _add_old_rows(focus: Focus, answer: Audience, both: ComparedAnswers) -> tuple[Audience, ComparedAnswers]:
    """The rows, with values added that occur on the earlier days only: their volume dropped to zero.

    Only for fields that add up, where both answers have every value, each exactly.
    """
    is_whole = not focus.view.data_filters and all(
        len(side) >= side.total.records_found and not side.is_sampled for side in (answer, both.before)
    )
    if focus.field.name not in answer.percents or not is_whole or both.now is not answer:
        return answer, both
    row_keys = set(map(tuple, answer.names.to_numpy()))
    indices = [index for index, row in enumerate(both.before.names.to_numpy()) if tuple(row) not in row_keys]
    old_rows = split_levels.without_volume(split_levels.take(both.before, indices))
    now = split_levels.with_rows(answer, old_rows)
    return now, replace(both, now=now)
