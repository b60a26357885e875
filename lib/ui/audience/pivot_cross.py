"""A key field across a pivot: its values are columns, each figure of a row and a value the service's own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, Order
from lib.ui.audience import split_levels
from lib.ui.audience.split_levels import Level
from lib.ui.audience.split_table import OTHERS, SplitColumn
from lib.ui.query import ask, filters, focus, precision, split_rows
from lib.ui.query.focus import Focus
from lib.ui.query.split_rows import SplitRows
from lib.ui.query.state import Path

MOST_TIMES = 31
Figures = Mapping[Path, Mapping[str, float]]


@dataclass(frozen=True)
class Cross:
    """The values of a key field that are columns, with their labels; `title` is the key field's.

    `figures` has those of the field in front by row (the empty path is the total) and value. `count` says how
    many values there are, where not all are columns; with `has_rest` the others are one more column.
    """

    key: str
    title: str
    labels: Mapping[str, str]
    figures: Figures
    count: str = ""
    has_rest: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called in a pivot: the values, and the rest."""
        return (*(f"{self.key}={code}" for code in self.labels), *([self._rest] if self.has_rest else []))

    @property
    def _rest(self) -> str:
        return f"not {self.key}"

    def columns(self, paths: Sequence[Path], front: SplitColumn) -> dict[str, SplitColumn]:
        """The columns of these rows; `front` has the rows' figures over all values."""
        columns = {
            f"{self.key}={code}": replace(
                front,
                title=label,
                total=self._figure((), code),
                rows=[self._figure(path, code) for path in paths],
                rest=None,
                about=f"{front.title} where {self.title} is {label}",
                order=None,
            )
            for code, label in self.labels.items()
        }
        if self.has_rest:
            rows = [self._remainder(path, whole) for path, whole in zip(paths, front.rows, strict=True)]
            about = f"{front.title} of all other values of {self.title}"
            rest = replace(front, title=OTHERS, rows=rows, rest=None, about=about, order=None)
            columns[self._rest] = replace(rest, total=self._remainder((), front.total))
        return columns

    def _figure(self, path: Path, code: str) -> float | None:
        return self.figures.get(path, {}).get(code)

    def _remainder(self, path: Path, whole: float | None) -> float | None:
        return None if whole is None else max(0.0, whole - sum(self.figures.get(path, {}).values()))


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
    today = ask.today(focus.context, focus.query)
    split = SplitRows(top, None, focus.field, focus.slicer, focus.period, today)
    codes = top.names[key].astype(str).tolist()
    labels = dict(zip(codes, split_rows.labels(split)[key].tolist(), strict=True))
    figures: dict[Path, dict[str, float]] = defaultdict(dict)
    figures[()] = dict(zip(codes, top.values[focus.field.name].tolist(), strict=True))
    for level in levels:
        answer = ask.estimate(focus.context, _cells_query(focus, level, key, codes))
        values = answer.values[focus.field.name].tolist()
        for (*path, code), value in zip(split_levels.paths(answer), values, strict=True):
            figures[tuple(path)][code] = value
    is_cut = top.total.records_found > len(codes)
    title = filters.field(key, focus.slicer)
    count = precision.count(top, focus.numbers) if is_cut else ""
    return Cross(
        key, title, labels, dict(figures), count, is_cut and split.is_additive and not split.segmented
    )


def note(cross: Cross) -> str:
    """Which of the values are columns, where these are not all."""
    if not cross.count:
        return ""
    return f"{cross.title}: the first {len(cross.labels)} of {cross.count} values are columns."


def _columns_query(page_focus: Focus, key: str) -> AudienceQuery:
    is_time = key in TIME_KEY_FIELDS
    volume = focus.volume(page_focus.slicer, page_focus.field)
    changes = {
        "split_by": (key,),
        "data_fields": tuple(dict.fromkeys((page_focus.field.name, volume))),
        "order_by": (Order(name=key, direction="asc") if is_time else Order(name=volume),),
        "limit": MOST_TIMES if is_time else split_levels.ACROSS,
    }
    return page_focus.rows().model_copy(update=changes)


def _cells_query(focus: Focus, level: Level, key: str, codes: Sequence[str]) -> AudienceQuery:
    keys = tuple(level.split.keys)
    within = split_levels.within((*keys, key), [*_columns_of(level.paths), codes])
    changes = {
        "split_by": (*keys, key),
        "filters": (*focus.query.filters, *within),
        "data_fields": (focus.field.name,),
        "order_by": (),
        "limit": None,
    }
    return focus.rows().model_copy(update=changes)


def _columns_of(paths: Sequence[Path]) -> list[tuple[str, ...]]:
    return [*zip(*paths, strict=True)]
