"""Sums into an Audience: data fields, totals, percents, order, ranges (docs/computation.md)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.compute as pc

from lib.engines import Aggregate, Sums
from lib.reporting import intervals
from lib.reporting.answers import Audience, Precision, Total, number_frame, text_frame
from lib.reporting.intervals import Ranges
from lib.reporting.models import MAX_SPLIT_ROWS, AudienceQuery, ExportQuery
from lib.slicers.digits import settle
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.measures import Measure, Numbers, is_additive
from lib.slicers.models import Order
from lib.slicers.warehouse import StoredSlicer
from lib.wire.errors import BadRequest
from lib.wire.filters import COMPARE

Places = npt.NDArray[np.intp]
Query = AudienceQuery | ExportQuery
Measures = Mapping[str, Measure]
SIDES = ("low", "high", "n_eff")


def required_measures(query: Query, measures: Measures) -> list[Measure]:
    """The data fields to compute: those of the answer, and those that order or filter the rows."""
    return [*_fields(query, measures), *_ranking(query, measures, query.order_by)]


def atoms(measures: Iterable[Measure]) -> frozenset[str]:
    """The atoms that they are computed from."""
    return frozenset[str]().union(*(measure.atoms for measure in measures))


def compose(sums: Sums, query: Query, slicer: StoredSlicer, measures: Measures) -> Audience:
    """The answer to a resolved query (requests.py); `measures` are all that it may name.

    Without a split there is one row, the total, with an empty name. BadRequest for too many rows.
    """
    if not sums.keys:
        sums = replace(sums, rows=sums.total)
    fields = _fields(query, measures)
    order = query.order_by or _usual_order(query)
    ranking = atoms(_ranking(query, measures, order))
    # what filters and orders is what is shown: of a page of many rows others are settled for it alone
    sums = replace(sums, total=_settle(sums.total), rows=_settle(sums.rows, ranking))
    passes = np.ones(len(sums.rows.records), dtype=bool)
    for data_filter in query.data_filters:
        figures = _values(measures[data_filter.name], sums.rows)
        passes &= COMPARE[data_filter.match](figures, data_filter.value) & ~np.isnan(figures)
    places = np.flatnonzero(passes)
    if len(query.split_by) > 1 and len(places) > MAX_SPLIT_ROWS:
        raise BadRequest(f"This split gives {len(places):,} rows, more than {MAX_SPLIT_ROWS:,}")
    by = [] if _is_order_of_names(order, query, slicer) else order
    sort_keys = [key[places] for part in by for key in _sort_keys(sums, part, slicer, measures)]
    most = None if query.limit is None else query.offset + query.limit
    page = places[first_rows(sort_keys, len(places), most)][query.offset :]
    rows = _settle(_take(sums.rows, page, atoms(fields)), sums.rows.estimate.keys() - ranking)
    values = {measure.name: _values(measure, rows) for measure in fields}
    totals = {measure.name: _values(measure, sums.total) for measure in fields}
    sampled = sums.sample is not None or any(share < 1 for share in rows.share.values())
    ranges = _ranges(fields, values, rows, sums) if sampled or query.precision else {}
    widest = _widest(fields, ranges, values, rows).tolist() if sampled else ()
    unread = tuple(measure.name for measure in fields if measure.atoms & sums.unread)
    precision = Precision(sums.records_read, sums.records_in_range, unread, not_finite=dict(sums.not_finite))
    keys = {}
    for name, column in sums.keys.items():
        codes = pc.take(column, page, boundscheck=False)
        # as codes, unless the page has less texts than the dictionary
        keys[name] = codes if len(column.dictionary) <= len(page) else codes.dictionary_decode()
    return Audience(
        keys=keys,
        values=_frame(values, len(page)),
        percents=_percents(fields, values, totals, len(page)),
        descriptions=_descriptions(text_frame(keys, len(page)), slicer) if query.include_mappings else None,
        currencies=_currencies(fields, values, rows),
        confidence_range=pd.Series([f"{side:.2f}" for side in widest], dtype="str") if sampled else None,
        total=_total(sums, fields, totals, len(places), sampled, bool(query.precision)),
        precision=precision if query.precision else None,
        **{
            side: _frame({name: getattr(bounds, side) for name, bounds in ranges.items()}, len(page))
            for side in (SIDES if query.precision else ())
        },
    )


def _fields(query: Query, measures: Measures) -> list[Measure]:
    return [measures[name] for name in query.data_fields or ()]


def _ranking(query: Query, measures: Measures, order: Sequence[Order]) -> list[Measure]:
    """The data fields that decide which rows there are in this order, and where."""
    names = [*(part.name for part in order), *(data_filter.name for data_filter in query.data_filters)]
    return [measures[name] for name in names if name in measures]


def _settle(aggregate: Aggregate, atoms: Collection[str] | None = None) -> Aggregate:
    """The same with settled estimates of these atoms; None: of all. Exact sums are settled by the engine."""
    if aggregate.exact:
        return aggregate
    atoms = aggregate.estimate.keys() if atoms is None else atoms
    return replace(
        aggregate,
        estimate={
            atom: settle(sums) if is_additive(atom) and atom in atoms else sums
            for atom, sums in aggregate.estimate.items()
        },
        certain={atom: settle(sums) if atom in atoms else sums for atom, sums in aggregate.certain.items()},
    )


def _values(measure: Measure, aggregate: Aggregate) -> Numbers:
    return measure.values(aggregate.estimate, len(aggregate.records))


def _currencies(
    measures: Sequence[Measure], values: Mapping[str, Numbers], aggregate: Aggregate
) -> pd.DataFrame | None:
    """Of money, its currency in each row, or why it has no value."""
    texts = {
        measure.name: measure.currency_texts(values[measure.name], aggregate.estimate)
        for measure in measures
        if measure.currencies
    }
    return pd.DataFrame(texts, pd.RangeIndex(len(aggregate.records)), dtype="str") if texts else None


def first_rows(keys: Sequence[Numbers], count: int, most: int | None) -> Places:
    """The first `most` of `count` rows (None: all) in the order of these keys; ties stay as they are, which
    is by name. Missing values come last."""
    if not keys:
        return np.arange(count)[:most]
    rows = np.arange(count)
    if most is not None and most < count:
        last = np.partition(keys[0], most)[most]
        rows = rows if np.isnan(last) else np.flatnonzero(keys[0] <= last)
        keys = [key[rows] for key in keys]
    return rows[ascending(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])][:most]


def ascending(numbers: Numbers) -> Places:
    """The places of numbers in ascending order; of equal ones in their own. NaN is last.

    The bits of floats are in the order of the numbers. Their last bits give way to the place, so that whole
    numbers are sorted, in an eighth of the time; what only those bits tell apart is sorted as usual.
    """
    bits = (np.where(np.isnan(numbers), np.nan, numbers) + 0.0).view(np.int64)  # one NaN, and no -0
    bits ^= (bits >> 63) & np.iinfo(np.int64).max  # negative ones descend
    mask = (1 << len(bits).bit_length()) - 1
    places: Places = np.sort((bits & ~mask) | np.arange(len(bits))) & mask
    result = numbers[places]
    return np.argsort(numbers, kind="stable") if (result[1:] < result[:-1]).any() else places


def _usual_order(query: Query) -> Sequence[Order]:
    """The default order: ascending by time, otherwise descending by value."""
    if query.split_by and query.split_by[0] in TIME_KEY_FIELDS:
        return [Order(name=name, direction="asc") for name in query.split_by]
    return [Order(name=name) for name in (query.data_fields or ())[:1]]


def _is_order_of_names(order: Sequence[Order], query: Query, slicer: StoredSlicer) -> bool:
    """Whether it is the order that groups come in: by the texts of the split's first key fields."""
    fields = (slicer.info().key_field(name) for name in query.split_by[: len(order)])
    return all(
        part.name == name and part.direction == "asc" and field.type != "int"
        for part, name, field in zip(order, query.split_by, fields, strict=False)
    ) and len(order) <= len(query.split_by)


