"""A key field across a pivot: its values are columns, each figure of a row and a value the service's own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lib.figures.numbers import Numbers
from lib.figures.overview import split_levels
from lib.figures.overview.split_levels import Level
from lib.figures.overview.split_table import OTHERS, SplitColumn, compared_column, compared_name
from lib.figures.query import ask, compared_answers, filters, precision, split_rows
from lib.figures.query.compared_answers import Change, ComparedAnswers
from lib.figures.query.focus import Focus, volume
from lib.figures.query.split_rows import SplitRows
from lib.figures.query.state import ComparedColumn
from lib.figures.query.view_parts import Path
from lib.reporting.answers import Audience, remainder
from lib.reporting.models import AudienceQuery
from lib.slicers.granularities import SPAN_KEY_FIELDS, TIME_KEY_FIELDS
from lib.slicers.models import DataField, Order

MOST_TIMES = 31
Figures = Mapping[Path, Mapping[str, float]]


@dataclass(frozen=True)
class Cross:
    """The values of a key field that are columns, with their labels; `title` is the key field's.

    `figures` has those of the field in front by row (the empty path is the total) and value. `count` says how
    many values there are, where not all are columns; with `has_rest` the others are one more column.
    `pairs` are the cells on the days compared: of the total, then of each level.
    """

    key: str
    title: str
    labels: Mapping[str, str]
    figures: Figures
    field: DataField
    count: str = ""
    has_rest: bool = False
    pairs: Sequence[ComparedAnswers | None] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called in a pivot: the values, and the rest."""
        return (*self.codes, *([self._rest] if self.has_rest else []))

    @property
    def codes(self) -> dict[str, str]:
        """The value of each column but the rest, by what the column is called."""
        return {f"{self.key}={code}": code for code in self.labels}

    @property
    def _rest(self) -> str:
        return f"not {self.key}"

    def columns(
        self, level: Level, front: SplitColumn, column_kinds: Sequence[ComparedColumn], numbers: Numbers
    ) -> dict[str, SplitColumn]:
        """The columns of a level's rows, each with those of `column_kinds`; `front` is over all values."""
        paths = level.paths
        columns = {
            name: replace(
                front,
                title=self.labels[code],
                total=self._figure((), code),
                rows=[self._figure(path, code) for path in paths],
                rest=None,
                about=f"{front.title} where {self.title} is {self.labels[code]}",
                order=None,
            )
            for name, code in self.codes.items()
        }
        if self.has_rest:
            wholes = {(): front.total, **dict(zip(paths, front.rows, strict=True))}
            total, *rows = [
                remainder(whole, self.figures.get(path, {}).values(), level.split.answer.is_sampled)
                for path, whole in wholes.items()
            ]
            about = f"{front.title} of all other values of {self.title}"
            rest = replace(front, title=OTHERS, rows=rows, rest=None, about=about, order=None)
            columns[self._rest] = replace(rest, total=total)
        for name, column in list(columns.items()) if column_kinds and any(self.pairs) else ():
            changes = [self._change(level, path, self.codes.get(name)) for path in ((), *paths)]
            for kind in column_kinds:
                beside = compared_column(kind, self.field, [*changes, Change(None)], numbers, column.title)
                beside_name = compared_name(name, kind)
                columns[beside_name] = replace(beside, name=beside_name)
        return columns

    def rest_below(self, above: Path, below: Sequence[Path], code: str) -> Change:
        """The change of a value's column in the rows below a row that are not shown."""
        upper, lower = self.pairs[len(above) : len(above) + 2] if any(self.pairs) else (None, None)
        sides = None if upper is None else upper.figures(self.field).get((*above, code))
        if lower is None or sides is None:
            return Change(None)
        return lower.rest(self.field, sides, [(*path, code) for path in below])

    def _change(self, level: Level, path: Path, code: str | None) -> Change:
        """The change of a row's cell by its value; None: of the values that are not columns."""
        pair = self.pairs[len(path)]
        if pair is None:
            return Change(None)
        if code is not None:
            return pair.rows(self.field).get((*path, code), Change(None))
        whole = level.split.whole
        if path:
            sides = None if level.split.pair is None else level.split.pair.figures(self.field).get(path)
        elif whole is not None:
            sides = whole.now.total_of(self.field.name), whole.before.total_of(self.field.name)
        else:
            sides = None
        visible_keys = [(*path, code) for code in self.labels]
        return Change(None) if sides is None else pair.rest(self.field, sides, visible_keys)

    def _figure(self, path: Path, code: str) -> float | None:
        return self.figures.get(path, {}).get(code)


