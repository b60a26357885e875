"""What the client does where a service knows the specification and nothing more.

Order, page and choice of data fields are made here from the whole answer; totals stay those of the whole.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.reporting.answers import Audience, Values
from lib.reporting.models import EXTENSIONS, AudienceQuery, Order, Slicer

Places = npt.NDArray[np.intp]
Keys = npt.NDArray[np.float64]
PAGE = frozenset({"order_by", "limit", "offset"})


def known(query: AudienceQuery, extensions: Collection[str]) -> dict[str, Any]:
    """The request's fields for a service with these extensions; what is ordered here is cut here too."""
    left_out = set(EXTENSIONS) - set(extensions)
    if "order_by" in left_out:
        left_out |= PAGE
    return query.model_dump(mode="json", exclude_defaults=True, exclude=left_out)


def complete(audience: Audience, query: AudienceQuery, slicer: Slicer) -> Audience:
    """The answer with everything that was asked for and not sent; `slicer` is the service's info."""
    left_out = set(EXTENSIONS) - set(slicer.extensions)
    if "order_by" in left_out:
        audience = _rows(audience, _ordered(audience, query, slicer)[query.offset :][: query.limit])
    elif left_out & PAGE:
        audience = _rows(audience, np.arange(len(audience))[query.offset :][: query.limit])
    if "data_fields" in left_out and query.data_fields:
        return _fields(audience, query.data_fields)
    if "audience_key" in left_out and query.audience_key:
        others = {f"unique_{source.name}" for source in slicer.audience_sources} - {
            f"unique_{query.audience_key}"
        }
        return _fields(audience, [name for name in audience.total.values if name not in others])
    return audience


def _ordered(audience: Audience, query: AudienceQuery, slicer: Slicer) -> Places:
    """The rows in the asked order; what ties is ordered by name, and missing numbers come last."""
    keys = [
        _sort_key(audience, order, slicer)
        for order in query.order_by
        if order.name in audience.names or order.name in audience.values
    ]
    if not keys or not len(audience.names.columns):
        return np.arange(len(audience))
    names = [_rank(audience.names[name]) for name in audience.names]
    return np.lexsort([*reversed(names), *reversed(keys)])


def _sort_key(audience: Audience, order: Order, slicer: Slicer) -> Keys:
    if order.name in audience.values:
        key = audience.values[order.name].to_numpy()
    elif order.name in {field.name for field in slicer.key_fields if field.type == "int"}:
        key = pd.to_numeric(audience.names[order.name], errors="coerce").to_numpy(np.float64)
    else:
        key = _rank(audience.names[order.name])
    return key if order.direction == "asc" else -key


def _rank(texts: pd.Series) -> Keys:
    return pd.factorize(texts, sort=True)[0].astype(np.float64)


def _rows(audience: Audience, places: Places) -> Audience:
    frames = ("names", "values", "percents", "descriptions", "confidence_range", "low", "high", "n_eff")
    parts = {name: getattr(audience, name) for name in frames}
    taken = {
        name: part.iloc[places].reset_index(drop=True) for name, part in parts.items() if part is not None
    }
    return replace(audience, **taken)


def _fields(audience: Audience, names: Iterable[str]) -> Audience:
    there = [name for name in names if name in audience.values]
    values: Values = {name: audience.total.values[name] for name in there}
    return replace(
        audience,
        values=audience.values[there],
        percents=audience.percents[[name for name in there if name in audience.percents]],
        total=replace(audience.total, values=values),
    )