def _sort_keys(sums: Sums, order: Order, slicer: StoredSlicer, measures: Measures) -> Iterator[Numbers]:
    """The keys of a part of the order. Amounts in two currencies have none: that of most records leads."""
    if order.name in sums.keys:
        codes, texts = sums.keys[order.name].indices.to_numpy(), sums.keys[order.name].dictionary
        is_number = slicer.info().key_field(order.name).type == "int"
        rank = pd.to_numeric(texts.to_pandas(), errors="coerce").to_numpy() if is_number else None
        key = codes.astype(np.float64) if rank is None else rank[codes]
    else:
        key = _values(measures[order.name], sums.rows)
        currencies = measures[order.name].currency_texts(key, sums.rows.estimate)
        if currencies is not None:
            own = pd.Series(currencies).where(~np.isnan(key))
            records = pd.Series(sums.rows.records).groupby(own).sum().sort_index()
            ranks = records.rank(method="first", ascending=False)
            yield np.asarray(own.map(ranks), dtype=np.float64)
    yield key if order.direction == "asc" else -key


def _take(aggregate: Aggregate, page: Places, atoms: Collection[str]) -> Aggregate:
    return replace(
        aggregate,
        estimate={atom: aggregate.estimate[atom][page] for atom in atoms},
        records=aggregate.records[page],
        certain={atom: values[page] for atom, values in aggregate.certain.items()},
        moments={pair: values[page] for pair, values in aggregate.moments.items()},
    )