def row_focus(focus: Focus) -> Focus:
    """The same question by the key fields alone that are rows of its pivot."""
    keys = focus.view.pivot_keys(focus.query.split_by)
    across = {*focus.query.split_by} - {*keys}
    orders = tuple(by for by in focus.query.order_by if by.name not in across)
    return replace(focus, query=focus.query.model_copy(update={"split_by": keys, "order_by": orders}))


def fetch(focus: Focus, levels: Sequence[Level]) -> Cross | None:
    """The figures by the values of the key field across, from a question per level; None without one."""
    key = focus.view.cross
    if key not in focus.query.split_by or len(focus.query.split_by) < 2:
        return None
    top = ask.estimate(focus.context, _columns_query(focus, key))
    split = SplitRows.of(focus, top)
    codes = top.names[key].astype(str).tolist()
    labels = dict(zip(codes, split_rows.labels(split)[key].tolist(), strict=True))
    figures: dict[Path, dict[str, float]] = defaultdict(dict)
    figures[()] = dict(zip(codes, split_rows.amounts(top, focus.field.name), strict=True))
    pairs = [_pair(focus, _columns_query(focus, key), top, {key: codes})]
    for level in levels:
        keys = tuple(level.split.keys)
        within = split_levels.within((*keys, key), [*zip(*level.paths, strict=True), codes])
        changes = {
            "split_by": (*keys, key),
            "filters": (*focus.query.filters, *within),
            "data_fields": (focus.field.name,),
            "order_by": (),
            "limit": None,
        }
        query = focus.rows().model_copy(update=changes)
        answer = ask.estimate(focus.context, query)
        pairs.append(_pair(focus, query, answer, {}))
        values = split_rows.amounts(answer, focus.field.name)
        for (*path, code), value in zip(split_levels.paths(answer), values, strict=True):
            figures[tuple(path)][code] = value
    is_cut = top.total.records_found > len(codes)
    title = filters.field(key, focus.slicer)
    count = precision.count(top, focus.numbers) if is_cut else ""
    has_rest = is_cut and split.is_additive and not split.segmented
    return Cross(key, title, labels, dict(figures), focus.field, count, has_rest, pairs)


def _pair(
    focus: Focus, query: AudienceQuery, answer: Audience, only: Mapping[str, Sequence[str]]
) -> ComparedAnswers | None:
    """These cells on the days compared, where columns say them; of these values `only`."""
    if not focus.view.compared_columns or not len(answer):
        return None
    # Those on times have no rows before.
    within = [
        filter_
        for filter_ in (*query.filters, *split_levels.within([*only], [*only.values()]))
        if filter_ in focus.query.filters or filter_.name not in SPAN_KEY_FIELDS
    ]
    narrow = {"filters": tuple(within), "limit": None, "order_by": ()}
    both = compared_answers.fetch(focus, query.model_copy(update=narrow), answer)
    return split_levels.pair_times(focus, both)


def note(cross: Cross) -> str:
    """Which of the values are columns, where these are not all."""
    if not cross.count:
        return ""
    return f"{cross.title}: the first {len(cross.labels)} of {cross.count} values are columns."


def _columns_query(focus: Focus, key: str) -> AudienceQuery:
    is_time, by = key in TIME_KEY_FIELDS, volume(focus.slicer, focus.field)
    changes = {
        "split_by": (key,),
        "data_fields": tuple(dict.fromkeys((focus.field.name, by))),
        "order_by": (Order(name=key, direction="asc") if is_time else Order(name=by),),
        "limit": MOST_TIMES if is_time else split_levels.ACROSS,
    }
    return focus.rows().model_copy(update=changes)