def _block(columns: Iterable[Numbers], length: int) -> Numbers:
    rows = list(columns)
    return np.array(rows, dtype=np.float64).reshape(len(rows), length)


def _frame(columns: Mapping[str, Numbers], length: int) -> pd.DataFrame:
    return number_frame(_block(columns.values(), length).T, columns)


def _percents(
    measures: Sequence[Measure], values: Mapping[str, Numbers], totals: Mapping[str, Numbers], length: int
) -> pd.DataFrame:
    """The share of the total, for additive data fields; NaN where the total is zero."""
    names = [measure.name for measure in measures if measure.additive_atom]
    block = _block((values[name] for name in names), length)
    whole = _block((totals[name] for name in names), 1)
    block *= 100
    block /= np.where(whole == 0, np.nan, whole)
    return number_frame(block.T, names)


def _descriptions(names: pd.DataFrame, slicer: StoredSlicer) -> pd.DataFrame:
    """The descriptions of mapped key fields; values missing in the mapping describe themselves."""
    descriptions = {}
    for name in map(str, names):
        mapping = slicer.descriptions(name)
        descriptions[name] = [mapping.get(code, code) for code in names[name]]
    return pd.DataFrame(descriptions, index=names.index, dtype="str")


def _ranges(
    measures: Sequence[Measure], values: Mapping[str, Numbers], aggregate: Aggregate, sums: Sums
) -> dict[str, Ranges]:
    ranges = {m.name: intervals.ranges(m, values[m.name], aggregate, sums.sample) for m in measures}
    for name in [measure.name for measure in measures if measure.currencies]:
        is_withheld, sides = np.isnan(values[name]), ranges[name]
        low, high = (np.where(is_withheld, np.nan, side) for side in (sides.low, sides.high))
        ranges[name] = replace(sides, low=low, high=high)
    return ranges


def _widest(
    measures: Sequence[Measure],
    ranges: Mapping[str, Ranges],
    values: Mapping[str, Numbers],
    aggregate: Aggregate,
) -> Numbers:
    """The widest relative range of each row among its estimated additive data fields.

    Where none of these is an estimate, it is the widest of the other fields.
    """
    estimates = [m for m in measures if not intervals.is_exact(m, aggregate)]
    names = [m.name for m in estimates if m.additive_atom] or [m.name for m in estimates or measures]
    sides = [np.nan_to_num(intervals.relative(ranges[name], values[name])) for name in names]
    return np.max(sides, axis=0) if sides else np.zeros(0)


def _total(
    sums: Sums,
    measures: Sequence[Measure],
    totals: Mapping[str, Numbers],
    count: int,
    sampled: bool,
    precision: bool,
) -> Total:
    ranges = _ranges(measures, totals, sums.total, sums) if sampled or precision else {}
    wide = _widest(measures, ranges, totals, sums.total) if sampled else None
    currencies = _currencies(measures, totals, sums.total)
    return Total(
        values={name: number(values[0]) for name, values in totals.items()},
        records_found=count,
        dates=tuple(day.isoformat() for day in sums.dates),
        confidence_range=f"{wide[0]:.2f}" if wide is not None and len(wide) else None,
        missing={
            measure.name: number(sums.missing[measure.additive_atom])
            for measure in measures
            if measure.additive_atom in sums.missing and sums.keys and len(sums.rows.records)
            if not (measure.currencies and np.isnan(totals[measure.name][0]))
        },
        currencies={} if currencies is None else {str(n): t for n, t in currencies.iloc[0].items() if t},
        **{
            side: {name: number(getattr(bounds, side)[0]) for name, bounds in ranges.items()}
            for side in (SIDES if precision else ())
        },
    )


def number(value: float) -> float | None:
    """A float, or None for what is not a finite number."""
    return float(value) if np.isfinite(value) else None
